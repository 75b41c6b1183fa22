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
  // `longest_away`: how long a server may be away before its absence is an answer. The
  // default is longer than any restart or failover that needs no person.
  explicit Patience(Session& session, absl::Duration longest_away = absl::Minutes(5));

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
  const absl::Duration longest_away_;
  const std::chrono::nanoseconds begun_;
  std::optional<std::chrono::nanoseconds> away_since_;
};

// A waiting that is over (WAIT_OVER) names the command that shows what goes on; any other
// status stays as it is.
absl::Status Naming(const absl::Status& status, const std::string& command);

// The session's own method. With --wait and a --request-id, which makes it safe, it is
// repeated for a few seconds where the server is away: a restart between the call and the
// waiting is no more of an error than one in the middle of it.
absl::Status CallOnce(Session& session, const google::protobuf::Message& request,
                      google::protobuf::Message& reply);

}  // namespace interlock::cli
