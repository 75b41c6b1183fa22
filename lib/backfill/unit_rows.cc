// Units and partitions in the store's tables.
#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "lib/backfill/backfill_errors.h"
#include "lib/backfill/revision.h"
#include "lib/backfill/rows.h"
#include "lib/backfill/state_events.h"
#include "lib/backfill/told_json.h"
#include "lib/time/interval_set.h"

namespace interlock::backfill {
namespace {

#define INTERLOCK_UNIT_COLUMNS                                                \
  "backfill_id, number, unit_key, state, reason, message, attempts, task_id," \
  " reservation_id, token, due_ms, rows_in, unparseable, sums_in, thrown_away"

#define INTERLOCK_PARTITIONS                                                        \
  "SELECT p.start_ms, p.end_ms, p.unit, p.state, p.reason, p.message, p.since_ms,"  \
  " p.revision, p.proof, u.unit_key, u.attempts, u.task_id, u.blockers, p.findings" \
  " FROM backfill_partition p"                                                      \
  " JOIN backfill_unit u ON u.backfill_id = p.backfill_id AND u.number = p.unit"    \
  " WHERE p.backfill_id = :id AND "

StoredUnit UnitOf(const store::Row& row) {
  StoredUnit unit;
  unit.backfill_id = row.Text(0);
  unit.number = row.Int(1);
  unit.unit.intervals = IntervalsFrom(row.Text(2));
  unit.state = StateOf(row.Text(3));
  unit.reason = row.Text(4);
  unit.message = row.Text(5);
  unit.attempts = row.Int(6);
  unit.task_id = row.Text(7);
  unit.reservation_id = row.Text(8);
  unit.token = row.Int(9);
  unit.due = row.At(10);
  if (!row.IsNull(11)) unit.rows = row.Int(11);
  unit.unparseable = row.Int(12);
  if (!row.IsNull(13)) unit.sums = SumsFrom(row.Text(13));
  unit.thrown_away = row.Int(14);
  return unit;
}

StoredPartition PartitionOf(const store::Row& row) {
  StoredPartition partition;
  partition.partition = *Interval::Of(row.At(0), std::max(row.At(0), row.At(1)));
  partition.unit = row.Int(2);
  partition.state = StateOf(row.Text(3));
  partition.reason = row.Text(4);
  partition.message = row.Text(5);
  partition.since = row.At(6);
  partition.revision = row.Int(7);
  if (!row.IsNull(8)) partition.proof = ProofFrom(row.Text(8));
  partition.unit_key = row.Text(9);
  partition.attempts = row.Int(10);
  partition.task_id = row.Text(11);
  for (Obstacle& obstacle : ObstaclesFrom(row.Text(12))) {
    if (obstacle.interval.Overlaps(partition.partition)) {
      partition.blockers.push_back(std::move(obstacle));
    }
  }
  partition.findings = FindingsFrom(row.Text(13));
  return partition;
}

// The partitions that the unit covers, in order.
absl::Status FillPartitions(store::Transaction& tx, StoredUnit& unit) {
  auto rows = tx.Query(
      "SELECT start_ms, end_ms FROM backfill_partition WHERE backfill_id = :id AND unit = :unit"
      " ORDER BY start_ms",
      {unit.backfill_id, unit.number});
  if (!rows.ok()) return rows.status();
  for (const store::Row& row : *rows) {
    auto interval = Interval::Of(row.At(0), row.At(1));
    if (!interval.ok()) return interval.status();
    unit.unit.partitions.push_back(*interval);
  }
  return absl::OkStatus();
}

absl::Status InsertPartition(store::Transaction& tx, const StoredUnit& unit,
                             const Interval& partition, int64_t revision) {
  return tx
      .Execute(
          "INSERT INTO backfill_partition (backfill_id, start_ms, end_ms, unit, state, reason,"
          " message, since_ms, revision) VALUES (:id, :start, :end, :unit, :state, :reason,"
          " :message, :since, :revision)",
          {unit.backfill_id, partition.start(), partition.end(), unit.number,
           std::string(NameOf(unit.state)), unit.reason, unit.message, tx.now(), revision})
      .status();
}

absl::StatusOr<std::map<State, int64_t>> Counted(const absl::StatusOr<store::Rows>& rows) {
  if (!rows.ok()) return rows.status();
  std::map<State, int64_t> counts;
  for (const store::Row& row : *rows) counts[StateOf(row.Text(0))] = row.Int(1);
  return counts;
}

}  // namespace

absl::Status InsertUnit(store::Transaction& tx, const std::string& datasource,
                        const StoredUnit& unit) {
  const Interval hull = unit.unit.hull();
  absl::Status status =
      tx.Execute(
            "INSERT INTO backfill_unit (backfill_id, number, datasource, unit_key, start_ms,"
            " end_ms, state, open, reason, message, attempts, task_id, reservation_id, token,"
            " due_ms, unparseable, blockers) VALUES (:id, :number, :datasource, :key, :start,"
            " :end, :state, :open, :reason, :message, :attempts, :task, :reservation, :token,"
            " :due, 0, :blockers)",
            {unit.backfill_id, unit.number, datasource, unit.unit.key(), hull.start(), hull.end(),
             std::string(NameOf(unit.state)), IsOpen(unit.state), unit.reason, unit.message,
             unit.attempts, unit.task_id, unit.reservation_id, unit.token, unit.due,
             ToJson(unit.blockers)})
          .status();
  auto revision = NextRevision(tx);
  if (!status.ok() || !revision.ok()) return status.ok() ? revision.status() : status;
  for (const Interval& partition : unit.unit.partitions) {
    status = InsertPartition(tx, unit, partition, *revision);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status UpdateUnit(store::Transaction& tx, const StoredUnit& unit) {
  auto before = tx.Query(
      "SELECT state, datasource FROM backfill_unit WHERE backfill_id = :id AND"
      " number = :number",
      {unit.backfill_id, unit.number});
  if (!before.ok()) return before.status();
  if (before->empty()) return UnknownBackfill(unit.backfill_id);
  absl::Status status =
      RecordUnitMoved(tx, before->front().Text(1), StateOf(before->front().Text(0)), unit);
  if (!status.ok()) return status;
  status = tx.Execute(
                 "UPDATE backfill_unit SET state = :state, open = :open, reason = :reason,"
                 " message = :message, attempts = :attempts, task_id = :task,"
                 " reservation_id = :reservation, token = :token, due_ms = :due, rows_in = :rows,"
                 " unparseable = :unparseable, sums_in = :sums, thrown_away = :thrown,"
                 " blockers = :blockers"
                 " WHERE backfill_id = :id AND number = :number",
                 {std::string(NameOf(unit.state)), IsOpen(unit.state), unit.reason, unit.message,
                  unit.attempts, unit.task_id, unit.reservation_id, unit.token, unit.due,
                  unit.rows ? store::Value(*unit.rows) : store::Value(), unit.unparseable,
                  unit.sums ? store::Value(SumsToJson(*unit.sums)) : store::Value(),
                  unit.thrown_away, ToJson(unit.blockers), unit.backfill_id, unit.number})
               .status();
  auto revision = NextRevision(tx);
  if (!status.ok() || !revision.ok()) return status.ok() ? revision.status() : status;
  const std::string state(NameOf(unit.state));
  // Where a state is told partition by partition, UpdatePartition has the word.
  return tx
      .Execute(
          "UPDATE backfill_partition SET since_ms = CASE WHEN state = :state THEN since_ms ELSE"
          " :now END, findings = CASE WHEN state = :state THEN findings ELSE '' END,"
          " state = :state, reason = :reason, message = :message, revision = :revision"
          " WHERE backfill_id = :id AND unit = :unit"
          " AND (state <> :state OR reason <> :reason OR message <> :message)",
          {state, tx.now(), state, state, unit.reason, unit.message, *revision, unit.backfill_id,
           unit.number, state, unit.reason, unit.message})
      .status();
}

absl::Status UpdatePartition(store::Transaction& tx, const std::string& backfill_id,
                             StoredPartition partition) {
  auto revision = NextRevision(tx);
  if (!revision.ok()) return revision.status();
  return tx
      .Execute(
          "UPDATE backfill_partition SET state = :state, reason = :reason, message = :message,"
          " since_ms = :since, revision = :revision, proof = :proof, findings = :findings"
          " WHERE backfill_id = :id AND start_ms = :start",
          {std::string(NameOf(partition.state)), partition.reason, partition.message, tx.now(),
           *revision, partition.proof ? store::Value(ToJson(*partition.proof)) : store::Value(),
           ToJson(partition.findings), backfill_id, partition.partition.start()})
      .status();
}

absl::StatusOr<StoredUnit> ReadUnit(store::Transaction& tx, const std::string& backfill_id,
                                    int64_t number) {
  auto rows = tx.Query("SELECT " INTERLOCK_UNIT_COLUMNS
                       " FROM backfill_unit WHERE backfill_id = :id AND number = :number",
                       {backfill_id, number});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return UnknownBackfill(backfill_id);
  StoredUnit unit = UnitOf(rows->front());
  absl::Status status = FillPartitions(tx, unit);
  if (!status.ok()) return status;
  return unit;
}

absl::StatusOr<std::vector<StoredUnit>> ReadUnits(store::Transaction& tx,
                                                  const std::string& backfill_id,
                                                  const std::vector<State>& states, Instant due,
                                                  bool newest_first, int64_t most) {
  std::vector<StoredUnit> units;
  for (const State state : states) {
    auto rows = tx.Query(newest_first ? "SELECT " INTERLOCK_UNIT_COLUMNS
                                        " FROM backfill_unit WHERE backfill_id = :id AND"
                                        " state = :state AND due_ms <= :due ORDER BY number DESC"
                                        " LIMIT :most"
                                      : "SELECT " INTERLOCK_UNIT_COLUMNS
                                        " FROM backfill_unit WHERE backfill_id = :id AND"
                                        " state = :state AND due_ms <= :due ORDER BY number"
                                        " LIMIT :most",
                         {backfill_id, std::string(NameOf(state)), due, most});
    if (!rows.ok()) return rows.status();
    for (const store::Row& row : *rows) units.push_back(UnitOf(row));
  }
  std::sort(units.begin(), units.end(), [&](const StoredUnit& a, const StoredUnit& b) {
    return newest_first ? a.number > b.number : a.number < b.number;
  });
  if (static_cast<int64_t>(units.size()) > most) units.resize(most);
  for (StoredUnit& unit : units) {
    absl::Status status = FillPartitions(tx, unit);
    if (!status.ok()) return status;
  }
  return units;
}

absl::StatusOr<std::optional<Instant>> NextDue(store::Transaction& tx,
                                               const std::string& backfill_id,
                                               const std::vector<State>& states) {
  std::optional<Instant> next;
  for (const State state : states) {
    auto rows =
        tx.Query("SELECT MIN(due_ms) FROM backfill_unit WHERE backfill_id = :id AND state = :state",
                 {backfill_id, std::string(NameOf(state))});
    if (!rows.ok()) return rows.status();
    const std::optional<Instant> due = rows->front().MaybeAt(0);
    if (due && (!next || *due < *next)) next = due;
  }
  return next;
}

absl::StatusOr<bool> AnyUnitIn(store::Transaction& tx, const std::string& backfill_id,
                               const std::vector<State>& states) {
  for (const State state : states) {
    auto rows = tx.Query(
        "SELECT number FROM backfill_unit WHERE backfill_id = :id AND state = :state LIMIT 1",
        {backfill_id, std::string(NameOf(state))});
    if (!rows.ok()) return rows.status();
    if (!rows->empty()) return true;
  }
  return false;
}

absl::StatusOr<std::map<State, int64_t>> CountUnits(store::Transaction& tx,
                                                    const std::string& backfill_id) {
  return Counted(
      tx.Query("SELECT state, COUNT(*) FROM backfill_unit WHERE backfill_id = :id GROUP BY state",
               {backfill_id}));
}

absl::StatusOr<std::map<State, int64_t>> CountPartitions(store::Transaction& tx,
                                                         const std::string& backfill_id) {
  return Counted(tx.Query(
      "SELECT state, COUNT(*) FROM backfill_partition WHERE backfill_id = :id GROUP BY state",
      {backfill_id}));
}

absl::StatusOr<Totals> SumUnits(store::Transaction& tx, const std::string& backfill_id) {
  auto rows = tx.Query(
      "SELECT SUM(rows_in), COUNT(*) - COUNT(rows_in), SUM(unparseable), SUM(thrown_away)"
      " FROM backfill_unit"
      " WHERE backfill_id = :id",
      {backfill_id});
  if (!rows.ok()) return rows.status();
  const store::Row& row = rows->front();
  return Totals{row.Int(0), row.Int(1) == 0, row.Int(2), row.Int(3)};
}

absl::StatusOr<std::vector<Doubt>> ReadDoubts(store::Transaction& tx,
                                              const std::string& backfill_id) {
  auto rows = tx.Query(
      "SELECT reason, MIN(message), MAX(message) FROM backfill_unit WHERE backfill_id = :id AND"
      " state IN (:suspect, :undetermined) GROUP BY reason ORDER BY reason",
      {backfill_id, std::string(NameOf(State::kSuspect)),
       std::string(NameOf(State::kUndetermined))});
  if (!rows.ok()) return rows.status();
  std::vector<Doubt> doubts;
  for (const store::Row& row : *rows) {
    doubts.push_back({row.Text(0), row.Text(1) == row.Text(2) ? row.Text(1) : ""});
  }
  return doubts;
}

absl::StatusOr<std::optional<std::map<std::string, double>>> SumMetrics(
    store::Transaction& tx, const std::string& backfill_id) {
  auto rows = tx.Query("SELECT sums_in FROM backfill_unit WHERE backfill_id = :id", {backfill_id});
  if (!rows.ok()) return rows.status();
  std::map<std::string, double> total;
  for (const store::Row& row : *rows) {
    if (row.IsNull(0)) return std::nullopt;
    for (const auto& [metric, sum] : SumsFrom(row.Text(0))) total[metric] += sum;
  }
  return total;
}

absl::StatusOr<OpenCounts> CountOpen(store::Transaction& tx, const std::string& backfill_id,
                                     const std::string& datasource) {
  auto rows = tx.Query(
      "SELECT datasource, backfill_id, COUNT(*) FROM backfill_unit WHERE open = 1"
      " GROUP BY datasource, backfill_id",
      {});
  if (!rows.ok()) return rows.status();
  OpenCounts counts;
  for (const store::Row& row : *rows) {
    counts.all += row.Int(2);
    if (row.Text(0) == datasource) counts.datasource += row.Int(2);
    if (row.Text(1) == backfill_id) counts.backfill += row.Int(2);
  }
  return counts;
}

absl::StatusOr<std::vector<StoredPartition>> ReadPartitions(store::Transaction& tx,
                                                            const std::string& backfill_id,
                                                            const PartitionFilter& filter,
                                                            Instant from, int64_t most) {
  const Interval overlap = filter.overlapping.value_or(Interval::Eternity());
  // States are picked out here, so all rows may be needed to fill a page.
  const int64_t limit = filter.states.empty() ? most : std::numeric_limits<int32_t>::max();
  auto rows = filter.after_revision > 0
                  ? tx.Query(INTERLOCK_PARTITIONS
                             "p.revision > :after ORDER BY p.revision, p.start_ms LIMIT :limit",
                             {backfill_id, filter.after_revision, limit})
                  : tx.Query(INTERLOCK_PARTITIONS
                             "p.start_ms >= :from AND p.start_ms < :end AND p.end_ms > :start"
                             " ORDER BY p.start_ms LIMIT :limit",
                             {backfill_id, from, overlap.end(), overlap.start(), limit});
  if (!rows.ok()) return rows.status();
  std::vector<StoredPartition> partitions;
  for (const store::Row& row : *rows) {
    if (static_cast<int64_t>(partitions.size()) >= most) break;
    StoredPartition partition = PartitionOf(row);
    const auto& states = filter.states;
    const bool wanted =
        states.empty() || std::find(states.begin(), states.end(), partition.state) != states.end();
    if (wanted) partitions.push_back(std::move(partition));
  }
  return partitions;
}

}  // namespace interlock::backfill
