// Drops, as the server offers them: data of one datasource on its way out. Planned, marked
// unused by id, kept for a window in which it can come back, killed by manifest, proven
// (DropAndKill and the service Drops).
//
// Every function that changes something does so in one transaction, with an audit event,
// and the worker (worker.h) does the rest. Calls carry who asks (audit::Caller); where it
// has a request id, the same call again changes nothing and gives the drop as it is.
//
// Guarantee (P5): nothing that these functions are asked can lower the floor, shorten the
// window below the operator's least, or put a segment on a manifest after it was stored.
//
// Threads: any.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/audit/caller.h"
#include "lib/drop/manifest.h"
#include "lib/drop/options.h"
#include "lib/drop/plan.h"
#include "lib/drop/record.h"
#include "lib/drop/request.h"
#include "lib/drop/rows.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"

namespace interlock::drop {

// The step's kind in lib/work, whose key is the drop's id.
inline constexpr char kWorkKind[] = "drop";

class Drops {
 public:
  struct Detail {
    Drop drop;
    Manifest manifest;  // in the order of marking; kStays last
    std::vector<Kill> kills;
  };

  // All must outlive this. `wake` is called after a commit that made a step due
  // (work::Loop::Wake); it may be empty.
  Drops(store::Store& store, druid::Cluster& cluster, const Clock& clock, Options options,
        std::function<void()> wake);

  // What it would do, and what stands in its way (`blockers`). Changes nothing. Errors: of
  // the request itself (request.h), DRUID_UNAVAILABLE.
  absl::StatusOr<Plan> MakePlan(const DropRequest& request) const;

  struct Submitted {
    Drop drop;
    bool attached = false;  // an earlier call with this request id made it
  };
  // Plans, reserves and stores the drop: RESERVED. Errors: those of MakePlan, and
  //   MISALIGNED, NOTHING_TO_DROP, YOUNGER_THAN_FLOOR, SHARED_FILES,
  //   KILL_DUTY_INSIDE_WINDOW, OBSERVE_ONLY, PLAN_STALE: nothing was stored;
  //   HELD: another holds some of the time; its blockers name who;
  //   STALE_TOKEN, EXPIRED …: of the reservation it was to act under;
  //   REQUEST_ID_REUSED, REASON_REQUIRED, REQUEST_ID_INVALID.
  absl::StatusOr<Submitted> Submit(const DropRequest& request, const audit::Caller& caller);

  // UNKNOWN_DROP.
  absl::StatusOr<Drop> Get(const std::string& id) const;
  absl::StatusOr<Detail> GetDetail(const std::string& id) const;

  struct Page {
    std::vector<Drop> drops;
    std::string next;  // token of the next page; "" at the end
  };
  // Newest first. `size` 0 is kDefaultPageSize. BAD_PAGE_TOKEN.
  absl::StatusOr<Page> List(const Filter& filter, int64_t size, const std::string& token) const;
  // What changed after `change` (Drop::change), in that order: for watching.
  absl::StatusOr<std::vector<Drop>> Changes(int64_t change, int64_t most) const;

  // Lets the kill go on: because approval was asked for, or (`accept_clock`, for admins)
  // because the clocks disagree, which then counts for Options::clock_consent. Can be given
  // while the window runs. `digest` is that of the manifest which is approved, or "".
  // NOT_AWAITING_APPROVAL, CLOCKS_DISAGREE (`accept_clock` is what it waits for),
  // MANIFEST_CHANGED, OWN_DROP.
  absl::StatusOr<Drop> Approve(const std::string& id, const std::string& digest, bool accept_clock,
                               const audit::Caller& caller);
  // Moves the window's end back by so much. NOT_MARKED, KILL_STARTED, WINDOW_TOO_SHORT (not
  // positive), WINDOW_TOO_LONG.
  absl::StatusOr<Drop> Extend(const std::string& id, absl::Duration by,
                              const audit::Caller& caller);
  // What a restore would bring back, and nothing more: the errors of Restore.
  absl::StatusOr<Drop> CheckRestore(const std::string& id) const;
  // Reserves, and starts to bring back all that is marked: RESTORING. Not while a kill task
  // is under way (KILL_STARTED); of one that stopped half-way it brings back the rest.
  // NOTHING_TO_RESTORE, NEWER_DATA, HELD, OBSERVE_ONLY, DRUID_UNAVAILABLE.
  absl::StatusOr<Drop> Restore(const std::string& id, const audit::Caller& caller);
  // Gives the drop up before anything is marked; while a kill task is under way, has that shut
  // down, waits for its end and reads what it left (FAILED with CANCELLED_HALF_WAY, or
  // CANCELLED if nothing was killed). ALREADY_MARKED, ALREADY_OVER.
  // (A drop that asks before it begins, because it is beyond a policy's cap, can be given
  // up as well, and begins when it is approved.)
  absl::StatusOr<Drop> Cancel(const std::string& id, const audit::Caller& caller);

  // The wall clock was seen to jump: drops whose window it fell into wait for an admin.
  absl::Status NoteClockJump(absl::Duration by);

  const Options& options() const { return options_; }

 private:
  using Change = std::function<absl::Status(store::Transaction& tx, Drop& drop)>;
  // Reads the drop, lets `change` change it, stores it with an audit event and makes its
  // step due; nothing of that where the request id was seen before (REQUEST_ID_REUSED where
  // it asked for something else).
  // `what` is what was asked for, as text: the same id with another is refused.
  absl::StatusOr<Drop> Mutate(const std::string& id, const char* method, const std::string& what,
                              const audit::Caller& caller, const Change& change);
  absl::Status CheckNoNewerData(const Drop& drop, const Manifest& manifest) const;

  store::Store& store_;
  druid::Cluster& cluster_;
  const Clock& clock_;
  const Options options_;
  const std::function<void()> wake_;
};

// One snapshot of all that the store has of a drop. UNKNOWN_DROP.
absl::StatusOr<Drops::Detail> ReadDetail(store::Store& store, const std::string& id);

}  // namespace interlock::drop
