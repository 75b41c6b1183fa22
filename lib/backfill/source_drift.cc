#include "lib/backfill/source_drift.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/backfill/job_errors.h"
#include "lib/backfill/proof.h"
#include "lib/backfill/source_reads.h"
#include "lib/druid/timeline.h"
#include "lib/guard/findings.h"
#include "lib/guard/reach.h"
#include "lib/guard/rows.h"
#include "lib/time/interval_set.h"
#include "lib/verify/neighbours.h"

namespace interlock::backfill {
namespace {

// Units of a job that are compared at one look, the newest first.
constexpr int64_t kMostUnits = 10'000;
constexpr char kSourceGone[] = "SOURCE_GONE";

// What a run that is in force had read.
struct InForce {
  Interval unit;
  SourceRead read;
};

struct Known {
  std::vector<InForce> reads;                           // the newest of each unit
  std::map<std::string, std::vector<Interval>> proven;  // of a source, that left something
  std::map<std::string, Instant> tail_starts;           // where streams may write a source
};

absl::Status ReadInForce(store::Transaction& tx, const Job& job, Known* known) {
  auto rows = tx.Query(
      "SELECT start_ms, end_ms, before_look FROM backfill_attempt WHERE state = 'SETTLED' AND"
      " (backfill_id IN (SELECT backfill_id FROM backfill_done WHERE datasource = :target) OR"
      " backfill_id IN (SELECT backfill_id FROM derived_run WHERE job = :job AND state = 'DONE'))"
      " ORDER BY settled_ms DESC, number DESC LIMIT :most",
      {job.datasource, job.name, kMostUnits});
  if (!rows.ok()) return rows.status();
  std::vector<Interval> newer;
  for (const store::Row& row : *rows) {
    auto unit = Interval::Of(row.At(0), row.At(1));
    if (!unit.ok()) return unit.status();
    if (Covers(newer, {*unit})) continue;
    newer.push_back(*unit);
    newer = Condense(std::move(newer));
    auto before = BeforeLookFrom(row.Text(2));
    if (!before) continue;
    for (SourceRead& read : before->reads) known->reads.push_back({*unit, std::move(read)});
  }
  return absl::OkStatus();
}

absl::Status ReadSource(store::Transaction& tx, const std::string& source, Known* known) {
  auto rows = tx.Query(
      "SELECT start_ms, end_ms FROM backfill_done WHERE datasource = :source AND version <> ''",
      {source});
  auto streams = guard::StreamsOf(tx, source);
  if (!rows.ok()) return rows.status();
  if (!streams.ok()) return streams.status();
  for (const store::Row& row : *rows) {
    auto one = Interval::Of(row.At(0), row.At(1));
    if (!one.ok()) return one.status();
    known->proven[source].push_back(*one);
  }
  Instant start = Instant::kMax;
  for (const guard::Stream& stream : *streams) {
    if (stream.tail.any) start = std::min(start, stream.tail.bound.StartAt(tx.now()));
  }
  known->tail_starts[source] = start;
  return absl::OkStatus();
}

class DriftLook {
 public:
  DriftLook(druid::Cluster& cluster, const Job& job, const Known& known)
      : cluster_(cluster), job_(job), known_(known) {}

  absl::StatusOr<SourceDrift> Look() {
    if (absl::Status status = List(); !status.ok()) return status;
    FindGone();
    for (const InForce& one : known_.reads) Compare(one);
    return std::move(drift_);
  }

 private:
  const Source* SourceOf(const SourceRead& read) const {
    for (const Source& source : job_.sources) {
      if (source.datasource == read.datasource) return &source;
    }
    return nullptr;
  }

  // One list for each datasource that is read.
  absl::Status List() {
    std::map<std::string, std::vector<Interval>> wanted;
    for (const InForce& one : known_.reads) {
      if (SourceOf(one.read) == nullptr) continue;
      for (const ReadPart& part : PartsOf(one.read)) {
        auto& all = wanted[part.datasource];
        all.insert(all.end(), part.intervals.begin(), part.intervals.end());
      }
    }
    for (auto& [datasource, intervals] : wanted) {
      intervals = Condense(std::move(intervals));
      auto used = cluster_.ListUsedSegments(datasource, intervals);
      if (!used.done()) return DerivedDruidUnavailable(used.text());
      timelines_.emplace(datasource, druid::Timeline::Of(std::move(used.value())));
      read_[datasource] = std::move(intervals);
    }
    return absl::OkStatus();
  }

  void FindGone() {
    for (const auto& [source, proven] : known_.proven) {
      const auto timeline = timelines_.find(source);
      if (timeline == timelines_.end()) continue;
      for (const Interval& partition : Intersect(Condense(proven), read_[source])) {
        std::vector<Interval> seen;
        for (const druid::Slice& slice : timeline->second.Visible(partition)) {
          seen.push_back(slice.interval);
        }
        for (const Interval& gone : Subtract({partition}, Condense(std::move(seen)))) {
          drift_.gone.push_back({source, gone});
        }
      }
    }
  }

  bool ReadsGone(const SourceRead& read) const {
    return std::any_of(drift_.gone.begin(), drift_.gone.end(), [&](const SourceDrift::Part& gone) {
      return gone.source == read.datasource && gone.interval.Overlaps(read.interval);
    });
  }

  bool StreamWrites(const SourceRead& read) const {
    const auto start = known_.tail_starts.find(read.datasource);
    return start != known_.tail_starts.end() && read.interval.end() > start->second;
  }

  void Compare(const InForce& one) {
    if (SourceOf(one.read) == nullptr || StreamWrites(one.read) || ReadsGone(one.read)) return;
    std::vector<std::string> ids;
    for (const ReadPart& part : PartsOf(one.read)) {
      const auto timeline = timelines_.find(part.datasource);
      if (timeline == timelines_.end()) return;
      for (auto& segment : verify::VisibleSetOf(timeline->second, part.intervals).segments) {
        ids.push_back(std::move(segment.id));
      }
    }
    if (DigestOfIds(std::move(ids)) == one.read.digest) return;
    drift_.changed.push_back({one.read.datasource, one.unit});
  }

  druid::Cluster& cluster_;
  const Job& job_;
  const Known& known_;
  std::map<std::string, druid::Timeline> timelines_;
  std::map<std::string, std::vector<Interval>> read_;
  SourceDrift drift_;
};

std::string SubjectOf(const Job& job) {
  return absl::StrCat(kDerivedStale, "|", job.datasource, "|", job.name);
}

}  // namespace

absl::StatusOr<SourceDrift> LookForDrift(store::Store& store, druid::Cluster& cluster,
                                         const Job& job) {
  Known known;
  absl::Status status = store.Read([&](store::Transaction& tx) -> absl::Status {
    known = Known();
    absl::Status read = ReadInForce(tx, job, &known);
    for (const Source& source : job.sources) {
      if (read.ok()) read = ReadSource(tx, source.datasource, &known);
    }
    return read;
  });
  if (!status.ok()) return status;
  return DriftLook(cluster, job, known).Look();
}

std::vector<Interval> Computable(const Job& job, const std::vector<Interval>& touched,
                                 const SourceDrift& drift) {
  std::vector<Interval> barred;
  for (const Source& source : job.sources) {
    for (const SourceDrift::Part& gone : drift.gone) {
      if (gone.source != source.datasource) continue;
      // A running total reads it for every partition from there on.
      const Instant end =
          source.mapping == Source::Mapping::kFromStart ? Instant::kMax : gone.interval.end();
      if (ReadBy(source, gone.interval).Overlaps(gone.interval)) {
        barred.push_back(Interval::Between(gone.interval.start(), end));
      }
    }
  }
  return Subtract(touched, Condense(std::move(barred)));
}

absl::Status ReportGone(store::Transaction& tx, const Job& job, const SourceDrift& drift) {
  if (drift.gone.empty()) return guard::Close(tx, SubjectOf(job));
  guard::Finding finding;
  finding.subject = SubjectOf(job);
  finding.kind = kDerivedStale;
  finding.reason = kSourceGone;
  finding.datasource = job.datasource;
  std::vector<std::string> from;
  for (const SourceDrift::Part& gone : drift.gone) {
    finding.intervals.push_back(gone.interval);
    if (from.empty() || from.back() != gone.source) from.push_back(gone.source);
  }
  finding.intervals = Condense(std::move(finding.intervals));
  finding.amount = static_cast<int64_t>(drift.gone.size());
  finding.message = absl::StrCat(
      guard::Printed(finding.intervals), " of ", absl::StrJoin(from, ", "), " is gone, and job ",
      job.name, " had computed ", job.datasource,
      " from it: what comes from there stays as it is, and is not recomputed from the rest");
  finding.remedy = absl::StrCat("interlockctl drops restore, or a backfill of ", from.front(),
                                "; or a version of ", job.name, " with a later origin");
  return guard::Report(tx, finding).status();
}

}  // namespace interlock::backfill
