// What was read from Druid: before a task was posted, and after it was over. Kept in the
// store as JSON, so that a partition's history can be read after years.
//
// Threads: values and functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/backfill/sources.h"
#include "lib/druid/task.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"
#include "lib/verify/neighbours.h"

namespace interlock::backfill {

// One partition before the attempt.
struct PartitionBefore {
  Interval partition;
  std::vector<std::string> versions;  // visible
  bool had_rows = false;              // a visible segment that is no tombstone
  std::vector<std::string> segments;  // ids of the visible ones: the generation itself
};

struct BeforeLook {
  Instant taken;
  std::vector<std::string> used;  // ids of used segments that overlap the unit
  std::vector<PartitionBefore> partitions;
  std::vector<Interval> neighbours;
  std::vector<verify::SeenSegment> neighbour_segments;
  std::string neighbour_digest;
  // Sums of what is going to be read, in the order of RowTerms::sums.
  std::vector<double> source_sums;
  std::vector<SourceRead> reads;  // of a derived table: what it is computed from
};

std::string ToJson(const BeforeLook& look);
// nullopt for a text that ToJson did not make.
std::optional<BeforeLook> BeforeLookFrom(const std::string& json);

// Rows by the task's own report.
struct TaskRows {
  int64_t processed = 0;
  int64_t processed_with_error = 0;
  int64_t thrown_away = 0;
  int64_t unparseable = 0;
  int64_t segments_published = 0;  // 0 where the report does not say, too
};
// Of a report that has row statistics or not.
TaskRows RowsIn(const druid::TaskReport& report);

// A sum of the whole unit, and what it was compared with.
struct Compared {
  std::string measure;  // "rows", or the column that was summed
  double expected = 0;
  double found = 0;
  bool by_twin = false;  // with another datasource; else with what the work itself tells
};

struct Proof {
  std::string level;        // "VISIBLE", "SERVED"
  std::string task_id;      // whose effect it is
  std::string version;      // the generation it made; "" where it made none
  std::string attribution;  // LOCK_VERSION_SEEN, WITHIN_TASK_LIFE, NOTHING_NEW
  std::vector<std::string> versions_before;
  int64_t segments = 0;                  // visible now
  std::vector<std::string> segment_ids;  // the same by name
  std::optional<int64_t> rows;           // by the count metric or stored rows, of the partition
  std::optional<int64_t> stored_rows;    // COUNT(*) of the partition
  // Of the whole unit: what was compared with what.
  std::string row_rule;  // COUNT_METRIC, STORED_ROWS, SOURCE_SUMS, NOT_PROVABLE
  std::optional<double> rows_expected;
  std::optional<double> rows_found;
  std::vector<Compared> compared;
  std::optional<TaskRows> task_rows;
  std::string neighbours_before, neighbours_after;  // digests
  std::vector<std::string> neighbour_changes;       // a sentence for each that is explained
  std::vector<verify::NeighbourChange> changes;     // the same by chunk and version
  Instant snapshot;
  std::vector<std::string> notes;  // ROWS_NOT_PROVABLE: …
  std::string accepted_by, accept_reason;
  // How long it was without rows while a generation was brought back.
  std::optional<int64_t> gap_ms;
};

std::string ToJson(const Proof& proof);
std::optional<Proof> ProofFrom(const std::string& json);

}  // namespace interlock::backfill
