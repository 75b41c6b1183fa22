#include "lib/backfill/obstacles.h"

#include "absl/strings/str_cat.h"
#include "lib/backfill/lock_waits.h"

namespace interlock::backfill {
namespace {

const char* KindOf(const lease::Held& held) {
  if (held.by == lease::HeldBy::kSeal) return "SEAL";
  if (held.by == lease::HeldBy::kDrop) return "DROP";
  if (held.by == lease::HeldBy::kTail) return "TAIL";
  return held.orphaned ? "ORPHAN" : "RESERVATION";
}

Obstacle Told(const char* kind, const std::string& reason, const std::string& message,
              const Interval& interval, const char* remedy) {
  Obstacle obstacle;
  obstacle.kind = kind;
  obstacle.reason = reason;
  obstacle.interval = interval;
  obstacle.message = message;
  obstacle.remedy = remedy;
  return obstacle;
}

}  // namespace

bool LockBlocks(const druid::TaskLock& lock) {
  if (lock.revoked) return false;
  if (lock.group_id.empty() && lock.type.empty()) return true;  // only its interval is told
  return lock.priority >= kBatchPriority;
}

std::string DescribeLock(const druid::TaskLock& lock) {
  if (lock.group_id.empty()) return "a task of Druid's has a lock here";
  return absl::StrCat("task group ", lock.group_id, " has a lock ", lock.type, " of priority ",
                      lock.priority, LockBlocks(lock) ? "" : ", which a backfill pre-empts");
}

Obstacle ObstacleOf(const lease::Held& held) {
  Obstacle obstacle;
  obstacle.kind = KindOf(held);
  obstacle.by_stream = held.by == lease::HeldBy::kTail;
  obstacle.reason = !held.reason.empty() ? held.reason : held.orphaned ? "ORPHANED" : "HELD";
  obstacle.interval = held.interval;
  obstacle.holder = held.holder;
  obstacle.purpose = held.purpose;
  obstacle.reservation_id = held.reservation_id;
  obstacle.since = held.since;
  if (!held.orphaned && held.until < Instant::kMax) obstacle.until = held.until;
  obstacle.message = held.message;
  obstacle.remedy = held.remedy;
  if (obstacle.message.empty()) {
    obstacle.message = absl::StrCat("held by ", held.holder, " for ", held.purpose, " since ",
                                    held.since.ToString(), " until ",
                                    held.orphaned ? "its work is settled" : held.until.ToString());
    obstacle.remedy = "wait, or let the backfill skip what others hold";
  }
  return obstacle;
}

Obstacle ObstacleOf(const druid::TaskLock& lock) {
  Obstacle obstacle;
  const bool blocks = LockBlocks(lock);
  obstacle.kind = blocks ? "DRUID_LOCK" : "COMPACTION";
  obstacle.reason = blocks ? "DRUID_LOCK" : "DRUID_LOCK_PREEMPTED";
  obstacle.interval = lock.interval;
  obstacle.holder = lock.group_id;
  obstacle.task_id = lock.group_id;
  obstacle.priority = lock.priority;
  obstacle.blocking = blocks;
  obstacle.message = DescribeLock(lock);
  obstacle.by_stream = IsStreamLock(lock);
  if (blocks) {
    obstacle.remedy = obstacle.by_stream
                          ? "wait until the stream's tasks are over, or suspend it (--handover)"
                          : "wait until that task is over, or stop it";
  }
  return obstacle;
}

Obstacle DruidObstacle(const std::string& reason, const std::string& message,
                       const Interval& interval) {
  return Told("DRUID_UNKNOWN", reason, message, interval,
              "wait until Druid answers: it is asked again; interlockctl doctor says more");
}

Obstacle TailObstacle(const std::string& reason, const std::string& message,
                      const Interval& interval) {
  Obstacle obstacle = Told("TAIL", reason, message, interval,
                           "wait until the stream has passed, or have it hand over (--handover)");
  obstacle.by_stream = true;
  return obstacle;
}

std::optional<Obstacle> CrossingObstacle(const druid::Segment& segment, const Interval& partition) {
  const Interval& other = segment.interval;
  if (!other.Overlaps(partition) || other.Contains(partition) || partition.Contains(other)) {
    return std::nullopt;
  }
  Obstacle obstacle;
  obstacle.kind = obstacle.reason = "CROSSING_GRANULARITY";
  obstacle.interval = other;
  obstacle.message = absl::StrCat("segment ", segment.id, " sticks out of ", partition.ToString(),
                                  " and does not contain it: the two calendars cross");
  obstacle.remedy = "recompute in the calendar that is live, or the whole of what both cover";
  return obstacle;
}

std::optional<Obstacle> RetentionObstacle(const druid::Rules& rules, const Interval& partition,
                                          Instant now) {
  const druid::Fate fate = rules.Of(partition, now).fate;
  if (fate == druid::Fate::kLoads || fate == druid::Fate::kUnknown) return std::nullopt;
  Obstacle obstacle;
  obstacle.kind = obstacle.reason = "RETENTION_RULE";
  obstacle.interval = partition;
  obstacle.message = fate == druid::Fate::kDropped
                         ? "a retention rule of Druid's would drop what is written here"
                         : "no retention rule of Druid's loads what is written here";
  obstacle.remedy = "change the datasource's retention rules, or leave this time out";
  return obstacle;
}

}  // namespace interlock::backfill
