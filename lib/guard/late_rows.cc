#include "lib/guard/late_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/guard/findings.h"
#include "lib/guard/rows.h"
#include "lib/guard/text_list.h"

namespace interlock::guard {
namespace {

constexpr int64_t kMostLooked = 200;  // intervals a step
// Rows that a stream had read are published at the latest so long after its task was lost.
constexpr absl::Duration kFailedBefore = absl::Hours(1);

struct Due {
  Proven proven;
  Instant until;
};

absl::StatusOr<std::vector<Due>> DueNow(store::Transaction& tx) {
  auto rows = tx.Query(
      "SELECT datasource, start_ms, end_ms, version, segments, backfill_id, proven_ms, until_ms"
      " FROM guard_proven WHERE look_ms <= :now ORDER BY look_ms LIMIT :most",
      {tx.now(), kMostLooked});
  if (!rows.ok()) return rows.status();
  std::vector<Due> due;
  for (const store::Row& row : *rows) {
    Due one;
    one.proven.datasource = row.Text(0);
    one.proven.interval = Interval::Between(row.At(1), row.At(2));
    one.proven.version = row.Text(3);
    one.proven.segments = UnpackTexts(row.Text(4));
    one.proven.backfill_id = row.Text(5);
    one.proven.at = row.At(6);
    one.until = row.At(7);
    due.push_back(std::move(one));
  }
  return due;
}

absl::Status Drop(store::Transaction& tx, const Proven& proven) {
  return tx
      .Execute("DELETE FROM guard_proven WHERE datasource = :datasource AND start_ms = :start",
               {proven.datasource, proven.interval.start()})
      .status();
}

std::string SubjectOf(const Proven& proven) {
  return absl::StrCat(kVerdict, "|", proven.datasource, "|", proven.interval.ToString(), "|",
                      proven.version);
}

// Whose rows they are: the streams of the datasource, by name; of those that are gone by now,
// who had a task since it was proven.
absl::StatusOr<std::string> Writers(store::Transaction& tx, const Proven& proven) {
  const std::string& datasource = proven.datasource;
  auto streams = StreamsOf(tx, datasource);
  if (!streams.ok()) return streams.status();
  std::vector<std::string> names;
  for (const Stream& stream : *streams) {
    if (stream.name != kDefaultStream) names.push_back(stream.name);
  }
  if (!names.empty()) return absl::StrJoin(names, ", ");
  auto gone = tx.Query(
      "SELECT DISTINCT stream FROM guard_task WHERE datasource = :datasource AND"
      " (ended_ms IS NULL OR ended_ms >= :proven) ORDER BY stream",
      {datasource, proven.at});
  if (!gone.ok()) return gone.status();
  for (const store::Row& row : *gone) names.push_back(row.Text(0));
  return absl::StrJoin(names, ", ");
}

absl::Status ReportLate(store::Transaction& tx, const Proven& proven, const LateRows& late) {
  auto writers = Writers(tx, proven);
  if (!writers.ok()) return writers.status();
  auto lost = AnyTaskFailedSince(tx, proven.datasource, proven.at - kFailedBefore);
  if (!lost.ok()) return lost.status();
  Finding finding;
  finding.subject = SubjectOf(proven);
  finding.kind = kVerdict;
  const bool twice = !late.upgraded.empty() || *lost;
  finding.reason = twice ? "DUPLICATE_ROWS" : "FOREIGN_WRITE";
  finding.datasource = proven.datasource;
  finding.stream = *writers;
  finding.intervals = {proven.interval};
  finding.backfill_id = proven.backfill_id;
  finding.amount = static_cast<int64_t>(late.segments.size());
  const std::string why =
      !late.upgraded.empty()
          ? "they hold rows that the stream had read before the backfill committed, which Druid "
            "upgraded onto its version: these count twice"
      : *lost ? "a task of the stream was lost, and what it had read was read again: rows may "
                "count twice"
              : "rows that came late, beside those of the backfill";
  finding.message =
      absl::StrCat("stream ", *writers, " added ", late.segments.size(), " segments to version ",
                   proven.version, " of ", proven.interval.ToString(), " after backfill ",
                   proven.backfill_id, " had proven it: ", why);
  finding.remedy = "compare rows with the source; run the backfill again with --handover";
  return Report(tx, finding).status();
}

// What an earlier proof of the same time said: its version is not the one that is read now.
absl::Status CloseEarlier(store::Transaction& tx, const Proven& proven) {
  auto rows = tx.Query(
      "SELECT end_ms, version FROM guard_proven WHERE datasource = :datasource"
      " AND start_ms = :start AND version <> :version",
      {proven.datasource, proven.interval.start(), proven.version});
  if (!rows.ok()) return rows.status();
  for (const store::Row& row : *rows) {
    Proven earlier = proven;
    earlier.interval = Interval::Between(proven.interval.start(), row.At(0));
    earlier.version = row.Text(1);
    absl::Status status = Close(tx, SubjectOf(earlier));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// One proof, and what is there of it now.
struct LookedAt {
  Due due;
  std::vector<druid::Segment> used;
  LateRows late;
};

absl::Status Settle(store::Transaction& tx, const LookedAt& looked, const Options& options) {
  const Due& due = looked.due;
  const Proven& proven = due.proven;
  const LateRows& late = looked.late;
  const bool replaced =
      std::none_of(looked.used.begin(), looked.used.end(), [&](const druid::Segment& segment) {
        return segment.version == proven.version && proven.interval.Contains(segment.interval);
      });
  absl::Status status;
  if (!late.segments.empty()) status = ReportLate(tx, proven, late);
  if (replaced) status = Close(tx, SubjectOf(proven));
  if (!status.ok()) return status;
  // What was found is looked at until it is mended, or nobody would ever close it.
  const bool over = tx.now() >= due.until && late.segments.empty();
  if (replaced || over) return Drop(tx, proven);
  return tx
      .Execute(
          "UPDATE guard_proven SET look_ms = :look WHERE datasource = :datasource"
          " AND start_ms = :start",
          {tx.now() + options.late_rows_every, proven.datasource, proven.interval.start()})
      .status();
}

}  // namespace

absl::Status WatchProven(store::Transaction& tx, const Proven& proven, const Options& options) {
  auto streams = StreamsOf(tx, proven.datasource);
  if (!streams.ok()) return streams.status();
  if (streams->empty()) return absl::OkStatus();
  absl::Status status = CloseEarlier(tx, proven);
  if (status.ok()) status = Drop(tx, proven);
  if (!status.ok()) return status;
  return tx
      .Execute(
          "INSERT INTO guard_proven (datasource, start_ms, end_ms, version, segments, backfill_id,"
          " proven_ms, until_ms, look_ms) VALUES (:datasource, :start, :end, :version, :segments,"
          " :backfill, :proven, :until, :look)",
          {proven.datasource, proven.interval.start(), proven.interval.end(), proven.version,
           PackTexts(proven.segments), proven.backfill_id, proven.at,
           tx.now() + options.late_rows_for, tx.now()})
      .status();
}

LateRows FindLateRows(const Proven& proven, const std::vector<druid::Segment>& used,
                      const std::vector<druid::Segment>& unused) {
  LateRows late;
  for (const druid::Segment& segment : used) {
    if (segment.version != proven.version || !proven.interval.Overlaps(segment.interval)) continue;
    if (std::find(proven.segments.begin(), proven.segments.end(), segment.id) !=
        proven.segments.end()) {
      continue;
    }
    late.segments.push_back(segment.id);
    const auto same_file = [&](const druid::Segment& other) {
      return other.id != segment.id && !segment.load_spec.empty() &&
             other.load_spec == segment.load_spec && !segment.tombstone();
    };
    if (std::any_of(used.begin(), used.end(), same_file) ||
        std::any_of(unused.begin(), unused.end(), same_file)) {
      late.upgraded.push_back(segment.id);
    }
  }
  return late;
}

namespace {

LookedAt LookBeside(druid::Cluster& cluster, const Due& due,
                    const std::vector<druid::Segment>& of_datasource) {
  LookedAt looked;
  looked.due = due;
  for (const druid::Segment& segment : of_datasource) {
    if (due.proven.interval.Overlaps(segment.interval)) looked.used.push_back(segment);
  }
  looked.late = FindLateRows(due.proven, looked.used);
  if (looked.late.segments.empty()) return looked;
  // Druid lists them from 29 on; before, and where it does not answer, what is used tells.
  const auto listed = cluster.ListUnusedSegments(due.proven.datasource, due.proven.interval);
  if (!listed.done()) return looked;
  std::vector<druid::Segment> unused;
  for (const druid::UnusedSegment& one : listed.value()) unused.push_back(one.segment);
  looked.late = FindLateRows(due.proven, looked.used, unused);
  return looked;
}

}  // namespace

absl::Status LookForLateRows(store::Store& store, druid::Cluster& cluster, const Options& options) {
  std::vector<Due> due;
  absl::Status status = store.Read([&](store::Transaction& tx) -> absl::Status {
    auto found = DueNow(tx);
    if (!found.ok()) return found.status();
    due = *std::move(found);
    return absl::OkStatus();
  });
  if (!status.ok() || due.empty()) return status;
  std::map<std::string, std::vector<Interval>> wanted;
  for (const Due& one : due) wanted[one.proven.datasource].push_back(one.proven.interval);
  std::map<std::string, std::vector<druid::Segment>> used;
  for (const auto& [datasource, intervals] : wanted) {
    const auto listed = cluster.ListUsedSegments(datasource, intervals);
    if (listed.done()) used[datasource] = listed.value();
  }
  std::vector<LookedAt> looked;
  for (const Due& one : due) {
    const auto there = used.find(one.proven.datasource);
    if (there == used.end()) continue;  // not answered: looked for again
    looked.push_back(LookBeside(cluster, one, there->second));
  }
  return store.Write([&](store::Transaction& tx) -> absl::Status {
    for (const LookedAt& one : looked) {
      absl::Status settled = Settle(tx, one, options);
      if (!settled.ok()) return settled;
    }
    return absl::OkStatus();
  });
}

}  // namespace interlock::guard
