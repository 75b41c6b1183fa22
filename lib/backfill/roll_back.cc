// Backfills::Rollback: what would come back is checked against Druid, then the wish is
// stored; rollback_worker.h does it.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/backfill/backfill_errors.h"
#include "lib/backfill/backfills.h"
#include "lib/backfill/leases.h"
#include "lib/backfill/rollback.h"
#include "lib/backfill/rollback_look.h"
#include "lib/backfill/rollback_worker.h"
#include "lib/lease/reservations.h"
#include "lib/time/interval_set.h"
#include "lib/work/steps.h"

namespace interlock::backfill {
namespace {

using Rollbacks = std::vector<Rollback>;

bool HasChanged(const StoredPartition& partition) {
  const bool state = partition.state == State::kDone || partition.state == State::kSuspect ||
                     partition.state == State::kEmpty;
  return state && partition.proof && !partition.proof->version.empty();
}

// The partitions that are meant: those asked for, or all that the backfill has changed.
absl::StatusOr<std::vector<StoredPartition>> Meant(store::Transaction& tx, const std::string& id,
                                                   const std::vector<Interval>& asked) {
  auto all = ReadPartitions(tx, id, {}, Instant::kMin, kMaxPartitions);
  if (!all.ok()) return all.status();
  const bool back = std::any_of(all->begin(), all->end(), [](const StoredPartition& one) {
    return one.state == State::kRolledBack;
  });
  std::vector<StoredPartition> meant;
  for (const Interval& interval : asked) {
    const auto it = std::find_if(all->begin(), all->end(), [&](const StoredPartition& one) {
      return one.partition == interval;
    });
    if (it == all->end()) return UnknownPartition(id, interval.ToString());
    if (it->state == State::kRolledBack) return AlreadyRolledBack(interval.ToString());
    if (HasChanged(*it)) meant.push_back(*it);
  }
  for (const StoredPartition& one : *all) {
    if (asked.empty() && HasChanged(one)) meant.push_back(one);
  }
  if (meant.empty()) return back ? AlreadyRolledBack(id) : NothingToRollBack(id);
  return meant;
}

// What the attempt that wrote the partition saw there before.
absl::StatusOr<std::vector<std::string>> OldIds(store::Transaction& tx,
                                                const StoredPartition& partition) {
  auto attempt = ReadAttempt(tx, partition.proof->task_id);
  if (!attempt.ok()) return attempt.status();
  for (const PartitionBefore& before : attempt->before.partitions) {
    if (before.partition != partition.partition) continue;
    if (before.segments.empty() && !before.versions.empty()) break;
    return before.segments;
  }
  return OldGenerationUnknown(partition.partition.ToString());
}

absl::StatusOr<Rollbacks> Planned(store::Transaction& tx, const Backfill& backfill,
                                  const Backfills::RollbackRequest& request,
                                  const audit::Caller& caller) {
  if (!IsOver(backfill.phase) && backfill.phase != Phase::kNeedsAttention) {
    return StillAtWork(backfill.id, NameOf(backfill.phase));
  }
  auto partitions = Meant(tx, backfill.id, request.partitions);
  if (!partitions.ok()) return partitions.status();
  Rollbacks rollbacks;
  for (const StoredPartition& partition : *partitions) {
    const Instant until = backfill.ended.value_or(partition.since) + backfill.rollback_window;
    if (tx.now() > until) return RollbackWindowOver(partition.partition.ToString(), until);
    auto old_ids = OldIds(tx, partition);
    if (!old_ids.ok()) return old_ids.status();
    Rollback rollback;
    rollback.backfill_id = backfill.id;
    rollback.partition = partition.partition;
    rollback.version = partition.proof->version;
    rollback.old_ids = *std::move(old_ids);
    rollback.new_ids = partition.proof->segment_ids;
    rollback.accept_foreign = request.accept_foreign_rows;
    rollback.requested_by = caller.identity;
    rollback.request_reason = caller.reason;
    rollback.request_id = caller.request_id;
    rollbacks.push_back(std::move(rollback));
  }
  return rollbacks;
}

// What each would do, or the first that speaks against it.
absl::Status LookAt(druid::Cluster& cluster, const std::string& datasource, Rollbacks* rollbacks) {
  const Interval hull =
      *Interval::Of(rollbacks->front().partition.start(), rollbacks->back().partition.end());
  const auto used = cluster.ListUsedSegments(datasource, {hull});
  if (!used.done()) return RollbackNotCheckable(used.text());
  const druid::Timeline timeline = druid::Timeline::Of(used.value());
  for (Rollback& rollback : *rollbacks) {
    const RollbackSight sight = SightOf(timeline, rollback);
    absl::Status status = CheckSight(sight, rollback);
    if (status.ok()) status = CheckStillThere(cluster, datasource, rollback, sight.missing);
    if (!status.ok()) return status;
    rollback.message = absl::StrCat(
        sight.going.size(), " segment(s) of ", rollback.version, " go, ",
        rollback.old_ids.empty() ? std::string("and nothing comes back: nothing was there")
                                 : absl::StrCat(rollback.old_ids.size(), " come back"));
  }
  return absl::OkStatus();
}

// The same request again, while its rollbacks are there.
bool AskedBefore(const Rollbacks& rollbacks, const audit::Caller& caller) {
  return !caller.request_id.empty() &&
         std::any_of(rollbacks.begin(), rollbacks.end(), [&](const Rollback& one) {
           return one.request_id == caller.request_id && one.requested_by == caller.identity;
         });
}

std::vector<StoredPartition> Told(const Rollbacks& rollbacks) {
  std::vector<StoredPartition> partitions;
  for (const Rollback& rollback : rollbacks) {
    StoredPartition partition;
    partition.partition = rollback.partition;
    partition.state = rollback.step == RollbackStep::kDone ? State::kRolledBack : State::kDone;
    partition.reason = absl::StrCat("ROLLBACK_", NameOf(rollback.step));
    partition.message = rollback.message;
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

absl::Status StoreThem(store::Transaction& tx, Backfill& backfill, const Options& options,
                       const audit::Caller& caller, Rollbacks* rollbacks) {
  std::vector<Interval> intervals;
  for (const Rollback& rollback : *rollbacks) intervals.push_back(rollback.partition);
  auto grant = ReserveForRollback(tx, backfill, Condense(std::move(intervals)), options, caller);
  if (!grant.ok()) return grant.status();
  for (Rollback& rollback : *rollbacks) {
    rollback.reservation_id = grant->reservation.id;
    rollback.token = grant->reservation.token;
    if (absl::Status status = PutRollback(tx, rollback); !status.ok()) return status;
  }
  absl::Status status = UpdatePhase(tx, backfill).status();
  if (status.ok()) status = work::Schedule(tx, kRollbackWorkKind, backfill.id, tx.now());
  if (!status.ok()) return status;
  return audit::Record(tx, {caller, "RollbackBackfill", backfill.datasource, backfill.id, "OK", "",
                            audit::JsonObject()
                                .Text("partitions", absl::StrCat(rollbacks->size()))
                                .Text("reservation", grant->reservation.id)
                                .ToString(),
                            "backfill"});
}

}  // namespace

absl::StatusOr<Backfills::RollbackReply> Backfills::Rollback(const std::string& id,
                                                             const RollbackRequest& request,
                                                             const audit::Caller& caller) {
  if (absl::Status status = CheckCaller(caller); !status.ok()) return status;
  if (caller.reason.empty()) return ReasonRequired("to bring a former generation back");
  RollbackReply reply;
  Rollbacks rollbacks;
  bool asked_before = false;
  absl::Status status = store_.Read([&](store::Transaction& tx) -> absl::Status {
    auto backfill = ReadBackfill(tx, id);
    if (!backfill.ok()) return backfill.status();
    reply.backfill = *std::move(backfill);
    auto before = ReadRollbacks(tx, id);
    if (!before.ok()) return before.status();
    asked_before = AskedBefore(*before, caller);
    if (asked_before) {
      rollbacks = *std::move(before);
      return absl::OkStatus();
    }
    auto planned = Planned(tx, reply.backfill, request, caller);
    if (!planned.ok()) return planned.status();
    rollbacks = *std::move(planned);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  if (!asked_before) status = LookAt(cluster_, reply.backfill.datasource, &rollbacks);
  if (!status.ok()) return status;
  reply.partitions = Told(rollbacks);
  if (asked_before || request.validate_only) return reply;
  if (!options_.manage) return ObserveOnly();
  status = store_.Write([&](store::Transaction& tx) -> absl::Status {
    // Somebody may have begun the same meanwhile.
    auto backfill = ReadBackfill(tx, id);
    if (!backfill.ok()) return backfill.status();
    auto planned = Planned(tx, *backfill, request, caller);
    if (!planned.ok()) return planned.status();
    absl::Status stored = StoreThem(tx, *backfill, options_, caller, &rollbacks);
    reply.backfill = *std::move(backfill);
    return stored;
  });
  if (!status.ok()) return status;
  changes_.Ring();
  if (wake_) wake_();
  return reply;
}

}  // namespace interlock::backfill
