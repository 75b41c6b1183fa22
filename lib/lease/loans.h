// A reservation that its holder lends to a backfill or a drop, to act under it.
//
// What is lent stays the holder's, who renews it or lets it end. A holder that releases it
// before the borrower is done hands it over: what is lent stays ACTIVE, kept alive by the
// borrower alone, and is released when the borrower gives it back. So `interlockctl
// reserve … -- interlockctl submit …` can end while its backfill runs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/audit/caller.h"
#include "lib/lease/tables.h"
#include "lib/store/store.h"
#include "lib/time/interval.h"

namespace interlock::lease {

// To whom a reservation is lent.
struct Borrower {
  std::string link;      // "backfills/b7"
  std::string identity;  // who asked for that work: only one's own reservation can be lent
};

// The same borrower again replaces its intervals. NOT_THE_HOLDER; LENT_APPEND where it is an
// APPEND reservation, under which nothing may be replaced; errors of CheckToken for each
// interval.
absl::Status Lend(store::Transaction& tx, const std::string& id, int64_t token,
                  const std::string& datasource, const Borrower& borrower,
                  const std::vector<Interval>& intervals);

// The borrower is done. Ends the reservation where its holder has handed it over and no
// other borrower is left; what is pinned stays blocked. No loan, or no such reservation any
// more, is no error.
absl::Status Return(store::Transaction& tx, const std::string& id, const std::string& link,
                    const audit::Caller& caller);

// --- For lib/lease ------------------------------------------------------------------------

struct Loan {
  std::string link;
  std::vector<Interval> intervals;
};
absl::StatusOr<std::vector<Loan>> LoansOf(store::Transaction& tx, const Key& key);
// The holder goes: only what is lent stays. `stored` is active and has loans.
absl::StatusOr<Reservation> HandOver(store::Transaction& tx, const Stored& stored,
                                     const std::vector<Loan>& loans, const audit::Caller& caller);

}  // namespace interlock::lease
