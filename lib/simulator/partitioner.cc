#include "lib/simulator/partitioner.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/simulator/json.h"
#include "lib/simulator/roll_up.h"
#include "lib/time/fnv.h"

namespace interlock::simulator {
namespace {

using Rows = std::vector<const InputRow*>;

// What Druid hashes: the time by query granularity and the dimensions, or only the
// partition dimensions where those are named.
std::string HashKey(const IngestSpec& spec, const std::vector<DimensionSpec>& dimensions,
                    const InputRow& row) {
  std::string key;
  const std::vector<std::string>& only = spec.partitions.dimensions;
  if (only.empty()) {
    const Granularity& by = *spec.query_granularity;
    key = absl::StrCat((by.is_none() ? row.time : by.Floor(row.time)).millis(), "\n");
  }
  for (const DimensionSpec& dimension : dimensions) {
    if (!only.empty() && std::find(only.begin(), only.end(), dimension.name) == only.end()) {
      continue;
    }
    absl::StrAppend(&key, AsText(DimensionCell(row, dimension)), "\n");
  }
  return key;
}

RowSet Roll(const IngestSpec& spec, const std::vector<DimensionSpec>& dimensions,
            const Rows& rows) {
  RollUp roll_up(spec, dimensions);
  for (const InputRow* row : rows) roll_up.Add(*row);
  return roll_up.Finish();
}

std::string HashedShard(const PartitionsSpec& spec, int partition, int core, int bucket,
                        int buckets) {
  JsonWriter out;
  out.Object()
      .Member("type", "hashed")
      .Member("partitionNum", partition)
      .Member("partitions", core)
      .Member("bucketId", bucket)
      .Member("numBuckets", buckets);
  out.Key("partitionDimensions").Array();
  for (const std::string& dimension : spec.dimensions) out.String(dimension);
  out.End().Member("partitionFunction", "murmur3_32_abs").End();
  return out.Take();
}

std::vector<Partition> Hashed(const IngestSpec& spec, const Rows& rows) {
  const std::vector<DimensionSpec> dimensions = DimensionsOf(spec, rows);
  std::set<std::string> keys;
  for (const InputRow* row : rows) keys.insert(HashKey(spec, dimensions, *row));
  const int64_t wanted =
      (static_cast<int64_t>(keys.size()) + spec.partitions.rows - 1) / spec.partitions.rows;
  const int buckets = static_cast<int>(spec.partitions.shards.value_or(wanted));
  std::map<int, Rows> by_bucket;
  for (const InputRow* row : rows) {
    // Which bucket a row falls in need not be Druid's, only always the same.
    by_bucket[static_cast<int>(Fnv1a64(HashKey(spec, dimensions, *row)) % buckets)].push_back(row);
  }
  std::vector<Partition> partitions;
  const int core = static_cast<int>(by_bucket.size());
  // As in Druid a partition's number is not that of its bucket: here it is the other way
  // round.
  for (auto of = by_bucket.rbegin(); of != by_bucket.rend(); ++of) {
    const int partition = static_cast<int>(partitions.size());
    partitions.push_back({Roll(spec, dimensions, of->second), core,
                          HashedShard(spec.partitions, partition, core, of->first, buckets)});
  }
  return partitions;
}

using RangeKey = std::vector<std::string>;

RangeKey KeyOf(const IngestSpec& spec, const InputRow& row) {
  RangeKey key;
  for (const std::string& dimension : spec.partitions.dimensions) {
    key.push_back(AsText(DimensionCell(row, {dimension, ColumnType::kString})));
  }
  return key;
}

void WriteBound(JsonWriter& out, const RangeKey* key, bool single) {
  if (key == nullptr) {
    out.Null();
  } else if (single) {
    out.String(key->front());
  } else {
    out.Array();
    for (const std::string& value : *key) out.String(value);
    out.End();
  }
}

std::string RangeShard(const PartitionsSpec& spec, const RangeKey* start, const RangeKey* end,
                       int partition, int core) {
  JsonWriter out;
  out.Object().Member("type", spec.single ? "single" : "range");
  if (!spec.single) {
    out.Key("dimensions").Array();
    for (const std::string& dimension : spec.dimensions) out.String(dimension);
    out.End();
  }
  WriteBound(out.Key("start"), start, spec.single);
  WriteBound(out.Key("end"), end, spec.single);
  if (spec.single) out.Member("dimension", spec.dimensions.front());
  out.Member("partitionNum", partition).Member("numCorePartitions", core).End();
  return out.Take();
}

// Druid cuts at even quantiles of the sorted keys; equal keys stay together.
std::set<RangeKey> RangeBounds(const IngestSpec& spec, const std::vector<RangeKey>& sorted) {
  const int64_t rows = static_cast<int64_t>(sorted.size());
  const int64_t per = spec.partitions.rows;
  const int64_t cuts = std::max<int64_t>(
      1, spec.partitions.rows_are_a_bound ? (rows + per - 1) / per : (rows + per / 2) / per);
  std::set<RangeKey> bounds;
  for (int64_t cut = 1; cut < cuts; ++cut) bounds.insert(sorted[cut * rows / cuts]);
  bounds.erase(sorted.front());
  return bounds;
}

std::vector<Partition> Ranges(const IngestSpec& spec, const Rows& rows) {
  const std::vector<DimensionSpec> dimensions = DimensionsOf(spec, rows);
  std::vector<RangeKey> sorted;
  for (const InputRow* row : rows) sorted.push_back(KeyOf(spec, *row));
  std::sort(sorted.begin(), sorted.end());
  const std::set<RangeKey> bounds = RangeBounds(spec, sorted);
  std::vector<Rows> pieces(bounds.size() + 1);
  for (const InputRow* row : rows) {
    const auto above = bounds.upper_bound(KeyOf(spec, *row));
    pieces[std::distance(bounds.begin(), above)].push_back(row);
  }
  std::vector<Partition> partitions;
  const int core = static_cast<int>(pieces.size());
  const RangeKey* start = nullptr;
  auto bound = bounds.begin();
  for (const Rows& piece : pieces) {
    const RangeKey* end = bound == bounds.end() ? nullptr : &*bound++;
    const int partition = static_cast<int>(partitions.size());
    partitions.push_back({Roll(spec, dimensions, piece), core,
                          RangeShard(spec.partitions, start, end, partition, core)});
    start = end;
  }
  return partitions;
}

}  // namespace

std::vector<RowSet> MakeAppends(const IngestSpec& spec, const Rows& rows) {
  const std::vector<DimensionSpec> dimensions = DimensionsOf(spec, rows);
  std::vector<RowSet> sets;
  std::optional<RollUp> roll_up(std::in_place, spec, dimensions);
  for (const InputRow* row : rows) {
    if (static_cast<int64_t>(roll_up->size()) >= spec.partitions.rows) {
      sets.push_back(roll_up->Finish());
      roll_up.emplace(spec, dimensions);
    }
    roll_up->Add(*row);
  }
  sets.push_back(roll_up->Finish());
  return sets;
}

std::vector<Partition> MakePartitions(const IngestSpec& spec, const Rows& rows) {
  if (spec.partitions.kind == PartitionsSpec::Kind::kHashed) return Hashed(spec, rows);
  if (spec.partitions.kind == PartitionsSpec::Kind::kRange) return Ranges(spec, rows);
  std::vector<Partition> partitions;
  std::vector<RowSet> sets = MakeAppends(spec, rows);
  const int core = static_cast<int>(sets.size());
  for (RowSet& set : sets) {
    const int partition = static_cast<int>(partitions.size());
    partitions.push_back({std::move(set), core, NumberedShard(partition, core)});
  }
  return partitions;
}

std::string NumberedShard(int partition, int core_partitions) {
  return absl::StrCat(R"({"type":"numbered","partitionNum":)", partition, R"(,"partitions":)",
                      core_partitions, "}");
}

std::string TombstoneShard(int core_partitions) {
  return absl::StrCat(R"({"type":"tombstone","partitionNum":0,"partitions":)", core_partitions,
                      "}");
}

ColumnNames NamesOf(const IngestSpec& spec, const RowSet& rows) {
  ColumnNames names;
  const size_t dimensions = rows.columns.size() - spec.metrics.size();
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    std::string& list = i < dimensions ? names.dimensions : names.metrics;
    absl::StrAppend(&list, list.empty() ? "" : ",", rows.columns[i]);
  }
  return names;
}

}  // namespace interlock::simulator
