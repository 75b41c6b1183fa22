#include "lib/verify/partition.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/verify/repeats.h"
#include "lib/verify/unseen.h"

namespace interlock::verify {
namespace {

using druid::Segment;
using druid::Slice;
using druid::Timeline;

std::vector<std::string> Ids(const std::vector<const Segment*>& segments) {
  std::vector<std::string> ids;
  for (const Segment* segment : segments) ids.push_back(segment->id);
  return ids;
}

class Judge {
 public:
  Judge(const Timeline& timeline, const druid::Snapshot& snapshot,
        const PartitionQuestion& question)
      : timeline_(timeline), snapshot_(snapshot), question_(question) {
    result_.partition = question.partition;
  }

  PartitionVerdict Run();

 private:
  void Add(Verdict verdict, const char* reason, std::string evidence,
           std::vector<std::string> segments = {}) {
    result_.findings.push_back(
        MakeFinding(verdict, std::move(evidence), std::move(segments), 1, reason));
  }
  // False where nothing can be said at all.
  bool IsFresh();
  void Undetermined(const char* reason, std::string evidence, std::string next,
                    std::vector<std::string> segments = {}) {
    Add(Verdict::kUndetermined, reason, std::move(evidence), std::move(segments));
    result_.findings.back().next = std::move(next);
  }
  void GatherVersions();
  void JudgeVersions();
  void JudgeOwnVersion();
  void JudgeUnseen();
  void JudgeLoad();
  void JudgeRules();
  void JudgeRows();
  void CountRows();
  bool MayCompare();
  std::optional<double> CountOf(const std::string& measure) const;
  void CompareRows();
  void NoteUncompared();
  bool Loaded() const { return snapshot_.load.unavailable_segments == 0; }
  // What is seen of the slice's chunk within the partition is cut by another version.
  bool IsCut(const Slice& slice) const {
    const auto whole = slice.chunk.Intersect(question_.partition);
    return whole && *whole != slice.interval;
  }

  const Timeline& timeline_;
  const druid::Snapshot& snapshot_;
  const PartitionQuestion& question_;
  std::vector<Slice> slices_;
  std::set<std::string> versions_;
  PartitionVerdict result_;
};

bool Judge::IsFresh() {
  if (question_.not_before && snapshot_.taken < *question_.not_before) {
    Undetermined(
        "STALE_SNAPSHOT",
        absl::StrCat("read at ", snapshot_.taken.ToString(), ", before ",
                     question_.not_before->ToString(), ": it may be older than the change"),
        "look again once that moment has passed");
    return false;
  }
  if (snapshot_.changed_meanwhile) {
    Undetermined("CHANGED_MEANWHILE", "segments changed while they were read",
                 "look again once whoever writes here has ended");
    return false;
  }
  return true;
}

void Judge::GatherVersions() {
  slices_ = timeline_.Visible(question_.partition);
  for (const Slice& slice : slices_) {
    if (versions_.insert(slice.version).second) result_.visible_versions.push_back(slice.version);
    for (const Segment* segment : slice.segments) {
      ++result_.visible_segments;
      if (segment->appended() && segment->shard.core_partitions > 0) ++result_.appended_segments;
    }
  }
}

void Judge::JudgeVersions() {
  if (slices_.empty()) {
    Add(Verdict::kEmpty, "", "no segment is visible");
    return;
  }
  for (const Slice& slice : slices_) {
    if (!slice.has_unknown_shards) continue;
    Undetermined("UNKNOWN_SHARD_SPEC",
                 absl::StrCat("segments of version ", slice.version,
                              " have a shardSpec that is not known, or chunks of that version "
                              "overlap"),
                 "ask Druid itself what is seen (sys.segments), or recompute the partition",
                 Ids(slice.segments));
    return;
  }
  const auto cut =
      std::find_if(slices_.begin(), slices_.end(), [this](const Slice& s) { return IsCut(s); });
  if (cut != slices_.end() && versions_.size() > 1) {
    Add(Verdict::kPartiallyCovered, "",
        absl::StrCat("of ", cut->chunk.ToString(), " version ", cut->version, " is still seen in ",
                     cut->interval.ToString(),
                     "; versions here: ", absl::StrJoin(result_.visible_versions, ", ")),
        Ids(cut->segments));
    return;
  }
  if (std::all_of(slices_.begin(), slices_.end(), [](const Slice& s) { return s.tombstone(); })) {
    Add(Verdict::kTombstoned, "",
        absl::StrCat("version ", slices_.back().version, " is a tombstone, without rows"));
    return;
  }
  Add(Verdict::kSingleVersion, "",
      absl::StrCat(result_.visible_segments, " segments of version ",
                   absl::StrJoin(result_.visible_versions, ", "), ", core partitions complete"));
}

void Judge::JudgeOwnVersion() {
  if (!question_.expected_version || slices_.empty()) return;
  for (const Slice& slice : slices_) {
    const bool compacted = std::all_of(slice.segments.begin(), slice.segments.end(),
                                       [](const Segment* segment) { return segment->compacted; });
    // Druid rewrote what was proven: whether it is still that, the rows say.
    if (slice.version > *question_.expected_version && compacted && !question_.expected.empty()) {
      continue;
    }
    if (slice.version > *question_.expected_version) {
      Add(Verdict::kForeignWrite, "ANOTHER_VERSION",
          absl::StrCat("version ", slice.version, " hides ", *question_.expected_version,
                       ", which was proven here"),
          Ids(slice.segments));
    } else if (slice.version < *question_.expected_version) {
      Undetermined("OLDER_VERSION",
                   absl::StrCat("version ", *question_.expected_version, " is expected, and ",
                                slice.version, " is seen"),
                   "the proven version is gone from here: look among what is unused (--unused) "
                   "for who marked it so, and submit the interval again",
                   Ids(slice.segments));
    }
  }
}

void Judge::JudgeUnseen() {
  const Unseen unseen{timeline_, slices_, question_.partition};
  for (Finding& finding : JudgeIncomplete(unseen)) {
    result_.findings.push_back(std::move(finding));
  }
  const Hidden hidden = LookForHidden(unseen, question_.none_hidden_at);
  result_.hidden_versions.assign(hidden.versions.begin(), hidden.versions.end());
  if (question_.level == Level::kRetired) {
    for (Finding& finding : JudgeRetired(unseen, hidden)) {
      result_.findings.push_back(std::move(finding));
    }
  }
  std::vector<std::string> late;
  for (const auto& [id, since] : hidden.since) {
    if (since && *since + question_.grace < question_.now) late.push_back(id);
  }
  if (late.empty()) return;
  Add(Verdict::kDoubleVersion, "USED_PAST_GRACE",
      absl::StrCat(late.size(), " hidden segments are still used, ",
                   absl::FormatDuration(question_.grace), " after a newer version replaced them"),
      late);
}

void Judge::JudgeLoad() {
  if (question_.level == Level::kVisible || slices_.empty()) return;
  JudgeRules();
  const int64_t left = question_.unloaded.value_or(snapshot_.load.unavailable_segments);
  if (!snapshot_.load.any_used) {
    Undetermined("LOAD_STATUS_DISAGREES",
                 "the coordinator knows no used segment here, and the metadata store does",
                 "look again once the coordinator has polled its metadata (a minute, mostly)");
  } else if (left > 0 && !Has(result_.findings, Verdict::kNeverLoads)) {
    const Interval& where = question_.unloaded ? question_.partition : snapshot_.interval;
    Add(Verdict::kNotLoaded, "",
        absl::StrCat(left, " visible segments of ", where.ToString(), " are not loaded"));
  }
}

// Druid's own load status counts what no rule wants loaded as loaded.
void Judge::JudgeRules() {
  if (question_.rules == nullptr) return;
  for (const Slice& slice : slices_) {
    if (slice.tombstone()) continue;
    const druid::RuleVerdict rule = question_.rules->Of(slice.chunk, question_.now);
    const std::string what =
        absl::StrCat("version ", slice.version, " of ", slice.chunk.ToString());
    if (rule.fate == druid::Fate::kZeroReplicas) {
      Add(Verdict::kNeverLoads, "ZERO_REPLICAS",
          absl::StrCat(what, " is kept without a replica, by the rule ", rule.rule),
          Ids(slice.segments));
    } else if (rule.fate == druid::Fate::kDropped) {
      Add(Verdict::kNeverLoads, "DROP_RULE",
          absl::StrCat(what, " will be marked unused, by the rule ", rule.rule),
          Ids(slice.segments));
    } else if (rule.fate == druid::Fate::kNoRule) {
      Add(Verdict::kNeverLoads, "NO_RULE", absl::StrCat("no retention rule is for ", what),
          Ids(slice.segments));
    } else {
      continue;
    }
    return;
  }
}

void Judge::CountRows() {
  for (const druid::RowSums& sums : snapshot_.rows) {
    if (sums.interval != question_.partition) continue;
    result_.stored_rows = sums.rows;
    result_.sums = sums.sums;
    if (question_.count_metric.empty()) {
      result_.rows = sums.rows;
    } else if (const auto it = sums.sums.find(question_.count_metric);
               it != sums.sums.end() && question_.count_metric_is_there) {
      result_.rows = std::llround(it->second);
    }
  }
}

std::optional<double> Judge::CountOf(const std::string& measure) const {
  if (measure == kRows) {
    return result_.rows ? std::optional(static_cast<double>(*result_.rows)) : std::nullopt;
  }
  const auto found = result_.sums.find(measure);
  return found == result_.sums.end() ? std::nullopt : std::optional(found->second);
}

// Whether what was counted is all that there is.
bool Judge::MayCompare() {
  if (!question_.count_metric_is_there) {
    Undetermined("METRIC_NOT_THERE",
                 absl::StrCat("what is seen here has no column ", question_.count_metric,
                              ", which other partitions have: rows can't be counted by it"),
                 "recompute the partition with that metric, or count stored rows");
    return false;
  }
  if (result_.rows && Loaded()) return true;
  Undetermined(
      "ROWS_NOT_COUNTED",
      result_.rows ? "rows can't be counted before all is loaded" : "rows could not be counted",
      "look again once all is loaded and the broker answers");
  return false;
}

void Judge::CompareRows() {
  std::vector<Expected> expected = question_.expected;
  if (question_.expected_rows) {
    expected.insert(expected.begin(), {kRows, static_cast<double>(*question_.expected_rows), true,
                                       RowSource::kCaller, question_.expected_from});
  }
  for (const Expected& one : expected) {
    result_.checks.push_back(Compare(one, CountOf(one.measure)));
    auto finding = FindingOf(result_.checks.back(), one.from);
    if (finding) result_.findings.push_back(*std::move(finding));
  }
  if (question_.min_rows && *result_.rows < *question_.min_rows) {
    Add(Verdict::kMissingRows, "FEWER_THAN_EXPECTED",
        absl::StrCat(*result_.rows, " rows, and at least ", *question_.min_rows,
                     " are expected by the caller"));
  }
}

// Rows that were counted, and not compared with anything of this partition alone.
void Judge::NoteUncompared() {
  RowCheck check;
  check.counted = CountOf(kRows);
  check.result = question_.part_of_total ? Comparison::kPartOfTotal : Comparison::kNotProvable;
  result_.checks.push_back(check);
  if (!question_.part_of_total) {
    Add(Verdict::kRowsNotProvable, "", "there is no expectation to compare rows with");
    return;
  }
  for (Finding& finding : result_.findings) {
    if (finding.verdict != Verdict::kSingleVersion || !result_.rows) continue;
    absl::StrAppend(&finding.evidence, "; ", *result_.rows,
                    " rows, a part of the total that is expected");
  }
}

void Judge::JudgeRows() {
  CountRows();
  const bool alone =
      question_.expected_rows || !question_.expected.empty() || question_.min_rows.has_value();
  const bool asked = alone || question_.part_of_total || !question_.count_metric_is_there;
  if (asked && !MayCompare()) return;
  if (alone) CompareRows();
  if (question_.expected_rows || !question_.expected.empty()) return;
  if (auto repeats = LookForRepeats(slices_)) result_.findings.push_back(*std::move(repeats));
  if (alone || slices_.empty() || Has(result_.findings, Verdict::kTombstoned)) return;
  NoteUncompared();
}

PartitionVerdict Judge::Run() {
  if (!IsFresh()) return result_;
  result_.unloaded_segments = question_.unloaded;
  GatherVersions();
  JudgeVersions();
  JudgeOwnVersion();
  JudgeUnseen();
  JudgeLoad();
  JudgeRows();
  return result_;
}

}  // namespace

PartitionVerdict VerifyPartition(const Timeline& timeline, const druid::Snapshot& snapshot,
                                 const PartitionQuestion& question) {
  return Judge(timeline, snapshot, question).Run();
}

std::optional<int64_t> LoadedSegments(const PartitionVerdict& verdict, int64_t of_version) {
  if (!verdict.unloaded_segments) return std::nullopt;
  if (verdict.visible_versions.size() > 1 && *verdict.unloaded_segments > 0) return std::nullopt;
  return std::max<int64_t>(0, of_version - *verdict.unloaded_segments);
}

PartitionVerdict NothingKnown(const Interval& partition, const std::string& why,
                              const std::string& reason, const std::string& next) {
  PartitionVerdict verdict;
  verdict.partition = partition;
  verdict.findings.push_back(
      MakeFinding(Verdict::kUndetermined, why, {}, 1, reason.empty() ? "NO_ANSWER" : reason));
  if (!next.empty()) verdict.findings.back().next = next;
  return verdict;
}

}  // namespace interlock::verify
