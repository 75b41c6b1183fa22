// The errors of lib/backfill that callers see; those of specs are in spec.h.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lib/lease/reservation.h"

namespace interlock::backfill {

// NOT_FOUND, UNKNOWN_BACKFILL, UNKNOWN_ATTEMPT, UNKNOWN_PARTITION
absl::Status UnknownBackfill(absl::string_view id);
absl::Status UnknownAttempt(absl::string_view task_id);
absl::Status UnknownPartition(absl::string_view backfill_id, absl::string_view partition);
// INVALID_ARGUMENT, REQUEST_ID_REUSED: the same id with another body.
absl::Status RequestIdReused(absl::string_view request_id, absl::string_view backfill_id);
// INVALID_ARGUMENT, REQUEST_ID_INVALID
absl::Status RequestIdInvalid();
// INVALID_ARGUMENT, LIMIT_EXCEEDED: names the limit.
absl::Status LimitExceeded(absl::string_view limit, int64_t allowed, int64_t asked);
// INVALID_ARGUMENT, REASON_REQUIRED
absl::Status ReasonRequired(absl::string_view what_for);
// FAILED_PRECONDITION, OBSERVE_ONLY
absl::Status ObserveOnly();
// FAILED_PRECONDITION, EXPECTATION_NOT_CHECKABLE
absl::Status ExpectationNotCheckable(absl::string_view expectation, absl::string_view why);
// FAILED_PRECONDITION, HELD: nothing is left of what was asked; a blocker per holder.
absl::Status AllHeld(const std::string& datasource, const std::vector<lease::Held>& held);
// FAILED_PRECONDITION: ALREADY_OVER, NOT_PAUSED, NOTHING_TO_RETRY, NOT_ACCEPTABLE,
// ATTEMPT_SETTLED
absl::Status AlreadyOver(absl::string_view id, absl::string_view phase);
absl::Status NotPaused(absl::string_view id);
absl::Status NothingToRetry(absl::string_view id);
absl::Status NotAcceptable(absl::string_view partition, absl::string_view state);
absl::Status AttemptSettled(absl::string_view task_id);
// INVALID_ARGUMENT, BAD_PAGE_TOKEN
absl::Status BadPageToken(absl::string_view token);

}  // namespace interlock::backfill
