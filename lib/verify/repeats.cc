#include "lib/verify/repeats.h"

#include <set>

#include "absl/strings/str_cat.h"

namespace interlock::verify {
namespace {

using druid::Segment;
using druid::Slice;

// Segments below this size are so small that two can be equal by chance; a segment of a
// few rows takes about 1.5 kB.
constexpr int64_t kTellingSizeBytes = 4096;

bool WasAppended(const Segment& segment) {
  return segment.appended() && segment.shard.core_partitions > 0;
}

void FindEqualSizes(const Slice& slice, std::set<std::string>* equal) {
  for (size_t i = 0; i < slice.segments.size(); ++i) {
    const Segment& segment = *slice.segments[i];
    for (size_t j = 0; j < i; ++j) {
      const Segment& other = *slice.segments[j];
      if (segment.size_bytes != other.size_bytes || segment.tombstone()) continue;
      // Small equal ones are telling only where each was published by itself.
      const bool each_by_itself = segment.appended() && other.appended();
      if (segment.size_bytes < kTellingSizeBytes && !each_by_itself) continue;
      equal->insert({segment.id, other.id});
    }
  }
}

bool SameRows(const druid::RowSums& one, const druid::RowSums& other) {
  return one.rows > 0 && one.rows == other.rows && one.sums == other.sums;
}

void AddTo(druid::RowSums* total, const druid::RowSums& part) {
  total->rows += part.rows;
  for (const auto& [metric, sum] : part.sums) total->sums[metric] += sum;
}

// Segments whose rows another one of the version also has.
std::set<std::string> Copies(const std::vector<SegmentSums>& sums) {
  std::set<std::string> copies;
  for (size_t i = 0; i < sums.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!SameRows(sums[i].sums, sums[j].sums)) continue;
      copies.insert({sums[i].segment->id, sums[j].segment->id});
    }
  }
  return copies;
}

// What was appended is all of the core once more.
bool AppendedIsTheCore(const std::vector<SegmentSums>& sums) {
  druid::RowSums core;
  druid::RowSums appended;
  for (const SegmentSums& one : sums) {
    AddTo(WasAppended(*one.segment) ? &appended : &core, one.sums);
  }
  return SameRows(core, appended);
}

}  // namespace

std::optional<Finding> LookForRepeats(const std::vector<Slice>& slices) {
  std::set<std::string> appended;
  std::set<std::string> equal;
  for (const Slice& slice : slices) {
    for (const Segment* segment : slice.segments) {
      if (WasAppended(*segment)) appended.insert(segment->id);
    }
    FindEqualSizes(slice, &equal);
  }
  if (appended.empty() && equal.empty()) return std::nullopt;
  std::string evidence;
  if (!appended.empty()) {
    evidence = absl::StrCat(appended.size(), " segments were appended to a replaced version");
  }
  if (!equal.empty()) {
    absl::StrAppend(&evidence, evidence.empty() ? "" : "; ", equal.size(),
                    " segments of one version are equal in size");
  }
  const double score = appended.empty() ? kEqualSizeScore
                       : equal.empty()  ? kAppendedScore
                                        : kBothScore;
  const char* reason = appended.empty() ? "EQUAL_SIZE" : "APPENDED";
  appended.insert(equal.begin(), equal.end());
  return MakeFinding(Verdict::kDuplicateRows, evidence + ": rows may count twice",
                     {appended.begin(), appended.end()}, score, reason);
}

std::optional<Finding> Weigh(const Finding& sign, const std::vector<SegmentSums>& sums) {
  std::set<std::string> copies = Copies(sums);
  std::string evidence = absl::StrCat(copies.size(), " segments hold equal rows and sums");
  std::set<std::string> appended;
  for (const SegmentSums& one : sums) {
    if (WasAppended(*one.segment)) appended.insert(one.segment->id);
  }
  if (copies.empty() && !appended.empty() && AppendedIsTheCore(sums)) {
    copies = appended;
    evidence = absl::StrCat("the ", copies.size(),
                            " appended segments have the rows and sums of all that was replaced");
  }
  if (!copies.empty()) {
    return MakeFinding(Verdict::kDuplicateRows, evidence + ": rows count twice",
                       {copies.begin(), copies.end()}, kEqualSumsScore, "EQUAL_SUMS");
  }
  if (appended.empty()) return std::nullopt;
  Finding weak = sign;
  weak.reason = "OTHER_SUMS";
  weak.score = kOtherSumsScore;
  weak.evidence = absl::StrCat(appended.size(),
                               " segments were appended to a replaced version, with sums of their "
                               "own: late rows, or a part of what was there");
  weak.segments = {appended.begin(), appended.end()};
  return weak;
}

}  // namespace interlock::verify
