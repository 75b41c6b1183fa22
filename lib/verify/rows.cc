#include "lib/verify/rows.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace interlock::verify {
namespace {

constexpr double kTolerance = 1e-9;

bool Same(double a, double b, bool whole) {
  if (whole) return a == b;
  return std::fabs(a - b) <= kTolerance * std::max(std::fabs(a), std::fabs(b));
}

std::string Named(const std::string& measure, double value) {
  return measure == kRows ? absl::StrCat(NumberText(value), " rows")
                          : absl::StrCat("a sum of ", measure, " of ", NumberText(value));
}

std::string Times(double counted, double expected) {
  if (expected <= 0 || std::fmod(counted, expected) != 0) return "";
  return absl::StrCat(": ", NumberText(counted / expected), " times as many");
}

}  // namespace

std::string NumberText(double number) {
  return number == std::floor(number) && std::fabs(number) < 1e15 ? absl::StrFormat("%.0f", number)
                                                                  : absl::StrCat(number);
}

RowCheck Compare(const Expected& expected, const std::optional<double>& counted) {
  RowCheck check;
  check.source = expected.source;
  check.measure = expected.measure;
  check.counted = counted;
  check.expected = expected.value;
  check.whole = expected.whole;
  if (!counted) {
    check.result = Comparison::kUnknown;
  } else if (Same(*counted, expected.value, expected.whole)) {
    check.result = Comparison::kEqual;
  } else {
    check.result = *counted > expected.value ? Comparison::kMore : Comparison::kFewer;
  }
  return check;
}

std::optional<Finding> FindingOf(const RowCheck& check, const std::string& from) {
  if (check.result == Comparison::kUnknown) {
    return MakeFinding(Verdict::kUndetermined,
                       absl::StrCat(check.measure, " could not be counted, and ",
                                    Named(check.measure, *check.expected), " is expected"),
                       {}, 1, "ROWS_NOT_COUNTED");
  }
  if (check.result != Comparison::kMore && check.result != Comparison::kFewer) return std::nullopt;
  // Of a sum below zero (refunds), the same rows once more are further below it.
  const bool more = (check.result == Comparison::kMore) == (*check.expected >= 0);
  const std::string evidence = absl::StrCat(
      Named(check.measure, *check.counted), ", and ", NumberText(*check.expected),
      check.measure == kRows ? " are" : " is", " expected", from.empty() ? "" : " by ", from,
      more && check.measure == kRows ? Times(*check.counted, *check.expected) : "");
  return more ? MakeFinding(Verdict::kDuplicateRows, evidence, {}, 1, "MORE_THAN_EXPECTED")
              : MakeFinding(Verdict::kMissingRows, evidence, {}, 1, "FEWER_THAN_EXPECTED");
}

Finding RolledUp(const std::string& evidence) {
  Finding finding =
      MakeFinding(Verdict::kUndetermined,
                  absl::StrCat(evidence,
                               "; what is there was rolled up, and stored rows are fewer than came "
                               "in"),
                  {}, 1, "ROLLED_UP");
  finding.next = "name the metric of type count, whose sum is the number of rows that came in";
  return finding;
}

Total JudgeTotal(const std::vector<Counted>& partitions, const std::vector<Expected>& expected) {
  Total total;
  const bool unpublished = std::any_of(partitions.begin(), partitions.end(),
                                       [](const Counted& one) { return one.unpublished; });
  const bool rolled_up = std::any_of(partitions.begin(), partitions.end(),
                                     [](const Counted& one) { return one.rolled_up; });
  for (const Expected& one : expected) {
    std::optional<double> sum = 0;
    for (const Counted& partition : partitions) {
      std::optional<double> part = partition.rows;
      if (one.measure != kRows) {
        const auto found = partition.sums.find(one.measure);
        part = found == partition.sums.end() ? std::nullopt : std::optional(found->second);
      }
      sum = sum && part ? std::optional(*sum + *part) : std::nullopt;
    }
    total.checks.push_back(Compare(one, sum));
    RowCheck& check = total.checks.back();
    auto finding = FindingOf(check, one.from);
    if (finding && rolled_up && one.measure == kRows && check.result == Comparison::kFewer) {
      check.result = Comparison::kUnknown;
      finding = RolledUp(finding->evidence);
    } else if (finding && unpublished && check.result != Comparison::kUnknown) {
      check.result = Comparison::kUnknown;
      finding = MakeFinding(Verdict::kUndetermined,
                            absl::StrCat(finding->evidence,
                                         "; a stream serves some of them and "
                                         "has not published those"),
                            {}, 1, "REALTIME_ROWS");
    }
    if (finding) total.findings.push_back(*std::move(finding));
  }
  return total;
}

}  // namespace interlock::verify
