#include "lib/backfill/expectation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/backfill/backfill_errors.h"
#include "lib/backfill/request.h"

namespace interlock::backfill {
namespace {

class NumbersCheck {
 public:
  void Count(const std::optional<int64_t>& count, const std::string& pointer) {
    if (count && *count < 0) {
      Add(pointer, absl::StrCat("is ", *count), "a number of rows is 0 or more");
    }
  }
  void Sums(const std::vector<ExpectedSum>& sums, const std::string& pointer) {
    for (size_t i = 0; i < sums.size(); ++i) {
      const std::string place = absl::StrCat(pointer, "/", i);
      if (sums[i].metric.empty()) Add(place + "/metric", "is missing", "name the column");
      if (!std::isfinite(sums[i].value)) Add(place, "is no number", "give the sum");
      if (sums[i].whole && std::fabs(sums[i].value) >= kExactUpTo) {
        Add(place, "is beyond 2^53, where sums are no longer told apart",
            "expect double_value, which is compared to 1e-9");
      }
    }
  }
  absl::Status Result() const {
    return faults_.empty() ? absl::OkStatus() : InvalidExpectation(faults_);
  }

 private:
  void Add(std::string pointer, std::string found, std::string would_do) {
    faults_.push_back({std::move(pointer), std::move(found), std::move(would_do)});
  }
  std::vector<Fault> faults_;
};

const char kRows[] = "/expect/rows";
const char kMinRows[] = "/expect/min_rows";

absl::Status CheckContradictions(const CheckedRequest& checked) {
  const BackfillRequest& request = checked.request;
  int64_t partitions = 0;
  for (const Unit& unit : checked.cut.units) {
    partitions += static_cast<int64_t>(unit.partitions.size());
  }
  const int64_t least = request.min_rows.value_or(0);
  if (request.expected_rows && least > *request.expected_rows / partitions) {
    return ContradictingExpectations(
        {kMinRows, absl::StrCat("is ", least, " in each of ", partitions, " partition(s)"), ""},
        {kRows, absl::StrCat("is ", *request.expected_rows, " over all of them"),
         "leave out one of the two"});
  }
  int64_t named = 0, total = 0;
  for (size_t i = 0; i < request.expected_partitions.size(); ++i) {
    const ExpectedPartition& one = request.expected_partitions[i];
    if (!one.rows) continue;
    const std::string pointer = absl::StrCat("/expect/partitions/", i, "/rows");
    if (*one.rows < least) {
      return ContradictingExpectations(
          {kMinRows, absl::StrCat("is ", least, " in each partition"), ""},
          {pointer, absl::StrCat("is ", *one.rows), "leave out one of the two"});
    }
    ++named;
    total += *one.rows;
    const bool all = named == partitions;
    if (request.expected_rows &&
        (total > *request.expected_rows || (all && total != *request.expected_rows))) {
      return ContradictingExpectations(
          {kRows, absl::StrCat("is ", *request.expected_rows, " over all partitions"), ""},
          {pointer, absl::StrCat("makes the partitions' rows ", total),
           "leave out one of the two"});
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPartitions(const CheckedRequest& checked) {
  std::vector<Fault> faults;
  const auto& expected = checked.request.expected_partitions;
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string pointer = absl::StrCat("/expect/partitions/", i, "/interval");
    const bool known =
        std::any_of(checked.cut.units.begin(), checked.cut.units.end(), [&](const Unit& unit) {
          return std::binary_search(unit.partitions.begin(), unit.partitions.end(),
                                    expected[i].interval);
        });
    if (!known) {
      faults.push_back(
          {pointer,
           absl::StrCat(expected[i].interval.ToString(), " is no partition of this backfill"),
           absl::StrCat("the first one is ", checked.cut.units[0].partitions[0].ToString())});
    }
    for (size_t j = 0; j < i; ++j) {
      if (expected[j].interval != expected[i].interval) continue;
      faults.push_back({pointer, "stands twice", "keep one of them"});
    }
  }
  return faults.empty() ? absl::OkStatus() : InvalidExpectation(faults);
}

absl::Status CheckTwinName(const CheckedRequest& checked) {
  const std::string& twin = checked.request.same_as;
  if (twin.empty() || twin != checked.check.spec->datasource) return absl::OkStatus();
  return InvalidExpectation({{"/expect/same_as_datasource", "is the datasource itself",
                              "name the one that must have the same"}});
}

// The sums that a spec's metrics keep; a query's columns are not told before it has run.
absl::Status CheckMetrics(const Spec& spec, const std::vector<ExpectedSum>& sums) {
  for (const ExpectedSum& sum : sums) {
    const auto& known = spec.metrics;
    if (spec.sql || std::find(known.begin(), known.end(), sum.metric) != known.end()) continue;
    return ExpectationNotCheckable(
        "expect.sums", absl::StrCat(sum.metric, " is no metric of the spec that adds up"));
  }
  return absl::OkStatus();
}

bool ExpectsAnything(const BackfillRequest& request) {
  return request.expected_rows || request.min_rows.value_or(0) > 0 || !request.same_as.empty() ||
         !request.expected_sums.empty() || !request.expected_partitions.empty();
}

bool ExpectsRows(const BackfillRequest& request) {
  const auto& partitions = request.expected_partitions;
  return request.expected_rows ||
         std::any_of(partitions.begin(), partitions.end(),
                     [](const ExpectedPartition& one) { return one.rows.has_value(); });
}

absl::Status CheckCheckable(const CheckedRequest& checked) {
  const BackfillRequest& request = checked.request;
  const RowTerms& terms = checked.terms;
  const bool counts = terms.rule == RowRule::kCountMetric || terms.rule == RowRule::kStoredRows;
  const char* why = terms.rule == RowRule::kSourceSums
                        ? "rows of a re-index are compared by sums; name a count metric"
                        : terms.rule_reason.c_str();
  if (ExpectsRows(request) && !counts) return ExpectationNotCheckable("expect.rows", why);
  if (request.min_rows.value_or(0) > 1 && !counts) {
    return ExpectationNotCheckable("expect.min_rows", why);
  }
  if (!request.same_as.empty() && !counts && terms.twin_metrics.empty()) {
    return ExpectationNotCheckable("expect.same_as_datasource", why);
  }
  if (ExpectsAnything(request) && request.level == verify::Level::kVisible) {
    return ExpectationNotCheckable(
        "expect", "at level VISIBLE nothing need be loaded, and rows are counted in what is");
  }
  const Spec& spec = *checked.check.spec;
  absl::Status status = CheckMetrics(spec, request.expected_sums);
  for (const ExpectedPartition& one : request.expected_partitions) {
    if (status.ok()) status = CheckMetrics(spec, one.sums);
  }
  return status;
}

}  // namespace

bool Fulfils(const ExpectedSum& expected, double found) {
  return expected.whole ? expected.value == found : EqualSums(expected.value, found);
}

std::string Differs(const ExpectedSum& expected, double found) {
  const auto text = [](double value) {
    return value == std::floor(value) && std::fabs(value) < kExactUpTo
               ? absl::StrCat(static_cast<int64_t>(value))
               : absl::StrCat(value);
  };
  return absl::StrCat("the sum of ", expected.metric, " is ", text(found), ", and ",
                      text(expected.value), " is expected");
}

absl::Status CheckExpectedNumbers(const BackfillRequest& request) {
  NumbersCheck check;
  check.Count(request.expected_rows, kRows);
  check.Count(request.min_rows, kMinRows);
  check.Count(request.max_unparseable, "/expect/max_unparseable");
  check.Sums(request.expected_sums, "/expect/sums");
  for (size_t i = 0; i < request.expected_partitions.size(); ++i) {
    const std::string place = absl::StrCat("/expect/partitions/", i);
    check.Count(request.expected_partitions[i].rows, place + "/rows");
    check.Sums(request.expected_partitions[i].sums, place + "/sums");
  }
  return check.Result();
}

absl::Status CheckExpectations(const CheckedRequest& checked) {
  for (const auto& one : {CheckTwinName, CheckPartitions, CheckContradictions, CheckCheckable}) {
    if (absl::Status status = one(checked); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace interlock::backfill
