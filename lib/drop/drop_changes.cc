// What people do with a drop once it is there: approve, extend, restore, cancel.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/drop/clock_jumps.h"
#include "lib/drop/drop_audit.h"
#include "lib/drop/drop_errors.h"
#include "lib/drop/drops.h"
#include "lib/drop/lease_hold.h"
#include "lib/drop/words.h"
#include "lib/work/steps.h"

namespace interlock::drop {
namespace {

// Whether it is in a state, and has something, that a restore can bring back.
absl::Status CheckRestorable(const Drop& drop, const Manifest& manifest) {
  switch (drop.state) {
    case State::kKilling:
    case State::kVerifying:
      return KillStarted(drop.id);
    case State::kPlanned:
    case State::kReserved:
      return absl::OkStatus();
    case State::kKilled:
    case State::kRestoring:
      return NothingToRestore(drop.id, drop.state);
    default:
      break;
  }
  return CountRevivable(manifest) > 0 ? absl::OkStatus() : NothingToRestore(drop.id, drop.state);
}

// On its way to the mark: RestoreDrop has it end here, with all as it was. (One that a policy's
// cap holds waits for a person, and it is CancelDrop that gives it up.)
bool BeforeMark(const Drop& drop) {
  return drop.state == State::kPlanned || drop.state == State::kReserved;
}

absl::Status RestoreUntouched(store::Transaction& tx, Drop& drop, const audit::Caller& caller) {
  drop.state = State::kRestored;
  drop.hold.clear();
  drop.message = "nothing was marked yet, and nothing will be: all of it is as it was";
  drop.restored_by = caller.identity;
  drop.restore_reason = caller.reason;
  drop.restore_started = drop.ended = tx.now();
  return LeaveTime(tx, drop, caller);
}

absl::Status BeginRestore(store::Transaction& tx, Drop& drop, const Options& options,
                          const audit::Caller& caller) {
  // A drop that still holds its time (MARKING, CHECKING) goes on under it.
  absl::StatusOr<bool> holds = HoldsTime(tx, drop, options.lease_ttl);
  if (!holds.ok()) return holds.status();
  // A call that may still be under way keeps the time pinned; the worker waits it out and
  // takes a reservation anew where this one ends.
  if (!*holds && !drop.intent_until) {
    absl::Status status = TakeTime(tx, drop, options, caller);
    if (!status.ok()) return status;
  }
  if (*holds && !Holds(drop.state)) {
    absl::Status status = BorrowAgain(tx, drop);
    if (!status.ok()) return status;
  }
  drop.state = State::kRestoring;
  drop.hold.clear();
  drop.message = "is being brought back";
  drop.objections.clear();
  drop.restored_by = caller.identity;
  drop.restore_reason = caller.reason;
  drop.restore_started = tx.now();
  drop.ended.reset();
  drop.refusals = 0;
  return absl::OkStatus();
}

// What an earlier restore had marked used again in vain is tried once more.
absl::Status TryAllAgain(store::Transaction& tx, const std::string& id, Manifest& manifest) {
  for (size_t i = 0; i < manifest.size(); ++i) {
    if (!Undone(manifest[i])) continue;
    manifest[i].sent_at = manifest[i].unused_at.value_or(tx.now());
    absl::Status status = UpdateManifestRow(tx, id, i, manifest[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Drop> Drops::Mutate(const std::string& id, const char* method,
                                   const std::string& what, const audit::Caller& caller,
                                   const Change& change) {
  absl::Status status = CheckCaller(caller);
  if (!status.ok()) return status;
  absl::StatusOr<Drop> result = UnknownDrop(id);
  status = store_.Write([&](store::Transaction& tx) {
    result = ReadDrop(tx, id);
    if (!result.ok()) return result.status();
    const State before = result->state;
    absl::StatusOr<bool> is_new = IsNewRequest(tx, id, method, what, caller.request_id);
    if (!is_new.ok() || !*is_new) return is_new.status();
    absl::Status changed = change(tx, *result);
    if (changed.ok()) changed = UpdateDrop(tx, *result);
    if (changed.ok()) changed = work::Schedule(tx, kWorkKind, id, tx.now());
    if (changed.ok()) changed = RecordChange(tx, method, caller, *result, before);
    return changed;
  });
  if (!status.ok()) return status;
  wake_();
  return result;
}

absl::StatusOr<Drop> Drops::Approve(const std::string& id, const std::string& digest,
                                    bool accept_clock, const audit::Caller& caller) {
  const std::string what = absl::StrCat(digest, accept_clock ? " with any clock" : "");
  return Mutate(id, "ApproveKill", what, caller, [&](store::Transaction& tx, Drop& drop) {
    const bool asks = drop.state == State::kAwaitingApproval && !drop.cap.empty();
    const bool waits = drop.state == State::kMarked || drop.state == State::kAwaitingApproval;
    if (!waits || !(drop.needs_approval || accept_clock || asks)) {
      return drop.hold == kClocksDisagree ? WaitsForClocks(id, drop.message)
                                          : NotAwaitingApproval(id, drop.state);
    }
    if (!digest.empty() && digest != drop.digest) return ManifestChanged(id, digest, drop.digest);
    if (drop.needs_approval && caller.identity == drop.requested_by) {
      return OwnDrop(id, caller.identity);
    }
    drop.approved_by = caller.identity;
    drop.approval_reason = caller.reason;
    if (asks) {
      // To begin; the kill, where that needs one, gets an approval of its own.
      drop.notes.push_back(
          {kCapReached, absl::StrCat(drop.cap, "; ", caller.identity, " let it begin")});
      drop.cap.clear();
      drop.hold.clear();
      drop.message = absl::StrCat(caller.identity, " let it begin");
      return absl::OkStatus();
    }
    drop.approved = tx.now();
    if (accept_clock) drop.clock_accepted = tx.now();
    const bool released =
        drop.state == State::kAwaitingApproval && (drop.hold != kClocksDisagree || accept_clock);
    if (released) {
      drop.hold.clear();
      drop.message = absl::StrCat("approved by ", caller.identity,
                                  "; what speaks against the kill is looked for next");
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<Drop> Drops::Extend(const std::string& id, absl::Duration by,
                                   const audit::Caller& caller) {
  const std::string what = absl::StrCat(absl::ToInt64Milliseconds(by), "ms");
  return Mutate(id, "ExtendWindow", what, caller, [&](store::Transaction& tx, Drop& drop) {
    switch (drop.state) {
      case State::kMarked:
      case State::kAwaitingApproval:
      case State::kChecking:
        break;
      case State::kKilling:
      case State::kVerifying:
        return KillStarted(id);
      default:
        return NotMarked(id, drop.state);
    }
    if (by <= absl::ZeroDuration()) return WindowTooShort(by, absl::Milliseconds(1));
    // One that asks before it begins has no window yet.
    if (!drop.window_end) return NotMarked(id, drop.state);
    // One that is over, where something else holds the kill up, begins to run again now.
    const Instant end = std::max(*drop.window_end, tx.now()) + by;
    const absl::Duration length = drop.window_length() + (end - *drop.window_end);
    if (length > options_.max_window) {
      return WindowTooLong(length, options_.max_window);
    }
    drop.window_end = end;
    // What held the kill up is looked at again at the new end.
    if (drop.state == State::kAwaitingApproval) drop.state = State::kMarked;
    drop.hold.clear();
    drop.objections.clear();
    drop.message = MarkedText(drop);
    return absl::OkStatus();
  });
}

absl::Status Drops::CheckNoNewerData(const Drop& drop, const Manifest& manifest) const {
  const auto used = cluster_.ListUsedSegments(drop.datasource, drop.intervals);
  if (!used.done()) return DruidUnavailable(used.text());
  Look look;
  look.used = used.value();
  const std::vector<druid::Segment> newer = Newer(manifest, See(manifest, look));
  return newer.empty() ? absl::OkStatus() : NewerDataOver(drop.id, newer);
}

absl::StatusOr<Drop> Drops::CheckRestore(const std::string& id) const {
  absl::StatusOr<Detail> detail = GetDetail(id);
  if (!detail.ok()) return detail.status();
  if (options_.observe_only) return ObserveOnly();
  absl::Status status = CheckRestorable(detail->drop, detail->manifest);
  if (status.ok() && !BeforeMark(detail->drop)) {
    status = CheckNoNewerData(detail->drop, detail->manifest);
  }
  if (!status.ok()) return status;
  return std::move(detail->drop);
}

absl::StatusOr<Drop> Drops::Restore(const std::string& id, const audit::Caller& caller) {
  absl::StatusOr<Drop> drop = Get(id);
  if (!drop.ok()) return drop.status();
  // A repeated request finds it RESTORING or restored, and is answered below.
  if (drop->state != State::kRestoring && drop->state != State::kRestored &&
      drop->state != State::kPartlyRestored) {
    absl::StatusOr<Drop> checked = CheckRestore(id);
    if (!checked.ok()) return checked.status();
  }
  return Mutate(id, "RestoreDrop", "", caller, [&](store::Transaction& tx, Drop& changed) {
    absl::StatusOr<Manifest> manifest = ReadManifest(tx, id);
    if (!manifest.ok()) return manifest.status();
    absl::Status status = CheckRestorable(changed, *manifest);
    if (status.ok() && BeforeMark(changed)) return RestoreUntouched(tx, changed, caller);
    if (status.ok()) status = BeginRestore(tx, changed, options_, caller);
    if (status.ok()) status = TryAllAgain(tx, id, *manifest);
    return status;
  });
}

absl::Status Drops::NoteClockJump(absl::Duration by) {
  return store_.Write([by](store::Transaction& tx) { return drop::NoteClockJump(tx, by); });
}

absl::StatusOr<Drop> Drops::Cancel(const std::string& id, const audit::Caller& caller) {
  return Mutate(id, "CancelDrop", "", caller, [&](store::Transaction& tx, Drop& drop) {
    if (Ended(drop.state)) return AlreadyOver(id, drop.state);
    const bool unmarked = drop.state == State::kPlanned || drop.state == State::kReserved ||
                          (drop.state == State::kAwaitingApproval && !drop.marked);
    if (drop.state != State::kKilling && !unmarked) {
      return AlreadyMarked(id, drop.state);
    }
    drop.cancel = true;
    if (drop.state == State::kKilling) {
      drop.message = "cancelled: the kill task under way is shut down, and what it left is read";
      return absl::OkStatus();
    }
    drop.state = State::kCancelled;
    drop.hold.clear();
    drop.message = "given up before anything was marked";
    drop.ended = tx.now();
    return LeaveTime(tx, drop, caller);
  });
}

}  // namespace interlock::drop
