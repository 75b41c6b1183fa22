#include "lib/drop/planner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/drop/check.h"
#include "lib/drop/clocks.h"
#include "lib/drop/drop_errors.h"
#include "lib/drop/duties.h"
#include "lib/drop/lease_hold.h"
#include "lib/time/duration.h"
#include "lib/time/status_reason.h"

namespace interlock::drop {
namespace {

Instant Earliest(const Readings& now) {
  Instant earliest = std::min(now.store, now.wall);
  return now.druid ? std::min(earliest, *now.druid) : earliest;
}

void AddSegmentRefusals(const DropRequest& request, const Plan& plan, const Readings& now,
                        std::vector<absl::Status>& refusals) {
  const std::vector<ManifestRow> stays = plan.stays();
  const bool nothing_inside = plan.doomed().empty();
  if (!stays.empty() && (nothing_inside || !request.accept_partial_cover)) {
    refusals.push_back(CutsSegments(stays, nothing_inside));
  } else if (nothing_inside) {
    refusals.push_back(NothingToDrop(plan.datasource, plan.intervals));
  }
  for (const Interval& interval : plan.intervals) {
    if (OlderThan(interval.end(), *request.floor, now)) continue;
    refusals.push_back(YoungerThanFloor(interval, *request.floor, Earliest(now) - *request.floor));
  }
}

void AddShared(const std::vector<druid::Segment>& used, const Plan& plan,
               std::vector<absl::Status>& refusals) {
  const std::vector<Objection> shared = SharedFiles(plan.manifest, used);
  if (!shared.empty()) refusals.push_back(Blocked(shared));
}

// Rows before the mark, where all that is visible is also served.
void AddSums(druid::Cluster& cluster, Plan& plan) {
  std::string why;
  const std::vector<Interval> counted = plan.counted();
  for (const Interval& interval : counted) {
    const auto load = cluster.GetLoadStatus(plan.datasource, interval, true);
    if (!load.done()) {
      why = load.text();
    } else if (load.value().unavailable_segments > 0) {
      why = absl::StrCat(load.value().unavailable_segments, " segments are not loaded");
    }
    if (!why.empty()) break;
  }
  if (why.empty()) {
    auto sums = cluster.SumRows(plan.datasource, counted, plan.metrics);
    if (!sums.done() && !plan.metrics.empty()) {
      // Of columns that cannot be summed (sketches) the rows at least.
      plan.metrics.clear();
      sums = cluster.SumRows(plan.datasource, counted, plan.metrics);
    }
    if (sums.done()) plan.sums = sums.value();
    if (!sums.done()) why = sums.text();
  }
  if (!why.empty()) {
    plan.notes.push_back(
        {"ROWS_NOT_PROVABLE", absl::StrCat("rows cannot be counted now, so a restore could not be "
                                           "proven by them: ",
                                           why)});
  }
}

void AddCapabilities(const druid::Capabilities& offered, Plan& plan) {
  if (!offered.kill_bounded || !offered.unused_segments_list) {
    plan.notes.push_back({kKillIsNotBounded,
                          "this Druid has no means to bound a kill to what was dropped: the "
                          "segments will be marked unused, and not killed"});
  }
}

absl::Status AddHeld(const DropRequest& request, const Options& options, store::Store& store,
                     Planned& planned) {
  if (!request.reservation_id.empty()) return absl::OkStatus();
  constexpr int64_t kMostTold = 100;
  Drop drop;  // what it would reserve as
  drop.datasource = request.datasource;
  drop.intervals = request.intervals;
  return store.Read([&](store::Transaction& tx) {
    absl::StatusOr<std::vector<Objection>> found = InTheWay(tx, drop, options, kMostTold);
    if (!found.ok()) return found.status();
    for (Objection& one : *found) planned.plan.blockers.push_back(std::move(one));
    return absl::OkStatus();
  });
}

void AddEmptied(Plan& plan) {
  if (plan.leaves_empty.empty()) return;
  const size_t more = plan.leaves_empty.size() - 1;
  plan.notes.push_back(
      {"LEAVES_EMPTY",
       absl::StrCat(plan.leaves_empty.front().ToString(),
                    more == 0 ? "" : absl::StrCat(" (and ", more, " more, see leaves_empty)"),
                    " will have no data at all; to replace data, submit a backfill, which never "
                    "leaves a hole")});
}

}  // namespace

absl::StatusOr<Planned> MakePlan(const DropRequest& request, const Options& options,
                                 store::Store& store, druid::Cluster& cluster, const Clock& clock) {
  const auto offered = cluster.GetCapabilities();
  if (!offered.done()) return DruidUnavailable(offered.text());
  const auto used = cluster.ListUsedSegments(request.datasource, request.intervals);
  if (!used.done()) return DruidUnavailable(used.text());
  const Readings now{store.Now(), clock.Now(), used.druid_time()};

  Planned planned;
  planned.plan = PlanFrom(request.datasource, request.intervals, used.value());
  Plan& plan = planned.plan;
  const int64_t count = static_cast<int64_t>(plan.manifest.size());
  if (count > kMaxSegments) {
    return LimitExceeded("segments", count, kMaxSegments, "make several drops of it");
  }
  plan.window = *request.window;
  plan.floor = *request.floor;
  plan.window_end = now.store + plan.window;
  AddSegmentRefusals(request, plan, now, planned.refusals);
  AddShared(used.value(), plan, planned.refusals);
  AddDuties(request, cluster, offered.value(), now, plan, planned.refusals);
  AddCapabilities(offered.value(), plan);
  AddEmptied(plan);
  if (!plan.doomed().empty()) AddSums(cluster, plan);
  for (const absl::Status& refusal : planned.refusals) {
    plan.blockers.push_back({ReasonOf(refusal), plan.datasource, std::string(refusal.message())});
  }
  if (options.observe_only) planned.refusals.push_back(ObserveOnly());
  absl::Status status = AddHeld(request, options, store, planned);
  if (!status.ok()) return status;
  return planned;
}

}  // namespace interlock::drop
