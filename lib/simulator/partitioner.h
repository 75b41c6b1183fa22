// Rows of one bucket of time, rolled up and cut into the partitions of a segment set.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/simulator/ingest_spec.h"
#include "lib/simulator/input_reader.h"
#include "lib/simulator/rows.h"

namespace interlock::simulator {

struct Partition {
  RowSet rows;
  int core_partitions = 0;
  std::string shard_json;
};

// In order of partition number, from 0. At least one row in.
std::vector<Partition> MakePartitions(const IngestSpec& spec,
                                      const std::vector<const InputRow*>& rows);

// The rows of an append, each set one segment to be: its shard spec is the overlord's to
// give.
std::vector<RowSet> MakeAppends(const IngestSpec& spec, const std::vector<const InputRow*>& rows);

std::string NumberedShard(int partition, int core_partitions);
std::string TombstoneShard(int core_partitions);

// Names of dimensions and of metrics, comma-joined as in a DataSegment.
struct ColumnNames {
  std::string dimensions;
  std::string metrics;
};
ColumnNames NamesOf(const IngestSpec& spec, const RowSet& rows);

}  // namespace interlock::simulator
