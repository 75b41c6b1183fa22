// Streams kept suspended while their hours are recomputed.
//
// Concurrent locks are no substitute: a REPLACE beside an APPEND upgrades what the stream
// has read and not yet published onto its own version (measured). So the supervisor is
// suspended, its tasks publish, hand off and go, and their locks with them; then the
// backfill runs, and is proven; then the stream resumes where its offsets are committed.
// A datasource may have several supervisors (Druid 34 and later): all whose tails reach in
// are suspended, all are waited for, all resume.
//
// Guarantees: one handover for a supervisor at a time. What each was before is kept: one that
// a person suspended stays so. They resume after a crash, a failed or cancelled backfill, a
// lost lease and when `max_pause` is over, but never while an attempt of the backfill is live
// or undetermined. Whether tasks are gone is read from Druid's lists of tasks and locks,
// never from a supervisor's status.
//
// A call of the opposite effect waits until an earlier one that was not answered can no
// longer arrive.
//
// The machine is pure; handover_worker.h looks, calls it, stores, and acts.
//
// Threads: values and functions without state.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/time/instant.h"

namespace interlock::backfill {

enum class HandoverState {
  kBefore,     // what lies outside of the tail runs; the stream is alive
  kDraining,   // suspended; its tasks still publish and hand off
  kSuspended,  // its tasks and locks are gone; the backfill runs
  kResuming,   // being resumed
  kOver,       // resumed, or left as a person had it
};
absl::string_view NameOf(HandoverState state);
HandoverState HandoverStateOf(absl::string_view name);

// The lease on one supervisor.
struct Supervised {
  std::string id;
  bool was_suspended = false;
  bool seen_suspended = false;  // since it was asked for
  // The newest call that asked Druid for a change, and whether it may still be on its way.
  std::optional<Instant> asked;
  bool unsettled = false;
  // Where the stream went on, by partition: what its next task's payload starts from.
  std::map<std::string, std::string> offsets;
};

struct Handover {
  std::string backfill_id;
  std::string datasource;
  // By id. Chosen anew at each look until the first is suspended; then they stay.
  std::vector<Supervised> supervisors;
  HandoverState state = HandoverState::kBefore;
  absl::Duration max_pause;
  bool ends_at_committed_offsets = false;
  std::optional<Instant> suspended, resume_by, resumed;
  std::string reason;  // why it ended as it did: PAUSE_OVER, RESUMED_BY_OTHERS …
  std::string message;

  // Null where it has none of that id.
  const Supervised* Find(absl::string_view supervisor_id) const;
  Supervised* Find(absl::string_view supervisor_id);
};

// Of one supervisor.
struct SupervisorSight {
  bool there = false;
  bool suspended = false;
  bool another_has_it = false;  // a handover of another backfill
  bool call_settled = true;     // no call of ours can arrive late any more
  bool task_seen = false;       // a task of the stream lives
};

// What one look showed, of Druid and of the backfill.
struct HandoverSight {
  bool known = false;                                  // Druid could be asked
  std::map<std::string, SupervisorSight> supervisors;  // by id; the handover's
  bool tasks_gone = false;  // no task of theirs lives, and none of their locks is held
  bool time_free = true;    // nobody but the streams has the time of the units in the tail
  // Of the backfill:
  bool outside_open = false;  // units outside of the tail are not over yet
  bool inside_open = false;   // units in the tail are not over yet
  bool attempt_open = false;  // some attempt of it is live or undetermined
  bool wanted = true;         // it is not cancelled, paused or over
};

enum class HandoverAct {
  kNone,      // look again later
  kSuspend,   // ask Druid to suspend `whom`
  kShutDown,  // have the backfill's running tasks ended: the pause is over
  kResume,    // ask Druid to resume `whom`
};

struct HandoverStep {
  HandoverState state;
  HandoverAct act = HandoverAct::kNone;
  std::string reason = {};
  // Supervisors that the act, or else the reason, is about.
  std::vector<std::string> whom = {};

  bool operator==(const HandoverStep& other) const = default;
};

HandoverStep NextHandover(const Handover& handover, const HandoverSight& sight, Instant now);

// The streams are suspended and their tasks are gone, for the backfill to run.
bool HasStreams(const Handover& handover);
// Its tasks must end: the pause is over, or somebody else resumed a stream.
bool MustEnd(const Handover& handover, Instant now);

// Whether units in the tail may be posted now: the pause must outlast the call.
bool MayRunInTail(const Handover& handover, Instant now, absl::Duration call_deadline);

}  // namespace interlock::backfill
