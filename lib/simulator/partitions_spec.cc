#include "lib/simulator/partitions_spec.h"

#include "absl/strings/str_cat.h"
#include "lib/simulator/spec_errors.h"
#include "lib/simulator/spec_fields.h"

namespace interlock::simulator {
namespace {

constexpr char kPackage[] = "org.apache.druid.indexer.partitions.";
constexpr int64_t kDefaultRows = 5'000'000;

std::string ClassOf(absl::string_view name) { return absl::StrCat(kPackage, name); }

// A row count: absent, zero and below mean the default, as in Druid.
absl::StatusOr<std::optional<int64_t>> Rows(const JsonValue& json, const char* name) {
  absl::StatusOr<std::optional<int64_t>> rows = IntField(json, name);
  if (rows.ok() && rows->has_value() && **rows <= 0) return std::optional<int64_t>();
  return rows;
}

absl::Status ReadDynamic(const JsonValue& json, PartitionsSpec& partitions) {
  partitions.kind = PartitionsSpec::Kind::kDynamic;
  absl::StatusOr<std::optional<int64_t>> rows = Rows(json, "maxRowsPerSegment");
  if (!rows.ok()) return rows.status();
  partitions.rows = rows->value_or(kDefaultRows);
  if (Rows(json, "maxTotalRows").value_or(std::nullopt)) return NotSimulated("maxTotalRows");
  return absl::OkStatus();
}

absl::Status ReadHashed(const JsonValue& json, PartitionsSpec& partitions) {
  partitions.kind = PartitionsSpec::Kind::kHashed;
  partitions.type_in_errors = ClassOf("HashedPartitionsSpec");
  absl::StatusOr<std::optional<int64_t>> rows = Rows(json, "targetRowsPerSegment");
  if (!rows.ok()) return rows.status();
  absl::StatusOr<std::optional<int64_t>> shards = Rows(json, "numShards");
  if (!shards.ok()) return shards.status();
  if (rows->has_value() && shards->has_value()) {
    return CannotConstruct(
        partitions.type_in_errors,
        absl::StrCat("At most one of [Property{name='targetRowsPerSegment', value=", **rows,
                     "}] or [Property{name='numShards', value=", **shards, "}] must be present"));
  }
  partitions.rows = rows->value_or(kDefaultRows);
  partitions.shards = *shards;
  partitions.dimensions = FindStrings(json, "partitionDimensions");
  return absl::OkStatus();
}

absl::Status ReadRange(const JsonValue& json, bool single, PartitionsSpec& partitions) {
  partitions.kind = PartitionsSpec::Kind::kRange;
  partitions.type_in_errors =
      ClassOf(single ? "SingleDimensionPartitionsSpec" : "DimensionRangePartitionsSpec");
  if (single && Find(json, "partitionDimension") != nullptr) {
    partitions.dimensions = {FindString(json, "partitionDimension")};
  } else {
    partitions.dimensions = FindStrings(json, "partitionDimensions");
  }
  absl::StatusOr<std::optional<int64_t>> target = Rows(json, "targetRowsPerSegment");
  if (!target.ok()) return target.status();
  absl::StatusOr<std::optional<int64_t>> bound = Rows(json, "maxRowsPerSegment");
  if (!bound.ok()) return bound.status();
  if (target->has_value() == bound->has_value()) {
    return CannotConstruct(
        partitions.type_in_errors,
        "Exactly one of targetRowsPerSegment or maxRowsPerSegment must be present");
  }
  if (partitions.dimensions.empty()) {
    return CannotConstruct(partitions.type_in_errors, "partitionDimensions must be specified");
  }
  partitions.rows_are_a_bound = bound->has_value();
  partitions.rows = partitions.rows_are_a_bound ? **bound : **target;
  partitions.single = partitions.dimensions.size() == 1;
  return absl::OkStatus();
}

absl::Status ReadKind(const JsonValue& json, PartitionsSpec& partitions) {
  const std::string type = FindString(json, "type");
  if (type == "dynamic") return ReadDynamic(json, partitions);
  if (type == "hashed") return ReadHashed(json, partitions);
  if (type == "range") return ReadRange(json, false, partitions);
  if (type == "single_dim") return ReadRange(json, true, partitions);
  // Jackson falls back to hashed for a type that it does not know.
  return ReadHashed(json, partitions);
}

}  // namespace

absl::Status ReadPartitionsSpec(const JsonValue& tuning, PartitionsSpec& partitions) {
  absl::StatusOr<bool> perfect = BoolField(tuning, "forceGuaranteedRollup", false);
  if (!perfect.ok()) return perfect.status();
  const JsonValue* json = Find(tuning, "partitionsSpec");
  if (json == nullptr) {
    absl::StatusOr<std::optional<int64_t>> rows = Rows(tuning, "maxRowsPerSegment");
    if (!rows.ok()) return rows.status();
    partitions.rows = rows->value_or(kDefaultRows);
    if (*perfect) partitions.kind = PartitionsSpec::Kind::kHashed;
    return absl::OkStatus();
  }
  absl::Status read = ReadKind(*json, partitions);
  if (!read.ok()) return read;
  const bool dynamic = partitions.kind == PartitionsSpec::Kind::kDynamic;
  if (*perfect && dynamic) {
    return CannotConstruct(kTuningClass, "DynamicPartitionsSpec cannot be used for perfect rollup");
  }
  if (!*perfect && !dynamic) {
    return CannotConstruct(kTuningClass,
                           "DynamicPartitionsSpec must be used for best-effort rollup");
  }
  return absl::OkStatus();
}

}  // namespace interlock::simulator
