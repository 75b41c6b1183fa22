#include "server/gauges.h"

#include <algorithm>

#include "lib/backfill/counts.h"
#include "lib/backfill/handover_rows.h"
#include "lib/drop/counts.h"
#include "lib/guard/findings.h"
#include "lib/guard/rows.h"
#include "lib/lease/counts.h"
#include "lib/sweep/findings.h"
#include "lib/sweep/swept.h"

namespace interlock::server {

Gauges::Gauges(store::Store& store, druid::Cluster& cluster, Executor& executor, Metrics& metrics)
    : store_(store),
      cluster_(cluster),
      executor_(executor),
      metrics_(metrics),
      orphan_segments_(prometheus::BuildGauge()
                           .Name("interlock_orphan_segments")
                           .Help("Segments whose rows a kill removed and whose files are there")
                           .Register(*metrics.registry())),
      kill_task_age_seconds_(prometheus::BuildGauge()
                                 .Name("interlock_kill_task_age_seconds")
                                 .Help("Age of the oldest kill task that has not ended")
                                 .Register(*metrics.registry())),
      handover_pause_seconds_(prometheus::BuildGauge()
                                  .Name("interlock_handover_pause_seconds")
                                  .Help("How long a handover has the stream suspended by now")
                                  .Register(*metrics.registry())),
      started_(store.Now()),
      asked_(std::chrono::steady_clock::now() - kDruidEvery) {}

class Gauges::Refill {
 public:
  explicit Refill(std::set<prometheus::Gauge*>& before) : before_(before) {}
  ~Refill() {
    for (auto* gauge : before_) {
      if (now_.count(gauge) == 0) gauge->Set(0);
    }
    before_.insert(now_.begin(), now_.end());
  }
  void Set(prometheus::Family<prometheus::Gauge>& family, const prometheus::Labels& labels,
           int64_t value) {
    auto& gauge = family.Add(labels);
    gauge.Set(static_cast<double>(value));
    now_.insert(&gauge);
  }

 private:
  std::set<prometheus::Gauge*>& before_;
  std::set<prometheus::Gauge*> now_;
};

absl::Status Gauges::ReadStreams(store::Transaction& tx, Refill& refill) {
  auto streams = guard::StreamsOf(tx, "");
  if (!streams.ok()) return streams.status();
  for (const guard::Stream& stream : *streams) {
    const prometheus::Labels labels = {{"datasource", stream.datasource}, {"stream", stream.name}};
    if (stream.tail.any && !stream.tail.bound.unbounded()) {
      refill.Set(metrics_.stream_tail_start_seconds, labels,
                 stream.tail.bound.StartAt(tx.now()).millis() / 1'000);
    }
    if (!stream.health) continue;
    refill.Set(metrics_.stream_up, labels, stream.health->healthy && !stream.stale ? 1 : 0);
    refill.Set(metrics_.stream_suspended, labels, stream.health->suspended ? 1 : 0);
    refill.Set(metrics_.stream_thrown_away_rows, labels, stream.health->thrown_away);
    if (stream.health->lag) refill.Set(metrics_.stream_lag, labels, *stream.health->lag);
  }
  return absl::OkStatus();
}

absl::Status Gauges::CountLateRows(store::Transaction& tx) {
  constexpr int64_t kMostFindings = 10'000;
  auto found = guard::ListFindings(tx, "", /*only_open=*/false, kMostFindings);
  if (!found.ok()) return found.status();
  std::map<std::string, int64_t> counts;
  for (const guard::Finding& finding : *found) {
    const bool is_new = finding.opened >= started_ && finding.reason == "FOREIGN_WRITE";
    if (is_new) ++counts[finding.datasource];
  }
  for (const auto& [datasource, count] : counts) {
    int64_t& counted = late_rows_counted_[datasource];
    if (count <= counted) continue;
    metrics_.foreign_writes.Add({{"datasource", datasource}})
        .Increment(static_cast<double>(count - counted));
    counted = count;
  }
  return absl::OkStatus();
}

absl::Status Gauges::ReadHandovers(store::Transaction& tx, Refill& refill) {
  auto handovers = backfill::HandoversAtWork(tx);
  if (!handovers.ok()) return handovers.status();
  for (const backfill::Handover& handover : *handovers) {
    if (!handover.suspended) continue;
    for (const backfill::Supervised& one : handover.supervisors) {
      refill.Set(handover_pause_seconds_, {{"datasource", handover.datasource}, {"stream", one.id}},
                 absl::ToInt64Seconds(tx.now() - *handover.suspended));
    }
  }
  return absl::OkStatus();
}

void Gauges::Update() {
  metrics_.store_up.Set(store_.Health().ok() ? 1 : 0);
  const auto synchronous = store_.Describe().synchronous;
  metrics_.store_synchronous.Set(synchronous.has_value() ? (*synchronous ? 1 : 0) : -1);
  // A store that cannot be read shows as store_up; the gauges keep what they were.
  store_.Read([this](store::Transaction& tx) { return ReadStore(tx); }).IgnoreError();
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_ < kDruidEvery || asking_.exchange(true)) return;
  asked_ = now;
  if (!executor_.Run([this] { AskDruid(); })) asking_ = false;
}

absl::Status Gauges::ReadStore(store::Transaction& tx) {
  auto reservations = lease::CountBlocking(tx);
  if (!reservations.ok()) return reservations.status();
  auto partitions = backfill::CountPartitionsAtWork(tx);
  if (!partitions.ok()) return partitions.status();
  auto drops = drop::CountDrops(tx);
  if (!drops.ok()) return drops.status();
  auto orphans = drop::CountOrphanSegments(tx);
  if (!orphans.ok()) return orphans.status();
  Refill refill(set_before_);
  if (auto status = ReadStreams(tx, refill); !status.ok()) return status;
  if (auto status = ReadHandovers(tx, refill); !status.ok()) return status;
  if (auto status = CountLateRows(tx); !status.ok()) return status;
  for (const auto& c : *reservations) {
    refill.Set(metrics_.reservations,
               {{"datasource", c.datasource}, {"mode", c.mode}, {"state", c.state}}, c.count);
  }
  auto near_expiry = lease::CountNearExpiry(tx);
  if (!near_expiry.ok()) return near_expiry.status();
  for (const auto& c : *near_expiry) {
    refill.Set(metrics_.lease_near_expiry, {{"datasource", c.datasource}}, c.count);
  }
  for (const auto& c : *partitions) {
    refill.Set(metrics_.backfill_partitions, {{"datasource", c.datasource}, {"state", c.state}},
               c.count);
  }
  for (const auto& c : *drops) {
    refill.Set(metrics_.drops, {{"datasource", c.datasource}, {"state", c.state}}, c.count);
  }
  for (const auto& c : *orphans) {
    refill.Set(orphan_segments_, {{"datasource", c.datasource}}, c.count);
  }
  if (auto status = ReadKills(tx, refill); !status.ok()) return status;
  return ReadSweeps(tx, refill);
}

absl::Status Gauges::ReadKills(store::Transaction& tx, Refill& refill) {
  auto failures = drop::CountKillFailures(tx);
  if (!failures.ok()) return failures.status();
  for (const auto& c : *failures) {
    auto& counter =
        metrics_.kill_failures.Add({{"datasource", c.datasource}, {"reason", c.reason}});
    const double more = static_cast<double>(c.count) - counter.Value();
    if (more > 0) counter.Increment(more);
  }
  auto open = drop::OldestOpenKills(tx);
  if (!open.ok()) return open.status();
  for (const auto& kill : *open) {
    refill.Set(kill_task_age_seconds_, {{"datasource", kill.datasource}},
               absl::ToInt64Seconds(std::max(tx.now() - kill.stored, absl::ZeroDuration())));
  }
  return absl::OkStatus();
}

namespace {

// The sweeper has the same verdict open there.
absl::StatusOr<bool> IsSweptToo(store::Transaction& tx, const guard::Finding& finding) {
  constexpr int64_t kMostAlike = 100;
  for (const Interval& interval : finding.intervals) {
    sweep::Filter filter;
    filter.datasource = finding.datasource;
    filter.overlapping = interval;
    filter.kinds = {sweep::kVerdict};
    auto listed = sweep::List(tx, filter, kMostAlike, "");
    if (!listed.ok()) return listed.status();
    for (const auto& one : listed->findings) {
      if (one.observed.verdict == finding.reason) return true;
    }
  }
  return false;
}

// What the guard and the sweeper both found is one thing that is wrong, and counted once.
absl::Status LeaveOutTwins(store::Transaction& tx, std::vector<guard::FindingCount>& counts) {
  constexpr int64_t kMostFindings = 1'000;
  auto open = guard::ListFindings(tx, "", /*only_open=*/true, kMostFindings);
  if (!open.ok()) return open.status();
  for (const guard::Finding& finding : *open) {
    if (finding.kind != guard::kVerdict) continue;
    auto swept = IsSweptToo(tx, finding);
    if (!swept.ok()) return swept.status();
    if (!*swept) continue;
    for (guard::FindingCount& count : counts) {
      const bool its = count.datasource == finding.datasource && count.kind == finding.reason;
      if (its && count.open > 0) --count.open;
    }
  }
  return absl::OkStatus();
}

// The sweeper's, those of seals among them, and the guard's of streams: together by kind.
absl::StatusOr<std::vector<sweep::Count>> CountFindings(store::Transaction& tx) {
  auto counts = sweep::CountOpen(tx);
  if (!counts.ok()) return counts.status();
  auto streams = guard::CountOpenFindings(tx);
  if (!streams.ok()) return streams.status();
  if (auto status = LeaveOutTwins(tx, *streams); !status.ok()) return status;
  for (const auto& one : *streams) {
    const auto same = std::find_if(counts->begin(), counts->end(), [&](const sweep::Count& count) {
      return count.datasource == one.datasource && count.verdict == one.kind;
    });
    if (same == counts->end()) {
      counts->push_back({one.datasource, one.kind, one.open, one.oldest});
    } else {
      same->open += one.open;
      same->oldest = std::min(same->oldest, one.oldest);
    }
  }
  return counts;
}

}  // namespace

absl::Status Gauges::ReadSweeps(store::Transaction& tx, Refill& refill) {
  auto swept = sweep::ListSwept(tx, "");
  if (!swept.ok()) return swept.status();
  auto counts = CountFindings(tx);
  if (!counts.ok()) return counts.status();
  const auto seconds = [&](Instant since) {
    return absl::ToInt64Seconds(std::max(tx.now() - since, absl::ZeroDuration()));
  };
  for (const auto& one : *swept) {
    const prometheus::Labels labels = {{"datasource", one.datasource}};
    refill.Set(metrics_.sweep_age_seconds, labels, seconds(one.since()));
    refill.Set(metrics_.unavailable_segments, labels, one.unavailable);
    // 0 is an answer: a series that is not there looks like one that nobody reports.
    refill.Set(metrics_.double_version_intervals, labels, 0);
    refill.Set(metrics_.duplicate_row_partitions, labels, 0);
  }
  for (const auto& count : *counts) {
    const prometheus::Labels labels = {{"datasource", count.datasource}};
    const prometheus::Labels by_kind = {{"datasource", count.datasource}, {"kind", count.verdict}};
    refill.Set(metrics_.findings, by_kind, count.open);
    refill.Set(metrics_.finding_age_seconds, by_kind, seconds(count.oldest));
    if (count.verdict == "DOUBLE_VERSION") {
      refill.Set(metrics_.double_version_intervals, labels, count.open);
    } else if (count.verdict == "DUPLICATE_ROWS") {
      refill.Set(metrics_.duplicate_row_partitions, labels, count.open);
    }
  }
  return absl::OkStatus();
}

void Gauges::AskDruid() {
  for (const auto& service : cluster_.CheckServices()) {
    metrics_.druid_up.Add({{"service", service.service}}).Set(service.up ? 1 : 0);
  }
  asking_ = false;
}

}  // namespace interlock::server
