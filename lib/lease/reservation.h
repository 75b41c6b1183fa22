// What the lease table knows, as values.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
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
  kWaiting,   // not granted yet: a request in line (waiting.h)
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
  Instant deadline;              // live before it, not at it; of a waiter, when it gives up
  absl::Duration ttl;            // what a renewal that names none asks for again
  std::optional<Instant> ended;  // also of an orphan
  // Of an expired one whose lock delay is not over: when its time can be granted again.
  std::optional<Instant> free;
  std::vector<Pin> pins;  // not settled, by start
  // What runs under it: "backfills/b7", "drops/d3"; those that it is lent to last.
  std::vector<std::string> links;
  // Its holder has released it while it was lent: those it is lent to keep it.
  bool handed_over = false;
  std::string forced_by, force_reason;  // the admin who ended it, and why
  std::optional<Granularity> calendar;  // that its holder writes in
  int64_t revision = 0;                 // of its last change (events.h)
  int64_t position = 0;                 // of a waiter: its place in the line, 1 for the next
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
  std::optional<Granularity> calendar;  // that a reservation's holder writes in
  // Of what is no reservation (obstacle.h): its reason, UPPER_SNAKE; what it is; what would do.
  std::string reason;
  std::string message;
  std::string remedy;
};

// What becomes of a REPLACE that reaches into what a stream may still write (tails.h).
enum class Tails {
  kRefuse,
  kAcceptUnbounded,  // those that have no bound don't refuse: rows may come late
  kAccept,           // none refuses: the caller deals with the stream
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
  // The calendar that the holder writes in. With skip_held, what is skipped is widened to
  // whole partitions of it.
  std::optional<Granularity> partitions;
  // Longest time to wait in line for what others hold; 0: not at all (waiting.h).
  absl::Duration wait;
  std::string link;  // what it is for: "backfills/b7"; shown to those who are refused
  Tails tails = Tails::kRefuse;
};

// A place in the line.
struct Waiting {
  std::string id;    // "w3-17"
  int64_t turn = 0;  // rises with each call that takes this place
  Instant until;     // when it gives up
  // When what is in the way now will have ended by itself, if a time is known.
  std::optional<Instant> look;
  absl::Status why;   // what it would be refused with
  bool over = false;  // its time is up, and the place gone: `why` is the answer
};

struct Grant {
  Reservation reservation;
  std::vector<Held> skipped;
  bool repeated = false;  // the answer to an earlier request with this id
  // Nothing was granted yet: the reservation is the place in the line, WAITING.
  std::optional<Waiting> waiting;
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
  absl::Duration longest_wait = absl::Hours(1);
  // After an expiry (not after a release) nobody is granted that time for so long; it goes
  // with the reservation, as it was when that was granted.
  absl::Duration lock_delay;
  // How long a request id is remembered after what it made has ended.
  absl::Duration request_id_kept = absl::Hours(24);
  // What else refuses, asked inside of the grant's transaction (obstacle.h). Null: nothing.
  std::shared_ptr<const Obstacles> obstacles;
};

}  // namespace interlock::lease
