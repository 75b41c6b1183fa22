// Which partitions were last seen with a double version, or with rows that are there
// twice: what the gauges of the alerts count. A partition leaves when a later look finds
// it mended; a look that could not tell changes nothing.
//
// Held in memory: after a restart the gauges are 0 until the next look.
//
// Threads: any.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/time/interval.h"
#include "lib/time/mutex.h"
#include "lib/verify/partition.h"
#include "server/metrics.h"

namespace interlock::server {

class SeenFaults {
 public:
  // `metrics` must outlive it.
  explicit SeenFaults(Metrics& metrics) : metrics_(metrics) {}

  void Saw(const std::string& datasource, const std::vector<verify::PartitionVerdict>& verdicts);

 private:
  using Partitions = std::map<std::string, std::set<Interval>>;  // by datasource

  static void Note(std::set<Interval>& faulty, const verify::PartitionVerdict& verdict,
                   verify::Verdict fault);

  Metrics& metrics_;
  Mutex mutex_;
  Partitions double_versions_ INTERLOCK_GUARDED_BY(mutex_);
  Partitions duplicate_rows_ INTERLOCK_GUARDED_BY(mutex_);
};

}  // namespace interlock::server
