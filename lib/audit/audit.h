// Who asked for what, when, why, with which result (P7): rows in the store, written in the
// transaction of what they tell of, so that neither is there without the other.
//
// Append-only: nothing here changes an event, and only retention (retention.h) removes
// whole stretches of old ones. chain.h links them by hash, so that a change shows.
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
#include "lib/time/interval.h"

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
  std::string resource_type = {};  // of the subject: "reservation", "backfill", "drop" …
};

// Writes the event with the transaction's time.
absl::Status Record(store::Transaction& tx, const Event& event);

struct RecordedEvent {
  // Of its row: rises in the order of commits of one server; never reused.
  int64_t sequence = 0;
  Instant at;
  Event event;
  // From its before and after: who held it, and which time it is about.
  std::string holder;
  std::vector<std::string> intervals;
  // Its place in the chain, from 1, and the chain's hash there; 0 and "" until it is chained.
  int64_t position = 0;
  std::string chain_hash;
};

// What is empty does not filter.
struct Filter {
  std::string datasource;
  std::string subject;
  std::string identity;
  std::string method;  // `*` stands for any characters
  std::string request_id;
  std::string resource_type;
  std::optional<Interval> overlapping;
  std::optional<Instant> since;  // at or after
  std::optional<Instant> until;  // before
};

// The order is that of rows, which no later event changes: an event that comes between two
// pages is on none of those that were asked for already.
struct Page {
  int64_t size = 100;
  int64_t before_sequence = 0;  // 0 from the newest; else `next` of the page before
  bool oldest_first = false;    // then before_sequence is one to begin after
};

struct Events {
  std::vector<RecordedEvent> events;
  // Where the next page starts; 0 at the end. A page can be short, or empty, and have a
  // next one: a call looks at kMostLooked events at most.
  int64_t next = 0;
};
inline constexpr int64_t kMostLooked = 20000;

absl::StatusOr<Events> List(store::Transaction& tx, const Filter& filter, const Page& page);

}  // namespace interlock::audit
