#include "lib/drop/drops.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/drop/drop_audit.h"
#include "lib/drop/drop_errors.h"
#include "lib/drop/lease_hold.h"
#include "lib/drop/planner.h"
#include "lib/work/steps.h"

namespace interlock::drop {
namespace {

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

}  // namespace interlock::drop
