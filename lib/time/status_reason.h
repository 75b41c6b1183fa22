// What a program can read in an error, beside its code and its one line for people: a
// stable reason, what the reason is about, each fault of the input, each thing that
// stands in the way, and when to try again.
//
// It travels as payloads of absl::Status, so that lib/ needs no wire type for it; the
// server turns them into google.rpc.ErrorInfo, BadRequest, PreconditionFailure and
// RetryInfo in one place.
//
// Threads: functions without state.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lib/time/reason.h"

namespace interlock {

using Metadata = std::map<std::string, std::string>;

// `status` with a reason (reason.h) and what it is about: names, ids, times as text. The
// keys are part of the API, as reasons are: scripts match on them. A second call replaces
// the first. An OK status stays OK and carries nothing, here and below.
absl::Status WithReason(absl::Status status, absl::string_view reason, const Metadata& metadata);
// {} where there is none.
Metadata MetadataOf(const absl::Status& status);

// One fault of an input document. All of them are gathered before the answer.
struct Fault {
  std::string pointer;   // JSON pointer (RFC 6901) to what is wrong; "" is the whole
  std::string found;     // what stands there and why it will not do
  std::string would_do;  // what to write in its place; "" when nothing can be offered

  bool operator==(const Fault& other) const = default;
};
void AddFault(absl::Status& status, absl::string_view pointer, absl::string_view found,
              absl::string_view would_do);
std::vector<Fault> FaultsOf(const absl::Status& status);

// One thing outside of the input that stands in the way.
struct Blocker {
  std::string type;     // UPPER_SNAKE: HELD, ORPHANED, SEALED …
  std::string subject;  // what is blocked: "wiki/2026-07-16T13:00:00.000Z/…"
  std::string description;

  bool operator==(const Blocker& other) const = default;
};
void AddBlocker(absl::Status& status, absl::string_view type, absl::string_view subject,
                absl::string_view description);
std::vector<Blocker> BlockersOf(const absl::Status& status);

// Says that the same request may succeed after `delay`.
absl::Status WithRetryAfter(absl::Status status, std::chrono::milliseconds delay);
std::optional<std::chrono::milliseconds> RetryAfterOf(const absl::Status& status);

}  // namespace interlock
