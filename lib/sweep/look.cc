#include "lib/sweep/look.h"

#include <algorithm>
#include <utility>

#include "lib/druid/observation.h"
#include "lib/verify/calendar.h"
#include "lib/verify/neighbours.h"
#include "lib/verify/repeats.h"

namespace interlock::sweep {
namespace {

using druid::Slice;
using verify::Finding;

// A sign in a version of more segments than this is left unweighed: each is a query.
constexpr size_t kMaxWeighed = 32;
// Equal sums of so many metrics are no chance.
constexpr size_t kMaxMetrics = 8;

Interval Surroundings(const Interval& interval, const std::optional<Granularity>& calendar) {
  if (!calendar) return interval;
  const Interval wide = calendar->Widen(interval);
  const Interval before = calendar->Bucket(wide.start() - absl::Milliseconds(1));
  const Interval after = calendar->Bucket(wide.end());
  return Interval::Between(before.start(), after.end());
}

druid::Answer<druid::Snapshot> ReadLightly(druid::Cluster& cluster, const LookQuestion& question) {
  using Answer = druid::Answer<druid::Snapshot>;
  druid::Snapshot snapshot;
  snapshot.datasource = question.datasource;
  snapshot.interval = question.interval;
  snapshot.surroundings = question.interval;
  snapshot.taken = question.now;
  const auto load = cluster.GetLoadStatus(question.datasource, question.interval, false);
  if (!load.done()) return Answer::Like(load);
  auto used = cluster.ListUsedSegments(question.datasource, {question.interval});
  if (!used.done()) return Answer::Like(used);
  snapshot.load = load.value();
  // From the coordinator's own snapshot, which may not have these yet.
  snapshot.load.any_used = snapshot.load.any_used || !used.value().empty();
  snapshot.used = std::move(used.value());
  return Answer::Done(std::move(snapshot));
}

// The partitions first: they decide what is counted.
absl::StatusOr<druid::Answer<druid::Snapshot>> ReadThoroughly(druid::Cluster& cluster,
                                                              const LookQuestion& question,
                                                              Look* look,
                                                              std::vector<Interval>* partitions) {
  using Answer = druid::Answer<druid::Snapshot>;
  auto used = cluster.ListUsedSegments(question.datasource, {question.interval});
  if (!used.done()) return Answer::Like(used);
  const auto first = druid::Timeline::Of(std::move(used.value()));
  look->calendar = verify::CalendarOf(first, question.interval);
  if (partitions->empty()) {
    auto all =
        verify::PartitionsOf(first, question.interval, look->calendar, question.max_partitions);
    if (!all.ok()) return all.status();
    *partitions = *std::move(all);
  }
  druid::ObserveRequest observe{question.datasource,
                                question.interval,
                                Surroundings(question.interval, look->calendar),
                                *partitions,
                                {},
                                true};
  if (!question.count_metric.empty()) observe.metrics = {question.count_metric};
  return druid::Observe(cluster, observe, question.now);
}

bool IsSign(const Finding& finding) {
  return finding.verdict == verify::Verdict::kDuplicateRows &&
         (finding.reason == "EQUAL_SIZE" || finding.reason == "APPENDED");
}

bool Names(const Finding& finding, const Slice& slice) {
  return std::any_of(slice.segments.begin(), slice.segments.end(), [&](const auto* segment) {
    return std::find(finding.segments.begin(), finding.segments.end(), segment->id) !=
           finding.segments.end();
  });
}

// Nothing where it can't be weighed: the sign stays as it is.
std::optional<std::vector<verify::SegmentSums>> SumsOf(druid::Cluster& cluster,
                                                       const std::string& datasource,
                                                       const Slice& slice) {
  if (slice.segments.size() > kMaxWeighed) return std::nullopt;
  std::vector<druid::Segment> segments;
  for (const auto* segment : slice.segments) segments.push_back(*segment);
  std::vector<std::string> metrics = segments.front().metrics;
  if (metrics.size() > kMaxMetrics) metrics.resize(kMaxMetrics);
  auto sums = cluster.SumSegments(datasource, segments, metrics);
  if (!sums.done()) return std::nullopt;
  std::vector<verify::SegmentSums> result;
  for (size_t i = 0; i < segments.size(); ++i) {
    result.push_back({slice.segments[i], sums.value()[i]});
  }
  return result;
}

// What the single segments' sums make of a sign: a stronger one, a weaker one, or none.
std::optional<Finding> Weighed(druid::Cluster& cluster, const LookQuestion& question,
                               const std::vector<Slice>& slices, const Finding& sign) {
  std::optional<Finding> strongest;
  for (const Slice& slice : slices) {
    if (!Names(sign, slice)) continue;
    const auto sums = SumsOf(cluster, question.datasource, slice);
    if (!sums) return sign;
    auto found = verify::Weigh(sign, *sums);
    if (found && (!strongest || found->score > strongest->score)) strongest = std::move(found);
  }
  return strongest;
}

void WeighSigns(druid::Cluster& cluster, const LookQuestion& question, Look* look) {
  for (auto& verdict : look->verdicts) {
    const auto sign = std::find_if(verdict.findings.begin(), verdict.findings.end(), IsSign);
    if (sign == verdict.findings.end()) continue;
    auto weighed = Weighed(cluster, question, look->timeline.Visible(verdict.partition), *sign);
    if (weighed) {
      *sign = *std::move(weighed);
    } else {
      verdict.findings.erase(sign);
    }
  }
}

verify::PartitionQuestion QuestionOf(const LookQuestion& question, const Interval& partition,
                                     size_t of, const druid::Rules* rules) {
  verify::PartitionQuestion ask;
  ask.partition = partition;
  ask.level = question.level;
  ask.count_metric = question.count_metric;
  if (question.expected_rows) ask.expected_rows = question.expected_rows(partition, of);
  ask.expected_from = "the caller";
  ask.now = question.now;
  ask.not_before = question.not_before;
  ask.grace = question.grace;
  ask.rules = rules;
  return ask;
}

}  // namespace

absl::StatusOr<Look> LookAt(druid::Cluster& cluster, const LookQuestion& question) {
  Look look;
  std::vector<Interval> partitions = question.partitions;
  auto read = question.thorough
                  ? ReadThoroughly(cluster, question, &look, &partitions)
                  : absl::StatusOr<druid::Answer<druid::Snapshot>>(ReadLightly(cluster, question));
  if (!read.ok()) return read.status();
  const auto rules = cluster.GetRules(question.datasource);
  if (!read->done()) {
    look.no_answer = read->text();
    if (partitions.empty()) partitions = {question.interval};
    for (const auto& partition : partitions) {
      look.verdicts.push_back(verify::NothingKnown(partition, look.no_answer));
    }
    return look;
  }
  druid::Snapshot& snapshot = read->value();
  look.timeline = druid::Timeline::Of(snapshot.used);
  look.unavailable = snapshot.load.unavailable_segments;
  // Rules that can't be read only leave NEVER_LOADS unsaid.
  const auto parsed = druid::Rules::Parse(rules.done() ? rules.value() : "");
  for (const auto& partition : partitions) {
    const auto ask =
        QuestionOf(question, partition, partitions.size(), parsed.ok() ? &*parsed : nullptr);
    look.verdicts.push_back(verify::VerifyPartition(look.timeline, snapshot, ask));
  }
  if (look.unavailable == 0) WeighSigns(cluster, question, &look);
  if (look.calendar) {
    look.neighbours =
        verify::VisibleSetOf(
            look.timeline, verify::NeighboursOf({question.interval}, *look.calendar, snapshot.used))
            .digest;
  }
  return look;
}

}  // namespace interlock::sweep
