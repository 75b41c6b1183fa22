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
// With `wait`, what can't be granted now may get a place in the line instead (waiting.h).
//
// A request with the holder and request_id of an earlier one gets the earlier answer while
// that reservation lives, and for Limits::request_id_kept after its end the error that tells
// how it ended: an id never grants twice. Errors:
//   HELD (FAILED_PRECONDITION): somebody has a part of it; a Blocker per holder, the first
//     one's details as metadata, and a time to wait unless unsettled work is in the way;
//   LOCK_DELAY, BEHIND_WAITER, TAIL, UNBOUNDED_TAIL, CROSSING_GRANULARITY, and what
//     obstacles say (FAILED_PRECONDITION), likewise: see in_the_way.h;
//   REQUEST_ID_REUSED (INVALID_ARGUMENT): the same id with another body; names what differs;
//   INVALID_RESERVATION (INVALID_ARGUMENT): each fault of the request with its pointer;
//   REQUEST_ID_INVALID (INVALID_ARGUMENT);
//   LIMIT_EXCEEDED (INVALID_ARGUMENT, or RESOURCE_EXHAUSTED where time helps);
//   EXPIRED, RELEASED, SUPERSEDED, FORCED: of the earlier request with this id.
absl::StatusOr<Grant> Reserve(store::Transaction& tx, const ReserveRequest& request,
                              const audit::Caller& caller, const Limits& limits = {});

// What Reserve would answer, with nothing stored: the reservation without id and token, and
// what stands in the way; no intervals where nothing would be granted. INVALID_RESERVATION,
// REQUEST_ID_INVALID, LIMIT_EXCEEDED of the request itself. Any transaction.
absl::StatusOr<Grant> Plan(store::Transaction& tx, const ReserveRequest& request,
                           const Limits& limits);

// The calls below act under a reservation and show its token. Errors of all of them:
//   UNKNOWN_RESERVATION (NOT_FOUND): no such id, or ended so long ago that it was removed;
//   and FAILED_PRECONDITION with
//   STALE_TOKEN: the token is not this reservation's, or (CheckToken) a later grant has
//     some of its time by now;
//   SUPERSEDED: it has ended, and a later grant has some of its time by now;
//   EXPIRED, RELEASED, FORCED: it has ended, and nobody has its time yet. Final.

// The deadline becomes now + ttl, or as long as it was granted for.
absl::StatusOr<Reservation> Renew(store::Transaction& tx, const std::string& id, int64_t token,
                                  std::optional<absl::Duration> ttl, const audit::Caller& caller,
                                  const Limits& limits = {});

// Ends it. Where work under it is not settled its pinned intervals stay blocked (ORPHANED);
// what is lent is handed over instead (loans.h). Releasing twice is no error. The id of a
// place in line ends the wait.
absl::StatusOr<Reservation> Release(store::Transaction& tx, const std::string& id, int64_t token,
                                    const audit::Caller& caller);

// Gives back a part, as a backfill does partition by partition; giving back the rest is
// Release, the same part twice no error. OUTSIDE_RESERVATION for time that it was not granted,
// WORK_UNSETTLED for time that is pinned.
absl::StatusOr<Reservation> ReleaseIntervals(store::Transaction& tx, const std::string& id,
                                             int64_t token, const std::vector<Interval>& intervals,
                                             const audit::Caller& caller);

// Ends it whoever holds it; the caller must give a reason (REASON_REQUIRED). Unsettled work
// keeps its intervals blocked, and is to be shut down (ListForcedWork); an orphan can be
// forced for that, too. A second time is no error where identity and reason are the same and
// the caller gives a request id.
absl::StatusOr<Reservation> ForceRelease(store::Transaction& tx, const std::string& id,
                                         const audit::Caller& caller);

// OK where the reservation lives, the token is its own, it is one of `datasource`, and it
// holds all of `interval` (OUTSIDE_RESERVATION). Ask it in the transaction that stores the
// intent of what is to be done under the reservation. Any transaction.
absl::Status CheckToken(store::Transaction& tx, const std::string& id, int64_t token,
                        const std::string& datasource, const Interval& interval);

// NOT_THE_HOLDER (PERMISSION_DENIED) unless `identity` reserved it; UNKNOWN_RESERVATION. For
// calls from outside; work of the server's own acts with the token alone. Any transaction.
absl::Status CheckHolder(store::Transaction& tx, const std::string& id,
                         const std::string& identity);

// With its state at tx.now(); also of a place in line. UNKNOWN_RESERVATION. Any transaction.
absl::StatusOr<Reservation> Get(store::Transaction& tx, const std::string& id);

// What Reserve would be refused for, by start; at most `most` reservations. Any transaction.
absl::StatusOr<std::vector<Held>> FindHeld(store::Transaction& tx, const ReserveRequest& request,
                                           int64_t most = 1000, const Limits& limits = {});
// The same for a request of this mode.
absl::StatusOr<std::vector<Held>> FindHeld(store::Transaction& tx, const std::string& datasource,
                                           Mode mode, const std::vector<Interval>& intervals,
                                           int64_t most = 1000, const Limits& limits = {});

// Of that, what is no reservation: tails, and what obstacles say, for a REPLACE. For lists.
absl::StatusOr<std::vector<Held>> FindOthers(store::Transaction& tx, const std::string& datasource,
                                             const std::vector<Interval>& intervals,
                                             const Limits& limits);

// What is empty does not filter.
struct Filter {
  std::string datasource;
  std::optional<Interval> overlapping;  // of what is blocked now: only with a datasource
  std::string holder;                   // or one below it
  // Empty for those that block: ACTIVE and ORPHANED. Who waits is not here: ListWaiters.
  std::vector<State> states;
};

struct Page {
  int64_t size = 100;
  std::string token;  // "" for the first page; else `next` of the page before
};

struct Listed {
  // Of one datasource, those that block: by start, then by grant; with `overlapping`, by the
  // start of the first overlapping interval. Else by datasource, in the order of grants.
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
// than request ids are kept). Their events stay in the audit.
struct Swept {
  int64_t removed = 0;
  std::string next;  // "" at the end
};
absl::StatusOr<Swept> Sweep(store::Transaction& tx, Instant before, const std::string& after,
                            absl::Duration request_id_kept = Limits().request_id_kept);

// Writes down which reservations have expired, so that watchers hear of it; nothing depends
// on it but that. A bounded piece: how many. And when the next will, if nobody renews.
absl::StatusOr<int64_t> NoteExpiries(store::Transaction& tx);
absl::StatusOr<std::optional<Instant>> NextExpiry(store::Transaction& tx);

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

// Unsettled work under reservations that an admin has ended: whoever does it is to shut it
// down, and to unpin it once that is proven. Any transaction.
struct ForcedWork {
  std::string work_id;
  std::string reservation_id;
  std::string datasource;
  Interval interval;
  std::string link;  // of the pin: "backfills/b7, task …"
  std::string by;
  std::string reason;
};
absl::StatusOr<std::vector<ForcedWork>> ListForcedWork(store::Transaction& tx, int64_t most = 1000);

// --- For a server: each in a transaction of its own, answered on the store's thread --------

class LockNames;

template <class T>
using Done = std::function<void(absl::StatusOr<T>)>;

void ReserveAsync(store::Store& store, ReserveRequest request, audit::Caller caller, Limits limits,
                  Done<Grant> done);
void WaitOnAsync(store::Store& store, ReserveRequest request, Waiting place, audit::Caller caller,
                 Limits limits, Done<Grant> done);
// With `names`, which must outlive the call, the datasource's lock is taken when the
// transaction begins wherever it is known (lock_names.h).
//
// These two want the holder (CheckHolder).
void RenewAsync(store::Store& store, std::string id, int64_t token,
                std::optional<absl::Duration> ttl, audit::Caller caller, Limits limits,
                Done<Reservation> done, LockNames* names = nullptr);
// Without intervals: all of it.
void ReleaseAsync(store::Store& store, std::string id, int64_t token,
                  std::vector<Interval> intervals, audit::Caller caller, Done<Reservation> done,
                  LockNames* names = nullptr);
void ForceReleaseAsync(store::Store& store, std::string id, audit::Caller caller,
                       Done<Reservation> done, LockNames* names = nullptr);

}  // namespace interlock::lease
