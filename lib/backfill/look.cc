// What is there before a task is posted, and what is in its way.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/backfill/input_look.h"
#include "lib/backfill/lock_waits.h"
#include "lib/backfill/look_tails.h"
#include "lib/backfill/obstacles.h"
#include "lib/backfill/pass.h"
#include "lib/backfill/still_done.h"
#include "lib/druid/appends.h"
#include "lib/time/interval_set.h"

namespace interlock::backfill {
namespace {

using Tasks = std::vector<druid::TaskStatus>;

// Versions are times in Druid's clock: one from the future would hide what is written now.
const druid::Segment* FromTheFuture(const std::vector<druid::Segment>& used, const Unit& unit,
                                    std::optional<Instant> druid_now, absl::Duration skew) {
  if (!druid_now) return nullptr;
  for (const druid::Segment& segment : used) {
    if (Intersect({segment.interval}, unit.intervals).empty()) continue;
    const auto version = Instant::Parse(segment.version);
    if (version.ok() && *version > *druid_now + skew) return &segment;
  }
  return nullptr;
}

Obstacle SkewObstacle(const druid::Segment& segment) {
  Obstacle obstacle;
  obstacle.kind = "CLOCK";
  obstacle.reason = "CLOCK_SKEW";
  obstacle.interval = segment.interval;
  obstacle.message =
      absl::StrCat("segment ", segment.id,
                   " has a version from Druid's future, and would hide what is written now");
  obstacle.remedy = "mend the clocks of Druid's hosts; then drop that version";
  return obstacle;
}

// A segment is seen in several slices where a finer one lies over the middle of it.
void AddOnce(const std::string& text, std::vector<std::string>* texts) {
  if (std::find(texts->begin(), texts->end(), text) == texts->end()) texts->push_back(text);
}

void FillPartitions(const Unit& unit, const druid::Timeline& timeline, BeforeLook* look) {
  for (const Interval& partition : unit.partitions) {
    PartitionBefore before;
    before.partition = partition;
    for (const druid::Slice& slice : timeline.Visible(partition)) {
      AddOnce(slice.version, &before.versions);
      before.had_rows = before.had_rows || !slice.tombstone();
      for (const druid::Segment* segment : slice.segments) AddOnce(segment->id, &before.segments);
    }
    look->partitions.push_back(std::move(before));
  }
}

}  // namespace

absl::StatusOr<Pass::Sight> Pass::LookForStreams(const StoredUnit& unit) {
  const auto tails = LookForTails(world_.store, world_.cluster, backfill_, unit.unit, options_);
  if (!tails.ok()) return tails.status();
  if (!tails->known) {
    druid_away_ = true;
    return Sight{Seen::kCantTell, tails->reason, tails->message, options_.blocked_every};
  }
  if (tails->reason.empty()) return Sight{Seen::kClear, "", "", {}};
  Sight sight{Seen::kBlocked, tails->reason, tails->message, options_.blocked_every};
  sight.blockers.push_back(TailObstacle(tails->reason, tails->message, unit.unit.hull()));
  return sight;
}

Pass::Sight Pass::BlockedBy(Obstacle obstacle, const std::string& message, absl::Duration again) {
  Sight sight{Seen::kBlocked, obstacle.reason, message, again};
  sight.blockers.push_back(std::move(obstacle));
  return sight;
}

// Whoever insists writes beside a stream's APPEND lock, under a REPLACE lock of his own.
bool Pass::MayShare(const druid::TaskLock& lock) const {
  return tails_.accept_concurrent_append && druid::Appends(lock);
}

// Shown with since when; where it is a stream's, with which task, and up to a deadline: its
// next tasks join the lock, so it may never be free.
absl::StatusOr<Pass::Sight> Pass::WaitForLock(const StoredUnit& unit, const druid::TaskLock& lock) {
  Sight sight{Seen::kBlocked, "DRUID_LOCK", DescribeLock(lock), options_.blocked_every};
  Instant since;
  absl::Status status = Write([&](store::Transaction& tx) -> absl::Status {
    auto noted = NoteLockWait(tx, backfill_.id, unit.number, lock.group_id);
    if (noted.ok()) since = *noted;
    return noted.status();
  });
  if (!status.ok()) return status;
  absl::StrAppend(&sight.message, "; waited for since ", since.ToString());
  sight.blockers.push_back(ObstacleOf(lock));
  sight.blockers.back().since = since;
  if (!IsStreamLock(lock)) return sight;
  sight.reason = "STREAM_HOLDS_LOCK";
  const auto tasks = world_.cluster.ListLiveTasks(backfill_.datasource);
  for (const druid::TaskStatus& task : tasks.done() ? tasks.value() : Tasks()) {
    if (task.group_id == lock.group_id) absl::StrAppend(&sight.message, "; held by ", task.id);
  }
  if (world_.store.Now() - since <= backfill_.waiting_deadline) return sight;
  sight.seen = Seen::kOverdue;
  absl::StrAppend(&sight.message, "; given up after ",
                  absl::FormatDuration(backfill_.waiting_deadline), ": ", kOfferHandover);
  return sight;
}

absl::StatusOr<Pass::Sight> Pass::LookForObstacles(const StoredUnit& unit) {
  const auto locks = world_.cluster.ListLocks(backfill_.datasource, unit.unit.intervals);
  if (!locks.done()) return Away(locks);
  for (const druid::TaskLock& lock : locks.value()) {
    if (LockBlocks(lock) && !MayShare(lock)) return WaitForLock(unit, lock);
  }
  const auto listed = world_.cluster.GetRules(backfill_.datasource);
  if (!listed.done()) return Away(listed);
  const auto rules = druid::Rules::Parse(listed.value());
  const Instant druid_now = listed.druid_time().value_or(now_);
  for (const Interval& partition : unit.unit.partitions) {
    if (!rules.ok()) break;
    const auto obstacle = RetentionObstacle(*rules, partition, druid_now);
    if (!obstacle) continue;
    return BlockedBy(*obstacle, absl::StrCat(obstacle->message, ": ", obstacle->remedy),
                     options_.slow_look);
  }
  return Sight{Seen::kClear, "", "", {}};
}

// Reads the unit and its neighbours; in a second read more, where segments stick out.
Pass::Sight Pass::ReadSurroundings(const StoredUnit& unit, BeforeLook* look,
                                   std::optional<druid::Timeline>* timeline) {
  const auto granularity = ParseGranularity(backfill_.granularity_json);
  if (!granularity) return {Seen::kCantTell, "GRANULARITY_UNKNOWN", "", options_.slow_look};
  look->neighbours = verify::NeighboursOf(unit.unit.intervals, *granularity, {});
  std::vector<druid::Segment> used;
  for (bool again = true; again;) {
    std::vector<Interval> all = look->neighbours;
    all.insert(all.end(), unit.unit.intervals.begin(), unit.unit.intervals.end());
    const Interval hull = Hull(Condense(std::move(all)));
    auto answer = world_.cluster.ListUsedSegments(backfill_.datasource, {hull});
    if (!answer.done()) return Away(answer);
    if (const auto* future = FromTheFuture(answer.value(), unit.unit, answer.druid_time(),
                                           options_.max_clock_skew)) {
      const Obstacle skew = SkewObstacle(*future);
      return BlockedBy(skew, skew.message, options_.slow_look);
    }
    auto wider = verify::NeighboursOf(unit.unit.intervals, *granularity, answer.value());
    again = wider != look->neighbours && !Covers({hull}, wider);
    look->neighbours = std::move(wider);
    used = std::move(answer.value());
  }
  for (const druid::Segment& segment : used) {
    if (Intersect({segment.interval}, unit.unit.intervals).empty()) continue;
    look->used.push_back(segment.id);
    for (const Interval& partition : unit.unit.partitions) {
      if (const auto crossing = CrossingObstacle(segment, partition)) {
        return BlockedBy(*crossing, crossing->message, options_.slow_look);
      }
    }
  }
  timeline->emplace(druid::Timeline::Of(std::move(used)));
  return {Seen::kClear, "", "", {}};
}

// What equal work left there last, and what is still seen.
absl::StatusOr<bool> Pass::IsDoneAlready(const StoredUnit& unit, const druid::Timeline& timeline,
                                         std::optional<int64_t>* rows) {
  // A derived table's own work is the same whatever its sources have become.
  if (!backfill_.sources.empty()) return false;
  if (backfill_.reprocess != Reprocess::kNone || unit.attempts > 0) return false;
  bool all = true;
  absl::Status status = world_.store.Read([&](store::Transaction& tx) -> absl::Status {
    all = true;
    *rows = 0;
    for (const Interval& partition : unit.unit.partitions) {
      auto done = FindProven(tx, backfill_.datasource, partition, backfill_.digest);
      if (!done.ok()) return done.status();
      all = *done && (*done)->done.backfill_id != backfill_.id &&
            StillShows(**done, timeline, partition);
      if (!all) return absl::OkStatus();
      const auto& proven = (*done)->rows;
      *rows = *rows && proven ? std::optional<int64_t>(**rows + *proven) : std::nullopt;
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return all;
}

// A partition that has rows, and whose input certainly has none. What the sources of a
// derived table hold decides, empty or not.
std::optional<Obstacle> Pass::LookForEmptyInput(const StoredUnit& unit, const BeforeLook& look) {
  if (backfill_.terms.min_rows == std::optional<int64_t>(0)) return std::nullopt;
  const bool any_rows = std::any_of(look.partitions.begin(), look.partitions.end(),
                                    [](const PartitionBefore& one) { return one.had_rows; });
  if (!any_rows || !backfill_.sources.empty()) return std::nullopt;
  const InputLook input(world_.cluster, backfill_.spec_json, unit.unit);
  for (const PartitionBefore& before : look.partitions) {
    if (!before.had_rows) continue;
    auto obstacle = input.At(before.partition);
    if (obstacle && obstacle->blocking) return obstacle;
  }
  return std::nullopt;
}

absl::StatusOr<Pass::Sight> Pass::LookBefore(const StoredUnit& unit, BeforeLook* look) {
  // First of all: what a stream publishes while it ends belongs to what is there before.
  auto streams = LookForStreams(unit);
  if (!streams.ok() || streams->seen != Seen::kClear) return streams;
  look->taken = world_.store.Now();
  std::optional<druid::Timeline> timeline;
  Sight sight = ReadSurroundings(unit, look, &timeline);
  if (sight.seen != Seen::kClear) return sight;
  std::optional<int64_t> rows;
  auto done = IsDoneAlready(unit, *timeline, &rows);
  if (!done.ok()) return done.status();
  if (*done) {
    return Sight{Seen::kAlreadyDone,
                 "ALREADY_DONE",
                 "the same work is done and still live here; reprocess `all` runs it again",
                 {},
                 rows};
  }
  auto obstacles = LookForObstacles(unit);
  if (!obstacles.ok() || obstacles->seen != Seen::kClear) return obstacles;
  FillPartitions(unit.unit, *timeline, look);
  const verify::VisibleSet set = verify::VisibleSetOf(*timeline, look->neighbours);
  look->neighbour_segments = set.segments;
  look->neighbour_digest = set.digest;
  if (const auto empty = LookForEmptyInput(unit, *look)) {
    return BlockedBy(*empty, absl::StrCat(empty->message, ": ", empty->remedy), options_.slow_look);
  }
  auto sources = LookAtSources(unit, &look->reads);
  if (!sources.ok() || sources->seen != Seen::kClear) return sources;
  return backfill_.terms.rule == RowRule::kSourceSums ? SumSource(unit, look) : sight;
}

}  // namespace interlock::backfill
