#include "lib/seal/corrections.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/seal/correction_rows.h"
#include "lib/seal/figures.h"
#include "lib/seal/figures_json.h"
#include "lib/seal/rows.h"
#include "lib/seal/seal_errors.h"
#include "lib/seal/seals.h"
#include "lib/time/interval_set.h"
#include "lib/time/status_reason.h"

namespace interlock::seal {
namespace {

// Differing groups that are stored with a correction; all are counted.
constexpr size_t kMostDeltas = 10'000;
constexpr int64_t kChunk = 200;
constexpr int64_t kMostLooked = 20'000;

std::optional<Interval> Common(const Interval& a, const Interval& b) {
  if (!a.Overlaps(b)) return std::nullopt;
  return *Interval::Of(std::max(a.start(), b.start()), std::min(a.end(), b.end()));
}

// What a seal without a snapshot is compared by: its sums, as one group.
std::vector<Group> GroupsOf(const Bucket& bucket, const SnapshotSpec& spec) {
  if (!spec.aggregates.empty()) return bucket.snapshot;
  return {Group{{}, bucket.sums}};
}

absl::StatusOr<Bucket> ReadBucket(druid::Cluster& cluster, const std::string& datasource,
                                  const Interval& interval, const SnapshotSpec& spec,
                                  const std::vector<std::string>& metrics) {
  auto used = cluster.ListUsedSegments(datasource, {interval});
  if (!used.done()) return DruidUnavailable(used.text());
  Layout layout;
  layout.buckets = {interval};
  layout.metrics = metrics;
  for (const druid::Segment& segment : used.value()) {
    layout.any_rows = layout.any_rows || !segment.tombstone();
  }
  auto figures = ReadFigures(cluster, datasource, interval, layout, spec);
  if (!figures.ok()) return figures.status();
  return std::move(figures->buckets.front());
}

std::vector<std::string> MetricsOf(const Bucket& bucket) {
  std::vector<std::string> metrics;
  for (const Value& value : bucket.sums) {
    if (value.metric != "rows") metrics.push_back(value.metric);
  }
  return metrics;
}

bool Matches(const CorrectionFilter& filter, const Correction& correction) {
  return (!filter.overlapping || filter.overlapping->Overlaps(correction.interval)) &&
         (filter.seal_id.empty() || filter.seal_id == correction.seal_id) &&
         (!filter.since || correction.created >= *filter.since) &&
         (!filter.until || correction.created < *filter.until);
}

std::vector<CorrectionTotal> TotalsOf(const std::vector<Correction>& all) {
  // The newest of each interval: they come oldest first.
  std::map<std::pair<std::string, Instant>, const Correction*> newest;
  for (const Correction& one : all) newest[{one.datasource, one.interval.start()}] = &one;
  std::vector<Group> was, is_now;
  for (const auto& [place, correction] : newest) {
    was.push_back({{}, correction->was_totals});
    is_now.push_back({{}, correction->is_totals});
  }
  std::map<std::string, CorrectionTotal> totals;
  for (const Value& value : seal::TotalsOf(was)) totals[value.metric].was = value;
  for (const Value& value : seal::TotalsOf(is_now)) totals[value.metric].is_now = value;
  std::vector<CorrectionTotal> listed;
  for (auto& [metric, total] : totals) {
    total.was.metric = total.is_now.metric = metric;
    const auto deltas = DifferenceOf({Group{{}, {total.was}}}, {Group{{}, {total.is_now}}});
    total.delta = deltas.empty() ? Value{metric, false, 0, 0.0} : deltas.front().delta;
    listed.push_back(total);
  }
  return listed;
}

absl::Status Tell(store::Transaction& tx, const Correction& correction) {
  audit::Event event;
  event.caller.identity = "interlock";
  event.caller.reason = correction.reason;
  event.method = "correction.STORED";
  event.datasource = correction.datasource;
  event.subject = correction.id;
  event.resource_type = "correction";
  event.before = audit::JsonObject()
                     .Text("seal", correction.seal_id)
                     .Text("was", ToJson(correction.was_totals))
                     .ToString();
  event.after = audit::JsonObject()
                    .Text("interval", correction.interval.ToString())
                    .Number("number", correction.number)
                    .Text("backfill", correction.backfill_id)
                    .Text("holder", correction.requested_by)
                    .Text("is", ToJson(correction.is_totals))
                    .Number("differences", correction.delta_count)
                    .ToString();
  return audit::Record(tx, event);
}

}  // namespace

absl::StatusOr<std::string> Corrections::TargetOf(const std::string& datasource,
                                                  const std::vector<Interval>& intervals) const {
  std::string target;
  absl::Status status = store_.Read([&](store::Transaction& tx) -> absl::Status {
    for (const Interval& interval : intervals) {
      auto seals = Barred(tx, datasource, interval);
      if (!seals.ok()) return seals.status();
      std::vector<Interval> sealed;
      for (const Seal& seal : *seals) {
        sealed.push_back(seal.interval);
        if (target.empty()) target = seal.corrections_datasource;
        if (target == seal.corrections_datasource) continue;
        return WithReason(
            absl::FailedPreconditionError(absl::StrCat(
                "the seals of these intervals name different places for their "
                "corrections, ",
                target, " and ", seal.corrections_datasource, "; submit one correction for each")),
            "CORRECTIONS_DIFFER");
      }
      const auto open = Subtract({interval}, Condense(std::move(sealed)));
      if (!open.empty()) return CorrectionNotSealed(open.front());
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return target;
}

absl::Status Corrections::Begin(const Correcting& correcting) {
  return store_.Write([&](store::Transaction& tx) {
    return tx
        .Execute(
            "INSERT INTO seal_correcting (backfill_id, datasource, requested_by, reason,"
            " created_ms, corrections_datasource, state) VALUES (:backfill, :datasource, :by,"
            " :reason, :created, :corrections, 'PENDING') ON CONFLICT (backfill_id) DO UPDATE SET"
            " state = 'PENDING', created_ms = excluded.created_ms",
            {correcting.backfill_id, correcting.datasource, correcting.requested_by,
             correcting.reason, tx.now(), correcting.corrections_datasource})
        .status();
  });
}

absl::StatusOr<std::vector<Correcting>> Corrections::Pending() const {
  std::vector<Correcting> pending;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    auto rows = tx.Query(
        "SELECT backfill_id, datasource, requested_by, reason, created_ms, corrections_datasource"
        " FROM seal_correcting WHERE state = 'PENDING' ORDER BY created_ms",
        {});
    if (!rows.ok()) return rows.status();
    for (const store::Row& row : *rows) {
      pending.push_back(
          {row.Text(0), row.Text(1), row.Text(2), row.Text(3), row.At(4), row.Text(5)});
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return pending;
}

absl::Status Corrections::End(const std::string& backfill_id) {
  return store_.Write([&](store::Transaction& tx) {
    return tx
        .Execute("UPDATE seal_correcting SET state = 'ENDED' WHERE backfill_id = :backfill",
                 {backfill_id})
        .status();
  });
}

absl::StatusOr<std::vector<Corrections::Piece>> Corrections::PiecesOf(const Correcting& correcting,
                                                                      const Work& work) const {
  std::vector<Piece> pieces;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    for (const Interval& proven : Condense(work.proven)) {
      auto seals = SealsOver(tx, correcting.datasource, proven);
      if (!seals.ok()) return seals.status();
      for (const Seal& seal : *seals) {
        auto buckets = ReadBuckets(tx, seal.id);
        if (!buckets.ok()) return buckets.status();
        for (const Bucket& bucket : *buckets) {
          const auto common = Common(bucket.interval, proven);
          if (!common) continue;
          const bool whole = *common == bucket.interval;
          pieces.push_back({seal, *common, whole ? std::optional(bucket) : std::nullopt});
        }
      }
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return pieces;
}

absl::StatusOr<Correction> Corrections::Compare(const Piece& piece, const Correcting& correcting,
                                                bool* live_differs) {
  const SnapshotSpec& spec = piece.seal.snapshot;
  auto used = cluster_.ListUsedSegments(correcting.datasource, {piece.interval});
  if (!used.done()) return DruidUnavailable(used.text());
  std::vector<std::string> metrics =
      piece.sealed ? MetricsOf(*piece.sealed) : std::vector<std::string>();
  if (!piece.sealed) {
    for (const druid::Segment& segment : used.value()) {
      metrics.insert(metrics.end(), segment.metrics.begin(), segment.metrics.end());
    }
    std::sort(metrics.begin(), metrics.end());
    metrics.erase(std::unique(metrics.begin(), metrics.end()), metrics.end());
  }
  auto live = ReadBucket(cluster_, correcting.datasource, piece.interval, spec, metrics);
  if (!live.ok()) return live.status();
  auto side =
      ReadBucket(cluster_, correcting.corrections_datasource, piece.interval, spec, metrics);
  if (!side.ok()) return side.status();
  *live_differs = piece.sealed && !SameContent(*piece.sealed, *live);
  const std::vector<Group> was = GroupsOf(piece.sealed ? *piece.sealed : *live, spec);
  const std::vector<Group> is_now = GroupsOf(*side, spec);
  Correction correction;
  correction.datasource = correcting.datasource;
  correction.interval = piece.interval;
  correction.seal_id = piece.seal.id;
  correction.seal_label = piece.seal.label;
  correction.backfill_id = correcting.backfill_id;
  correction.requested_by = correcting.requested_by;
  correction.reason = correcting.reason;
  correction.corrections_datasource = correcting.corrections_datasource;
  correction.deltas = DifferenceOf(was, is_now);
  correction.delta_count = static_cast<int64_t>(correction.deltas.size());
  if (correction.deltas.size() > kMostDeltas) correction.deltas.resize(kMostDeltas);
  correction.was_totals = seal::TotalsOf(was);
  correction.is_totals = seal::TotalsOf(is_now);
  return correction;
}

absl::StatusOr<Corrections::Stored> Corrections::Store(const Correcting& correcting,
                                                       const Work& work) {
  auto pieces = PiecesOf(correcting, work);
  if (!pieces.ok()) return pieces.status();
  Stored stored;
  for (const Piece& piece : *pieces) {
    bool live_differs = false;
    auto correction = Compare(piece, correcting, &live_differs);
    if (!correction.ok()) return correction.status();
    if (live_differs) stored.broken_seals.push_back(piece.seal.id);
    correction->job = work.job;
    correction->job_version = work.job_version;
    bool is_new = false;
    absl::Status status = store_.Write([&](store::Transaction& tx) {
      correction->created = tx.now();
      auto inserted = InsertCorrection(tx, *correction);
      if (!inserted.ok()) return inserted.status();
      is_new = *inserted;
      if (!is_new) return absl::OkStatus();
      auto seal = ReadSeal(tx, piece.seal.id);
      if (!seal.ok()) return seal.status();
      ++seal->correction_count;
      absl::Status done = UpdateSeal(tx, *seal);
      return done.ok() ? Tell(tx, *correction) : done;
    });
    if (!status.ok()) return status;
    if (is_new) stored.corrections.push_back(*std::move(correction));
  }
  return stored;
}

absl::StatusOr<Corrections::Page> Corrections::List(const CorrectionFilter& filter, int64_t size,
                                                    const std::string& token) const {
  int64_t after = 0;
  if (!token.empty() && (!absl::SimpleAtoi(token, &after) || after <= 0)) {
    return BadPageToken(token);
  }
  const auto most = static_cast<size_t>(size <= 0 ? 50 : std::min<int64_t>(size, 500));
  Page page;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    page = Page();
    std::vector<Correction> all;  // of the first page: for the totals
    int64_t place = after;
    for (int64_t looked = 0; looked < kMostLooked; looked += kChunk) {
      auto chunk = CorrectionsAfter(tx, filter.datasource, place, kChunk);
      if (!chunk.ok()) return chunk.status();
      for (NumberedCorrection& one : *chunk) {
        place = one.place;
        if (!Matches(filter, one.correction)) continue;
        if (page.corrections.size() < most) {
          page.corrections.push_back(one.correction);
          if (page.corrections.size() == most) page.next = absl::StrCat(place);
        } else if (after > 0) {
          return absl::OkStatus();
        }
        if (after == 0) {
          one.correction.deltas.clear();
          all.push_back(std::move(one.correction));
        }
      }
      if (static_cast<int64_t>(chunk->size()) < kChunk) break;
    }
    if (after == 0) page.totals = TotalsOf(all);
    // A page that was just filled by the last one has no next.
    if (!page.next.empty() && after == 0 && all.size() <= most) page.next.clear();
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return page;
}

}  // namespace interlock::seal
