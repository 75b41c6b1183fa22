#include "lib/backfill/handover_rows.h"

#include "lib/backfill/record.h"

namespace interlock::backfill {
namespace {

std::string Text(absl::string_view view) { return {view.data(), view.size()}; }

#define HANDOVER_COLUMNS                                                          \
  "backfill_id, datasource, supervisor_id, state, was_suspended, seen_suspended," \
  " max_pause_ms, ends_at_committed, suspended_ms, resume_by_ms, resumed_ms,"     \
  " asked_ms, unsettled, offsets, reason, message"

Handover ReadRow(const store::Row& row) {
  Handover handover;
  handover.backfill_id = row.Text(0);
  handover.datasource = row.Text(1);
  handover.supervisor_id = row.Text(2);
  handover.state = HandoverStateOf(row.Text(3));
  handover.was_suspended = row.Flag(4);
  handover.seen_suspended = row.Flag(5);
  handover.max_pause = absl::Milliseconds(row.Int(6));
  handover.ends_at_committed_offsets = row.Flag(7);
  handover.suspended = row.MaybeAt(8);
  handover.resume_by = row.MaybeAt(9);
  handover.resumed = row.MaybeAt(10);
  handover.asked = row.MaybeAt(11);
  handover.unsettled = row.Flag(12);
  handover.offsets = LabelsFrom(row.Text(13));
  handover.reason = row.Text(14);
  handover.message = row.Text(15);
  return handover;
}

}  // namespace

store::Schema HandoverSchema() {
  return {
      "handover",
      {{
          "CREATE TABLE backfill_tail_terms (backfill_id TEXT NOT NULL PRIMARY KEY,"
          " policy TEXT NOT NULL, max_pause_ms BIGINT NOT NULL,"
          " ends_at_committed BIGINT NOT NULL, accept_concurrent BIGINT NOT NULL)",
          "CREATE TABLE backfill_handover (backfill_id TEXT NOT NULL PRIMARY KEY,"
          " datasource TEXT NOT NULL, supervisor_id TEXT NOT NULL, state TEXT NOT NULL,"
          " was_suspended BIGINT NOT NULL, seen_suspended BIGINT NOT NULL,"
          " max_pause_ms BIGINT NOT NULL, ends_at_committed BIGINT NOT NULL,"
          " suspended_ms BIGINT, resume_by_ms BIGINT, resumed_ms BIGINT, asked_ms BIGINT,"
          " unsettled BIGINT NOT NULL, offsets TEXT NOT NULL, reason TEXT NOT NULL,"
          " message TEXT NOT NULL)",
          // One handover for a supervisor at a time, whatever the code says.
          "CREATE UNIQUE INDEX backfill_handover_one ON backfill_handover (supervisor_id)"
          " WHERE state IN ('DRAINING', 'SUSPENDED', 'RESUMING')",
          "CREATE TABLE backfill_lock_wait (backfill_id TEXT NOT NULL, unit BIGINT NOT NULL,"
          " holder TEXT NOT NULL, since_ms BIGINT NOT NULL, PRIMARY KEY (backfill_id, unit))",
      }},
      {},
  };
}

absl::StatusOr<std::optional<Handover>> ReadHandover(store::Transaction& tx,
                                                     const std::string& backfill_id) {
  auto rows = tx.Query("SELECT " HANDOVER_COLUMNS " FROM backfill_handover WHERE backfill_id = :id",
                       {backfill_id});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return std::optional<Handover>();
  return std::optional<Handover>(ReadRow(rows->front()));
}

absl::Status PutHandover(store::Transaction& tx, const Handover& handover) {
  auto gone =
      tx.Execute("DELETE FROM backfill_handover WHERE backfill_id = :id", {handover.backfill_id});
  if (!gone.ok()) return gone.status();
  return tx
      .Execute(
          "INSERT INTO backfill_handover (" HANDOVER_COLUMNS
          ") VALUES (:id, :datasource, :supervisor, :state, :was, :seen, :pause, :ends,"
          " :suspended, :resume_by, :resumed, :asked, :unsettled, :offsets, :reason,"
          " :message)",
          {handover.backfill_id, handover.datasource, handover.supervisor_id,
           Text(NameOf(handover.state)), handover.was_suspended, handover.seen_suspended,
           absl::ToInt64Milliseconds(handover.max_pause), handover.ends_at_committed_offsets,
           handover.suspended, handover.resume_by, handover.resumed, handover.asked,
           handover.unsettled, LabelsToJson(handover.offsets), handover.reason, handover.message})
      .status();
}

absl::StatusOr<std::string> WhoHasSupervisor(store::Transaction& tx,
                                             const std::string& supervisor_id) {
  auto rows = tx.Query(
      "SELECT backfill_id FROM backfill_handover WHERE supervisor_id = :id"
      " AND state IN ('DRAINING', 'SUSPENDED', 'RESUMING')",
      {supervisor_id});
  if (!rows.ok()) return rows.status();
  return rows->empty() ? std::string() : rows->front().Text(0);
}

absl::StatusOr<std::vector<Handover>> HandoversAtWork(store::Transaction& tx) {
  auto rows = tx.Query("SELECT " HANDOVER_COLUMNS
                       " FROM backfill_handover WHERE state IN"
                       " ('DRAINING', 'SUSPENDED', 'RESUMING') ORDER BY backfill_id",
                       {});
  if (!rows.ok()) return rows.status();
  std::vector<Handover> handovers;
  for (const store::Row& row : *rows) handovers.push_back(ReadRow(row));
  return handovers;
}

}  // namespace interlock::backfill
