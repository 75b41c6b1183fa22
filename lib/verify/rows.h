// Rows and sums that were counted, beside what they should be.
//
// Druid sums longs as doubles here, exact below 2^53; a sum that was expected as a double
// is compared with a relative tolerance of 1e-9.
//
// Pure. Threads: functions without state.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/verify/verdict.h"

namespace interlock::verify {

// Where an expectation comes from; the names of v1::RowCheck::Source.
enum class RowSource { kNone, kCaller, kLastProof, kDatasource };

// What is compared where it is no metric.
inline constexpr char kRows[] = "rows";

struct Expected {
  std::string measure = kRows;  // or a metric's column
  double value = 0;
  bool whole = true;  // a sum of longs: compared exactly
  RowSource source = RowSource::kCaller;
  std::string from;  // "the caller", for the evidence
};

enum class Comparison {
  kEqual,
  kMore,
  kFewer,
  kNotProvable,  // there is nothing to compare with
  kUnknown,      // it could not be counted
  kPartOfTotal,  // counted, and compared only together with the other partitions
};

struct RowCheck {
  Comparison result = Comparison::kNotProvable;
  RowSource source = RowSource::kNone;
  std::string measure = kRows;
  std::optional<double> counted, expected;
  bool whole = true;
};

RowCheck Compare(const Expected& expected, const std::optional<double>& counted);

// "40", "1.5": without a decimal point where it is whole.
std::string NumberText(double number);

// MISSING_ROWS or DUPLICATE_ROWS with both figures, UNDETERMINED where there is no count;
// nothing where they are equal.
std::optional<Finding> FindingOf(const RowCheck& check, const std::string& from);

// UNDETERMINED, ROLLED_UP: fewer stored rows than rows that came in.
Finding RolledUp(const std::string& evidence);

// What all partitions together have, beside what is expected of them together.
struct Counted {
  std::optional<double> rows;
  std::map<std::string, double> sums;
  // Streams serve some of them and have not published those: a difference says nothing yet.
  bool unpublished = false;
  // Stored rows of what was rolled up: fewer than came in says nothing.
  bool rolled_up = false;
};
struct Total {
  std::vector<RowCheck> checks;
  std::vector<Finding> findings;  // empty where all is as expected
};
Total JudgeTotal(const std::vector<Counted>& partitions, const std::vector<Expected>& expected);

}  // namespace interlock::verify
