// `reserve … -- COMMAND`: a command that runs only while a lease is held.
#pragma once

#include "client/cli/session.h"
#include "interlock/v1/ingestion_coordinator.pb.h"

namespace interlock::cli {

// Reserves, runs the session's command, renews meanwhile, gives the lease back. Gives the
// command's own status (128 + N where signal N ended it), or a CommandExitCode with the
// reason said on stderr. Never returns before the command and its whole process group
// have ended.
int RunUnderReservation(Session& session, const v1::ReserveIntervalRequest& request);

}  // namespace interlock::cli
