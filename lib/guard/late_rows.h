// Rows that a stream adds to what a backfill has proven.
//
// They come with the backfill's own version and a partition number beyond its own
// (measured: concurrent locks or not), so one version proves nothing; what tells them is
// that their segments are not among those that were proven. Two are one row twice for
// certain: a segment whose file is also another version's (Druid upgraded rows that the
// stream had read before the backfill committed), and one that came after a stream's task
// was lost (what it had read is read again). The other version is hidden, and a Druid that
// has been up for a quarter of an hour marks it unused within seconds (measured): so unused
// segments are looked at, too.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lib/druid/cluster.h"
#include "lib/druid/segment.h"
#include "lib/guard/options.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::guard {

struct Proven {
  std::string datasource;
  Interval interval;
  std::string version;
  std::vector<std::string> segments;  // ids
  std::string backfill_id;
  Instant at;  // when it was proven
};

// To be looked at again, where the datasource has streams; in the transaction that stores
// the proof. A later proof of the same partition takes its place.
absl::Status WatchProven(store::Transaction& tx, const Proven& proven, const Options& options);

// What was added since, of what is used now; `unused`: whose files are looked at. Pure.
struct LateRows {
  std::vector<std::string> segments;  // added to the proven version
  std::vector<std::string> upgraded;  // of these, whose rows another version has as well
};
LateRows FindLateRows(const Proven& proven, const std::vector<druid::Segment>& used,
                      const std::vector<druid::Segment>& unused = {});

// Looks at all that is due, and reports.
absl::Status LookForLateRows(store::Store& store, druid::Cluster& cluster, const Options& options);

}  // namespace interlock::guard
