// Follows a backfill until it is over or needs a person.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/session.h"
#include "interlock/v1/backfills.pb.h"

namespace interlock::cli {

// True for states that nothing but a person or a further request gets it out of. With
// `until_over`, NEEDS_ATTENTION is not one.
bool IsSettled(v1::Backfill::State state, bool until_over);

// Watches, across restarts of the server, and gives the backfill as it is in the end, with
// all of its partitions. `on_change` sees every change once.
absl::StatusOr<v1::GetBackfillResponse> FollowBackfill(
    Session& session, const std::string& backfill_id, int64_t from_revision, bool until_over,
    const std::function<void(const v1::WatchBackfillResponse&)>& on_change);

// One line for people: `2026-07-16T13 RUNNING task …`.
std::string ChangeLine(const v1::WatchBackfillResponse& change);

// Prints it as it ended, says on stderr why it is not DONE, and gives the exit status.
int PrintOutcome(Session& session, const v1::GetBackfillResponse& ended);

}  // namespace interlock::cli
