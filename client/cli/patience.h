// Waits for something that takes its time, and bears a server that is away meanwhile.
#pragma once

#include <chrono>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cli/session.h"

namespace interlock::cli {

// A server that restarts, or fails over, must not fail a job that waits for a backfill of
// hours. One for each waiting; counts on the session's monotonic clock.
class Patience {
 public:
  explicit Patience(Session& session);

  // What --timeout leaves of the waiting; infinite where it was not given.
  absl::Duration left() const;

  // The server answered.
  void Reached() { away_since_.reset(); }

  // OK, after a pause, where what failed may be tried again: the server is away, not for
  // too long, and the waiting is not over. Else the error to end with.
  absl::Status Again(const absl::Status& failed);

  // A pause between two looks that both went well: longer, the longer it has taken.
  // DEADLINE_EXCEEDED (WAIT_OVER) where the waiting is over.
  absl::Status Pause();

 private:
  absl::Status Over() const;

  Session& session_;
  const std::chrono::nanoseconds begun_;
  std::optional<std::chrono::nanoseconds> away_since_;
};

}  // namespace interlock::cli
