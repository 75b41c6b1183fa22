#include "lib/simulator/ingest_spec.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/simulator/input_spec.h"
#include "lib/simulator/partitions_spec.h"
#include "lib/simulator/schema_spec.h"
#include "lib/simulator/spec_errors.h"
#include "lib/simulator/spec_fields.h"

namespace interlock::simulator {
namespace {

absl::Status ReadMode(const JsonValue& io, IngestSpec& spec) {
  absl::StatusOr<bool> append = BoolField(io, "appendToExisting", false);
  if (!append.ok()) return append.status();
  absl::StatusOr<bool> drop = BoolField(io, "dropExisting", false);
  if (!drop.ok()) return drop.status();
  if (*append && *drop) {
    return CannotConstruct(kTaskClass,
                           "Cannot simultaneously replace and append to existing segments. Either "
                           "dropExisting or appendToExisting should be set to false");
  }
  if (*drop && spec.intervals.empty()) {
    return CannotConstruct(kTaskClass,
                           "GranularitySpec's intervals cannot be empty when using replace.");
  }
  spec.mode = *append ? IngestSpec::Mode::kAppend
              : *drop ? IngestSpec::Mode::kReplace
                      : IngestSpec::Mode::kReplaceLegacy;
  return absl::OkStatus();
}

absl::Status ReadTuning(const JsonValue* tuning, IngestSpec& spec) {
  spec.max_parse_exceptions = std::numeric_limits<int32_t>::max();
  static const JsonValue kNothing(rapidjson::kObjectType);
  if (tuning != nullptr && FindString(*tuning, "type") != "index_parallel") {
    return UnknownType(FindString(*tuning, "type"), kTuningClass, "compaction, index_parallel",
                       "tuningConfig");
  }
  if (tuning == nullptr) tuning = &kNothing;
  absl::StatusOr<bool> strict = BoolField(*tuning, "reportParseExceptions", false);
  if (!strict.ok()) return strict.status();
  absl::StatusOr<std::optional<int64_t>> most = IntField(*tuning, "maxParseExceptions");
  if (!most.ok()) return most.status();
  if (most->has_value()) spec.max_parse_exceptions = **most;
  if (*strict) spec.max_parse_exceptions = 0;
  absl::StatusOr<std::optional<int64_t>> tasks = IntField(*tuning, "maxNumConcurrentSubTasks");
  if (!tasks.ok()) return tasks.status();
  spec.max_sub_tasks = tasks->value_or(1);
  absl::StatusOr<std::optional<int64_t>> await =
      IntField(*tuning, "awaitSegmentAvailabilityTimeoutMillis");
  if (!await.ok()) return await.status();
  spec.await_millis = await->value_or(0);
  absl::Status read = ReadPartitionsSpec(*tuning, spec.partitions);
  if (!read.ok()) return read;
  if (spec.mode == IngestSpec::Mode::kAppend && FindBool(*tuning, "forceGuaranteedRollup", false)) {
    return CannotConstruct(
        kTaskClass, "Perfect rollup cannot be guaranteed when appending to existing dataSources");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<IngestSpec> ParseIngestSpec(const JsonValue* json) {
  if (json == nullptr || !json->IsObject()) {
    return CannotConstruct(kTaskClass, absl::StrCat("Cannot invoke \"", kSpecClass,
                                                    ".getDataSchema()\" because "
                                                    "\"ingestionSchema\" is null"));
  }
  IngestSpec spec;
  const JsonValue* io = Find(*json, "ioConfig");
  const JsonValue* schema = Find(*json, "dataSchema");
  if (schema == nullptr) {
    return CannotConstruct(kSpecClass,
                           "Cannot invoke \"org.apache.druid.segment.indexing.DataSchema."
                           "getParserMap()\" because \"dataSchema\" is null");
  }
  if (io == nullptr) {
    return CannotConstruct(kSpecClass,
                           "Cannot invoke \"org.apache.druid.indexing.common.task.batch.parallel."
                           "ParallelIndexIOConfig.getInputSource()\" because \"ioConfig\" is null");
  }
  for (absl::Status read : {ReadSchemaSpec(*schema, spec), ReadInputSpec(*io, spec.input),
                            ReadMode(*io, spec), ReadTuning(Find(*json, "tuningConfig"), spec)}) {
    if (!read.ok()) return read;
  }
  return spec;
}

}  // namespace interlock::simulator
