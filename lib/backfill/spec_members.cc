#include "lib/backfill/spec_members.h"

#include <algorithm>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace interlock::backfill {
namespace {

constexpr size_t kMaxTypos = 2;
// Below this length two typos make any word out of any other.
constexpr size_t kMinLengthForTypos = 6;

struct MemberTable {
  const char* where;  // the place's pointer, for "belongs into"
  std::vector<absl::string_view> members;
};

// From the constructors' JsonProperty annotations (ParallelIndexSupervisorTask,
// DataSchema, UniformGranularitySpec, ParallelIndexIOConfig, ParallelIndexTuningConfig,
// the partitions specs) of Druid 27 to 37; old names that still work are among them.
const std::map<Place, MemberTable>& Tables() {
  static const auto* const kTables = new std::map<Place, MemberTable>{
      {Place::kTask, {"", {"type", "id", "groupId", "resource", "spec", "context", "dataSource"}}},
      {Place::kSpec, {"/spec", {"dataSchema", "ioConfig", "tuningConfig"}}},
      {Place::kDataSchema,
       {"/spec/dataSchema",
        {"dataSource", "timestampSpec", "dimensionsSpec", "metricsSpec", "granularitySpec",
         "transformSpec", "projections", "parser"}}},
      {Place::kGranularitySpec,
       {"/spec/dataSchema/granularitySpec",
        {"type", "segmentGranularity", "queryGranularity", "rollup", "intervals"}}},
      {Place::kTimestampSpec,
       {"/spec/dataSchema/timestampSpec", {"column", "format", "missingValue"}}},
      {Place::kDimensionsSpec,
       {"/spec/dataSchema/dimensionsSpec",
        {"dimensions", "dimensionExclusions", "spatialDimensions", "includeAllDimensions",
         "useSchemaDiscovery", "forceSegmentSortByTime"}}},
      {Place::kIoConfig,
       {"/spec/ioConfig",
        {"type", "inputSource", "inputFormat", "appendToExisting", "dropExisting", "firehose"}}},
      {Place::kTuningConfig,
       {"/spec/tuningConfig",
        {"type",
         "partitionsSpec",
         "forceGuaranteedRollup",
         "maxRowsInMemory",
         "maxBytesInMemory",
         "skipBytesInMemoryOverheadCheck",
         "appendableIndexSpec",
         "splitHintSpec",
         "indexSpec",
         "indexSpecForIntermediatePersists",
         "maxPendingPersists",
         "reportParseExceptions",
         "pushTimeout",
         "segmentWriteOutMediumFactory",
         "maxNumConcurrentSubTasks",
         "maxNumSubTasks",
         "maxRetry",
         "taskStatusCheckPeriodMs",
         "chatHandlerTimeout",
         "chatHandlerNumRetries",
         "maxNumSegmentsToMerge",
         "totalNumMergeTasks",
         "logParseExceptions",
         "maxParseExceptions",
         "maxSavedParseExceptions",
         "maxColumnsToMerge",
         "awaitSegmentAvailabilityTimeoutMillis",
         "maxAllowedLockCount",
         "numPersistThreads",
         "basePersistDirectory",
         "publishTimeout",
         "buildV9Directly",
         "targetPartitionSize",
         "maxRowsPerSegment",
         "maxTotalRows",
         "numShards",
         "partitionDimensions"}}},
      {Place::kDynamicPartitions, {nullptr, {"type", "maxRowsPerSegment", "maxTotalRows"}}},
      {Place::kHashedPartitions,
       {nullptr,
        {"type", "targetRowsPerSegment", "numShards", "partitionDimensions", "partitionFunction",
         "maxRowsPerSegment", "targetPartitionSize"}}},
      {Place::kRangePartitions,
       {nullptr,
        {"type", "targetRowsPerSegment", "maxRowsPerSegment", "partitionDimensions",
         "assumeGrouped"}}},
      {Place::kSingleDimPartitions,
       {nullptr,
        {"type", "targetRowsPerSegment", "maxRowsPerSegment", "partitionDimension", "assumeGrouped",
         "targetPartitionSize", "maxPartitionSize"}}},
  };
  return *kTables;
}

// Levenshtein, in one row.
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above + 1, row[j - 1] + 1, replaced});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// The place that `name` is a member of, if it is not `here`; nullptr if none. `type`
// stands everywhere and says nothing.
const char* OtherPlace(absl::string_view name, Place here) {
  if (name == "type") return nullptr;
  for (const auto& [place, table] : Tables()) {
    if (place == here || table.where == nullptr) continue;
    const auto& members = table.members;
    if (std::find(members.begin(), members.end(), name) != members.end()) return table.where;
  }
  return nullptr;
}

}  // namespace

std::string LikelyMeant(absl::string_view name, const std::vector<absl::string_view>& known) {
  for (const absl::string_view member : known) {
    if (absl::EqualsIgnoreCase(name, member)) return std::string(member);
  }
  if (name.size() < kMinLengthForTypos) return "";
  const std::string lower = absl::AsciiStrToLower(name);
  for (const absl::string_view member : known) {
    if (member.size() + kMaxTypos < lower.size() || lower.size() + kMaxTypos < member.size()) {
      continue;
    }
    if (Distance(lower, absl::AsciiStrToLower(member)) <= kMaxTypos) return std::string(member);
  }
  return "";
}

void CheckMembers(const Node& object, Place place) {
  const MemberTable& table = Tables().at(place);
  for (const auto& [name, node] : object.Members()) {
    const auto& known = table.members;
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (const std::string meant = LikelyMeant(name, known); !meant.empty()) {
      node.Fault("is no member that Druid knows, and would be ignored in silence",
                 absl::StrCat("write `", meant, "`"));
    } else if (const char* other = OtherPlace(name, place)) {
      node.Fault("is ignored by Druid here",
                 absl::StrCat("it belongs into ", *other == '\0' ? "the task itself" : other));
    } else {
      node.Warn("is no member that is known here; Druid ignores those in silence",
                "take it out, or make sure that your Druid knows it");
    }
  }
}

}  // namespace interlock::backfill
