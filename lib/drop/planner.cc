#include "lib/drop/planner.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/drop/check.h"
#include "lib/drop/clocks.h"
#include "lib/drop/drop_errors.h"
#include "lib/drop/kill_duty.h"
#include "lib/lease/reservations.h"
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
  for (const Interval& interval : plan.intervals) {
    const auto load = cluster.GetLoadStatus(plan.datasource, interval, true);
    if (!load.done()) {
      why = load.text();
    } else if (load.value().unavailable_segments > 0) {
      why = absl::StrCat(load.value().unavailable_segments, " segments are not loaded");
    }
    if (!why.empty()) break;
  }
  if (why.empty()) {
    auto sums = cluster.SumRows(plan.datasource, plan.intervals, plan.metrics);
    if (!sums.done() && !plan.metrics.empty()) {
      // Of columns that cannot be summed (sketches) the rows at least.
      plan.metrics.clear();
      sums = cluster.SumRows(plan.datasource, plan.intervals, plan.metrics);
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

void AddKillDuty(const DropRequest& request, druid::Cluster& cluster,
                 const druid::Capabilities& offered, const Readings& now, Planned& planned) {
  const auto settings = cluster.GetCoordinatorSettings();
  std::optional<KillDuty> duty;
  if (settings.done()) duty = ReadKillDuty(settings.value(), offered.locked_intervals_v2);
  if (!duty) {
    planned.plan.notes.push_back(
        {"KILL_DUTY_UNKNOWN",
         absl::StrCat("whether Druid's own kill duty would kill inside the window cannot be read",
                      settings.done() ? "" : ": ", settings.done() ? "" : settings.text())});
    return;
  }
  for (const Interval& interval : planned.plan.intervals) {
    if (!KillsInside(*duty, request.datasource, interval.end(), now.store, *request.window)) {
      continue;
    }
    const Objection inside{"KILL_DUTY_INSIDE_WINDOW", interval.ToString(),
                           absl::StrCat("Druid's own kill duty removes unused segments after ",
                                        interlock::FormatDuration(duty->buffer), ", the window is ",
                                        interlock::FormatDuration(*request.window),
                                        ": a restore would work only until then")};
    if (request.accept_kill_duty) {
      planned.plan.notes.push_back({inside.reason, inside.text});
    } else {
      planned.refusals.push_back(Blocked({inside}));
    }
  }
}

absl::Status AddHeld(const DropRequest& request, store::Store& store, Planned& planned) {
  if (!request.reservation_id.empty()) return absl::OkStatus();
  std::vector<lease::Held> held;
  absl::Status status = store.Read([&](store::Transaction& tx) {
    absl::StatusOr<std::vector<lease::Held>> found =
        lease::FindHeld(tx, request.datasource, lease::Mode::kReplace, request.intervals, 100);
    if (!found.ok()) return found.status();
    held = *std::move(found);
    return absl::OkStatus();
  });
  for (const lease::Held& one : held) {
    planned.plan.blockers.push_back(
        {kHeld, one.interval.ToString(),
         absl::StrCat("held by ", one.holder, " (", one.purpose, ") until ",
                      one.orphaned ? "its work is settled" : one.until.ToString())});
  }
  return status;
}

void AddEmptied(Plan& plan) {
  if (plan.leaves_empty.empty()) return;
  plan.notes.push_back(
      {"LEAVES_EMPTY",
       absl::StrCat(plan.leaves_empty.size(), " stretches from ",
                    plan.leaves_empty.front().ToString(),
                    " on will have no data at all; to replace data, submit a backfill, which "
                    "never leaves a hole")});
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
  AddKillDuty(request, cluster, offered.value(), now, planned);
  AddCapabilities(offered.value(), plan);
  AddEmptied(plan);
  if (!plan.doomed().empty()) AddSums(cluster, plan);
  for (const absl::Status& refusal : planned.refusals) {
    plan.blockers.push_back({ReasonOf(refusal), plan.datasource, std::string(refusal.message())});
  }
  if (options.observe_only) planned.refusals.push_back(ObserveOnly());
  absl::Status status = AddHeld(request, store, planned);
  if (!status.ok()) return status;
  return planned;
}

}  // namespace interlock::drop
