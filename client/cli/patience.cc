#include "client/cli/patience.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "lib/time/duration.h"
#include "lib/time/status_reason.h"

namespace interlock::cli {
namespace {

// How long a call is repeated: a restart takes a second or two.
constexpr absl::Duration kLongestRestart = absl::Seconds(5);
constexpr absl::Duration kBetweenTries = absl::Milliseconds(500);
// Between two looks: a tenth of what it has taken so far, within these.
constexpr absl::Duration kShortestPause = absl::Milliseconds(200);
constexpr absl::Duration kLongestPause = absl::Seconds(5);

}  // namespace

Patience::Patience(Session& session, absl::Duration longest_away)
    : session_(session), longest_away_(longest_away), begun_(session.clock.Monotonic()) {}

absl::Duration Patience::left() const {
  if (!session_.bounded_wait) return absl::InfiniteDuration();
  return session_.timeout - absl::FromChrono(session_.clock.Monotonic() - begun_);
}

absl::Status Patience::Over() const {
  return WithReason(absl::DeadlineExceededError(
                        absl::StrCat("not over after ", interlock::FormatDuration(session_.timeout),
                                     "; it goes on without being waited "
                                     "for")),
                    kWaitOver);
}

absl::Status Patience::Again(const absl::Status& failed) {
  if (left() <= absl::ZeroDuration()) return Over();
  if (!absl::IsUnavailable(failed) && !absl::IsDeadlineExceeded(failed)) return failed;
  const auto now = session_.clock.Monotonic();
  if (!away_since_.has_value()) away_since_ = now;
  if (absl::FromChrono(now - *away_since_) >= longest_away_) return failed;
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

absl::Status Naming(const absl::Status& status, const std::string& command) {
  if (ReasonOf(status) != kWaitOver) return status;
  return WithReason(absl::Status(status.code(), absl::StrCat(status.message(), "; '", command,
                                                             "' says where it is")),
                    kWaitOver);
}

absl::Status CallOnce(Session& session, const google::protobuf::Message& request,
                      google::protobuf::Message& reply) {
  const bool repeatable = session.arguments.Given("wait") && session.arguments.Given("request-id");
  Patience patience(session, repeatable ? kLongestRestart : absl::ZeroDuration());
  while (true) {
    absl::Status status = session.Call(session.verb.method, request, reply);
    if (status.ok() || !repeatable) return status;
    // Where the time is over, what ended it is still that nothing answered: nothing is known
    // to go on.
    if (!patience.Again(status).ok()) return status;
  }
}

}  // namespace interlock::cli
