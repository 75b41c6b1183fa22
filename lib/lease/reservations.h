// The lease table: who may write which time of a datasource, until when.
//
// Guarantee (P1): within a datasource, live REPLACE reservations are disjoint, and none
// overlaps a live APPEND one. Decided and stored in one transaction, which on SQLite is
// alone at its work and on PostgreSQL holds the datasource's row.
//
// Cost: overlap is one index step per asked interval, since of disjoint intervals the one
// that starts last before the asked end is the only one that can overlap; so a grant takes
// O(log n) at any size of the table.
//
// Expiry is exact and evaluated when read: a reservation whose deadline is the
// transaction's now() or earlier is not live, whether or not anybody has written that down.
// Its rows are cleared by the grant that needs their place. It is never resurrected.
//
// Every grant in a datasource gets the next number of one counter as its fencing token;
// tokens of later grants are higher, also across restarts and restores.
//
// Each function that changes something leaves an audit event in the same transaction. All
// must run in a write transaction unless said otherwise; compose them with your own
// statements, and return their errors from the body so that nothing is half done.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/audit/caller.h"
#include "lib/lease/reservation.h"
#include "lib/store/schema.h"
#include "lib/store/store.h"

namespace interlock::lease {

store::Schema LeaseSchema();

// Grants all that is asked for, or nothing; with skip_held what is free, if any is.
// Overlapping and touching intervals of one request become one.
//
// A request with the holder and request_id of an earlier one gets the earlier answer while
// that reservation lives, and for kRequestIdKept after its end the error that tells how it
// ended: an id never grants twice. Errors:
//   HELD (FAILED_PRECONDITION): somebody has a part of it; a Blocker per holder, the first
//     one's details as metadata, and a time to wait unless unsettled work is in the way;
//   REQUEST_ID_REUSED (INVALID_ARGUMENT): the same id with another body; names what differs;
//   INVALID_RESERVATION (INVALID_ARGUMENT): each fault of the request with its pointer;
//   LIMIT_EXCEEDED (INVALID_ARGUMENT, or RESOURCE_EXHAUSTED where time helps);
//   EXPIRED, RELEASED, SUPERSEDED, FORCED: of the earlier request with this id.
absl::StatusOr<Grant> Reserve(store::Transaction& tx, const ReserveRequest& request,
                              const audit::Caller& caller, const Limits& limits = {});
inline constexpr absl::Duration kRequestIdKept = absl::Hours(24);

// The calls below act under a reservation and show its token. Errors of all of them:
//   UNKNOWN_RESERVATION (NOT_FOUND): no such id, or ended so long ago that it was removed;
//   and FAILED_PRECONDITION with
//   STALE_TOKEN: the token is not this reservation's, or (CheckToken) a later grant has
//     some of its time by now;
//   SUPERSEDED: it has ended, and a later grant has some of its time by now;
//   EXPIRED, RELEASED, FORCED: it has ended, and nobody has its time yet. Final.

// The deadline becomes now + ttl.
absl::StatusOr<Reservation> Renew(store::Transaction& tx, const std::string& id, int64_t token,
                                  absl::Duration ttl, const audit::Caller& caller,
                                  const Limits& limits = {});

// Ends it. Where work under it is not settled its pinned intervals stay blocked (ORPHANED).
// Releasing twice is no error.
absl::StatusOr<Reservation> Release(store::Transaction& tx, const std::string& id, int64_t token,
                                    const audit::Caller& caller);

// Gives back a part, as a backfill does partition by partition; giving back the rest is
// Release. OUTSIDE_RESERVATION for time that it does not hold, WORK_UNSETTLED for time
// that is pinned.
absl::StatusOr<Reservation> ReleaseIntervals(store::Transaction& tx, const std::string& id,
                                             int64_t token, const std::vector<Interval>& intervals,
                                             const audit::Caller& caller);

// Ends it whoever holds it; the caller must give a reason (REASON_REQUIRED). Unsettled work
// keeps its intervals blocked.
absl::StatusOr<Reservation> ForceRelease(store::Transaction& tx, const std::string& id,
                                         const audit::Caller& caller);

// OK where the reservation lives, the token is its own, it is one of `datasource`, and it
// holds all of `interval` (OUTSIDE_RESERVATION). Ask it in the transaction that stores the
// intent of what is to be done under the reservation. Any transaction.
absl::Status CheckToken(store::Transaction& tx, const std::string& id, int64_t token,
                        const std::string& datasource, const Interval& interval);

// With its state at tx.now(). UNKNOWN_RESERVATION. Any transaction.
absl::StatusOr<Reservation> Get(store::Transaction& tx, const std::string& id);

// Who has what of these intervals, for a request of this mode: what Reserve would be
// refused for. By start; at most `most`. Any transaction.
absl::StatusOr<std::vector<Held>> FindHeld(store::Transaction& tx, const std::string& datasource,
                                           Mode mode, const std::vector<Interval>& intervals,
                                           int64_t most = 1000);

// What is empty does not filter.
struct Filter {
  std::string datasource;
  std::optional<Interval> overlapping;  // of what is blocked now: only with a datasource
  std::string holder;
  // Empty for those that block: ACTIVE and ORPHANED.
  std::vector<State> states;
};

struct Page {
  int64_t size = 100;
  std::string token;  // "" for the first page; else `next` of the page before
};

struct Listed {
  // In the order of grants by datasource; with `overlapping` by the start of the first
  // overlapping interval.
  std::vector<Reservation> reservations;
  // "" at the end. A page can be short, or empty, and have a next one: a call looks at
  // kMostLooked reservations at most.
  std::string next;
};
inline constexpr int64_t kMostLooked = 20000;

// BAD_PAGE_TOKEN, INVALID_RESERVATION (`overlapping` without a datasource). Any transaction.
absl::StatusOr<Listed> List(store::Transaction& tx, const Filter& filter, const Page& page);

// Housekeeping, one bounded piece at a time: looks at the next thousand reservations after
// `after` ("" to begin), writes down which of them have expired, so that their rows no
// longer stand in anybody's search, and removes those that ended before `before` (and longer ago
// than kRequestIdKept). Their events stay in the audit.
struct Swept {
  int64_t removed = 0;
  std::string next;  // "" at the end
};
absl::StatusOr<Swept> Sweep(store::Transaction& tx, Instant before, const std::string& after);

// --- Work under a reservation -----------------------------------------------------------

// Says that `work_id` is about to write `interval` under the reservation: in the
// transaction that stores the intent, before anything is sent. Until UnpinWork the interval
// stays blocked, however the reservation ends. Errors of CheckToken; the same pin again is
// no error; WORK_PINNED_ELSEWHERE where the id is pinned otherwise.
absl::Status PinWork(store::Transaction& tx, const std::string& id, int64_t token, const Pin& pin);

// The work's outcome is stored in this transaction: whatever it was, it writes no more.
// Unpinning what is not pinned is no error.
absl::Status UnpinWork(store::Transaction& tx, const std::string& work_id);

// UnpinWork on a person's word, with a reason (REASON_REQUIRED). UNKNOWN_WORK (NOT_FOUND).
absl::Status AbandonWork(store::Transaction& tx, const std::string& work_id,
                         const audit::Caller& caller);

// --- For a server: each in a transaction of its own, answered on the store's thread --------

template <class T>
using Done = std::function<void(absl::StatusOr<T>)>;

void ReserveAsync(store::Store& store, ReserveRequest request, audit::Caller caller, Limits limits,
                  Done<Grant> done);
void RenewAsync(store::Store& store, std::string id, int64_t token, absl::Duration ttl,
                audit::Caller caller, Limits limits, Done<Reservation> done);
void ReleaseAsync(store::Store& store, std::string id, int64_t token, audit::Caller caller,
                  Done<Reservation> done);
void ForceReleaseAsync(store::Store& store, std::string id, audit::Caller caller,
                       Done<Reservation> done);

}  // namespace interlock::lease
