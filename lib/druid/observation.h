// What Druid shows of an interval and of what surrounds it, read at one go: what a
// verdict, a proof and a plan look at.
//
// Segments are read before and after the rest; where the two differ, the rest may belong
// to either. The load status comes first of all, since its refresh is what makes the
// list of segments that follows a fresh one in every version (cluster.h).
//
// Threads: any.
#pragma once

#include <string>
#include <vector>

#include "lib/druid/answer.h"
#include "lib/druid/cluster.h"
#include "lib/druid/segment.h"
#include "lib/druid/task.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::druid {

struct Snapshot {
  std::string datasource;
  Interval interval;          // what the question is about
  Interval surroundings;      // what was read: the interval and its neighbours
  std::vector<Segment> used;  // that overlap the surroundings, hidden ones included
  LoadStatus load;            // of the interval
  std::vector<RowSums> rows;  // per partition that was asked for
  // No earlier than this, by the clock of who asked; nothing was read before it.
  Instant taken;
  // Used segments changed while the rest was read, both times that it was tried: rows and
  // load status may be those of either set.
  bool changed_meanwhile = false;
};

struct ObserveRequest {
  std::string datasource;
  Interval interval;
  Interval surroundings;             // contains the interval
  std::vector<Interval> partitions;  // to sum rows of; none is fine
  std::vector<std::string> metrics;  // to sum, beside COUNT(*)
  // The first look after a change has the coordinator poll its metadata; looks that only
  // wait for segments to load do without (apache/druid#9965).
  bool refresh = true;
};

// Done, or the first answer that was not.
Answer<Snapshot> Observe(Cluster& cluster, const ObserveRequest& request, Instant taken);

}  // namespace interlock::druid
