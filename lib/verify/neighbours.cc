#include "lib/verify/neighbours.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/time/interval_set.h"

namespace interlock::verify {
namespace {

using druid::Segment;
using druid::Slice;
using druid::Timeline;

// Versions and the ledger are both dated by whole clocks of two machines.
constexpr absl::Duration kClockSlack = absl::Seconds(2);

std::string DigestOf(const std::vector<SeenSegment>& segments) {
  std::string text;
  for (const SeenSegment& segment : segments) absl::StrAppend(&text, segment.id, "\n");
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), sizeof(digest)));
}

// What is read in `intervals`, by id.
std::map<std::string, const Segment*> VisibleIn(const Timeline& timeline,
                                                const std::vector<Interval>& intervals) {
  std::map<std::string, const Segment*> visible;
  for (const Interval& interval : intervals) {
    for (const Slice& slice : timeline.Visible(interval)) {
      for (const Segment* segment : slice.segments) visible[segment->id] = segment;
    }
  }
  return visible;
}

const KnownChange* Explaining(const std::vector<KnownChange>& known, const Interval& interval,
                              const std::optional<Instant>& at) {
  for (const KnownChange& change : known) {
    if (!change.interval.Overlaps(interval)) continue;
    if (!at) return &change;
    const bool after_start = *at + kClockSlack >= change.from;
    if (after_start && (!change.until || *at <= *change.until + kClockSlack)) return &change;
  }
  return nullptr;
}

std::optional<Instant> VersionTime(const Segment& segment) {
  const auto time = Instant::Parse(segment.version);
  return time.ok() ? std::optional<Instant>(*time) : std::nullopt;
}

// SegmentId.java: DATASOURCE_START_END_VERSION[_PARTITION].
std::string VersionIn(const SeenSegment& segment) {
  const std::string mark = absl::StrCat("_", segment.interval.end().ToString(), "_");
  const size_t at = segment.id.find(mark);
  if (at == std::string::npos) return "";
  std::string version = segment.id.substr(at + mark.size());
  const size_t number = version.rfind('_');
  const bool numbered = number != std::string::npos && number + 1 < version.size() &&
                        std::all_of(version.begin() + static_cast<ptrdiff_t>(number) + 1,
                                    version.end(), absl::ascii_isdigit);
  return numbered ? version.substr(0, number) : version;
}

using Cause = NeighbourChange::Cause;

constexpr std::array<absl::string_view, 6> kCauses = {"OURS_INTENDED", "OURS_BY_MISTAKE",
                                                      "STREAM_APPEND", "COMPACTION",
                                                      "RULE_OR_DUTY",  "UNEXPLAINED"};

class Comparison {
 public:
  Comparison(const Timeline& after, const NeighbourQuestion& question)
      : question_(question), visible_(VisibleIn(after, question.intervals)) {
    for (const SeenSegment& segment : question.before) before_.insert(segment.id);
  }

  NeighbourChanges Run() {
    for (const auto& [id, segment] : visible_) {
      if (before_.count(id) == 0) JudgeNew(*segment);
    }
    for (const SeenSegment& segment : question_.before) {
      if (visible_.count(segment.id) == 0) JudgeGone(segment);
    }
    return changes_;
  }

 private:
  void JudgeNew(const Segment& segment);
  void JudgeGone(const SeenSegment& segment);
  // What is told by chunk and version, each once.
  void Tell(NeighbourChange change);
  std::string VersionBefore(const Interval& interval) const;
  // Whether a segment of the same chunk and version was there before: rows were added.
  bool JoinsKnownVersion(const Segment& segment) const {
    return std::any_of(visible_.begin(), visible_.end(), [&](const auto& entry) {
      return before_.count(entry.first) != 0 && entry.second->version == segment.version &&
             entry.second->interval == segment.interval;
    });
  }

  const NeighbourQuestion& question_;
  std::map<std::string, const Segment*> visible_;
  std::set<std::string> before_;
  NeighbourChanges changes_;
};

void Comparison::JudgeNew(const Segment& segment) {
  const std::string where = absl::StrCat(segment.id, " in ", segment.interval.ToString());
  const std::vector<std::string>& own = question_.own_versions;
  NeighbourChange change{segment.interval, Cause::kUnexplained, VersionBefore(segment.interval),
                         segment.version, ""};
  if (std::find(own.begin(), own.end(), segment.version) != own.end()) {
    change.cause = Cause::kOursByMistake;
    changes_.findings.push_back(MakeFinding(
        Verdict::kNeighbourChanged, absl::StrCat("our own task wrote ", where), {segment.id}));
  } else if (segment.appended() && JoinsKnownVersion(segment)) {
    change.cause = Cause::kStreamAppend;
    changes_.explained.push_back(absl::StrCat("rows were appended by a stream: ", where));
  } else if (segment.compacted) {
    change.cause = Cause::kCompaction;
    changes_.explained.push_back(absl::StrCat("compacted by Druid: ", where));
  } else if (const KnownChange* known =
                 Explaining(question_.known, segment.interval, VersionTime(segment))) {
    change.cause = Cause::kOursIntended;
    change.attributed_to = known->what;
    changes_.explained.push_back(absl::StrCat(known->what, ": ", where));
  } else {
    changes_.findings.push_back(
        MakeFinding(Verdict::kForeignWrite,
                    absl::StrCat("nothing that is known here wrote ", where), {segment.id}));
  }
  Tell(std::move(change));
}

void Comparison::Tell(NeighbourChange change) {
  const bool told = std::any_of(
      changes_.changes.begin(), changes_.changes.end(), [&](const NeighbourChange& one) {
        return one.interval == change.interval && one.version_after == change.version_after &&
               one.version_before == change.version_before && one.cause == change.cause &&
               one.attributed_to == change.attributed_to;
      });
  if (!told) changes_.changes.push_back(std::move(change));
}

std::string Comparison::VersionBefore(const Interval& interval) const {
  std::string highest;
  for (const SeenSegment& seen : question_.before) {
    if (seen.interval.Overlaps(interval)) highest = std::max(highest, VersionIn(seen));
  }
  return highest;
}

// What is no longer read: hidden by something new (which was judged by itself), or taken
// away.
void Comparison::JudgeGone(const SeenSegment& gone) {
  std::vector<Interval> replaced;
  for (const auto& [id, segment] : visible_) {
    if (before_.count(id) == 0) replaced.push_back(segment->interval);
  }
  const std::vector<Interval> was_read = Intersect(question_.intervals, {gone.interval});
  if (Covers(Condense(std::move(replaced)), was_read)) return;
  NeighbourChange change{gone.interval, Cause::kUnexplained, VersionIn(gone), "", ""};
  for (const auto& [id, segment] : visible_) {
    if (segment->interval.Overlaps(gone.interval)) change.version_after = segment->version;
  }
  if (const KnownChange* known = Explaining(question_.known, gone.interval, std::nullopt)) {
    change.cause = Cause::kOursIntended;
    change.attributed_to = known->what;
    Tell(std::move(change));
    changes_.explained.push_back(absl::StrCat(known->what, ": ", gone.id, " is no longer read"));
    return;
  }
  if (question_.rules != nullptr &&
      question_.rules->Of(gone.interval, question_.now).fate == druid::Fate::kDropped) {
    change.cause = Cause::kRuleOrDuty;
    Tell(std::move(change));
    changes_.explained.push_back(absl::StrCat("dropped by a retention rule: ", gone.id));
    return;
  }
  Tell(std::move(change));
  changes_.findings.push_back(MakeFinding(
      Verdict::kForeignWrite,
      absl::StrCat(gone.id, " is no longer read, and nothing took its place"), {gone.id}));
}

}  // namespace

absl::string_view NameOf(NeighbourChange::Cause cause) {
  return kCauses[static_cast<size_t>(cause)];
}

NeighbourChange::Cause CauseOf(absl::string_view name) {
  const auto found = std::find(kCauses.begin(), kCauses.end(), name);
  return found == kCauses.end() ? Cause::kUnexplained : static_cast<Cause>(found - kCauses.begin());
}

std::vector<Interval> NeighboursOf(const std::vector<Interval>& unit,
                                   const Granularity& granularity,
                                   const std::vector<Segment>& used) {
  std::vector<Interval> around;
  for (const Interval& interval : unit) {
    if (!granularity.is_all()) {
      around.push_back(granularity.Bucket(interval.start() - absl::Milliseconds(1)));
      around.push_back(granularity.Bucket(interval.end()));
    }
    for (const Segment& segment : used) {
      if (segment.interval.Overlaps(interval)) around.push_back(segment.interval);
    }
  }
  return Subtract(Condense(std::move(around)), unit);
}

VisibleSet VisibleSetOf(const Timeline& timeline, const std::vector<Interval>& intervals) {
  VisibleSet set;
  for (const auto& [id, segment] : VisibleIn(timeline, intervals)) {
    set.segments.push_back({id, segment->interval});
  }
  set.digest = DigestOf(set.segments);
  return set;
}

NeighbourChanges CompareNeighbours(const Timeline& after, const NeighbourQuestion& question) {
  return Comparison(after, question).Run();
}

}  // namespace interlock::verify
