// The errors of drops. Each has a stable reason (lib/time/reason.h), names what was
// found and says what would do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/drop/check.h"
#include "lib/drop/manifest.h"
#include "lib/drop/state.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::drop {

// --- Of a request --------------------------------------------------------------------

// INVALID_ARGUMENT, REASON_REQUIRED
absl::Status ReasonMissing();
// INVALID_ARGUMENT, REQUEST_ID_INVALID
absl::Status RequestIdInvalid(absl::string_view found);
// INVALID_ARGUMENT, INTERVAL_EMPTY
absl::Status NoIntervals();
// INVALID_ARGUMENT, LIMIT_EXCEEDED: `what` ("intervals", "segments", "days").
absl::Status LimitExceeded(absl::string_view what, int64_t found, int64_t limit,
                           absl::string_view would_do);
// OUT_OF_RANGE, TOO_MANY_PARTITIONS: a span that no drop can mean (case 51). Says the
// largest part that the floor would allow.
absl::Status SpanTooLong(const Interval& asked, int64_t days, int64_t limit);
// INVALID_ARGUMENT, WINDOW_TOO_SHORT / WINDOW_TOO_LONG
absl::Status WindowTooShort(absl::Duration asked, absl::Duration least);
absl::Status WindowTooLong(absl::Duration asked, absl::Duration most);
// INVALID_ARGUMENT, FLOOR_TOO_LOW
absl::Status FloorTooLow(absl::Duration asked, absl::Duration least);
// FAILED_PRECONDITION, YOUNGER_THAN_FLOOR: names the part that is old enough, if any.
absl::Status YoungerThanFloor(const Interval& asked, absl::Duration floor, Instant boundary);
// INVALID_ARGUMENT, MISALIGNED (cases 46, 58): each segment that is cut, with its bounds.
absl::Status CutsSegments(const std::vector<ManifestRow>& cut, bool nothing_inside);
// FAILED_PRECONDITION, NOTHING_TO_DROP
absl::Status NothingToDrop(absl::string_view datasource, const std::vector<Interval>& intervals);
// FAILED_PRECONDITION, SHARED_FILES / KILL_DUTY_INSIDE_WINDOW …: a plan with blockers,
// one Blocker each; the reason is the first one's.
absl::Status Blocked(const std::vector<Objection>& blockers);
// ABORTED, PLAN_STALE
absl::Status PlanStale(absl::string_view asked, absl::string_view found);
// INVALID_ARGUMENT, REQUEST_ID_REUSED
absl::Status RequestIdReused(absl::string_view request_id, absl::string_view drop_id);
// FAILED_PRECONDITION, OBSERVE_ONLY
absl::Status ObserveOnly();
// UNAVAILABLE, DRUID_UNAVAILABLE: what was asked and what came.
absl::Status DruidUnavailable(absl::string_view what);

// FAILED_PRECONDITION, NOT_KILLABLE (case 50)
absl::Status NotKillable(const Interval& asked);

// --- Of retention policies -------------------------------------------------------------

// INVALID_ARGUMENT, INVALID_NAME
absl::Status InvalidPolicyName(absl::string_view found);
// INVALID_ARGUMENT, INVALID_PATTERN
absl::Status InvalidPattern(absl::string_view found);
// INVALID_ARGUMENT, INVALID_PERIOD: `field` is "age", "schedule" or "time_zone".
absl::Status InvalidPeriod(absl::string_view field, absl::string_view found,
                           absl::string_view would_do);
// INVALID_ARGUMENT, INVALID_CAP
absl::Status InvalidCap(absl::string_view field, absl::string_view found,
                        absl::string_view would_do);
// NOT_FOUND, UNKNOWN_RETENTION_POLICY
absl::Status UnknownPolicy(absl::string_view name);

// --- Of a drop that is there -----------------------------------------------------------

// NOT_FOUND, UNKNOWN_DROP
absl::Status UnknownDrop(absl::string_view id);
// INVALID_ARGUMENT, BAD_PAGE_TOKEN
absl::Status InvalidPageToken(absl::string_view found);
// FAILED_PRECONDITION, NOT_AWAITING_APPROVAL
absl::Status NotAwaitingApproval(absl::string_view id, State state);
// FAILED_PRECONDITION, CLOCKS_DISAGREE: an admin's consent is what it waits for, and that has
// to be said. `how` the clocks disagree.
absl::Status WaitsForClocks(absl::string_view id, absl::string_view how);
// FAILED_PRECONDITION, MANIFEST_CHANGED
absl::Status ManifestChanged(absl::string_view id, absl::string_view asked,
                             absl::string_view found);
// PERMISSION_DENIED, OWN_DROP: the asker cannot be the one who approves.
absl::Status OwnDrop(absl::string_view id, absl::string_view who);
// FAILED_PRECONDITION, NOT_MARKED
absl::Status NotMarked(absl::string_view id, State state);
// FAILED_PRECONDITION, KILL_STARTED
absl::Status KillStarted(absl::string_view id);
// FAILED_PRECONDITION, ALREADY_MARKED: what is marked is brought back by RestoreDrop.
absl::Status AlreadyMarked(absl::string_view id, State state);
// FAILED_PRECONDITION, ALREADY_OVER
absl::Status AlreadyOver(absl::string_view id, State state);
// FAILED_PRECONDITION, NOTHING_TO_RESTORE
absl::Status NothingToRestore(absl::string_view id, State state);
// FAILED_PRECONDITION, NEWER_DATA: each segment that is in the way.
absl::Status NewerDataOver(absl::string_view id, const std::vector<druid::Segment>& newer);
// ABORTED, DROP_CHANGED: another step came in between; the caller looks again.
absl::Status DropChanged(absl::string_view id);
// INTERNAL, DROP_CORRUPT: a row of the store that cannot be read.
absl::Status DropCorrupt(absl::string_view id, absl::string_view what);

}  // namespace interlock::drop
