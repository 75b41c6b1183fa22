// What interlockctl's exit status says. Scripts rely on it.
#pragma once

#include "absl/status/status.h"
#include "interlock/v1/backfill.pb.h"
#include "interlock/v1/drop.pb.h"
#include "interlock/v1/ingestion_coordinator.pb.h"

namespace interlock::cli {

enum ExitCode {
  kDone = 0,          // done, and the answer is yes
  kNo = 1,            // the answer is no: held, refused, not good, failed
  kBadInput = 2,      // bad usage or bad input
  kNotReachable = 3,  // not reachable, or not ready
  kNotAllowed = 4,
  kOther = 5,
  kNotKnown = 6,  // it can't be known yet: neither yes nor no
};

// Of `reserve … -- COMMAND`, where COMMAND did not run or had to be stopped: else the
// status is COMMAND's own.
enum CommandExitCode {
  kCommandHeld = 121,
  kCommandBadInput = 122,
  kCommandNotReachable = 123,
  kCommandLeaseLost = 124,
  kCommandOther = 125,
  kCommandNotAllowed = 126,
  kCommandNotFound = 127,  // as a shell says it
};

// The reason where --timeout ended a waiting and not what was waited for: it is kNotKnown.
inline constexpr char kWaitOver[] = "WAIT_OVER";

// Of a call's error. NOT_FOUND is an answer, no: the thing is not there.
ExitCode ExitCodeOf(const absl::Status& status);
CommandExitCode CommandExitCodeOf(const absl::Status& status);

// Of states: of a final one, or of one that only a person gets any further from.
ExitCode ExitCodeOf(const v1::Backfill& backfill);
ExitCode ExitCodeOf(v1::Drop::State state);

// A fault that is sure is a no, whatever else is not known.
ExitCode ExitCodeOf(const v1::VerifySingleVersionResponse& reply);

// Of plans: no where something is in the way.
ExitCode ExitCodeOf(const v1::BackfillPlan& plan);
ExitCode ExitCodeOf(const v1::DropPlan& plan);

}  // namespace interlock::cli
