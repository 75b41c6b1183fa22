#include "lib/sweep/look.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/druid/observation.h"
#include "lib/sweep/same_as.h"
#include "lib/sweep/unloaded.h"
#include "lib/sweep/weigh.h"
#include "lib/verify/calendar.h"
#include "lib/verify/neighbours.h"

namespace interlock::sweep {
namespace {

using druid::Slice;

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
    if (!all.ok() && look->calendar) {
      // All of time, or years around a few hours: by what is there.
      look->calendar.reset();
      all = verify::PartitionsOf(first, question.interval, std::nullopt, question.max_partitions);
    }
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
                                question.refresh};
  for (const SumOf& sum : metrics) observe.metrics.push_back(sum.metric);
  if (!question.same_as.empty()) {
    reading->twin = ReadTwin(cluster,
                             {question.datasource, question.same_as, question.interval,
                              reading->partitions, question.count_metric, question.refresh},
                             first);
    for (const std::string& metric : reading->twin.metrics) observe.metrics.push_back(metric);
  }
  return druid::Observe(cluster, observe, question.now);
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
  if (question.none_hidden_at) ask.none_hidden_at = question.none_hidden_at(partition);
  ask.rules = rules;
  return ask;
}

// Partitions whose rows are asked for once more.
constexpr size_t kMaxRowLooks = 100;

// Rows that are asked for once more, of published segments alone. Where no segment is seen,
// that needs no question: whatever is counted is none of theirs.
bool IsUnclear(const verify::PartitionVerdict& verdict, bool few) {
  return std::any_of(verdict.checks.begin(), verdict.checks.end(), [few](const auto& check) {
    return check.result == verify::Comparison::kMore ||
           check.result == verify::Comparison::kFewer ||
           (few && (check.result == verify::Comparison::kPartOfTotal ||
                    check.result == verify::Comparison::kEqual));
  });
}

bool HasRowsOfItsOwn(const std::vector<Slice>& slices) {
  return std::any_of(slices.begin(), slices.end(), [](const Slice& s) { return !s.tombstone(); });
}

// No published segment is without rows; a part of one can be.
bool AreWhole(const std::vector<Slice>& slices) {
  return std::all_of(slices.begin(), slices.end(),
                     [](const Slice& s) { return s.interval == s.chunk; });
}

// Where rows are compared, those that streams have not published are told apart, and a broker
// that does not know yet what is seen. Where that can't be asked, what was counted stands.
void TellRealtimeApart(druid::Cluster& cluster, const LookQuestion& question, Look* look) {
  std::vector<std::string> metrics;
  if (!question.count_metric.empty()) metrics.push_back(question.count_metric);
  const bool few = look->verdicts.size() <= kMaxRowLooks;  // each is a query
  for (auto& verdict : look->verdicts) {
    if (!verdict.rows) continue;
    const auto slices = look->timeline.Visible(verdict.partition);
    if (!HasRowsOfItsOwn(slices)) {
      verify::TellRealtimeApart(0, &verdict);
      continue;
    }
    if (!IsUnclear(verdict, few)) continue;
    const auto sums = cluster.SumPublished(question.datasource, slices, metrics);
    if (!sums.done()) continue;
    if (sums.value().rows == 0 && AreWhole(slices)) {
      verify::TellBrokerBehind(&verdict);
      continue;
    }
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
  const auto unloaded = FindUnloaded(cluster, question.datasource, look.timeline,
                                     reading.partitions, look.unavailable);
  for (size_t i = 0; i < reading.partitions.size(); ++i) {
    auto ask =
        QuestionOf(question, reading.partitions[i], reading, parsed.ok() ? &*parsed : nullptr);
    ask.unloaded = unloaded[i];
    look.verdicts.push_back(JudgeOne(question, look, snapshot, reading, std::move(ask)));
  }
  WeighSigns(cluster, question.datasource, &look);
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
