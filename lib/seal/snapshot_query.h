// A snapshot as Druid SQL.
//
// Pure. Threads: functions without state.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "lib/seal/seal.h"

namespace interlock::seal {

inline constexpr size_t kMostDimensions = 20;
inline constexpr size_t kMostAggregates = 50;
inline constexpr size_t kMostExpressionBytes = 2000;

// INVALID_SNAPSHOT: the first fault. What is taken stays inside its parentheses: no
// statement of its own, no sub-query, no comment. An empty spec is fine: no snapshot.
absl::Status CheckSnapshot(const SnapshotSpec& spec);

// Columns: the dimensions, as text, then the aggregates; at most `most` rows.
std::string SnapshotQuery(const std::string& datasource, const Interval& interval,
                          const SnapshotSpec& spec, int64_t most);

}  // namespace interlock::seal
