#include "lib/backfill/plan.h"

#include <openssl/sha.h>

#include <algorithm>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/backfill/json_members.h"
#include "lib/backfill/obstacles.h"
#include "lib/backfill/rows.h"
#include "lib/druid/timeline.h"
#include "lib/lease/reservations.h"
#include "rapidjson/pointer.h"

namespace interlock::backfill {
namespace {

std::string Digest(const std::string& text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), sizeof(digest)));
}

std::string ReadsOf(const std::string& spec_json, const Unit& unit) {
  rapidjson::Document task;
  if (!ReadJsonObject(RenderTask(spec_json, unit, {}), &task)) return "";
  const JsonValue* source = rapidjson::Pointer("/spec/ioConfig/inputSource").Get(task);
  return source == nullptr ? "" : WriteJson(*source).substr(0, kMaxReadsBytes);
}

Blocker BlockerOf(const std::string& datasource, const lease::Held& held) {
  return {
      held.orphaned ? "ORPHANED" : "HELD", absl::StrCat(datasource, "/", held.interval.ToString()),
      absl::StrCat("held by ", held.holder, " for ", held.purpose, " since ", held.since.ToString(),
                   " until ", held.orphaned ? "its work is settled" : held.until.ToString())};
}

class Planner {
 public:
  explicit Planner(const CheckedRequest& checked) : checked_(checked), spec_(*checked.check.spec) {}

  absl::StatusOr<Plan> Run(store::Store& store, druid::Cluster& cluster);

 private:
  void Begin();
  absl::Status LookIntoStore(store::Transaction& tx);
  void LookAtDruid(druid::Cluster& cluster);
  void Replaces(const druid::Timeline& timeline);
  void Notice(const char* reason, const std::string& text) {
    plan_.notices.push_back(absl::StrCat(reason, ": ", text));
  }
  void Finish();

  const CheckedRequest& checked_;
  const Spec& spec_;
  std::map<Interval, std::string> done_;  // version that equal work left last
  Plan plan_;
};

void Planner::Begin() {
  plan_.datasource = spec_.datasource;
  plan_.intervals = spec_.intervals;
  plan_.granularity_json = spec_.granularity_json;
  plan_.widened = spec_.widened;
  plan_.label = spec_.label;
  plan_.spec_json = spec_.json;
  plan_.why_cut = checked_.cut.why;
  plan_.finer = checked_.cut.finer;
  plan_.warnings = checked_.check.warnings;
  for (const Unit& unit : checked_.cut.units) {
    for (const Interval& partition : unit.partitions) {
      PlannedPartition planned;
      planned.partition = partition;
      planned.unit = plan_.units.size();
      plan_.partitions.push_back(std::move(planned));
    }
    plan_.units.push_back({unit, ReadsOf(spec_.json, unit)});
  }
  if (spec_.widened) Notice("WIDENED", "the intervals were widened to whole partitions");
  if (checked_.terms.rule == RowRule::kNotProvable) {
    Notice("ROWS_NOT_PROVABLE", checked_.terms.rule_reason);
  }
}

absl::Status Planner::LookIntoStore(store::Transaction& tx) {
  auto held =
      lease::FindHeld(tx, spec_.datasource, lease::Mode::kReplace, spec_.intervals, kMaxPartitions);
  if (!held.ok()) return held.status();
  for (PlannedPartition& planned : plan_.partitions) {
    for (const lease::Held& one : *held) {
      if (one.reservation_id == checked_.request.reservation_id) continue;
      if (!one.interval.Overlaps(planned.partition)) continue;
      planned.blockers.push_back(BlockerOf(spec_.datasource, one));
      planned.action = checked_.request.skip_held ? PlannedPartition::Action::kSkipHeld
                                                  : PlannedPartition::Action::kBlocked;
    }
    auto done = FindDone(tx, spec_.datasource, planned.partition);
    if (!done.ok()) return done.status();
    if (*done && (*done)->digest == checked_.digest) done_[planned.partition] = (*done)->version;
  }
  return absl::OkStatus();
}

void Planner::Replaces(const druid::Timeline& timeline) {
  for (PlannedPartition& planned : plan_.partitions) {
    for (const druid::Slice& slice : timeline.Visible(planned.partition)) {
      if (planned.replaces.empty() || planned.replaces.back() != slice.version) {
        planned.replaces.push_back(slice.version);
      }
    }
    const auto done = done_.find(planned.partition);
    const bool live =
        done != done_.end() &&
        (planned.replaces.empty() ? done->second.empty() : planned.replaces.back() == done->second);
    if (live && planned.action == PlannedPartition::Action::kRun &&
        checked_.request.reprocess == Reprocess::kNone) {
      planned.action = PlannedPartition::Action::kSkipDone;
    }
  }
}

void Planner::LookAtDruid(druid::Cluster& cluster) {
  const Interval hull =
      *Interval::Of(spec_.intervals.front().start(), spec_.intervals.back().end());
  const auto used = cluster.ListUsedSegments(spec_.datasource, {hull});
  if (!used.done()) {
    Notice("DRUID_UNAVAILABLE", used.text());
    return;
  }
  Replaces(druid::Timeline::Of(used.value()));
  const auto locks = cluster.ListLocks(spec_.datasource, spec_.intervals);
  if (!locks.done()) {
    Notice("DRUID_UNAVAILABLE", locks.text());
    return;
  }
  for (const druid::TaskLock& lock : locks.value()) {
    const bool blocks = LockBlocks(lock);
    for (PlannedPartition& planned : plan_.partitions) {
      if (!lock.interval.Overlaps(planned.partition)) continue;
      planned.blockers.push_back({blocks ? "DRUID_LOCK" : "DRUID_LOCK_PREEMPTED",
                                  absl::StrCat(spec_.datasource, "/", lock.interval.ToString()),
                                  DescribeLock(lock)});
      if (blocks && planned.action == PlannedPartition::Action::kRun) {
        planned.action = PlannedPartition::Action::kBlocked;
      }
    }
  }
}

void Planner::Finish() {
  std::string world;
  for (const PlannedPartition& planned : plan_.partitions) {
    absl::StrAppend(&world, planned.partition.ToString(), " ", absl::StrJoin(planned.replaces, " "),
                    "\n");
    for (const Blocker& blocker : planned.blockers) {
      absl::StrAppend(&world, blocker.type, " ", blocker.subject, "\n");
    }
    if (spec_.reads_itself() && !planned.replaces.empty()) {
      plan_.generation_read = std::max(plan_.generation_read, planned.replaces.back());
    }
  }
  plan_.revision = Digest(world);
  if (spec_.reads_itself()) {
    Notice("READS_OWN_TARGET",
           absl::StrCat("it reads what it replaces",
                        plan_.generation_read.empty()
                            ? std::string()
                            : absl::StrCat(", version ", plan_.generation_read)));
  }
}

absl::StatusOr<Plan> Planner::Run(store::Store& store, druid::Cluster& cluster) {
  Begin();
  absl::Status status = store.Read([this](store::Transaction& tx) { return LookIntoStore(tx); });
  if (!status.ok()) return status;
  LookAtDruid(cluster);
  Finish();
  return std::move(plan_);
}

}  // namespace

absl::StatusOr<Plan> PlanOf(const CheckedRequest& checked, store::Store& store,
                            druid::Cluster& cluster) {
  return Planner(checked).Run(store, cluster);
}

}  // namespace interlock::backfill
