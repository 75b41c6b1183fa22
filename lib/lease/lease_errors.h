// The errors of lib/lease; reservations.h says when each comes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lib/lease/reservation.h"
#include "lib/time/status_reason.h"

namespace interlock::lease {

// FAILED_PRECONDITION with `reason`, a Blocker for each of `held`, and the details of
// `lead`, which is one of them, as metadata, with `more`.
absl::Status HeldError(const std::string& datasource, const std::string& reason, const Held& lead,
                       const std::vector<Held>& held, Metadata more, Instant now);
// INVALID_ARGUMENT, REQUEST_ID_REUSED
absl::Status RequestIdReused(absl::string_view request_id, absl::string_view reservation_id,
                             const std::vector<std::string>& differences);
// INVALID_ARGUMENT, INVALID_RESERVATION; add the faults.
absl::Status InvalidReservation();
// LIMIT_EXCEEDED: INVALID_ARGUMENT for a limit on one request …
absl::Status RequestBeyondLimit(absl::string_view field, absl::string_view limit,
                                absl::string_view allowed, absl::string_view asked);
// … RESOURCE_EXHAUSTED for one on what is there already.
absl::Status TooManyLive(absl::string_view limit, int64_t allowed, absl::string_view of);
// NOT_FOUND, UNKNOWN_RESERVATION
absl::Status UnknownReservation(absl::string_view id);
// FAILED_PRECONDITION, STALE_TOKEN: the token is not the reservation's …
absl::Status ForeignToken(const Reservation& reservation, int64_t shown);
// … or a later grant has its time.
absl::Status StaleToken(const Reservation& reservation, const Held& later, int64_t later_token);
// FAILED_PRECONDITION: SUPERSEDED, or the name of the way in which it ended.
absl::Status Superseded(const Reservation& reservation, const Held& later);
absl::Status Ended(const Reservation& reservation);
// FAILED_PRECONDITION, OUTSIDE_RESERVATION
absl::Status OutsideReservation(const Reservation& reservation, absl::string_view asked);
// FAILED_PRECONDITION, WORK_UNSETTLED
absl::Status WorkUnsettled(const Reservation& reservation, const Pin& pin);
// FAILED_PRECONDITION, WORK_PINNED_ELSEWHERE
absl::Status WorkPinnedElsewhere(absl::string_view work_id, absl::string_view reservation_id);
// NOT_FOUND, UNKNOWN_WORK
absl::Status UnknownWork(absl::string_view work_id);
// INVALID_ARGUMENT, REASON_REQUIRED
absl::Status ReasonRequired(absl::string_view what_for);
// PERMISSION_DENIED, NOT_THE_HOLDER
absl::Status NotTheHolder(const Reservation& reservation, absl::string_view identity);
// FAILED_PRECONDITION, LENT_APPEND
absl::Status LentAppend(const Reservation& reservation);
// INVALID_ARGUMENT, REQUEST_ID_INVALID
absl::Status RequestIdInvalid(size_t length);
// OUT_OF_RANGE, REVISION_TOO_OLD
absl::Status RevisionTooOld(int64_t asked, int64_t oldest);
// OUT_OF_RANGE, REVISION_UNKNOWN: it has not come yet.
absl::Status RevisionUnknown(int64_t asked, int64_t newest);
// FAILED_PRECONDITION, STILL_WAITING: the id of a place in line where a lease is wanted.
absl::Status StillWaiting(const Reservation& waiter);
// ABORTED: WAIT_TAKEN_OVER, WAIT_ENDED
absl::Status WaitTakenOver(absl::string_view waiter_id);
// `by` and `why` of whoever ended it, as far as that is known.
absl::Status WaitEnded(absl::string_view waiter_id, const std::string& by, const std::string& why);
// INVALID_ARGUMENT, BAD_PAGE_TOKEN
absl::Status BadPageToken(absl::string_view token);

}  // namespace interlock::lease
