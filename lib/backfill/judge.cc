#include "lib/backfill/judge.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lib/druid/timeline.h"
#include "lib/verify/attribution.h"

namespace interlock::backfill {
namespace {

using verify::Attribution;
using verify::Verdict;

const char* NameOf(RowRule rule) {
  switch (rule) {
    case RowRule::kCountMetric:
      return "COUNT_METRIC";
    case RowRule::kStoredRows:
      return "STORED_ROWS";
    case RowRule::kSourceSums:
      return "SOURCE_SUMS";
    case RowRule::kNotProvable:
      break;
  }
  return "NOT_PROVABLE";
}

class UnitJudge {
 public:
  explicit UnitJudge(const Evidence& evidence)
      : evidence_(evidence), timeline_(druid::Timeline::Of(evidence.after.used)) {}

  UnitJudgement Run();

 private:
  void JudgePartition(const Interval& partition);
  void JudgeOurs(const Attribution& told, const PartitionBefore& before);
  void JudgeNothingNew(const PartitionBefore& before);
  void JudgeFindings(const verify::PartitionVerdict& verdict, const PartitionBefore& before);
  PartitionBefore BeforeOf(const Interval& partition) const;
  Attribution AttributionOf(const Interval& partition) const;

  // The unit's observation, from its partitions' states.
  Seen Overall();
  Seen NothingWasOurs();
  // Each marks the unit wrong, or as not yet to be told.
  void CompareRows();
  void CheckExpected();
  void CheckUnparseable();
  void CheckNeighbours();
  void Total();
  void Mismatch(const std::string& reason, const std::string& message);
  void Wrong(const std::string& reason, const std::string& message);
  void Note(const std::string& note) {
    for (PartitionJudgement& one : result_.partitions) one.proof.notes.push_back(note);
  }
  void FillProofs();

  bool Any(State state) const {
    return std::any_of(result_.partitions.begin(), result_.partitions.end(),
                       [state](const auto& one) { return one.state == state; });
  }
  bool loaded() const { return evidence_.after.load.unavailable_segments == 0; }
  double Found(const std::string& metric) const;

  const Evidence& evidence_;
  const druid::Timeline timeline_;
  std::vector<std::string> own_versions_;
  bool not_yet_ = false;
  bool wrong_ = false;
  void Compare(const std::string& measure, double expected, double found);
  std::optional<double> rows_expected_, rows_found_;
  std::vector<Compared> compared_;
  UnitJudgement result_;
};

PartitionBefore UnitJudge::BeforeOf(const Interval& partition) const {
  for (const PartitionBefore& before : evidence_.before.partitions) {
    if (before.partition == partition) return before;
  }
  return {partition, {}, false, {}};
}

Attribution UnitJudge::AttributionOf(const Interval& partition) const {
  verify::AttributionQuestion question;
  question.partition = partition;
  question.used_before = evidence_.before.used;
  question.created = evidence_.created;
  question.ended = evidence_.ended;
  question.others_seen = evidence_.others_seen;
  for (const auto& [interval, version] : evidence_.locks) {
    if (interval.Contains(partition)) question.lock_version = version;
  }
  return verify::Attribute(timeline_, question);
}

void UnitJudge::JudgePartition(const Interval& partition) {
  result_.partitions.push_back({});
  PartitionJudgement& one = result_.partitions.back();
  one.partition = partition;
  const PartitionBefore before = BeforeOf(partition);
  one.proof.versions_before = before.versions;
  const Attribution told = AttributionOf(partition);
  one.message = told.reason;
  switch (told.kind) {
    case Attribution::Kind::kOurs:
      JudgeOurs(told, before);
      return;
    case Attribution::Kind::kNothingNew:
      JudgeNothingNew(before);
      return;
    case Attribution::Kind::kForeign:
      one.state = State::kSuspect;
      one.reason = "FOREIGN_WRITE";
      return;
    case Attribution::Kind::kUnattributed:
      one.state = State::kUndetermined;
      one.reason = "UNATTRIBUTED";
  }
}

// Druid replaces what is there by a tombstone where there is no input, and does nothing
// where nothing is there.
void UnitJudge::JudgeNothingNew(const PartitionBefore& before) {
  PartitionJudgement& one = result_.partitions.back();
  one.proof.attribution = "NOTHING_NEW";
  const ExpectedPartition* expected = ExpectedIn(evidence_.terms, one.partition);
  const int64_t least = std::max(evidence_.terms.min_rows.value_or(0),
                                 expected == nullptr ? 0 : expected->rows.value_or(0));
  if (!before.versions.empty() || !evidence_.succeeded) {
    one.state = State::kNotApplied;
    one.reason = "NO_NEW_VERSION";
  } else if (least > 0) {
    one.state = State::kSuspect;
    one.reason = "ZERO_ROWS";
    one.message = absl::StrCat("no rows came in, and at least ", least, " are expected");
  } else {
    one.state = State::kEmpty;
    one.message = "nothing was there, and no rows came in";
  }
}

void UnitJudge::JudgeOurs(const Attribution& told, const PartitionBefore& before) {
  PartitionJudgement& one = result_.partitions.back();
  own_versions_.push_back(told.version);
  one.proof.version = told.version;
  const bool lock_seen = std::any_of(evidence_.locks.begin(), evidence_.locks.end(),
                                     [&](const auto& lock) { return lock.second == told.version; });
  one.proof.attribution = lock_seen ? "LOCK_VERSION_SEEN" : "WITHIN_TASK_LIFE";
  verify::PartitionQuestion question;
  question.partition = one.partition;
  question.level = evidence_.level;
  question.now = evidence_.now;
  question.expected_version = told.compacted_as.empty() ? told.version : told.compacted_as;
  question.grace = absl::InfiniteDuration();  // what we replaced a moment ago is no finding
  if (evidence_.terms.rule == RowRule::kCountMetric) {
    question.count_metric = evidence_.terms.count_metric;
  }
  if (!told.compacted_as.empty()) {
    one.proof.notes.push_back(
        absl::StrCat("COMPACTED: Druid compacted it into version ", told.compacted_as, " since"));
  }
  JudgeFindings(verify::VerifyPartition(timeline_, evidence_.after, question), before);
}

void UnitJudge::JudgeFindings(const verify::PartitionVerdict& verdict,
                              const PartitionBefore& before) {
  PartitionJudgement& one = result_.partitions.back();
  one.proof.segments = verdict.visible_segments;
  for (const druid::Slice& slice : timeline_.Visible(one.partition)) {
    for (const druid::Segment* segment : slice.segments) {
      one.proof.segment_ids.push_back(segment->id);
    }
  }
  if (loaded()) {
    one.proof.rows = verdict.rows;
    one.proof.stored_rows = verdict.stored_rows;
  }
  one.findings = verdict.findings;
  const int64_t least = evidence_.terms.min_rows.value_or(before.had_rows ? 1 : 0);
  one.state = State::kDone;
  for (const verify::Finding& finding : verdict.findings) {
    switch (finding.verdict) {
      case Verdict::kNotLoaded:
        not_yet_ = true;
        if (one.state != State::kDone) break;
        one.reason = "NOT_LOADED";
        one.message = finding.evidence;
        break;
      case Verdict::kNotRetired:  // Druid's duty comes some 15 minutes after the load
        not_yet_ = true;
        if (one.state != State::kDone || !one.reason.empty()) break;
        one.reason = kNotRetired;
        one.message = finding.evidence;
        break;
      case Verdict::kUndetermined:
        one.state = State::kUndetermined;
        one.reason = "SNAPSHOT_UNCLEAR";
        one.message = finding.evidence;
        break;
      case Verdict::kIncompletePartitionSet:
      case Verdict::kPartiallyCovered:
      case Verdict::kForeignWrite:
        one.state = State::kSuspect;
        one.reason = std::string(verify::NameOf(finding.verdict));
        one.message = finding.evidence;
        return;
      case Verdict::kEmpty:
      case Verdict::kTombstoned:
        one.state = least > 0 ? State::kSuspect : State::kEmpty;
        one.reason = least > 0 ? "ZERO_ROWS" : "";
        one.message = least > 0 ? "the task replaced rows by nothing: look at its input"
                                : "no rows came in, as expected";
        break;
      case Verdict::kDuplicateRows:
        one.proof.notes.push_back(absl::StrCat("LATE_ROWS_POSSIBLE: ", finding.evidence));
        break;
      default:
        break;
    }
  }
}

void UnitJudge::Wrong(const std::string& reason, const std::string& message) {
  wrong_ = true;
  for (PartitionJudgement& one : result_.partitions) {
    if (one.state != State::kDone && one.state != State::kEmpty) continue;
    one.state = State::kSuspect;
    one.reason = reason;
    one.message = message;
  }
  result_.reason = reason;
  result_.message = message;
}

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

void UnitJudge::CheckNeighbours() {
  verify::NeighbourQuestion question;
  question.intervals = evidence_.before.neighbours;
  question.before = evidence_.before.neighbour_segments;
  question.own_versions = own_versions_;
  question.known = evidence_.known;
  const verify::NeighbourChanges changes = verify::CompareNeighbours(timeline_, question);
  const std::string digest = verify::VisibleSetOf(timeline_, evidence_.before.neighbours).digest;
  for (PartitionJudgement& one : result_.partitions) {
    one.proof.neighbours_before = evidence_.before.neighbour_digest;
    one.proof.neighbours_after = digest;
    one.proof.neighbour_changes = changes.explained;
  }
  if (changes.findings.empty()) return;
  const verify::Finding& worst = changes.findings.front();
  Wrong(std::string(verify::NameOf(worst.verdict)), absl::StrCat("next door: ", worst.evidence));
}

void UnitJudge::FillProofs() {
  for (PartitionJudgement& one : result_.partitions) {
    Proof& proof = one.proof;
    proof.level = evidence_.level == verify::Level::kVisible  ? "VISIBLE"
                  : evidence_.level == verify::Level::kServed ? "SERVED"
                                                              : "RETIRED";
    proof.task_id = evidence_.task_id;
    proof.row_rule = NameOf(evidence_.terms.rule);
    proof.rows_expected = rows_expected_;
    proof.rows_found = rows_found_;
    proof.compared = compared_;
    proof.snapshot = evidence_.after.taken;
    if (!evidence_.report) continue;
    const druid::TaskReport& report = *evidence_.report;
    proof.task_rows = TaskRows{report.processed, report.processed_with_error, report.thrown_away,
                               report.unparseable};
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

Seen UnitJudge::NothingWasOurs() {
  const bool came_in = evidence_.report && evidence_.report->processed > 0;
  if (!Any(State::kNotApplied) && came_in) {
    // It says that it read rows, and nothing is there.
    for (PartitionJudgement& one : result_.partitions) {
      one.state = State::kNotApplied;
      one.reason = "NO_NEW_VERSION";
    }
  }
  if (Any(State::kNotApplied)) return evidence_.settled ? Seen::kNoEffect : Seen::kNotYet;
  return Any(State::kSuspect) ? Seen::kWrong : Seen::kProvenEmpty;
}

Seen UnitJudge::Overall() {
  if (Any(State::kUndetermined)) return evidence_.rows_settled ? Seen::kCantTell : Seen::kNotYet;
  if (own_versions_.empty() && !Any(State::kSuspect)) return NothingWasOurs();
  if (Any(State::kNotApplied) && !own_versions_.empty()) {
    result_.reason = "PARTLY_APPLIED";
    result_.message = "some partitions have a new version and others, which should, have none";
    return evidence_.rows_settled ? Seen::kCantTell : Seen::kNotYet;
  }
  CompareRows();
  CheckExpected();
  CheckUnparseable();
  CheckNeighbours();
  if (Any(State::kSuspect) || wrong_) return Seen::kWrong;
  if (not_yet_) return Seen::kNotYet;
  return Any(State::kDone) ? Seen::kProven : Seen::kProvenEmpty;
}

UnitJudgement UnitJudge::Run() {
  for (const Interval& partition : evidence_.unit.partitions) JudgePartition(partition);
  result_.seen = evidence_.after.changed_meanwhile ? Seen::kNotYet : Overall();
  FillProofs();
  Total();
  if (result_.reason.empty() && result_.seen != Seen::kProven) {
    // The first partition that has something to say speaks for the unit.
    for (const PartitionJudgement& one : result_.partitions) {
      if (one.reason.empty()) continue;
      result_.reason = one.reason;
      result_.message = one.message;
      break;
    }
  }
  return result_;
}

}  // namespace

UnitJudgement JudgeUnit(const Evidence& evidence) { return UnitJudge(evidence).Run(); }

}  // namespace interlock::backfill
