#include "lib/drop/drops.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/drop/clock_jumps.h"
#include "lib/drop/drop_errors.h"
#include "lib/drop/lease_hold.h"
#include "lib/drop/planner.h"
#include "lib/drop/words.h"
#include "lib/work/steps.h"

namespace interlock::drop {
namespace {

absl::Status RecordChange(store::Transaction& tx, const char* method, const audit::Caller& caller,
                          const Drop& drop, State before) {
  audit::Event event;
  event.caller = caller;
  event.method = method;
  event.datasource = drop.datasource;
  event.subject = drop.id;
  event.before = audit::JsonObject().Text("state", Name(before)).ToString();
  event.after = audit::JsonObject()
                    .Text("state", Name(drop.state))
                    .Text("digest", drop.digest)
                    .Number("segments", drop.segment_count)
                    .ToString();
  return audit::Record(tx, event);
}

Drop DropOf(const DropRequest& request, const audit::Caller& caller, const Plan& plan,
            Instant now) {
  Drop drop;
  drop.datasource = request.datasource;
  drop.intervals = request.intervals;
  drop.requested_by = caller.identity;
  drop.holder = request.holder;
  drop.request_id = caller.request_id;
  drop.reason = caller.reason;
  drop.labels = request.labels;
  drop.fingerprint = Fingerprint(request, caller.reason);
  drop.window = *request.window;
  drop.floor = *request.floor;
  drop.needs_approval = request.approval;
  drop.accepts_kill_duty = request.accept_kill_duty;
  drop.accepts_partial_cover = request.accept_partial_cover;
  drop.notes = plan.notes;
  drop.digest = plan.digest();
  drop.segment_count = plan.visible_count() + plan.hidden_count();
  drop.hidden_count = plan.hidden_count();
  drop.size_bytes = plan.size_bytes();
  drop.metrics = plan.metrics;
  drop.sums_before = plan.sums;
  drop.created = now;
  drop.retention_policy = request.retention_policy;
  drop.retention_run = request.retention_run;
  drop.cap = request.cap;
  return drop;
}

absl::StatusOr<std::optional<Drop>> Earlier(store::Transaction& tx, const DropRequest& request,
                                            const audit::Caller& caller) {
  absl::StatusOr<std::optional<Drop>> found =
      FindByRequest(tx, caller.identity, request.holder, caller.request_id);
  if (!found.ok() || !*found) return found;
  if ((*found)->fingerprint != Fingerprint(request, caller.reason)) {
    return RequestIdReused(caller.request_id, (*found)->id);
  }
  return found;
}

const char* MethodOf(const DropRequest& request) {
  return request.retention_policy.empty() ? "DropAndKill" : "worker.retention";
}

absl::Status Store(store::Transaction& tx, const DropRequest& request, const audit::Caller& caller,
                   const Plan& plan, const Options& options, Drop& drop) {
  drop = DropOf(request, caller, plan, tx.now());
  absl::Status status = InsertDrop(tx, drop, plan.manifest);
  Observation seen;
  seen.asks_first = !request.cap.empty();
  if (status.ok() && !seen.asks_first) {
    status = request.reservation_id.empty()
                 ? TakeTime(tx, drop, options, caller)
                 : BorrowTime(tx, drop, request.reservation_id, request.token);
  }
  if (!status.ok()) return status;
  seen.leased = !seen.asks_first;
  const Move move = Next(State::kPlanned, seen);
  drop.state = move.state;
  drop.hold = move.reason;
  drop.message = drop.cap.empty() ? "holds its time; nothing is marked yet" : drop.cap;
  status = UpdateDrop(tx, drop);
  if (status.ok()) status = work::Schedule(tx, kWorkKind, drop.id, tx.now());
  if (status.ok()) status = RecordChange(tx, MethodOf(request), caller, drop, State::kPlanned);
  return status;
}

// Whether it is in a state, and has something, that a restore can bring back.
absl::Status CheckRestorable(const Drop& drop, const Manifest& manifest) {
  switch (drop.state) {
    case State::kKilling:
    case State::kVerifying:
      return KillStarted(drop.id);
    case State::kPlanned:
    case State::kReserved:
    case State::kKilled:
    case State::kRestoring:
      return NothingToRestore(drop.id, drop.state);
    default:
      break;
  }
  return CountRevivable(manifest) > 0 ? absl::OkStatus() : NothingToRestore(drop.id, drop.state);
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

}  // namespace

Drops::Drops(store::Store& store, druid::Cluster& cluster, const Clock& clock, Options options,
             std::function<void()> wake)
    : store_(store),
      cluster_(cluster),
      clock_(clock),
      options_(std::move(options)),
      wake_(wake ? std::move(wake) : [] {}) {}

absl::StatusOr<Plan> Drops::MakePlan(const DropRequest& request) const {
  absl::StatusOr<DropRequest> checked = Checked(request, options_);
  if (!checked.ok()) return checked.status();
  absl::StatusOr<Planned> planned = drop::MakePlan(*checked, options_, store_, cluster_, clock_);
  if (!planned.ok()) return planned.status();
  return std::move(planned->plan);
}

absl::StatusOr<Drops::Submitted> Drops::Submit(const DropRequest& asked,
                                               const audit::Caller& caller) {
  // Of the drop itself; what is done with it afterwards may be said without one.
  if (caller.reason.empty()) return ReasonMissing();
  absl::Status status = CheckCaller(caller);
  if (!status.ok()) return status;
  absl::StatusOr<DropRequest> request = Checked(asked, options_);
  if (!request.ok()) return request.status();

  std::optional<Drop> earlier;
  const auto find = [&](store::Transaction& tx) {
    absl::StatusOr<std::optional<Drop>> found = Earlier(tx, *request, caller);
    if (found.ok()) earlier = std::move(*found);
    return found.status();
  };
  status = store_.Read(find);
  if (!status.ok()) return status;
  if (earlier) return Submitted{*std::move(earlier), true};

  absl::StatusOr<Planned> planned = drop::MakePlan(*request, options_, store_, cluster_, clock_);
  if (!planned.ok()) return planned.status();
  if (!planned->refusals.empty()) return planned->refusals.front();
  const Plan& plan = planned->plan;
  if (!request->plan_revision.empty() && request->plan_revision != plan.digest()) {
    return PlanStale(request->plan_revision, plan.digest());
  }

  Drop drop;
  status = store_.Write([&](store::Transaction& tx) {
    absl::Status found = find(tx);
    if (!found.ok() || earlier) return found;
    return Store(tx, *request, caller, plan, options_, drop);
  });
  if (!status.ok()) return status;
  if (earlier) return Submitted{*std::move(earlier), true};
  wake_();
  return Submitted{std::move(drop), false};
}

absl::StatusOr<Drops::Detail> ReadDetail(store::Store& store, const std::string& id) {
  Drops::Detail detail;
  absl::Status status = store.Read([&](store::Transaction& tx) {
    absl::StatusOr<Drop> drop = ReadDrop(tx, id);
    if (!drop.ok()) return drop.status();
    absl::StatusOr<Manifest> manifest = ReadManifest(tx, id);
    if (!manifest.ok()) return manifest.status();
    absl::StatusOr<std::vector<Kill>> kills = ReadKills(tx, id);
    if (!kills.ok()) return kills.status();
    detail = {*std::move(drop), *std::move(manifest), *std::move(kills)};
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return detail;
}

absl::StatusOr<Drop> Drops::Get(const std::string& id) const {
  absl::StatusOr<Drop> drop = UnknownDrop(id);
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    drop = ReadDrop(tx, id);
    return drop.status();
  });
  if (!status.ok()) return status;
  return drop;
}

absl::StatusOr<Drops::Detail> Drops::GetDetail(const std::string& id) const {
  return ReadDetail(store_, id);
}

absl::StatusOr<Drops::Page> Drops::List(const Filter& filter, int64_t size,
                                        const std::string& token) const {
  int64_t before = 0;
  if (!token.empty() && (!absl::SimpleAtoi(token, &before) || before <= 0)) {
    return InvalidPageToken(token);
  }
  const int64_t wanted = size <= 0 ? kDefaultPageSize : std::min(size, kMaxPageSize);
  Page page;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    absl::StatusOr<Listed> listed = ListDrops(tx, filter, wanted, before);
    if (!listed.ok()) return listed.status();
    page.drops = std::move(listed->drops);
    page.next = listed->next == 0 ? "" : absl::StrCat(listed->next);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return page;
}

absl::StatusOr<std::vector<Drop>> Drops::Changes(int64_t change, int64_t most) const {
  std::vector<Drop> drops;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    absl::StatusOr<std::vector<Drop>> found = ChangedAfter(tx, change, most);
    if (found.ok()) drops = std::move(*found);
    return found.status();
  });
  if (!status.ok()) return status;
  return drops;
}

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
  if (status.ok()) status = CheckNoNewerData(detail->drop, detail->manifest);
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
    if (status.ok()) status = BeginRestore(tx, changed, options_, caller);
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
