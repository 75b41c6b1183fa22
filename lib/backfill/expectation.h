// What rows a caller expects of a backfill, beyond what the work itself tells.
//
// Threads: values, and functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

struct BackfillRequest;
struct CheckedRequest;

// Sums are read as doubles: whole numbers beyond this are no longer told apart.
inline constexpr double kExactUpTo = 9007199254740992.0;  // 2^53

// The sum of one metric column of what is written.
struct ExpectedSum {
  std::string metric;
  double value = 0;
  bool whole = true;  // a sum of longs: exactly; else to 1e-9 of it

  bool operator==(const ExpectedSum& other) const = default;
};

// Of one partition; adds to what is expected of each.
struct ExpectedPartition {
  Interval interval;
  std::optional<int64_t> rows;
  std::vector<ExpectedSum> sums;

  bool operator==(const ExpectedPartition& other) const = default;
};

bool Fulfils(const ExpectedSum& expected, double found);
// "12 of sent, and 13 are expected"
std::string Differs(const ExpectedSum& expected, double found);

// The numbers of a request by themselves. INVALID_ARGUMENT, EXPECTATION_INVALID, with every
// fault: one that can't be a number of rows, a metric without a name.
absl::Status CheckExpectedNumbers(const BackfillRequest& request);

// The request's expectations against each other and against its work:
// INVALID_ARGUMENT, EXPECTATIONS_CONTRADICT, naming both fields; EXPECTATION_INVALID for a
// partition that is none; FAILED_PRECONDITION, EXPECTATION_NOT_CHECKABLE.
absl::Status CheckExpectations(const CheckedRequest& checked);

}  // namespace interlock::backfill
