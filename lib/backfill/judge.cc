#include "lib/backfill/judge.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/backfill/unit_judge.h"
#include "lib/verify/unseen.h"

namespace interlock::backfill {

using verify::Attribution;
using verify::Verdict;

namespace {

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

// What a state that a person has to look at says in the words of a verification.
Verdict VerdictOf(const PartitionJudgement& one) {
  static const std::map<std::string, Verdict> kOfReasons = {
      {"DUPLICATE_ROWS", Verdict::kDuplicateRows},
      {"MISSING_ROWS", Verdict::kMissingRows},
      {"TOO_FEW_ROWS", Verdict::kMissingRows},
      {"UNPARSEABLE_ROWS", Verdict::kMissingRows},
      {"FOREIGN_WRITE", Verdict::kForeignWrite},
      {"NEIGHBOUR_CHANGED", Verdict::kNeighbourChanged},
  };
  const auto found = kOfReasons.find(one.reason);
  if (found != kOfReasons.end()) return found->second;
  if (one.reason == "ZERO_ROWS") {
    return one.proof.version.empty() ? Verdict::kEmpty : Verdict::kTombstoned;
  }
  return one.state == State::kSuspect ? Verdict::kMissingRows : Verdict::kUndetermined;
}

}  // namespace

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
        if (finding.reason == verify::kHiddenHereOnly) {  // and never for this
          one.proof.notes.push_back(absl::StrCat(finding.reason, ": ", finding.evidence));
          break;
        }
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

// What is right beside it is proven once it is loaded, which takes a moment. A person is not kept
// waiting for long, and nothing is called done then that is not.
Seen UnitJudge::WrongAsSeen() {
  if (not_yet_ && Any(State::kDone) && !evidence_.rows_settled) return Seen::kNotYet;
  for (PartitionJudgement& one : result_.partitions) {
    if (one.state == State::kDone && !one.reason.empty()) one.state = State::kUndetermined;
  }
  return Seen::kWrong;
}

void UnitJudge::CheckNeighbours() {
  verify::NeighbourQuestion question;
  question.intervals = evidence_.before.neighbours;
  question.before = evidence_.before.neighbour_segments;
  question.own_versions = own_versions_;
  question.known = evidence_.known;
  const verify::NeighbourChanges changes = verify::CompareNeighbours(timeline_, question);
  verify::VisibleSet set = verify::VisibleSetOf(timeline_, evidence_.before.neighbours);
  result_.neighbours_after = std::move(set.segments);
  for (PartitionJudgement& one : result_.partitions) {
    one.proof.neighbours_before = evidence_.before.neighbour_digest;
    one.proof.neighbours_after = set.digest;
    one.proof.neighbour_changes = changes.explained;
    one.proof.changes = changes.changes;
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
    proof.task_rows = RowsIn(*evidence_.report);
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
  CheckTwin();
  if (Any(State::kSuspect)) return Seen::kWrong;
  if (twin_untold_) return evidence_.rows_settled ? Seen::kCantTell : Seen::kNotYet;
  return not_yet_ ? Seen::kNotYet : Seen::kProvenEmpty;
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
  CheckTwin();
  CheckUnparseable();
  CheckNeighbours();
  if (Any(State::kSuspect) || wrong_) return WrongAsSeen();
  if (not_yet_) return Seen::kNotYet;
  if (twin_untold_) return evidence_.rows_settled ? Seen::kCantTell : Seen::kNotYet;
  return Any(State::kDone) ? Seen::kProven : Seen::kProvenEmpty;
}

// What a person is shown of a partition that is in doubt.
void UnitJudge::FillFindings() {
  for (PartitionJudgement& one : result_.partitions) {
    const bool doubt = one.state == State::kSuspect || one.state == State::kUndetermined;
    const bool told = std::any_of(one.findings.begin(), one.findings.end(), [](const auto& found) {
      return verify::IsFault(found) || found.verdict == Verdict::kUndetermined;
    });
    if (!doubt || told) continue;
    one.findings.insert(one.findings.begin(),
                        verify::MakeFinding(VerdictOf(one), one.message, {}, 1, one.reason));
  }
}

UnitJudgement UnitJudge::Run() {
  for (const Interval& partition : evidence_.unit.partitions) JudgePartition(partition);
  result_.seen = evidence_.after.changed_meanwhile ? Seen::kNotYet : Overall();
  FillProofs();
  FillFindings();
  Total();
  if (result_.reason.empty() && result_.seen != Seen::kProven) {
    // The first partition that has something to say speaks for the unit, of those that are
    // wrong where some are.
    const bool wrong = result_.seen == Seen::kWrong && Any(State::kSuspect);
    for (const PartitionJudgement& one : result_.partitions) {
      if (one.reason.empty() || (wrong && one.state != State::kSuspect)) continue;
      result_.reason = one.reason;
      result_.message = one.message;
      break;
    }
  }
  return result_;
}

UnitJudgement JudgeUnit(const Evidence& evidence) { return UnitJudge(evidence).Run(); }

}  // namespace interlock::backfill
