// What came in, held against what was read, expected, and what another datasource has.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lib/backfill/unit_judge.h"

namespace interlock::backfill {

// Brokers learn of new segments a second or two after the metadata store.
void UnitJudge::Mismatch(const std::string& reason, const std::string& message) {
  if (evidence_.rows_settled) {
    Wrong(reason, message);
    return;
  }
  not_yet_ = true;
  result_.reason = "ROWS_LAG";
  result_.message = message;
}

double UnitJudge::Found(const std::string& metric) const {
  double total = 0;
  for (const druid::RowSums& sums : evidence_.after.rows) {
    if (metric.empty()) {
      total += static_cast<double>(sums.rows);
    } else if (const auto it = sums.sums.find(metric); it != sums.sums.end()) {
      total += it->second;
    }
  }
  return total;
}

void UnitJudge::Compare(const std::string& measure, double expected, double found) {
  rows_expected_ = expected;
  rows_found_ = found;
  compared_.push_back({measure, expected, found});
}

void UnitJudge::CompareRows() {
  const RowTerms& terms = evidence_.terms;
  if (!loaded()) {
    Note("ROWS_NOT_PROVABLE: rows can't be counted before all is loaded");
    return;
  }
  if (terms.rule == RowRule::kSourceSums) {
    for (size_t i = 0; i < terms.sums.size() && i < evidence_.before.source_sums.size(); ++i) {
      const auto& [source, target] = terms.sums[i];
      Compare(target, evidence_.before.source_sums[i], Found(target));
      if (EqualSums(*rows_expected_, *rows_found_)) continue;
      Mismatch("SUMS_DIFFER", absl::StrCat("the sum of ", target, " is ", *rows_found_, ", and of ",
                                           source, " in what was read ", *rows_expected_));
      return;
    }
    return;
  }
  if (terms.rule == RowRule::kNotProvable) {
    Note(absl::StrCat("ROWS_NOT_PROVABLE: ", terms.rule_reason));
    return;
  }
  if (!evidence_.report || !evidence_.report->has_row_stats) {
    Note("ROWS_NOT_PROVABLE: the task left no report");
    return;
  }
  const auto& report = *evidence_.report;
  const bool by_metric = terms.rule == RowRule::kCountMetric;
  Compare(by_metric ? terms.count_metric : "rows",
          static_cast<double>(report.processed + report.processed_with_error),
          Found(by_metric ? terms.count_metric : ""));
  if (*rows_expected_ == *rows_found_) return;
  Mismatch(
      *rows_found_ > *rows_expected_ ? "DUPLICATE_ROWS" : "MISSING_ROWS",
      absl::StrCat(*rows_found_, " rows are there, and the task's report says ", *rows_expected_));
}

// Rows that are those of the report are settled, however short ago the task has ended.
void UnitJudge::CheckExpected() {
  const bool sure =
      evidence_.rows_settled || (rows_expected_ && rows_found_ && *rows_expected_ == *rows_found_);
  for (PartitionJudgement& one : result_.partitions) {
    if (one.state != State::kDone && one.state != State::kEmpty) continue;
    auto [reason, message] = Breach(evidence_.terms,
                                    {one.partition, BeforeOf(one.partition).had_rows,
                                     one.state == State::kEmpty, one.proof.rows},
                                    evidence_.after.rows);
    if (reason.empty()) continue;
    not_yet_ = not_yet_ || !sure;
    if (sure) one.state = State::kSuspect;
    one.reason = sure ? reason : "ROWS_LAG";
    one.message = std::move(message);
  }
}

void UnitJudge::CheckUnparseable() {
  if (!evidence_.report) return;
  if (evidence_.report->thrown_away > 0) {
    Note(absl::StrCat("ROWS_THROWN_AWAY: ", evidence_.report->thrown_away,
                      " rows that were read lie outside of the unit's time, or were filtered"));
  }
  const int64_t total = evidence_.unparseable_before + evidence_.report->unparseable;
  if (evidence_.report->unparseable == 0 || total <= evidence_.terms.max_unparseable) return;
  Wrong("UNPARSEABLE_ROWS", absl::StrCat(total, " rows could not be parsed, of at most ",
                                         evidence_.terms.max_unparseable));
}

// What the other datasource has of one part, as what this one should have.
void UnitJudge::CompareTwin(const druid::RowSums& own, const druid::RowSums& other) {
  const RowTerms& terms = evidence_.terms;
  const auto value = [](const druid::RowSums& sums, const std::string& metric) {
    const auto it = sums.sums.find(metric);
    return it == sums.sums.end() ? 0.0 : it->second;
  };
  std::string reason, message;
  const auto compare = [&](const char* why, const std::string& measure, double expected,
                           double found) {
    compared_.push_back({measure, expected, found, /*by_twin=*/true});
    if (EqualSums(expected, found) || !reason.empty()) return;
    reason = why;
    message = absl::StrCat(measure, ": ", found, " in ", own.interval.ToString(), ", and ",
                           terms.same_as, " has ", expected);
  };
  if (terms.rule == RowRule::kCountMetric) {
    compare("ROWS_DIFFER", "rows", value(other, terms.count_metric),
            value(own, terms.count_metric));
  } else if (evidence_.twin->metrics.empty()) {
    compare("ROWS_DIFFER", "rows", static_cast<double>(other.rows), static_cast<double>(own.rows));
  }
  for (const std::string& metric : evidence_.twin->metrics) {
    compare("SUMS_DIFFER", metric, value(other, metric), value(own, metric));
  }
  if (reason.empty()) return;
  if (!evidence_.rows_settled) return Mismatch(reason, message);
  for (PartitionJudgement& one : result_.partitions) {
    if (!IsGood(one.state) || !own.interval.Contains(one.partition)) continue;
    one.state = State::kSuspect;
    one.reason = reason;
    one.message = message;
  }
}

void UnitJudge::CheckTwin() {
  if (!evidence_.twin || !loaded()) return;
  if (!evidence_.twin->why_not.empty()) {
    // Asked for and not known is no yes.
    twin_untold_ = true;
    result_.reason = "SAME_AS_NOT_TOLD";
    result_.message = evidence_.twin->why_not;
    for (PartitionJudgement& one : result_.partitions) {
      if (!IsGood(one.state) || !evidence_.rows_settled) continue;
      one.state = State::kUndetermined;
      one.reason = result_.reason;
      one.message = result_.message;
    }
    return;
  }
  for (const druid::RowSums& own : evidence_.after.rows) {
    druid::RowSums other;
    for (const druid::RowSums& part : evidence_.twin->parts) {
      if (part.interval == own.interval) other = part;
    }
    CompareTwin(own, other);
  }
}

// What adds up over the backfill's units.
void UnitJudge::Total() {
  const RowTerms& terms = evidence_.terms;
  if (!loaded()) return;
  if (terms.rule == RowRule::kCountMetric || terms.rule == RowRule::kStoredRows) {
    result_.rows =
        std::llround(Found(terms.rule == RowRule::kCountMetric ? terms.count_metric : ""));
  }
  result_.sums.emplace();
  for (const ExpectedSum& sum : terms.expected_sums) {
    (*result_.sums)[sum.metric] = Found(sum.metric);
  }
}

}  // namespace interlock::backfill
