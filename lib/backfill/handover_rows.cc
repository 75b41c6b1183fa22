#include "lib/backfill/handover_rows.h"

#include <utility>

#include "lib/backfill/record.h"

namespace interlock::backfill {
namespace {

std::string Text(absl::string_view view) { return {view.data(), view.size()}; }

#define HANDOVER_COLUMNS                                                           \
  "backfill_id, datasource, state, max_pause_ms, ends_at_committed, suspended_ms," \
  " resume_by_ms, resumed_ms, reason, message"
#define SUPERVISED_COLUMNS \
  "supervisor_id, was_suspended, seen_suspended, asked_ms, unsettled, offsets"

Handover ReadRow(const store::Row& row) {
  Handover handover;
  handover.backfill_id = row.Text(0);
  handover.datasource = row.Text(1);
  handover.state = HandoverStateOf(row.Text(2));
  handover.max_pause = absl::Milliseconds(row.Int(3));
  handover.ends_at_committed_offsets = row.Flag(4);
  handover.suspended = row.MaybeAt(5);
  handover.resume_by = row.MaybeAt(6);
  handover.resumed = row.MaybeAt(7);
  handover.reason = row.Text(8);
  handover.message = row.Text(9);
  return handover;
}

Supervised ReadSupervised(const store::Row& row) {
  Supervised one;
  one.id = row.Text(0);
  one.was_suspended = row.Flag(1);
  one.seen_suspended = row.Flag(2);
  one.asked = row.MaybeAt(3);
  one.unsettled = row.Flag(4);
  one.offsets = LabelsFrom(row.Text(5));
  return one;
}

absl::Status AddSupervisors(store::Transaction& tx, Handover* handover) {
  auto rows = tx.Query("SELECT " SUPERVISED_COLUMNS
                       " FROM backfill_handover_supervisor WHERE backfill_id = :id"
                       " ORDER BY supervisor_id",
                       {handover->backfill_id});
  if (!rows.ok()) return rows.status();
  for (const store::Row& row : *rows) handover->supervisors.push_back(ReadSupervised(row));
  return absl::OkStatus();
}

absl::Status Forget(store::Transaction& tx, const std::string& backfill_id) {
  for (const char* sql : {"DELETE FROM backfill_handover_supervisor WHERE backfill_id = :id",
                          "DELETE FROM backfill_handover WHERE backfill_id = :id"}) {
    auto gone = tx.Execute(sql, {backfill_id});
    if (!gone.ok()) return gone.status();
  }
  return absl::OkStatus();
}

bool IsAtWork(HandoverState state) {
  return state != HandoverState::kBefore && state != HandoverState::kOver;
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
       },
       {
           // A datasource may have several supervisors: a lease for each.
           "CREATE TABLE backfill_handover_supervisor (backfill_id TEXT NOT NULL,"
           " supervisor_id TEXT NOT NULL, has BIGINT NOT NULL, was_suspended BIGINT NOT NULL,"
           " seen_suspended BIGINT NOT NULL, asked_ms BIGINT, unsettled BIGINT NOT NULL,"
           " offsets TEXT NOT NULL, PRIMARY KEY (backfill_id, supervisor_id))",
           "INSERT INTO backfill_handover_supervisor SELECT backfill_id, supervisor_id,"
           " CASE WHEN state IN ('DRAINING', 'SUSPENDED', 'RESUMING') THEN 1 ELSE 0 END,"
           " was_suspended, seen_suspended, asked_ms, unsettled, offsets FROM backfill_handover"
           " WHERE supervisor_id <> ''",
           "DROP INDEX backfill_handover_one",
           "CREATE UNIQUE INDEX backfill_handover_one_each ON"
           " backfill_handover_supervisor (supervisor_id) WHERE has = 1",
           "ALTER TABLE backfill_handover DROP COLUMN supervisor_id",
           "ALTER TABLE backfill_handover DROP COLUMN was_suspended",
           "ALTER TABLE backfill_handover DROP COLUMN seen_suspended",
           "ALTER TABLE backfill_handover DROP COLUMN asked_ms",
           "ALTER TABLE backfill_handover DROP COLUMN unsettled",
           "ALTER TABLE backfill_handover DROP COLUMN offsets",
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
  Handover handover = ReadRow(rows->front());
  absl::Status status = AddSupervisors(tx, &handover);
  if (!status.ok()) return status;
  return std::optional<Handover>(std::move(handover));
}

absl::Status PutHandover(store::Transaction& tx, const Handover& handover) {
  if (absl::Status gone = Forget(tx, handover.backfill_id); !gone.ok()) return gone;
  auto put = tx.Execute(
      "INSERT INTO backfill_handover (" HANDOVER_COLUMNS
      ") VALUES (:id, :datasource, :state, :pause, :ends, :suspended, :resume_by, :resumed,"
      " :reason, :message)",
      {handover.backfill_id, handover.datasource, Text(NameOf(handover.state)),
       absl::ToInt64Milliseconds(handover.max_pause), handover.ends_at_committed_offsets,
       handover.suspended, handover.resume_by, handover.resumed, handover.reason,
       handover.message});
  if (!put.ok()) return put.status();
  for (const Supervised& one : handover.supervisors) {
    put =
        tx.Execute("INSERT INTO backfill_handover_supervisor (backfill_id, has, " SUPERVISED_COLUMNS
                   ") VALUES (:id, :has, :supervisor, :was, :seen, :asked, :unsettled, :offsets)",
                   {handover.backfill_id, IsAtWork(handover.state), one.id, one.was_suspended,
                    one.seen_suspended, one.asked, one.unsettled, LabelsToJson(one.offsets)});
    if (!put.ok()) return put.status();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> WhoHasSupervisor(store::Transaction& tx,
                                             const std::string& supervisor_id) {
  auto rows = tx.Query(
      "SELECT backfill_id FROM backfill_handover_supervisor WHERE supervisor_id = :id"
      " AND has = 1",
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
  for (const store::Row& row : *rows) {
    handovers.push_back(ReadRow(row));
    if (absl::Status status = AddSupervisors(tx, &handovers.back()); !status.ok()) return status;
  }
  return handovers;
}

}  // namespace interlock::backfill
