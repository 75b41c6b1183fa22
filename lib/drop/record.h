// A drop as the store keeps it.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lib/drop/clocks.h"
#include "lib/drop/plan.h"
#include "lib/drop/state.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::drop {

struct Drop {
  std::string id;
  int64_t number = 0;  // rises with each drop: the order of listing
  int64_t change = 0;  // position of its last change among those of all drops

  // What was asked.
  std::string datasource;
  std::vector<Interval> intervals;  // condensed
  std::string requested_by;         // identity
  std::string holder;               // a name below the identity; may be empty
  std::string request_id;
  std::string reason;
  std::map<std::string, std::string> labels;
  std::string fingerprint;  // of all that was asked, to tell a repeated request from a reused id
  absl::Duration window, floor;
  bool needs_approval = false;
  bool accepts_kill_duty = false;
  bool accepts_partial_cover = false;

  // The retention policy that made it, and which of its runs (retention.h).
  std::string retention_policy;
  std::optional<Instant> retention_run;
  // Which of that run's caps it is beyond: it begins when a person has approved, which
  // clears this.
  std::string cap;

  // Where it stands.
  State state = State::kPlanned;
  std::string hold;     // why it does not go on, or failed: UPPER_SNAKE; "" when it goes on
  std::string message;  // the same for people
  std::vector<Objection> objections;  // what stopped the last step
  std::vector<Note> notes;
  bool cancel = false;
  std::string approved_by;
  std::string approval_reason;
  std::optional<Instant> approved;
  // An admin's word that the clocks' disagreement is known: holds for a while.
  std::optional<Instant> clock_accepted;
  std::string restored_by;
  std::string restore_reason;

  std::string digest;  // of the manifest's ids
  int64_t segment_count = 0, hidden_count = 0, size_bytes = 0;
  std::vector<std::string> metrics;
  std::optional<Sums> sums_before, sums_after;
  int64_t orphans = 0;  // rows gone, files seen to be there, when last looked
  // Rows that are marked unused by it, or that a mark was sent for: what a restore would
  // bring back.
  int64_t revivable = 0;

  Instant created;
  std::optional<Readings> marked;  // the three clocks when the mark was proven
  std::optional<Instant> window_end, kill_started, restore_started, ended;

  // The reservation of the phase in work; of one that is lent also between the phases.
  std::string reservation_id;
  int64_t token = 0;
  bool lent = false;         // the caller's own (BorrowTime)
  int64_t reservations = 0;  // taken so far: part of the next one's request id

  // Calls to Druid.
  std::optional<Instant> called;        // when the last one that changes something ended
  std::optional<Instant> intent_until;  // one may still be under way until then
  int64_t refusals = 0;                 // of the same call, in a row

  absl::Duration window_length() const {
    return marked && window_end ? *window_end - marked->store : window;
  }
};

// One kill task.
struct Kill {
  enum class Post {
    kIntent,  // stored, perhaps sent
    kPosted,  // Druid has it
    kEnded,   // terminal, or refused, or not ours
  };
  int64_t number = 0;  // of the drop's kills
  std::string task_id;
  std::string nonce;
  std::string json;  // as it is posted
  Interval interval;
  std::vector<std::string> versions;
  Instant not_after;
  int64_t segments = 0;
  Post post = Post::kIntent;
  std::string outcome;   // "SUCCESS", "FAILED", "REFUSED", "TAKEN"; "" while it is open
  std::string error;     // Druid's words, cut
  std::string failure;   // why it failed (kill.h)
  int64_t reported = 0;  // what its report says it killed: evidence, no proof
  bool shutdown_asked = false;
  Instant stored;
  std::optional<Instant> running;  // when it was first seen to run, not to wait
  std::optional<Instant> ended;
};
const char* Name(Kill::Post post);

}  // namespace interlock::drop
