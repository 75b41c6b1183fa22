#include "lib/lease/loans.h"

#include <utility>

#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/lease/ended.h"
#include "lib/lease/events.h"
#include "lib/lease/lease_errors.h"
#include "lib/lease/packed.h"
#include "lib/lease/request.h"
#include "lib/lease/reservations.h"
#include "lib/time/interval_set.h"

namespace interlock::lease {
namespace {

absl::Status SetHasLoans(store::Transaction& tx, const Key& key, bool has_loans) {
  return tx
      .Execute(
          "UPDATE lease_reservation SET has_loans = :has_loans WHERE datasource = :datasource"
          " AND token = :token",
          {has_loans, key.datasource, key.token})
      .status();
}

std::vector<Interval> LentOut(const std::vector<Loan>& loans) {
  std::vector<Interval> lent;
  for (const Loan& loan : loans) {
    lent.insert(lent.end(), loan.intervals.begin(), loan.intervals.end());
  }
  return Condense(std::move(lent));
}

// What is still lent stays, and what is pinned.
absl::Status KeepLent(store::Transaction& tx, const Stored& stored,
                      const std::vector<Loan>& loans) {
  absl::StatusOr<Reservation> before = Complete(tx, stored);
  if (!before.ok()) return before.status();
  std::vector<Interval> kept = LentOut(loans);
  for (const Pin& pin : before->pins) kept.push_back(pin.interval);
  kept = Intersect(before->intervals, Condense(std::move(kept)));
  if (kept == before->intervals) return absl::OkStatus();
  return KeepPart(tx, stored, kept);
}

}  // namespace

absl::StatusOr<std::vector<Loan>> LoansOf(store::Transaction& tx, const Key& key) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT link, intervals FROM lease_loan WHERE datasource = :datasource AND token = :token"
      " ORDER BY link",
      {key.datasource, key.token});
  if (!rows.ok()) return rows.status();
  std::vector<Loan> loans;
  for (const store::Row& row : *rows) loans.push_back({row.Text(0), UnpackIntervals(row.Text(1))});
  return loans;
}

absl::Status Lend(store::Transaction& tx, const std::string& id, int64_t token,
                  const std::string& datasource, const Borrower& borrower,
                  const std::vector<Interval>& intervals) {
  absl::Status status = CheckHolder(tx, id, borrower.identity);
  if (!status.ok()) return status;
  const std::optional<Key> key = KeyOf(id);
  if (!key.has_value()) return UnknownReservation(id);
  absl::StatusOr<std::optional<Stored>> stored = FindStored(tx, *key);
  if (!stored.ok()) return stored.status();
  if (!stored->has_value()) return UnknownReservation(id);
  if ((*stored)->reservation.mode == Mode::kAppend) return LentAppend((*stored)->reservation);
  for (const Interval& interval : intervals) {
    status = CheckToken(tx, id, token, datasource, interval);
    if (!status.ok()) return status;
  }
  status =
      tx.Execute(
            "INSERT INTO lease_loan (datasource, token, link, intervals)"
            " VALUES (:datasource, :token, :link, :intervals)"
            " ON CONFLICT (datasource, token, link) DO UPDATE SET intervals = excluded.intervals",
            {key->datasource, key->token, borrower.link, PackIntervals(Condense(intervals))})
          .status();
  return status.ok() ? SetHasLoans(tx, *key, true) : status;
}

absl::Status Return(store::Transaction& tx, const std::string& id, const std::string& link,
                    const audit::Caller& caller) {
  const std::optional<Key> key = KeyOf(id);
  if (!key.has_value()) return absl::OkStatus();
  if (auto locked = LockDatasource(tx, key->datasource); !locked.ok()) return locked.status();
  absl::StatusOr<int64_t> gone = tx.Execute(
      "DELETE FROM lease_loan WHERE datasource = :datasource AND token = :token AND link = :link",
      {key->datasource, key->token, link});
  if (!gone.ok()) return gone.status();
  absl::StatusOr<std::optional<Stored>> stored = FindStored(tx, *key);
  if (!stored.ok()) return stored.status();
  if (*gone == 0 || !stored->has_value()) return absl::OkStatus();
  absl::StatusOr<std::vector<Loan>> left = LoansOf(tx, *key);
  if (!left.ok()) return left.status();
  absl::Status status = SetHasLoans(tx, *key, !left->empty());
  if (!status.ok() || !(*stored)->reservation.handed_over) return status;
  if (!IsActive(**stored, tx.now())) return status;
  if (!left->empty()) return KeepLent(tx, **stored, *left);
  return End(tx, **stored, State::kReleased, "ReleaseReservation", caller).status();
}

absl::StatusOr<Reservation> HandOver(store::Transaction& tx, const Stored& stored,
                                     const std::vector<Loan>& loans, const audit::Caller& caller) {
  if (stored.reservation.handed_over) return Complete(tx, stored);
  absl::Status status =
      tx.Execute(
            "UPDATE lease_reservation SET handed_over = 1 WHERE datasource = :datasource"
            " AND token = :token",
            {stored.key.datasource, stored.key.token})
          .status();
  if (status.ok()) status = KeepLent(tx, stored, loans);
  if (!status.ok()) return status;
  absl::StatusOr<Reservation> after = Get(tx, stored.reservation.id);
  if (!after.ok()) return after;
  status = audit::Record(tx, {caller, "ReleaseReservation", after->datasource, after->id, "OK", "",
                              audit::JsonObject()
                                  .Text("handed_over_to", after->links.back())
                                  .Texts("intervals", Printed(after->intervals))
                                  .ToString()});
  if (!status.ok()) return status;
  return after;
}

}  // namespace interlock::lease
