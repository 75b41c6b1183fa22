#include "lib/guard/findings.h"

#include <utility>

#include "lib/guard/text_list.h"

namespace interlock::guard {
namespace {

#define FINDING_COLUMNS                                                            \
  "number, subject, kind, reason, datasource, stream, intervals, message, remedy," \
  " backfill_id, task_ids, amount, open_ms, seen_ms, close_ms"

std::vector<std::string> Texts(const std::vector<Interval>& intervals) {
  std::vector<std::string> texts;
  texts.reserve(intervals.size());
  for (const Interval& interval : intervals) texts.push_back(interval.ToString());
  return texts;
}

std::vector<Interval> Intervals(const std::string& packed) {
  std::vector<Interval> intervals;
  for (const std::string& text : UnpackTexts(packed)) {
    const auto interval = Interval::Parse(text);
    if (interval.ok()) intervals.push_back(*interval);
  }
  return intervals;
}

Finding ReadFinding(const store::Row& row) {
  Finding finding;
  finding.number = row.Int(0);
  finding.subject = row.Text(1);
  finding.kind = row.Text(2);
  finding.reason = row.Text(3);
  finding.datasource = row.Text(4);
  finding.stream = row.Text(5);
  finding.intervals = Intervals(row.Text(6));
  finding.message = row.Text(7);
  finding.remedy = row.Text(8);
  finding.backfill_id = row.Text(9);
  finding.task_ids = UnpackTexts(row.Text(10));
  finding.amount = row.Int(11);
  finding.opened = row.At(12);
  finding.seen = row.At(13);
  finding.closed = row.MaybeAt(14);
  return finding;
}

}  // namespace

absl::StatusOr<bool> Report(store::Transaction& tx, const Finding& finding) {
  auto changed = tx.Execute(
      "UPDATE guard_finding SET reason = :reason, intervals = :intervals, message = :message,"
      " remedy = :remedy, backfill_id = :backfill, task_ids = :tasks, amount = :amount,"
      " seen_ms = :seen WHERE subject = :subject AND close_ms IS NULL",
      {finding.reason, PackTexts(Texts(finding.intervals)), finding.message, finding.remedy,
       finding.backfill_id, PackTexts(finding.task_ids), finding.amount, tx.now(),
       finding.subject});
  if (!changed.ok()) return changed.status();
  if (*changed > 0) return false;
  auto opened = tx.Execute(
      "INSERT INTO guard_finding (subject, kind, reason, datasource, stream, intervals, message,"
      " remedy, backfill_id, task_ids, amount, open_ms, seen_ms) VALUES (:subject, :kind, :reason,"
      " :datasource, :stream, :intervals, :message, :remedy, :backfill, :tasks, :amount, :opened,"
      " :seen)",
      {finding.subject, finding.kind, finding.reason, finding.datasource, finding.stream,
       PackTexts(Texts(finding.intervals)), finding.message, finding.remedy, finding.backfill_id,
       PackTexts(finding.task_ids), finding.amount, tx.now(), tx.now()});
  if (!opened.ok()) return opened.status();
  return true;
}

absl::Status Close(store::Transaction& tx, const std::string& subject) {
  return tx
      .Execute(
          "UPDATE guard_finding SET close_ms = :now WHERE subject = :subject"
          " AND close_ms IS NULL",
          {tx.now(), subject})
      .status();
}

absl::Status CloseUnseen(store::Transaction& tx, const std::string& kind, Instant before) {
  return tx
      .Execute(
          "UPDATE guard_finding SET close_ms = :now WHERE kind = :kind"
          " AND close_ms IS NULL AND seen_ms < :before",
          {tx.now(), kind, before})
      .status();
}

absl::StatusOr<std::vector<Finding>> ListFindings(store::Transaction& tx,
                                                  const std::string& datasource, bool only_open,
                                                  int64_t most) {
  auto rows = tx.Query("SELECT " FINDING_COLUMNS
                       " FROM guard_finding WHERE (:datasource = '' OR datasource = :same)"
                       " AND (:all = 1 OR close_ms IS NULL) ORDER BY number DESC LIMIT :most",
                       {datasource, datasource, !only_open, most});
  if (!rows.ok()) return rows.status();
  std::vector<Finding> findings;
  for (const store::Row& row : *rows) findings.push_back(ReadFinding(row));
  return findings;
}

absl::StatusOr<std::vector<FindingCount>> CountOpenFindings(store::Transaction& tx) {
  auto rows = tx.Query(
      "SELECT datasource, CASE WHEN kind = 'VERDICT' THEN reason ELSE kind END, COUNT(*),"
      " MIN(open_ms) FROM guard_finding WHERE close_ms IS NULL GROUP BY 1, 2",
      {});
  if (!rows.ok()) return rows.status();
  std::vector<FindingCount> counts;
  for (const store::Row& row : *rows) {
    counts.push_back({row.Text(0), row.Text(1), row.Int(2), row.At(3)});
  }
  return counts;
}

}  // namespace interlock::guard
