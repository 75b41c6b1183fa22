#include "lib/verify/repeats.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"

namespace interlock::verify {
namespace {

using druid::Segment;
using druid::Slice;

// Segments below this size are so small that two can be equal by chance; a segment of a
// few rows takes about 1.5 kB.
constexpr int64_t kTellingSizeBytes = 4096;
// And above this, so large that two are hardly ever equal by chance.
constexpr int64_t kLargeBytes = int64_t{256} << 10;
// Fewer rows are often like others.
constexpr int64_t kManyRows = 10;

bool WasAppended(const Segment& segment) {
  return segment.appended() && segment.shard.core_partitions > 0;
}

// Cut by what is in the rows: two of one set can't hold the same ones.
bool HoldsItsOwnRows(const Segment& segment) {
  const std::string& type = segment.shard.type;
  return !segment.appended() && (type == "hashed" || type == "single" || type == "range");
}

void FindEqualSizes(const Slice& slice, std::set<std::string>* equal) {
  if (slice.segments.size() < 2) return;  // of a million, most are
  std::map<int64_t, std::vector<const Segment*>> by_size;
  for (const Segment* segment : slice.segments) {
    if (!segment->tombstone()) by_size[segment->size_bytes].push_back(segment);
  }
  for (const auto& [size, segments] : by_size) {
    // Small equal ones are telling only where each was published by itself.
    const auto tells = [size = size](const Segment* segment) {
      return segment->appended() || (size >= kTellingSizeBytes && !HoldsItsOwnRows(*segment));
    };
    const auto telling = std::count_if(segments.begin(), segments.end(), tells);
    if (telling == 0 || (size < kTellingSizeBytes ? telling : segments.size()) < 2) continue;
    for (const Segment* segment : segments) {
      if (size >= kTellingSizeBytes || tells(segment)) equal->insert(segment->id);
    }
  }
}

// Doubles that were added up in another order; times are larger, and nearer to each other.
bool Near(const std::string& measure, double one, double other) {
  const double tolerance = measure == kTime ? 1e-12 : 1e-9;
  return std::fabs(one - other) <= tolerance * std::max(std::fabs(one), std::fabs(other));
}

bool SameRows(const druid::RowSums& one, const druid::RowSums& other) {
  if (one.rows <= 0 || one.rows != other.rows || one.sums.size() != other.sums.size()) return false;
  return std::all_of(one.sums.begin(), one.sums.end(), [&](const auto& sum) {
    const auto same = other.sums.find(sum.first);
    return same != other.sums.end() && Near(sum.first, sum.second, same->second);
  });
}

// It says more than how many rows there are, and when.
bool Tells(const druid::RowSums& sums) {
  return std::any_of(sums.sums.begin(), sums.sums.end(), [&](const auto& sum) {
    return sum.first != kTime && sum.second != 0 && sum.second != static_cast<double>(sums.rows);
  });
}

// That two segments with the same rows and sums hold the same rows.
bool IsSure(const SegmentSums& one, const SegmentSums& other) {
  const bool many = one.sums.rows >= kManyRows;
  // Part of what was replaced, come again behind it.
  if (WasAppended(*one.segment) != WasAppended(*other.segment)) return many || Tells(one.sums);
  const bool large = one.segment->size_bytes == other.segment->size_bytes &&
                     one.segment->size_bytes >= kLargeBytes;
  return many && (large || Tells(one.sums));
}

void AddTo(druid::RowSums* total, const druid::RowSums& part) {
  total->rows += part.rows;
  for (const auto& [metric, sum] : part.sums) total->sums[metric] += sum;
}

// Segments whose rows another one of the version also has.
struct Copies {
  std::set<std::string> sure, perhaps;
};

Copies CopiesAmong(const std::vector<SegmentSums>& sums) {
  Copies copies;
  for (size_t i = 0; i < sums.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (HoldsItsOwnRows(*sums[i].segment) && HoldsItsOwnRows(*sums[j].segment)) continue;
      if (!SameRows(sums[i].sums, sums[j].sums)) continue;
      auto& into = IsSure(sums[i], sums[j]) ? copies.sure : copies.perhaps;
      into.insert({sums[i].segment->id, sums[j].segment->id});
    }
  }
  return copies;
}

Totals TotalsOf(const std::vector<SegmentSums>& sums) {
  Totals totals;
  for (const SegmentSums& one : sums) {
    const bool appended = WasAppended(*one.segment);
    AddTo(appended ? &totals.appended : &totals.core, one.sums);
    if (appended) totals.appended_ids.push_back(one.segment->id);
  }
  return totals;
}

Finding EqualSums(const std::set<std::string>& segments, const std::string& evidence) {
  return MakeFinding(Verdict::kDuplicateRows, evidence + ": rows count twice",
                     {segments.begin(), segments.end()}, kEqualSumsScore, "EQUAL_SUMS");
}

// A sign that is no fault.
Finding Weak(const char* reason, const std::vector<std::string>& segments, double score,
             const std::string& evidence) {
  Finding weak = MakeFinding(Verdict::kDuplicateRows, evidence, segments, score, reason);
  weak.next = "nothing, unless these rows should not be there: say how many are expected";
  return weak;
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

Weighing ToWeigh(const Finding& sign, const Slice& slice) {
  Weighing weighing;
  if (slice.segments.size() <= kMaxWeighed) {
    weighing.single = slice.segments;
    return weighing;
  }
  const std::set<std::string> named(sign.segments.begin(), sign.segments.end());
  for (const Segment* segment : slice.segments) {
    if (named.count(segment->id) != 0) weighing.single.push_back(segment);
    (WasAppended(*segment) ? weighing.appended : weighing.core).push_back(segment);
  }
  std::stable_sort(
      weighing.single.begin(), weighing.single.end(),
      [](const Segment* one, const Segment* other) { return one->size_bytes > other->size_bytes; });
  weighing.single.resize(std::min(weighing.single.size(), kMaxWeighed));
  return weighing;
}

std::optional<Finding> Weigh(const std::vector<SegmentSums>& sums,
                             const std::optional<Totals>& given) {
  const Copies copies = CopiesAmong(sums);
  if (!copies.sure.empty()) {
    return EqualSums(copies.sure,
                     absl::StrCat(copies.sure.size(), " segments hold equal rows and sums"));
  }
  const Totals totals = given ? *given : TotalsOf(sums);
  const std::set<std::string> appended(totals.appended_ids.begin(), totals.appended_ids.end());
  const bool telling = totals.core.rows >= kManyRows || Tells(totals.core);
  if (!appended.empty() && telling && SameRows(totals.core, totals.appended)) {
    return EqualSums(appended,
                     absl::StrCat("the ", appended.size(),
                                  " appended segments have the rows and sums of all that was "
                                  "replaced"));
  }
  if (!copies.perhaps.empty()) {
    return Weak("EQUAL_SUMS", {copies.perhaps.begin(), copies.perhaps.end()}, kFewSumsScore,
                absl::StrCat(copies.perhaps.size(),
                             " segments hold as many rows as each other, of the same times and "
                             "sums, which says little of so few"));
  }
  if (appended.empty()) return std::nullopt;
  return Weak("OTHER_SUMS", {appended.begin(), appended.end()}, kOtherSumsScore,
              absl::StrCat(appended.size(),
                           " segments were appended to a replaced version, with sums of their "
                           "own: late rows, or a part of what was there"));
}

}  // namespace interlock::verify
