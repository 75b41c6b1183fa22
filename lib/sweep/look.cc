#include "lib/sweep/look.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/druid/observation.h"
#include "lib/sweep/same_as.h"
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

// Without what is only asked of segments that are suspected: of a million, it is most of their
// memory, and half of the time to read them.
druid::Segment Lean(druid::Segment& segment) {
  druid::Segment lean;
  lean.id = std::move(segment.id);
  lean.datasource = segment.datasource;
  lean.interval = segment.interval;
  lean.version = std::move(segment.version);
  lean.shard = segment.shard;
  lean.size_bytes = segment.size_bytes;
  lean.compacted = segment.compacted;
  return lean;
}

druid::Answer<druid::Snapshot> ReadLightly(druid::Cluster& cluster, const LookQuestion& question) {
  using Answer = druid::Answer<druid::Snapshot>;
  druid::Snapshot snapshot;
  snapshot.datasource = question.datasource;
  snapshot.interval = question.interval;
  snapshot.surroundings = question.interval;
  snapshot.taken = question.now;
  if (question.load) {
    snapshot.load = *question.load;
  } else {
    const auto load = cluster.GetLoadStatus(question.datasource, question.interval, false);
    if (!load.done()) return Answer::Like(load);
    snapshot.load = load.value();
  }
  const auto used = cluster.ReadUsedSegments(
      question.datasource, {question.interval}, [&] { snapshot.used.clear(); },
      [&](druid::Segment& segment) { snapshot.used.push_back(Lean(segment)); });
  if (!used.done()) return Answer::Like(used);
  // From the coordinator's own snapshot, which may not have these yet.
  snapshot.load.any_used = snapshot.load.any_used || !snapshot.used.empty();
  return Answer::Done(std::move(snapshot));
}

std::vector<SumOf> MetricsOf(const LookQuestion& question) {
  std::vector<SumOf> metrics = question.sums;
  if (!question.count_metric.empty()) {
    metrics.insert(metrics.begin(), {question.count_metric, "expect/count_metric"});
  }
  return metrics;
}

// What a thorough look reads, one thing after the other.
struct Reading {
  std::vector<Interval> partitions;
  Twin twin;
};

druid::Answer<druid::Snapshot> Give(const NotTold& why, Look* look) {
  look->not_told = why;
  return druid::Answer<druid::Snapshot>::Unknown(druid::Cause::kNone, why.message);
}

// The partitions first: they decide what is counted.
absl::StatusOr<druid::Answer<druid::Snapshot>> ReadThoroughly(druid::Cluster& cluster,
                                                              const LookQuestion& question,
                                                              Look* look, Reading* reading) {
  using Answer = druid::Answer<druid::Snapshot>;
  auto used = cluster.ListUsedSegments(question.datasource, {question.interval});
  if (!used.done()) return Answer::Like(used);
  if (used.value().empty()) {
    if (auto unknown = LookForDatasource(cluster, question.datasource)) return Give(*unknown, look);
  }
  const auto first = druid::Timeline::Of(std::move(used.value()));
  look->calendar = verify::CalendarOf(first, question.interval);
  if (reading->partitions.empty()) {
    auto all =
        verify::PartitionsOf(first, question.interval, look->calendar, question.max_partitions);
    if (!all.ok()) return all.status();
    reading->partitions = *std::move(all);
  }
  const std::vector<SumOf> metrics = MetricsOf(question);
  auto unknown = CheckMetrics(cluster, question.datasource, question.interval, first, metrics);
  if (!unknown.ok()) return unknown.status();
  if (*unknown) return Give(**unknown, look);
  druid::ObserveRequest observe{question.datasource,
                                question.interval,
                                Surroundings(question.interval, look->calendar),
                                reading->partitions,
                                {},
                                true};
  for (const SumOf& sum : metrics) observe.metrics.push_back(sum.metric);
  if (!question.same_as.empty()) {
    reading->twin = ReadTwin(cluster,
                             {question.datasource, question.same_as, question.interval,
                              reading->partitions, question.count_metric},
                             first);
    for (const std::string& metric : reading->twin.metrics) observe.metrics.push_back(metric);
  }
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

// Columns that add up; none where that can't be told.
std::vector<std::string> SummableIn(druid::Cluster& cluster, const std::string& datasource,
                                    const Interval& interval) {
  std::vector<std::string> summable;
  const auto columns = cluster.ListColumns(datasource, interval);
  if (!columns.done()) return summable;
  for (const auto& [name, type] : columns.value().types) {
    if (name != "__time" && columns.value().AddsUp(name)) summable.push_back(name);
  }
  return summable;
}

// Nothing where it can't be weighed: the sign stays as it is.
std::optional<std::vector<verify::SegmentSums>> SumsOf(druid::Cluster& cluster,
                                                       const std::string& datasource,
                                                       const Slice& slice) {
  if (slice.segments.size() > kMaxWeighed) return std::nullopt;
  std::vector<druid::Segment> segments;
  for (const auto* segment : slice.segments) segments.push_back(*segment);
  std::vector<std::string> metrics = segments.front().metrics;
  if (metrics.empty()) metrics = SummableIn(cluster, datasource, slice.interval);
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

// Partitions that are asked about one by one where something is not loaded.
constexpr size_t kMaxLoadLooks = 100;

void CountUnloaded(druid::Cluster& cluster, const LookQuestion& question, Look* look) {
  for (auto& verdict : look->verdicts) {
    if (look->unavailable == 0) {
      verdict.unloaded_segments = 0;
    } else if (look->verdicts.size() == 1) {
      verdict.unloaded_segments = look->unavailable;
    } else if (look->verdicts.size() <= kMaxLoadLooks) {
      const auto answer = cluster.GetLoadStatus(question.datasource, verdict.partition, false);
      if (answer.done()) verdict.unloaded_segments = answer.value().unavailable_segments;
    }
  }
}

verify::PartitionQuestion QuestionOf(const LookQuestion& question, const Interval& partition,
                                     const Reading& reading, const druid::Rules* rules) {
  verify::PartitionQuestion ask;
  ask.partition = partition;
  ask.level = question.level;
  ask.count_metric = question.count_metric;
  if (question.expected) {
    Expectation expected = question.expected(partition, reading.partitions.size());
    ask.expected_rows = expected.rows;
    ask.expected = std::move(expected.others);
    ask.min_rows = expected.min_rows;
    ask.expected_version = std::move(expected.version);
    ask.part_of_total = expected.part_of_total;
  }
  ask.expected_from = "the caller";
  const auto twin = reading.twin.expected.find(partition);
  if (twin != reading.twin.expected.end()) {
    ask.expected.insert(ask.expected.end(), twin->second.begin(), twin->second.end());
  }
  ask.now = question.now;
  ask.not_before = question.not_before;
  ask.grace = question.grace;
  ask.rules = rules;
  return ask;
}

// Where rows are not as expected, or only the total will tell, those that streams have not
// published are told apart. Where that can't be asked, what was counted stands.
void TellRealtimeApart(druid::Cluster& cluster, const LookQuestion& question, Look* look) {
  std::vector<std::string> metrics;
  if (!question.count_metric.empty()) metrics.push_back(question.count_metric);
  const bool few = look->verdicts.size() <= kMaxLoadLooks;  // each is a query
  for (auto& verdict : look->verdicts) {
    const bool asked =
        std::any_of(verdict.checks.begin(), verdict.checks.end(), [few](const auto& check) {
          return check.result == verify::Comparison::kMore ||
                 check.result == verify::Comparison::kFewer ||
                 (check.result == verify::Comparison::kPartOfTotal && few);
        });
    if (!asked || !verdict.rows) continue;
    const auto sums = cluster.SumPublished(question.datasource,
                                           look->timeline.Visible(verdict.partition), metrics);
    if (!sums.done()) continue;
    const int64_t published = metrics.empty()
                                  ? sums.value().rows
                                  : std::llround(sums.value().sums.at(question.count_metric));
    verify::TellRealtimeApart(published, &verdict);
  }
}

// Fewer stored rows than expected, or part of a total, and no column that counts what came
// in: was it rolled up?
void TellRolledUp(druid::Cluster& cluster, const LookQuestion& question, Look* look) {
  const auto asked = [](const verify::PartitionVerdict& verdict) {
    return std::any_of(verdict.checks.begin(), verdict.checks.end(), [](const auto& check) {
      return check.measure == verify::kRows && (check.result == verify::Comparison::kFewer ||
                                                check.result == verify::Comparison::kPartOfTotal);
    });
  };
  if (!question.count_metric.empty() ||
      std::none_of(look->verdicts.begin(), look->verdicts.end(), asked)) {
    return;
  }
  const auto columns = cluster.ListColumns(question.datasource, question.interval);
  if (!columns.done() || !columns.value().rolled_up.value_or(false)) return;
  for (auto& verdict : look->verdicts) verify::TellRolledUp(&verdict);
}

// Rules that can't be read only leave NEVER_LOADS unsaid.
absl::StatusOr<druid::Rules> RulesOf(druid::Cluster& cluster, const LookQuestion& question) {
  if (question.rules != nullptr) return druid::Rules::Parse(*question.rules);
  const auto rules = cluster.GetRules(question.datasource);
  return druid::Rules::Parse(rules.done() ? rules.value() : "");
}

void NothingTold(const std::vector<Interval>& partitions, const Interval& interval, Look* look) {
  const NotTold& why = *look->not_told;
  for (const auto& partition : partitions.empty() ? std::vector<Interval>{interval} : partitions) {
    look->verdicts.push_back(verify::NothingKnown(partition, why.message, why.reason, why.next));
  }
}

verify::PartitionVerdict JudgeOne(const LookQuestion& question, const Look& look,
                                  const druid::Snapshot& snapshot, const Reading& reading,
                                  verify::PartitionQuestion ask) {
  ask.count_metric_is_there = ask.count_metric.empty() || !question.thorough ||
                              ListsMetric(look.timeline, ask.partition, ask.count_metric);
  auto verdict = verify::VerifyPartition(look.timeline, snapshot, ask);
  if (reading.twin.not_told) {
    verdict.findings.push_back(verify::MakeFinding(verify::Verdict::kUndetermined,
                                                   reading.twin.not_told->message, {}, 1,
                                                   reading.twin.not_told->reason));
  }
  return verdict;
}

}  // namespace

absl::StatusOr<Look> LookAt(druid::Cluster& cluster, const LookQuestion& question) {
  Look look;
  Reading reading{question.partitions, {}};
  auto read = question.thorough
                  ? ReadThoroughly(cluster, question, &look, &reading)
                  : absl::StatusOr<druid::Answer<druid::Snapshot>>(ReadLightly(cluster, question));
  if (!read.ok()) return read.status();
  if (!read->done()) {
    if (!look.not_told) look.not_told = NotTold{"NO_ANSWER", read->text(), ""};
    NothingTold(reading.partitions, question.interval, &look);
    return look;
  }
  druid::Snapshot& snapshot = read->value();
  // One copy of them: of a large page they are most of its memory.
  look.timeline = druid::Timeline::Of(std::move(snapshot.used));
  look.unavailable = snapshot.load.unavailable_segments;
  const auto parsed = RulesOf(cluster, question);
  for (const auto& partition : reading.partitions) {
    look.verdicts.push_back(
        JudgeOne(question, look, snapshot, reading,
                 QuestionOf(question, partition, reading, parsed.ok() ? &*parsed : nullptr)));
  }
  if (look.unavailable == 0) WeighSigns(cluster, question, &look);
  if (question.thorough) CountUnloaded(cluster, question, &look);
  if (question.thorough && look.unavailable == 0) {
    TellRealtimeApart(cluster, question, &look);
    TellRolledUp(cluster, question, &look);
  }
  if (look.calendar) {
    look.neighbours = verify::VisibleSetOf(look.timeline,
                                           verify::NeighboursOf({question.interval}, *look.calendar,
                                                                look.timeline.segments()))
                          .digest;
  }
  return look;
}

}  // namespace interlock::sweep
