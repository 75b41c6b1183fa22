// Takes steps that are due and has them done, on a few threads.
//
// Idle it sleeps until the next step is due or somebody wakes it; a slow look in between
// finds what another replica has scheduled.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"
#include "lib/work/steps.h"

namespace interlock::work {

// What a handler did with its step. It has either settled the claim in a transaction of
// its own (Reschedule, Finish, Retry), or leaves that to the loop.
struct Outcome {
  enum class Kind { kSettled, kNextDue, kFinished };
  static Outcome Settled() { return {Kind::kSettled, {}}; }
  static Outcome NextDue(Instant due) { return {Kind::kNextDue, due}; }
  static Outcome Finished() { return {Kind::kFinished, {}}; }

  Kind kind = Kind::kSettled;
  Instant due;
};

// An error is a failed step: it comes again, later each time (Loop::Backoff).
using Handler = std::function<absl::StatusOr<Outcome>(Claim&)>;

struct LoopOptions {
  int threads = 4;
  Claimant claimant;
  // The longest sleep: how late a step of another replica may start.
  absl::Duration slow_look = absl::Seconds(10);
  absl::Duration first_backoff = absl::Seconds(1);
  absl::Duration longest_backoff = absl::Minutes(1);
  uint64_t jitter_seed = 1;
  // A step failed, or its claim was lost: for logs and metrics.
  std::function<void(const Claim&, const absl::Status&)> on_failure;
};

class Loop {
 public:
  // Both must outlive the loop. Add all handlers, then Start.
  Loop(store::Store& store, const Clock& clock, LoopOptions options);
  ~Loop();  // Stop

  void Handle(const std::string& kind, Handler handler);
  void Start();
  // Something may be due now: call after a commit that scheduled it.
  void Wake();
  // Takes nothing more, waits for the handlers that run.
  void Stop();

  // Doubles from `first` with each attempt up to `longest`, times a factor between 0.8 and
  // 1.2 that `random` (any number) picks.
  static absl::Duration Backoff(const LoopOptions& options, int64_t attempts, uint64_t random);

 private:
  class Threads;
  std::unique_ptr<Threads> threads_;
};

}  // namespace interlock::work
