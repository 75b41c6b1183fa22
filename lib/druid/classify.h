// The one place where a reply becomes done, refused, not found or unknown (P8).
//
// It goes by status codes; by texts only where Druid says different things under one
// code, and then by the whole text, with the id that was asked about. The replies it is
// built on are those of Druid 25, 27, 28, 32, 33 and 37.
//
// Threads: functions without state.
#pragma once

#include <optional>
#include <string>

#include "lib/druid/answer.h"
#include "lib/druid/transport.h"
#include "lib/time/instant.h"

namespace interlock::druid {

// What was asked, as far as it decides what the reply means.
struct Asked {
  std::string what;      // "POST /druid/indexer/v1/task": opens every text
  std::string task_id;   // of a call about one task: what its 400 and 404 texts name
  bool submits = false;  // the POST of a task
  bool json = true;      // a 2xx with a body must look like JSON
  // Asks whether the path exists: 400 and 405 say that it does.
  bool probe = false;
  // Of a call about one supervisor: what its 404 text names.
  std::string supervisor_id = {};
  // Sent to a broker, which passes an overlord's words on in an error of its own.
  bool by_broker = false;
};

struct Verdict {
  Outcome outcome = Outcome::kUnknown;
  Cause cause = Cause::kNone;
  std::string text;  // "" when done
};

Verdict Classify(const Asked& asked, const HttpReply& reply);

// The verdict on a reply whose body turned out to be nonsense.
Verdict Garbled(const Asked& asked, const std::string& why);

template <class T>
Answer<T> NotDone(const Verdict& verdict) {
  if (verdict.outcome == Outcome::kRefused) return Answer<T>::Refused(verdict.cause, verdict.text);
  if (verdict.outcome == Outcome::kNotFound) return Answer<T>::NotFound(verdict.text);
  return Answer<T>::Unknown(verdict.cause, verdict.text);
}

// A Date header: "Sun, 29 Nov 2026 17:51:00 GMT".
std::optional<Instant> ParseHttpDate(const std::string& text);

}  // namespace interlock::druid
