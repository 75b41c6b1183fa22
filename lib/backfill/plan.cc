#include "lib/backfill/plan.h"

#include <openssl/sha.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/backfill/backfill_errors.h"
#include "lib/backfill/input_look.h"
#include "lib/backfill/json_members.h"
#include "lib/backfill/obstacles.h"
#include "lib/backfill/rows.h"
#include "lib/backfill/sql_work.h"
#include "lib/backfill/still_done.h"
#include "lib/backfill/tails_at_submit.h"
#include "lib/druid/timeline.h"
#include "lib/lease/reservations.h"
#include "lib/time/interval_set.h"
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
  if (IsSql(spec_json)) {
    return RenderQuery(SqlWorkFrom(spec_json).query, unit.hull()).substr(0, kMaxReadsBytes);
  }
  rapidjson::Document task;
  if (!ReadJsonObject(RenderTask(spec_json, unit, {}), &task)) return "";
  const JsonValue* source = rapidjson::Pointer("/spec/ioConfig/inputSource").Get(task);
  return source == nullptr ? "" : WriteJson(*source).substr(0, kMaxReadsBytes);
}

// The versions that are visible in a partition, each with what it has there.
std::vector<Replaced> ReplacedIn(const druid::Timeline& timeline, const Interval& partition) {
  std::vector<Replaced> all;
  for (const druid::Slice& slice : timeline.Visible(partition)) {
    const bool told = std::any_of(all.begin(), all.end(), [&](const Replaced& one) {
      return one.chunk == slice.chunk && one.version == slice.version;
    });
    if (told) continue;
    Replaced one;
    one.chunk = slice.chunk;
    one.version = slice.version;
    for (const druid::Segment* segment : slice.segments) {
      ++one.segments;
      one.appended += segment->appended() ? 1 : 0;
      one.tombstones += segment->tombstone() ? 1 : 0;
      one.bytes += segment->size_bytes;
      one.by_compaction = one.by_compaction || segment->compacted;
    }
    all.push_back(std::move(one));
  }
  return all;
}

class Planner {
 public:
  Planner(const CheckedRequest& checked, const lease::Limits& limits)
      : checked_(checked), spec_(*checked.check.spec), limits_(limits) {}

  absl::StatusOr<Plan> Run(store::Store& store, druid::Cluster& cluster);

 private:
  void Begin();
  absl::Status LookIntoStore(store::Transaction& tx);
  absl::Status LookAtTails(store::Transaction& tx);
  bool Waits(const PlannedPartition& planned) const {
    return !later_.empty() && Covers(later_, {planned.partition});
  }
  void LookAtDruid(druid::Cluster& cluster);
  void LookAtSegments(const druid::Timeline& timeline);
  void LookAtLocks(const std::vector<druid::TaskLock>& locks);
  void LookAtRules(druid::Cluster& cluster, Instant now);
  void LookAtTasks(druid::Cluster& cluster);
  void CountRows(druid::Cluster& cluster);
  void LookAtInput(druid::Cluster& cluster);
  // False, with a notice, where the answer says nothing.
  template <class T>
  bool Told(const druid::Answer<T>& answer) {
    if (answer.done()) return true;
    plan_.druid_answered = false;
    Notice("DRUID_UNAVAILABLE", answer.text());
    return false;
  }
  void Add(PlannedPartition& planned, Obstacle obstacle);
  void Notice(const char* reason, const std::string& text) {
    plan_.notices.push_back(absl::StrCat(reason, ": ", text));
  }
  void Finish();

  const CheckedRequest& checked_;
  const Spec& spec_;
  const lease::Limits& limits_;
  std::vector<Interval> later_;            // what waits for a stream
  std::map<Interval, ProvenBefore> done_;  // what equal work left last
  Plan plan_;
};

void Planner::Begin() {
  plan_.datasource = spec_.datasource;
  plan_.intervals = spec_.intervals;
  plan_.granularity_json = spec_.granularity_json;
  plan_.widened = spec_.widened;
  plan_.label = spec_.label;
  plan_.spec_json = spec_.json;
  if (!spec_.sql) plan_.changes = ChangesOf(checked_.request.spec, spec_.json);
  plan_.job = checked_.job;
  plan_.job_version = checked_.job_version;
  plan_.sources = checked_.request.sources;
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

void Planner::Add(PlannedPartition& planned, Obstacle obstacle) {
  using Action = PlannedPartition::Action;
  // It goes with the stream.
  if (Waits(planned) && obstacle.by_stream) obstacle.blocking = false;
  if (obstacle.blocking) {
    const bool held = obstacle.reason == "HELD" || obstacle.reason == "ORPHANED";
    const bool skip = held && checked_.request.skip_held && planned.action != Action::kBlocked;
    planned.action = skip ? Action::kSkipHeld : Action::kBlocked;
  }
  planned.obstacles.push_back(std::move(obstacle));
}

// What is left for later; where that is refused, the tails are obstacles.
absl::Status Planner::LookAtTails(store::Transaction& tx) {
  auto takeable = TakeableNow(tx, {spec_.datasource, spec_.intervals, spec_.granularity,
                                   spec_.reads_itself(), checked_.request.tails});
  if (absl::IsFailedPrecondition(takeable.status())) return absl::OkStatus();
  if (!takeable.ok()) return takeable.status();
  later_ = std::move(takeable->later);
  plan_.notices.insert(plan_.notices.end(), takeable->notices.begin(), takeable->notices.end());
  return absl::OkStatus();
}

absl::Status Planner::LookIntoStore(store::Transaction& tx) {
  if (absl::Status status = LookAtTails(tx); !status.ok()) return status;
  auto leave = TailLeaveOf(tx, checked_.request.tails, spec_.datasource);
  if (!leave.ok()) return leave.status();
  auto held = FindHeldWith(tx, *leave, spec_.datasource, spec_.intervals, kMaxPartitions, limits_);
  if (!held.ok()) return held.status();
  std::vector<Obstacle> others;
  for (const lease::Held& one : *held) {
    // What is no reservation has no id, and nobody's own is it.
    const bool own =
        !one.reservation_id.empty() && one.reservation_id == checked_.request.reservation_id;
    if (!own) others.push_back(ObstacleOf(one));
  }
  for (PlannedPartition& planned : plan_.partitions) {
    for (const Obstacle& one : others) {
      if (one.interval.Overlaps(planned.partition)) Add(planned, one);
    }
    if (Waits(planned) && planned.action == PlannedPartition::Action::kRun) {
      planned.action = PlannedPartition::Action::kWaitForStream;
    }
    if (!checked_.request.sources.empty()) continue;  // they may have changed
    auto done = FindProven(tx, spec_.datasource, planned.partition, checked_.digest);
    if (!done.ok()) return done.status();
    if (*done) done_.insert_or_assign(planned.partition, **std::move(done));
  }
  return absl::OkStatus();
}

void Planner::LookAtSegments(const druid::Timeline& timeline) {
  std::set<std::string> shadowed;
  for (PlannedPartition& planned : plan_.partitions) {
    std::set<std::string> crosses;  // one that a finer one lies over is seen in several slices
    planned.replaces = ReplacedIn(timeline, planned.partition);
    for (const druid::Slice& slice : timeline.Visible(planned.partition)) {
      const druid::Segment& segment = *slice.segments.front();
      if (auto crossing = CrossingObstacle(segment, planned.partition)) {
        if (crosses.insert(segment.id).second) Add(planned, *std::move(crossing));
      } else if (!planned.partition.Contains(slice.chunk) &&
                 shadowed.insert(slice.chunk.ToString()).second) {
        Notice("PARTLY_SHADOWED",
               absl::StrCat("version ", slice.version, " over ", slice.chunk.ToString(),
                            " is replaced in part; the rest of it stays as it is"));
      }
    }
    const auto done = done_.find(planned.partition);
    if (done == done_.end() || planned.action != PlannedPartition::Action::kRun) continue;
    if (checked_.request.reprocess == Reprocess::kNone &&
        StillShows(done->second, timeline, planned.partition)) {
      planned.action = PlannedPartition::Action::kSkipDone;
    }
  }
}

void Planner::LookAtLocks(const std::vector<druid::TaskLock>& locks) {
  for (const druid::TaskLock& lock : locks) {
    for (PlannedPartition& planned : plan_.partitions) {
      if (lock.interval.Overlaps(planned.partition)) Add(planned, ObstacleOf(lock));
    }
  }
}

void Planner::LookAtRules(druid::Cluster& cluster, Instant now) {
  const auto answer = cluster.GetRules(spec_.datasource);
  if (!Told(answer)) return;
  const auto rules = druid::Rules::Parse(answer.value());
  if (!rules.ok()) return;
  for (PlannedPartition& planned : plan_.partitions) {
    auto obstacle = RetentionObstacle(*rules, planned.partition, now);
    if (obstacle) Add(planned, *std::move(obstacle));
  }
}

// Which time a task will write is known from its locks alone: one that has none yet is told.
void Planner::LookAtTasks(druid::Cluster& cluster) {
  const auto tasks = cluster.ListLiveTasks(spec_.datasource);
  if (!Told(tasks)) return;
  for (const druid::TaskStatus& task : tasks.value()) {
    if (!task.top_level() || absl::StartsWith(task.id, "il-")) continue;
    Obstacle obstacle;
    const bool compaction = task.type == "compact";
    obstacle.kind = compaction ? "COMPACTION" : "DRUID_TASK";
    obstacle.reason = compaction ? "COMPACTION_RUNS" : "FOREIGN_TASK";
    obstacle.interval = spec_.intervals.front();
    obstacle.holder = obstacle.task_id = task.id;
    obstacle.blocking = false;
    obstacle.message =
        absl::StrCat("task ", task.id, " of type ", task.type, " is at work in the datasource",
                     compaction ? "; a backfill pre-empts it" : "; its locks say where");
    plan_.obstacles.push_back(std::move(obstacle));
  }
}

void Planner::CountRows(druid::Cluster& cluster) {
  std::vector<Interval> wanted;
  for (const PlannedPartition& planned : plan_.partitions) {
    if (!planned.replaces.empty()) wanted.push_back(planned.partition);
  }
  if (wanted.empty()) return;
  if (wanted.size() > kMaxCountedPartitions) {
    return Notice("ROWS_NOT_COUNTED", absl::StrCat("rows are counted in plans of at most ",
                                                   kMaxCountedPartitions, " partitions"));
  }
  const std::string& metric = checked_.terms.count_metric;
  const auto sums = cluster.SumRows(
      spec_.datasource, wanted, metric.empty() ? std::vector<std::string>{} : std::vector{metric});
  if (!Told(sums)) return;
  for (const druid::RowSums& one : sums.value()) {
    for (PlannedPartition& planned : plan_.partitions) {
      if (planned.partition != one.interval || planned.replaces.size() != 1) continue;
      const auto counted = one.sums.find(metric);
      planned.replaces.front().rows =
          counted == one.sums.end() ? one.rows : std::llround(counted->second);
    }
  }
}

// Of partitions that have rows: none of theirs may be replaced by nothing unawares.
void Planner::LookAtInput(druid::Cluster& cluster) {
  if (checked_.terms.min_rows == std::optional<int64_t>(0)) return;
  if (!checked_.request.sources.empty()) return;  // what they hold decides, empty or not
  std::optional<InputLook> look;
  size_t looked_at = plan_.units.size(), looks = 0;
  for (PlannedPartition& planned : plan_.partitions) {
    const bool has_rows =
        std::any_of(planned.replaces.begin(), planned.replaces.end(),
                    [](const Replaced& one) { return one.segments > one.tombstones; });
    if (!has_rows) continue;
    if (planned.unit != looked_at) {
      if (++looks > kMaxLookedAtInputs) {
        return Notice(
            "INPUT_NOT_LOOKED_AT",
            absl::StrCat("the input of the first ", kMaxLookedAtInputs, " tasks was looked at"));
      }
      look.emplace(cluster, spec_.json, plan_.units[planned.unit].unit);
      looked_at = planned.unit;
    }
    if (auto obstacle = look->At(planned.partition)) Add(planned, *std::move(obstacle));
  }
}

void Planner::LookAtDruid(druid::Cluster& cluster) {
  const Interval hull =
      *Interval::Of(spec_.intervals.front().start(), spec_.intervals.back().end());
  const auto used = cluster.ListUsedSegments(spec_.datasource, {hull});
  if (!Told(used)) return;
  LookAtSegments(druid::Timeline::Of(used.value()));
  const auto locks = cluster.ListLocks(spec_.datasource, spec_.intervals);
  if (!Told(locks)) return;
  LookAtLocks(locks.value());
  if (used.druid_time()) LookAtRules(cluster, *used.druid_time());
  LookAtTasks(cluster);
  CountRows(cluster);
  LookAtInput(cluster);
}

void Planner::Finish() {
  std::string world = absl::StrCat(checked_.digest, "\n");
  for (const PlannedPartition& planned : plan_.partitions) {
    absl::StrAppend(&world, planned.partition.ToString(), " ", planned.generation(), "\n");
    for (const Obstacle& obstacle : planned.obstacles) {
      if (obstacle.kind == "DRUID_LOCK" || obstacle.kind == "COMPACTION") continue;
      absl::StrAppend(&world, obstacle.reason, " ", obstacle.interval.ToString(), " ",
                      obstacle.holder, "\n");
    }
    if (spec_.reads_itself() && !planned.replaces.empty()) {
      plan_.generation_read = std::max(plan_.generation_read, planned.replaces.back().version);
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

std::string PlannedPartition::generation() const {
  std::string all;
  for (const Replaced& one : replaces) {
    if (all.find(one.version) == std::string::npos) {
      absl::StrAppend(&all, all.empty() ? "" : ",", one.version);
    }
  }
  return all;
}

absl::StatusOr<Plan> PlanOf(const CheckedRequest& checked, const lease::Limits& limits,
                            store::Store& store, druid::Cluster& cluster) {
  return Planner(checked, limits).Run(store, cluster);
}

absl::Status CheckPlanned(const BackfillRequest& request, const Plan& plan) {
  if (request.plan_revision.empty() && request.expect_generation.empty()) return absl::OkStatus();
  if (!plan.druid_answered) return PlanNotCheckable();
  if (!request.plan_revision.empty() && request.plan_revision != plan.revision) {
    return PlanMoved(request.plan_revision, plan.revision);
  }
  if (request.expect_generation.empty()) return absl::OkStatus();
  for (const PlannedPartition& planned : plan.partitions) {
    if (planned.generation() != request.expect_generation) {
      return GenerationMoved(planned.partition.ToString(), request.expect_generation,
                             planned.generation());
    }
  }
  return absl::OkStatus();
}

}  // namespace interlock::backfill
