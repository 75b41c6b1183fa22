// The errors of lib/backfill that callers see; those of specs are in spec.h.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lib/backfill/obstacles.h"
#include "lib/lease/reservation.h"
#include "lib/time/status_reason.h"

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
// INVALID_ARGUMENT, EXPECTATION_INVALID
absl::Status InvalidExpectation(const std::vector<Fault>& faults);
// INVALID_ARGUMENT, EXPECTATIONS_CONTRADICT: both can't be.
absl::Status ContradictingExpectations(const Fault& one, const Fault& other);
// FAILED_PRECONDITION, OTHER_EXPECTATION: the same work is there, and expects something else.
absl::Status OtherExpectation(absl::string_view id, absl::string_view phase);
// FAILED_PRECONDITION, HELD: nothing is left of what was asked; a blocker per holder.
absl::Status AllHeld(const std::string& datasource, const std::vector<lease::Held>& held);
// FAILED_PRECONDITION: ALREADY_OVER, NOT_PAUSED, NOTHING_TO_RETRY, NOT_ACCEPTABLE,
// ATTEMPT_SETTLED
absl::Status AlreadyOver(absl::string_view id, absl::string_view phase);
absl::Status NotPaused(absl::string_view id);
absl::Status NothingToRetry(absl::string_view id);
absl::Status NotAcceptable(absl::string_view partition, absl::string_view state);
absl::Status AttemptSettled(absl::string_view task_id);
// ABORTED, PLAN_STALE: the world is no longer that of the plan.
absl::Status PlanMoved(absl::string_view planned, absl::string_view now);
// ABORTED, GENERATION_MOVED
absl::Status GenerationMoved(absl::string_view partition, absl::string_view expected,
                             absl::string_view found);
// UNAVAILABLE, DRUID_UNAVAILABLE: a plan or generation was named, and can't be compared now.
absl::Status PlanNotCheckable();
// FAILED_PRECONDITION, with the obstacle's own reason.
absl::Status InTheWay(const std::string& datasource, const std::vector<Obstacle>& obstacles);
// FAILED_PRECONDITION, of a rollback: STILL_AT_WORK, NOTHING_TO_ROLL_BACK,
// ALREADY_ROLLED_BACK, ROLLBACK_WINDOW_OVER, NOT_NEWEST_GENERATION, FOREIGN_ROWS,
// OLD_GENERATION_KILLED, OLD_GENERATION_UNKNOWN; UNAVAILABLE, DRUID_UNAVAILABLE.
absl::Status StillAtWork(absl::string_view id, absl::string_view phase);
absl::Status NothingToRollBack(absl::string_view id);
absl::Status AlreadyRolledBack(absl::string_view what);
absl::Status RollbackWindowOver(absl::string_view partition, Instant until);
absl::Status NotNewestGeneration(absl::string_view partition, absl::string_view ours,
                                 absl::string_view seen);
absl::Status ForeignRows(absl::string_view partition, const std::vector<std::string>& ids);
absl::Status OldGenerationKilled(absl::string_view partition, absl::string_view id);
absl::Status OldGenerationUnknown(absl::string_view partition);
absl::Status RollbackNotCheckable(absl::string_view why);
// FAILED_PRECONDITION, SQL_TASKS_MISSING: this Druid runs no queries as tasks.
absl::Status SqlTasksMissing();
// INVALID_ARGUMENT, SPEC_INVALID: a query has no intervals of its own.
absl::Status IntervalsMissing();
// INVALID_ARGUMENT, BAD_PAGE_TOKEN
absl::Status BadPageToken(absl::string_view token);

}  // namespace interlock::backfill
