#include "lib/simulator/lock_box.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"

namespace interlock::simulator {
namespace {

// Versions have milliseconds; simulated tasks can be faster. Within this span a version
// is moved on to stay unique; a clock set back further than that shows, as it does in
// Druid.
constexpr absl::Duration kVersionSlack = absl::Seconds(1);

}  // namespace

bool LockBox::TryAcquire(const std::string& group, const std::string& datasource,
                         const std::vector<Interval>& intervals, int64_t priority, Instant now) {
  std::vector<Lock*> in_the_way;
  for (Lock& lock : locks_) {
    if (lock.revoked || lock.group == group || lock.datasource != datasource) continue;
    const bool overlaps =
        std::any_of(intervals.begin(), intervals.end(),
                    [&](const Interval& interval) { return interval.Overlaps(lock.interval); });
    if (!overlaps) continue;
    if (lock.priority >= priority) return false;
    in_the_way.push_back(&lock);
  }
  for (Lock* lock : in_the_way) lock->revoked = true;
  for (const Interval& interval : intervals) {
    if (Covering(group, datasource, interval) != nullptr) continue;
    Lock lock;
    lock.group = group;
    lock.datasource = datasource;
    lock.interval = interval;
    lock.priority = priority;
    lock.version = NextVersion(now);
    locks_.push_back(std::move(lock));
  }
  return true;
}

void LockBox::Hold(Lock lock, Instant now) {
  if (lock.version.empty()) lock.version = NextVersion(now);
  locks_.push_back(std::move(lock));
}

void LockBox::Release(const std::string& group) {
  locks_.erase(std::remove_if(locks_.begin(), locks_.end(),
                              [&](const Lock& lock) { return lock.group == group; }),
               locks_.end());
}

const Lock* LockBox::Covering(const std::string& group, const std::string& datasource,
                              const Interval& interval) const {
  for (const Lock& lock : locks_) {
    if (!lock.revoked && lock.group == group && lock.datasource == datasource &&
        lock.interval.Contains(interval)) {
      return &lock;
    }
  }
  return nullptr;
}

bool LockBox::Revoked(const std::string& group) const {
  return std::any_of(locks_.begin(), locks_.end(),
                     [&](const Lock& lock) { return lock.group == group && lock.revoked; });
}

std::string LockBox::NextVersion(Instant now) {
  if (last_version_ && now <= *last_version_ && *last_version_ - now < kVersionSlack) {
    now = *last_version_ + absl::Milliseconds(1);
  }
  last_version_ = now;
  return now.ToString();
}

}  // namespace interlock::simulator
