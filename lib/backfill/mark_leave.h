// The leave to change marks in Druid: of a rollback, and of what is retired.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "lib/backfill/options.h"
#include "lib/backfill/runner.h"
#include "lib/time/interval.h"
#include "lib/work/steps.h"

namespace interlock::backfill {

// Whose call it is, and under which reservation.
struct MarkCall {
  std::string work_id;  // pins the time
  std::string link;     // for who is refused: "backfills/bf-7, rollback"
  Interval partition;
  std::string reservation_id;
  int64_t token = 0;
};

// Stores that a call goes out now (`store_intent`) and pins the time to it, in one transaction
// of the claim's holder. False where the claim or the reservation would not outlast the call:
// then nothing may be sent.
absl::StatusOr<bool> TakeMarkLeave(
    const Runner::World& world, const Options& options, work::Claim& claim, const MarkCall& call,
    const std::function<absl::Status(store::Transaction& tx)>& store_intent);

}  // namespace interlock::backfill
