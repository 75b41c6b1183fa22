// Who asked for what, when, why, with which result (P7): rows in the store, written in the
// transaction of what they tell of, so that neither is there without the other.
//
// Append-only: nothing here changes or removes an event.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/audit/caller.h"
#include "lib/store/schema.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"

namespace interlock::audit {

store::Schema AuditSchema();

struct Event {
  Caller caller;
  std::string method;      // what was asked for: "ReserveInterval"; of our own doing: "worker.kill"
  std::string datasource;  // "" where none is concerned
  std::string subject;     // id of what it is about: a reservation, a backfill …
  std::string result = "OK";  // "OK", or the reason of the refusal
  std::string before;         // JSON of what changed; "" where there was nothing
  std::string after;
};

// Writes the event with the transaction's time.
absl::Status Record(store::Transaction& tx, const Event& event);

struct RecordedEvent {
  int64_t sequence = 0;  // rises in the order of commits of one server; never reused
  Instant at;
  Event event;
};

// What is empty does not filter.
struct Filter {
  std::string datasource;
  std::string subject;
  std::string identity;
  std::string method;
  std::optional<Instant> since;  // at or after
  std::optional<Instant> until;  // before
};

struct Page {
  int64_t size = 100;
  int64_t before_sequence = 0;  // 0 from the newest; else `next` of the page before
};

struct Events {
  std::vector<RecordedEvent> events;  // newest first
  // Where the next page starts; 0 at the end. A page can be short, or empty, and have a
  // next one: a call looks at kMostLooked events at most.
  int64_t next = 0;
};
inline constexpr int64_t kMostLooked = 20000;

absl::StatusOr<Events> List(store::Transaction& tx, const Filter& filter, const Page& page);

}  // namespace interlock::audit
