// An index_parallel spec as somebody sent it, held against the contract of a replacing
// backfill: what is replaced is said explicitly, in whole partitions of the datasource's
// calendar, and nothing outside of it is read or changed.
//
// All faults are found at once, each with its JSON pointer, what stands there and what
// would do; a spec with the faults mended is made on the way. Pure: no store, no Druid,
// no clock. Threads: functions without state; a Spec is a value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "lib/backfill/spec_fault.h"
#include "lib/time/granularity.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

// Partitions are counted by arithmetic before any is made.
inline constexpr int64_t kMaxPartitions = 10'000;     // of one backfill
inline constexpr int64_t kMaxUnitPartitions = 1'000;  // of one task

struct CheckOptions {
  // Supply intervals where the spec has none, and narrow them where it has.
  std::vector<Interval> intervals;
  // Intervals that split a partition are widened to whole ones instead of refused (P4:
  // only with consent).
  bool accept_widening = false;
  // useConcurrentLocks is a warning instead of a fault.
  bool accept_concurrent_locks = false;
  int64_t max_partitions = kMaxPartitions;
};

// How a unit's rows can be compared after its task (design: Proving).
enum class RowRule {
  kCountMetric,  // the report's processed rows = sum of `count_metric`
  kStoredRows,   // the report's processed rows = COUNT(*): no roll-up
  kSourceSums,   // sums of `sums` in what was read = the same in what was written
  kNotProvable,
};

// A spec that fulfils the contract.
struct Spec {
  explicit Spec(Granularity segments) : granularity(std::move(segments)) {}

  std::string datasource;
  Granularity granularity;          // of its segments
  std::string granularity_json;     // the same as its author wrote it (ParseGranularity)
  std::vector<Interval> intervals;  // condensed, aligned, not empty
  std::string label;                // the id that its author chose; ours is pinned later
  std::string json;                 // as sent, but without `id`, and with these intervals
  bool widened = false;             // `intervals` hold more than was asked
  bool sql = false;                 // `json` is a query and its context (sql_work.h)

  bool narrows = false;      // a unit's task reads only its own part of the input
  std::string druid_source;  // the datasource whose segments it reads, "" for raw input
  bool reads_itself() const { return !druid_source.empty() && druid_source == datasource; }

  RowRule row_rule = RowRule::kNotProvable;
  std::string row_rule_reason;  // why it is not provable
  std::string count_metric;
  // Column of the source → column of the target, for kSourceSums.
  std::vector<std::pair<std::string, std::string>> sums;
  std::vector<std::string> metrics;  // columns of the target that add up
};

struct SpecCheck {
  std::vector<SpecFault> faults;
  std::vector<SpecFault> warnings;
  std::optional<Spec> spec;  // there when `faults` is empty
  // The spec with each fault mended that has one answer; "" when none could be.
  std::string corrected;
};

SpecCheck CheckSpec(const std::string& json, const CheckOptions& options);

// A granularity from its JSON text in a spec that was checked once; nullopt for another.
std::optional<Granularity> ParseGranularity(const std::string& json);

// OK, or INVALID_ARGUMENT (SPEC_INVALID) with every fault attached (status_reason.h).
absl::Status SpecStatus(const SpecCheck& check);

}  // namespace interlock::backfill
