#include "client/cli/patience.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/time/duration.h"
#include "lib/time/status_reason.h"

namespace interlock::cli {
namespace {

// Longer than any restart or failover takes that needs no person.
constexpr absl::Duration kLongestAway = absl::Minutes(5);
constexpr absl::Duration kBetweenTries = absl::Milliseconds(500);
// Between two looks: a tenth of what it has taken so far, within these.
constexpr absl::Duration kShortestPause = absl::Milliseconds(200);
constexpr absl::Duration kLongestPause = absl::Seconds(5);

}  // namespace

Patience::Patience(Session& session) : session_(session), begun_(session.clock.Monotonic()) {}

absl::Duration Patience::left() const {
  if (!session_.bounded_wait) return absl::InfiniteDuration();
  return session_.timeout - absl::FromChrono(session_.clock.Monotonic() - begun_);
}

absl::Status Patience::Over() const {
  return WithReason(absl::DeadlineExceededError(
                        absl::StrCat("not over after ", interlock::FormatDuration(session_.timeout),
                                     "; it goes on without being waited "
                                     "for")),
                    "WAIT_OVER");
}

absl::Status Patience::Again(const absl::Status& failed) {
  if (left() <= absl::ZeroDuration()) return Over();
  if (!absl::IsUnavailable(failed) && !absl::IsDeadlineExceeded(failed)) return failed;
  const auto now = session_.clock.Monotonic();
  if (!away_since_.has_value()) away_since_ = now;
  if (absl::FromChrono(now - *away_since_) >= kLongestAway) return failed;
  session_.pause(std::min(kBetweenTries, left()));
  return absl::OkStatus();
}

absl::Status Patience::Pause() {
  Reached();
  const absl::Duration taken = absl::FromChrono(session_.clock.Monotonic() - begun_);
  if (left() <= absl::ZeroDuration()) return Over();
  session_.pause(std::min(std::clamp(taken / 10, kShortestPause, kLongestPause), left()));
  return absl::OkStatus();
}

}  // namespace interlock::cli
