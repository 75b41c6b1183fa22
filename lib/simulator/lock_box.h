// Time-chunk locks as the overlord's lockbox gives them: EXCLUSIVE ones, by group, with
// priorities. A strictly higher priority revokes what stands in its way; an equal or lower
// one waits. The version of what a task writes is the time at which its lock was created.
//
// Threads: none of its own; the simulator's one lock guards it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::simulator {

struct Lock {
  std::string group;
  std::string datasource;
  Interval interval;
  std::string type = "EXCLUSIVE";
  std::string version;
  int64_t priority = 0;
  bool revoked = false;
};

class LockBox {
 public:
  // All of the intervals or none: false where another group's lock of no lower priority
  // overlaps one. A lock that the group holds already over an interval is kept, with its
  // version. `now` dates the new ones; no two ever share a version.
  bool TryAcquire(const std::string& group, const std::string& datasource,
                  const std::vector<Interval>& intervals, int64_t priority, Instant now);

  // A lock that no task of the simulator holds, as a stream's would be.
  void Hold(Lock lock, Instant now);

  void Release(const std::string& group);

  // The group's lock over `interval`, or null.
  const Lock* Covering(const std::string& group, const std::string& datasource,
                       const Interval& interval) const;
  bool Revoked(const std::string& group) const;

  // In order of creation, revoked ones too.
  const std::vector<Lock>& locks() const { return locks_; }

 private:
  std::string NextVersion(Instant now);

  std::vector<Lock> locks_;
  std::optional<Instant> last_version_;
};

}  // namespace interlock::simulator
