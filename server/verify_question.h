// What VerifySingleVersion is asked, read from the request once: everything that does not
// change from look to look.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "lib/backfill/backfills.h"
#include "lib/sweep/look.h"
#include "lib/time/interval.h"
#include "lib/verify/rows.h"

namespace interlock::server {

struct VerifySettings {
  absl::Duration grace;             // verification.grace
  int64_t max_partitions = 10'000;  // limits.max_partitions_per_call
};

struct VerifyQuestion {
  std::string datasource;
  std::vector<Interval> intervals;
  verify::Level level = verify::Level::kServed;
  std::string count_metric;
  std::vector<sweep::SumOf> sums;
  // Of all intervals together; of single partitions; and what a backfill proved of them.
  std::vector<verify::Expected> total;
  std::map<Interval, std::vector<verify::Expected>> of_partition;
  struct Proven {
    std::string version;
    std::optional<verify::Expected> rows;
  };
  std::map<Interval, Proven> proven;
  std::optional<int64_t> min_rows;
  std::string same_as;
  std::optional<Instant> not_before;
  VerifySettings settings;

  sweep::LookQuestion About(const Interval& interval, Instant now) const;
  // Of a partition out of so many.
  sweep::Expectation Of(const Interval& partition, size_t partitions) const;
  // Whether its rows are compared by themselves.
  bool IsCompared(const Interval& partition, size_t partitions) const;
};

// Fills the response's readings. INVALID_ARGUMENT with every field that it can't honour;
// UNKNOWN_BACKFILL; FAILED_PRECONDITION, NOTHING_PROVEN.
absl::StatusOr<VerifyQuestion> ReadQuestion(const v1::VerifySingleVersionRequest& request,
                                            const backfill::Backfills& backfills,
                                            const VerifySettings& settings,
                                            v1::VerifySingleVersionResponse& response);

}  // namespace interlock::server
