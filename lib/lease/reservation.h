// What the lease table knows, as values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/time/granularity.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::lease {

enum class Mode {
  kReplace,  // exclusive
  kAppend,   // shared with other appends
};

enum class State {
  kActive,
  kExpired,   // its deadline has come
  kReleased,  // by its holder
  kForced,    // by an admin
  kOrphaned,  // ended in one of these ways while work under it is not settled: still blocks
};

// "REPLACE", "ACTIVE" …, as stored and shown.
absl::string_view NameOf(Mode mode);
absl::string_view NameOf(State state);
Mode ModeOf(absl::string_view name);
State StateOf(absl::string_view name);

using Labels = std::map<std::string, std::string>;

// An attempt whose intent is stored and whose outcome is not: work that may still write.
struct Pin {
  std::string work_id;
  Interval interval;
  std::string link;  // for people: what stands behind it, "backfills/b7 attempt 3, task …"
  Instant since;
};

struct Reservation {
  std::string id;
  std::string datasource;
  // What it blocks, condensed; of one that blocks nothing any more, all it was granted.
  std::vector<Interval> intervals;
  std::vector<Interval> released;  // of one that still blocks: what it has given back
  Mode mode = Mode::kReplace;
  State state = State::kActive;  // at the time of the transaction that read it
  std::string holder;
  std::string purpose;
  std::string reason;
  std::string request_id;
  Labels labels;
  int64_t token = 0;
  Instant created;
  Instant deadline;              // live before it, not at it
  std::optional<Instant> ended;  // also of an orphan
  std::vector<Pin> pins;         // not settled, by start
};

// What kind of thing has a part of what was asked for.
enum class HeldBy {
  kReservation,
  kOrphan,     // an ended reservation, whose work is not settled
  kLockDelay,  // an expired reservation, for a while
  kWaiter,     // an earlier request that waits
  kTail,       // what a stream may still write
  kSeal,
  kDrop,
};

// A part of what was asked for that somebody has.
struct Held {
  HeldBy by = HeldBy::kReservation;
  Interval interval;  // within what was asked
  std::string reservation_id;
  std::string holder;
  std::string purpose;
  Mode mode = Mode::kReplace;
  Instant since;
  Instant until;          // the deadline; of an orphan it has passed
  bool orphaned = false;  // blocks until its work is settled, not until a time
  std::string work_id;    // of an orphan
  std::string link;       // "backfills/b7": what stands behind it; of a seal or drop itself
  // Of what is no reservation (obstacle.h): its reason, UPPER_SNAKE; what it is; what would do.
  std::string reason;
  std::string message;
  std::string remedy;
};

struct ReserveRequest {
  std::string datasource;
  std::vector<Interval> intervals;
  Mode mode = Mode::kReplace;
  absl::Duration ttl = absl::Minutes(10);
  std::string holder;
  std::string purpose;
  // The holder's own id of this request; "" for none, then nothing makes a retry safe.
  std::string request_id;
  Labels labels;
  // Grant what is free and report the rest, instead of all or nothing.
  bool skip_held = false;
  // With skip_held: what is skipped is widened to whole partitions of this calendar.
  std::optional<Granularity> partitions;
};

struct Grant {
  Reservation reservation;
  std::vector<Held> skipped;
  bool repeated = false;  // the answer to an earlier request with this id
};

class Obstacles;

// What can be asked for. Each error names the limit.
struct Limits {
  int64_t intervals_per_call = 1000;
  absl::Duration shortest_ttl = absl::Seconds(1);
  absl::Duration longest_ttl = absl::Hours(24);
  absl::Duration longest_interval = absl::InfiniteDuration();
  // In one datasource; 0 for no limit. A grant looks at as many rows as the limit allows.
  int64_t live_per_holder = 0;
  int64_t live_per_datasource = 0;
  // What else refuses, asked inside of the grant's transaction (obstacle.h). Null: nothing.
  std::shared_ptr<const Obstacles> obstacles;
};

}  // namespace interlock::lease
