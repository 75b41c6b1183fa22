// What a task's effect was, told from what Druid shows after it and what it showed before:
// per partition, and for the unit the observation that moves its state.
//
// SUCCESS or FAILED says when to look, not what happened: the segments say what happened.
// Pure. Threads: functions without state.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/backfill/proof.h"
#include "lib/backfill/row_terms.h"
#include "lib/backfill/state.h"
#include "lib/backfill/twin.h"
#include "lib/backfill/units.h"
#include "lib/druid/observation.h"
#include "lib/druid/task.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"
#include "lib/verify/neighbours.h"
#include "lib/verify/partition.h"

namespace interlock::backfill {

// Of a partition whose former generation is still used, where the backfill waits for that.
inline constexpr char kNotRetired[] = "NOT_RETIRED";

struct Evidence {
  Unit unit;
  BeforeLook before;
  std::string task_id;
  bool succeeded = false;  // Druid's word; false for FAILED and for a forgotten task
  Instant created;         // the task's life by Druid's clock
  Instant ended;
  // Locks that the task was seen to hold, with their versions. Druid takes one for each
  // partition, so the versions of one task can differ.
  std::vector<std::pair<Interval, std::string>> locks;
  bool others_seen = false;
  std::optional<druid::TaskReport> report;
  druid::Snapshot after;
  std::vector<verify::KnownChange> known;
  RowTerms terms;
  // Where another datasource must have the same.
  std::optional<Twin> twin;
  int64_t unparseable_before = 0;  // of the backfill's other units
  verify::Level level = verify::Level::kServed;
  Instant now;
  // Whether views that lag have had their time: before that, nothing new (`settled`: the
  // metadata) and other rows than expected (`rows_settled`: brokers) only mean that it is
  // to be looked at again.
  bool settled = false;
  bool rows_settled = false;
};

struct PartitionJudgement {
  Interval partition;
  State state = State::kUndetermined;
  std::string reason;   // UPPER_SNAKE; "" where the state speaks for itself
  std::string message;  // one sentence
  Proof proof;
  std::vector<verify::Finding> findings;
};

struct UnitJudgement {
  Seen seen = Seen::kCantTell;
  std::string reason;
  std::string message;
  std::vector<PartitionJudgement> partitions;
  // Raw rows of the unit, and the sums that are expected over the whole, where they are known.
  std::optional<int64_t> rows;
  std::optional<std::map<std::string, double>> sums;
  // What is read next door now.
  std::vector<verify::SeenSegment> neighbours_after;
};

UnitJudgement JudgeUnit(const Evidence& evidence);

}  // namespace interlock::backfill
