// What another datasource has, as what this one should have: a copy, a re-ingestion, a
// second pipeline over the same input.
//
// Compared are the rows by the count metric, and all metrics that both have and that add
// up; stored rows only where there is no such metric, since roll-up changes their number.
//
// Threads: any; asks Druid and blocks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/druid/cluster.h"
#include "lib/druid/timeline.h"
#include "lib/sweep/known.h"
#include "lib/time/interval.h"
#include "lib/verify/rows.h"

namespace interlock::sweep {

struct Twin {
  std::vector<std::string> metrics;                            // to be summed here, too
  std::map<Interval, std::vector<verify::Expected>> expected;  // by partition
  std::optional<NotTold> not_told;
};

struct TwinQuestion {
  std::string datasource, same_as;
  Interval interval;
  std::vector<Interval> partitions;
  std::string count_metric;
  bool refresh = true;  // LookQuestion
};
Twin ReadTwin(druid::Cluster& cluster, const TwinQuestion& question,
              const druid::Timeline& timeline);

}  // namespace interlock::sweep
