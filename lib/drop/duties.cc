#include "lib/drop/duties.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/drop/check.h"
#include "lib/drop/drop_errors.h"
#include "lib/drop/kill_duty.h"
#include "lib/druid/rules.h"
#include "lib/time/duration.h"
#include "lib/time/interval_set.h"

namespace interlock::drop {
namespace {

void AddKillDuty(const DropRequest& request, druid::Cluster& cluster,
                 const druid::Capabilities& offered, const Readings& now, Plan& plan,
                 std::vector<absl::Status>& refusals) {
  const auto settings = cluster.GetCoordinatorSettings();
  std::optional<KillDuty> duty;
  if (settings.done()) duty = ReadKillDuty(settings.value(), offered.locked_intervals_v2);
  if (!duty) {
    plan.notes.push_back(
        {"KILL_DUTY_UNKNOWN",
         absl::StrCat("whether Druid's own kill duty would kill inside the window cannot be read",
                      settings.done() ? "" : ": ", settings.done() ? "" : settings.text())});
    return;
  }
  for (const Interval& interval : plan.intervals) {
    if (!KillsInside(*duty, request.datasource, interval.end(), now.store, *request.window)) {
      continue;
    }
    const Objection inside{"KILL_DUTY_INSIDE_WINDOW", interval.ToString(),
                           absl::StrCat("Druid's own kill duty removes unused segments after ",
                                        interlock::FormatDuration(duty->buffer), ", the window is ",
                                        interlock::FormatDuration(*request.window),
                                        ": a restore would work only until then")};
    if (request.accept_kill_duty) {
      plan.notes.push_back({inside.reason, inside.text});
    } else {
      refusals.push_back(Blocked({inside}));
    }
  }
}

void AddRules(druid::Cluster& cluster, const Readings& now, Plan& plan) {
  const auto json = cluster.GetRules(plan.datasource);
  const absl::StatusOr<druid::Rules> rules =
      json.done() ? druid::Rules::Parse(json.value()) : absl::UnavailableError(json.text());
  if (!rules.ok()) {
    plan.notes.push_back({"RULES_UNKNOWN", absl::StrCat("Druid's retention rules cannot be read: ",
                                                        rules.status().message())});
    return;
  }
  int64_t dropped = 0;
  std::string rule;
  for (const ManifestRow& row : plan.doomed()) {
    const druid::RuleVerdict verdict = rules->Of(row.interval, now.store);
    if (verdict.fate != druid::Fate::kDropped) continue;
    ++dropped;
    rule = verdict.rule;
  }
  if (dropped == 0) return;
  plan.notes.push_back(
      {"RETENTION_RULE", absl::StrCat(dropped,
                                      " of the segments are dropped by a retention rule "
                                      "of Druid's, ",
                                      rule,
                                      ": it marks them unused by itself, and again after a "
                                      "restore")});
}

void AddCompaction(druid::Cluster& cluster, Plan& plan) {
  const auto config = cluster.GetCompactionConfig(plan.datasource);
  if (!config.done()) {
    plan.notes.push_back(
        {"COMPACTION_UNKNOWN",
         absl::StrCat("Druid's compaction settings cannot be read: ", config.text())});
  } else if (config.value()) {
    const std::string& skip = config.value()->skip_offset_from_latest;
    plan.notes.push_back(
        {"COMPACTION_FIRST",
         absl::StrCat("compaction is configured for ", plan.datasource, " (skipOffsetFromLatest ",
                      skip.empty() ? "not told" : skip,
                      "): it may rewrite these intervals before they go, into segments that are "
                      "not on the manifest; never compact what will be dropped")});
  }
}

void AddLocks(druid::Cluster& cluster, Plan& plan) {
  const auto locks = cluster.ListLocks(plan.datasource, plan.intervals);
  if (!locks.done()) return;  // asked again where it counts, before the kill
  const std::vector<Interval> covered = CoveredTime(plan.manifest);
  for (const druid::TaskLock& lock : locks.value()) {
    if (lock.revoked || Intersect(covered, Condense({lock.interval})).empty()) continue;
    plan.notes.push_back(
        {kLocked, absl::StrCat("a Druid task of group ",
                               lock.group_id.empty() ? "(not told)" : lock.group_id,
                               " holds a lock on ", lock.interval.ToString(),
                               ": what it writes there is not on the manifest, and stops the "
                               "drop")});
  }
}

}  // namespace

void AddDuties(const DropRequest& request, druid::Cluster& cluster,
               const druid::Capabilities& offered, const Readings& now, Plan& plan,
               std::vector<absl::Status>& refusals) {
  AddKillDuty(request, cluster, offered, now, plan, refusals);
  AddRules(cluster, now, plan);
  AddCompaction(cluster, plan);
  AddLocks(cluster, plan);
}

}  // namespace interlock::drop
