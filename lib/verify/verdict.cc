#include "lib/verify/verdict.h"

#include <algorithm>
#include <utility>

namespace interlock::verify {
namespace {

struct Words {
  absl::string_view name;
  absl::string_view next;
};

const Words& WordsOf(Verdict verdict) {
  static constexpr Words kSingle{"SINGLE_VERSION", ""};
  static constexpr Words kDouble{
      "DOUBLE_VERSION",
      "find out why Druid's duty has not marked the hidden version unused: is the new one "
      "served, does the coordinator lead? Queries read only the newer one"};
  static constexpr Words kIncomplete{
      "INCOMPLETE_PARTITION_SET",
      "do not mark the older version unused, it is what queries read; run the job again"};
  static constexpr Words kPartial{
      "PARTIALLY_COVERED",
      "queries mix two versions here: recompute the whole of the older chunk, or accept it"};
  static constexpr Words kDuplicate{
      "DUPLICATE_ROWS", "recompute the partition from its source with a replacing backfill"};
  static constexpr Words kMissing{
      "MISSING_ROWS",
      "look at the task's report for unparseable and thrown away rows, and at the "
      "input; then run the backfill again"};
  static constexpr Words kNeighbour{
      "NEIGHBOUR_CHANGED",
      "a task wrote outside of its unit: recompute the neighbour, and report this as a fault of "
      "Interlock's"};
  static constexpr Words kNotLoaded{
      "NOT_LOADED", "wait; if it lasts, look at the load rules and the historicals' room"};
  static constexpr Words kNeverLoads{
      "NEVER_LOADS",
      "change the datasource's retention rules, or query it from deep storage: waiting does not "
      "help"};
  static constexpr Words kNotRetired{
      "NOT_RETIRED",
      "wait: Druid's duty marks the hidden version unused some 15 minutes after the new one is "
      "served"};
  static constexpr Words kForeign{
      "FOREIGN_WRITE",
      "find the writer in Druid's task list, have it ask for reservations, and recompute"};
  static constexpr Words kTombstone{
      "TOMBSTONED", "if rows were expected, the input was empty or unreadable: roll back"};
  static constexpr Words kEmpty{"EMPTY", "if rows were expected, run the backfill"};
  static constexpr Words kNotProvable{
      "ROWS_NOT_PROVABLE", "give the expected rows, or a metric of type count in the spec"};
  static constexpr Words kUndetermined{"UNDETERMINED", "look again when Druid answers"};
  switch (verdict) {
    case Verdict::kSingleVersion:
      return kSingle;
    case Verdict::kDoubleVersion:
      return kDouble;
    case Verdict::kIncompletePartitionSet:
      return kIncomplete;
    case Verdict::kPartiallyCovered:
      return kPartial;
    case Verdict::kDuplicateRows:
      return kDuplicate;
    case Verdict::kMissingRows:
      return kMissing;
    case Verdict::kNeighbourChanged:
      return kNeighbour;
    case Verdict::kNotLoaded:
      return kNotLoaded;
    case Verdict::kNeverLoads:
      return kNeverLoads;
    case Verdict::kNotRetired:
      return kNotRetired;
    case Verdict::kForeignWrite:
      return kForeign;
    case Verdict::kTombstoned:
      return kTombstone;
    case Verdict::kEmpty:
      return kEmpty;
    case Verdict::kRowsNotProvable:
      return kNotProvable;
    case Verdict::kUndetermined:
      break;
  }
  return kUndetermined;
}

bool IsBad(Verdict verdict) {
  return verdict != Verdict::kSingleVersion && verdict != Verdict::kTombstoned &&
         verdict != Verdict::kEmpty && verdict != Verdict::kRowsNotProvable &&
         verdict != Verdict::kUndetermined;
}

// Not known, and of the rows alone.
bool IsOfRows(const Finding& finding) {
  return finding.reason == "ROWS_NOT_COUNTED" || finding.reason == "METRIC_NOT_THERE" ||
         finding.reason == "REALTIME_ROWS" || finding.reason == "ROLLED_UP" ||
         finding.reason == "BROKER_BEHIND" || finding.reason == "SIGN_NOT_WEIGHED";
}

}  // namespace

absl::string_view NameOf(Verdict verdict) { return WordsOf(verdict).name; }

Verdict VerdictOf(absl::string_view name) {
  for (int i = 0; i < static_cast<int>(Verdict::kUndetermined); ++i) {
    if (NameOf(static_cast<Verdict>(i)) == name) return static_cast<Verdict>(i);
  }
  return Verdict::kUndetermined;
}

Finding MakeFinding(Verdict verdict, std::string evidence, std::vector<std::string> segments,
                    double score, std::string reason) {
  const Words& words = WordsOf(verdict);
  if (reason.empty()) reason = std::string(words.name);
  return {
      verdict, std::move(reason), std::move(evidence), std::string(words.next), std::move(segments),
      score};
}

bool IsFault(const Finding& finding) {
  return IsBad(finding.verdict) && finding.score >= kTellingScore;
}

bool Has(const std::vector<Finding>& findings, Verdict verdict) {
  return std::any_of(findings.begin(), findings.end(),
                     [verdict](const Finding& finding) { return finding.verdict == verdict; });
}

bool IsGood(const std::vector<Finding>& findings) {
  return !findings.empty() && !Has(findings, Verdict::kUndetermined) &&
         std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return IsFault(finding); });
}

std::optional<Level> ReachedLevel(const std::vector<Finding>& findings, Level looked_at) {
  Level reached = looked_at;
  if (findings.empty()) return std::nullopt;
  for (const Finding& finding : findings) {
    switch (finding.verdict) {
      case Verdict::kIncompletePartitionSet:
      case Verdict::kPartiallyCovered:
        return std::nullopt;
      case Verdict::kUndetermined:
        if (finding.reason == "LOAD_STATUS_DISAGREES") reached = std::min(reached, Level::kVisible);
        if (!IsOfRows(finding) && finding.reason != "LOAD_STATUS_DISAGREES") return std::nullopt;
        break;
      case Verdict::kNotLoaded:
      case Verdict::kNeverLoads:
        reached = std::min(reached, Level::kVisible);
        break;
      case Verdict::kNotRetired:
        reached = std::min(reached, Level::kServed);
        break;
      default:
        break;
    }
  }
  return reached;
}

bool IsUndetermined(const std::vector<Finding>& findings) {
  return (findings.empty() || Has(findings, Verdict::kUndetermined)) &&
         std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return IsFault(finding); });
}

}  // namespace interlock::verify
