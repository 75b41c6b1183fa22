#include "lib/work/steps.h"

#include <algorithm>
#include <utility>

#include "lib/work/work_errors.h"

namespace interlock::work {
namespace {

// A claimed step is one that has an owner; its due time is the end of the claim, so that a
// step whose worker died is simply due again.

absl::Status ChangesOne(const absl::StatusOr<int64_t>& changed, const Claim& claim) {
  if (!changed.ok()) return changed.status();
  return *changed == 1 ? absl::OkStatus() : ClaimLost(claim.kind, claim.key);
}

absl::Status ComeAgain(store::Transaction& tx, const Claim& claim, Instant due, int64_t attempts) {
  return ChangesOne(
      tx.Execute("UPDATE work_step SET"
                 " due_ms = CASE WHEN wanted_ms < :due THEN wanted_ms ELSE :due END,"
                 " wanted_ms = NULL, owner = '', attempts = :attempts"
                 " WHERE kind = :kind AND key = :key AND claim = :claim AND owner <> ''",
                 {due, due, attempts, claim.kind, claim.key, claim.number}),
      claim);
}

absl::StatusOr<std::vector<Claim>> SelectDue(store::Transaction& tx,
                                             const std::vector<std::string>& kinds, int64_t most) {
  std::vector<Claim> due;
  for (const std::string& kind : kinds) {
    absl::StatusOr<store::Rows> rows = tx.Query(
        "SELECT key, due_ms, attempts FROM work_step WHERE kind = :kind AND"
        " due_ms <= :now ORDER BY due_ms LIMIT :most",
        {kind, tx.now(), most});
    if (!rows.ok()) return rows.status();
    for (const store::Row& row : *rows) {
      Claim claim;
      claim.kind = kind;
      claim.key = row.Text(0);
      claim.due = row.At(1);
      claim.attempts = row.Int(2);
      due.push_back(std::move(claim));
    }
  }
  std::stable_sort(due.begin(), due.end(),
                   [](const Claim& a, const Claim& b) { return a.due < b.due; });
  if (static_cast<int64_t>(due.size()) > most) due.resize(most);
  return due;
}

// The numbers of `count` claims: the first of them. Takes the lock that makes claims of
// several servers follow each other.
absl::StatusOr<int64_t> NextNumbers(store::Transaction& tx, int64_t count) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "UPDATE work_claim_counter SET last_claim = last_claim + :count RETURNING last_claim",
      {count});
  if (!rows.ok()) return rows.status();
  return rows->front().Int(0) - count + 1;
}

absl::StatusOr<std::vector<Claim>> ClaimIn(store::Transaction& tx, const Claimant& claimant,
                                           const std::vector<std::string>& kinds, int64_t most) {
  absl::StatusOr<int64_t> number = NextNumbers(tx, most);
  if (!number.ok()) return number.status();
  absl::StatusOr<std::vector<Claim>> claims = SelectDue(tx, kinds, most);
  if (!claims.ok()) return claims.status();
  for (Claim& claim : *claims) {
    claim.number = (*number)++;
    absl::Status status =
        tx.Execute(
              "UPDATE work_step SET owner = :owner, claim = :claim, due_ms = :until,"
              " wanted_ms = CASE WHEN wanted_ms <= :now THEN NULL ELSE wanted_ms END"
              " WHERE kind = :kind AND key = :key",
              {claimant.owner, claim.number, tx.now() + claimant.lease, tx.now(), claim.kind,
               claim.key})
            .status();
    if (!status.ok()) return status;
  }
  return claims;
}

}  // namespace

store::Schema WorkSchema() {
  return {"work",
          {{
               "CREATE TABLE work_step (kind TEXT NOT NULL, key TEXT NOT NULL,"
               " due_ms BIGINT NOT NULL, wanted_ms BIGINT, owner TEXT NOT NULL,"
               " claim BIGINT NOT NULL, attempts BIGINT NOT NULL, PRIMARY KEY (kind, key))"
               " {{clustered}}",
               "CREATE INDEX work_step_by_due ON work_step (kind, due_ms)",
               "CREATE TABLE work_claim_counter (last_claim BIGINT NOT NULL)",
               "INSERT INTO work_claim_counter (last_claim) VALUES (0)",
           },
           {
               "CREATE TABLE work_replica (name TEXT NOT NULL PRIMARY KEY,"
               " version TEXT NOT NULL, seen_ms BIGINT NOT NULL) {{clustered}}",
           }},
          {}};
}

absl::Status Schedule(store::Transaction& tx, const std::string& kind, const std::string& key,
                      Instant due) {
  return tx
      .Execute(
          "INSERT INTO work_step (kind, key, due_ms, owner, claim, attempts)"
          " VALUES (:kind, :key, :due, '', 0, 0)"
          " ON CONFLICT (kind, key) DO UPDATE SET"
          " due_ms = CASE WHEN work_step.owner = '' AND excluded.due_ms < work_step.due_ms"
          "   THEN excluded.due_ms ELSE work_step.due_ms END,"
          " wanted_ms = CASE WHEN work_step.owner <> '' AND (work_step.wanted_ms IS NULL"
          "   OR excluded.due_ms < work_step.wanted_ms)"
          "   THEN excluded.due_ms ELSE work_step.wanted_ms END",
          {kind, key, due})
      .status();
}

absl::Status Unschedule(store::Transaction& tx, const std::string& kind, const std::string& key) {
  return tx.Execute("DELETE FROM work_step WHERE kind = :kind AND key = :key", {kind, key})
      .status();
}

absl::Duration Claim::Remaining(const Clock& clock) const {
  return absl::FromChrono(ends - clock.Monotonic());
}

absl::StatusOr<std::vector<Claim>> ClaimDue(store::Store& store, const Clock& clock,
                                            const Claimant& claimant,
                                            const std::vector<std::string>& kinds, int64_t most) {
  const std::chrono::nanoseconds ends =
      clock.Monotonic() + absl::ToChronoNanoseconds(claimant.lease);
  std::vector<Claim> claims;
  absl::Status status = store.Write([&](store::Transaction& tx) {
    absl::StatusOr<std::vector<Claim>> claimed = ClaimIn(tx, claimant, kinds, most);
    if (claimed.ok()) claims = std::move(*claimed);
    return claimed.status();
  });
  if (!status.ok()) return status;
  for (Claim& claim : claims) claim.ends = ends;
  return claims;
}

absl::Status ForgetClaims(store::Transaction& tx) {
  return tx
      .Execute("UPDATE work_step SET owner = '', due_ms = :now, wanted_ms = NULL WHERE owner <> ''",
               {tx.now()})
      .status();
}

absl::Status Extend(store::Store& store, const Clock& clock, Claim& claim, absl::Duration lease) {
  const std::chrono::nanoseconds ends = clock.Monotonic() + absl::ToChronoNanoseconds(lease);
  absl::Status status = store.Write([&](store::Transaction& tx) {
    return ChangesOne(
        tx.Execute("UPDATE work_step SET due_ms = :until WHERE kind = :kind AND key = :key"
                   " AND claim = :claim AND owner <> ''",
                   {tx.now() + lease, claim.kind, claim.key, claim.number}),
        claim);
  });
  if (status.ok()) claim.ends = ends;
  return status;
}

absl::Status Reschedule(store::Transaction& tx, const Claim& claim, Instant due) {
  return ComeAgain(tx, claim, due, 0);
}

absl::Status Retry(store::Transaction& tx, const Claim& claim, Instant due) {
  return ComeAgain(tx, claim, due, claim.attempts + 1);
}

absl::Status Finish(store::Transaction& tx, const Claim& claim) {
  // A wish that came meanwhile is a step of its own.
  absl::StatusOr<int64_t> wanted = tx.Execute(
      "UPDATE work_step SET due_ms = wanted_ms, wanted_ms = NULL, owner = '',"
      " attempts = 0 WHERE kind = :kind AND key = :key AND claim = :claim"
      " AND owner <> '' AND wanted_ms IS NOT NULL",
      {claim.kind, claim.key, claim.number});
  if (!wanted.ok() || *wanted == 1) return wanted.status();
  return ChangesOne(tx.Execute("DELETE FROM work_step WHERE kind = :kind AND key = :key"
                               " AND claim = :claim AND owner <> ''",
                               {claim.kind, claim.key, claim.number}),
                    claim);
}

absl::Status CheckClaim(store::Transaction& tx, const Claim& claim) {
  // An update that changes nothing: on PostgreSQL it holds the row until the commit.
  return ChangesOne(tx.Execute("UPDATE work_step SET claim = claim WHERE kind = :kind"
                               " AND key = :key AND claim = :claim AND owner <> ''",
                               {claim.kind, claim.key, claim.number}),
                    claim);
}

absl::StatusOr<std::optional<Instant>> NextDue(store::Transaction& tx,
                                               const std::vector<std::string>& kinds) {
  std::optional<Instant> next;
  for (const std::string& kind : kinds) {
    absl::StatusOr<store::Rows> rows =
        tx.Query("SELECT MIN(due_ms) FROM work_step WHERE kind = :kind", {kind});
    if (!rows.ok()) return rows.status();
    const std::optional<Instant> due = rows->front().MaybeAt(0);
    if (due.has_value() && (!next.has_value() || *due < *next)) next = due;
  }
  return next;
}

}  // namespace interlock::work
