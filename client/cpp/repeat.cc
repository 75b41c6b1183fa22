#include "client/cpp/repeat.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <thread>

#include "absl/strings/str_format.h"
#include "client/cpp/durations.h"
#include "lib/time/status_reason.h"

namespace interlock::client {
namespace {

using std::chrono::nanoseconds;

constexpr absl::Duration kFirstPause = absl::Milliseconds(50);
constexpr absl::Duration kLongestPause = absl::Seconds(1);

// What is left of `wait` after `waited`.
void Shorten(google::protobuf::Duration& wait, nanoseconds whole, nanoseconds waited) {
  ToProto(std::max(whole - waited, nanoseconds::zero()), wait);
}

// How long the server has been away. Counts pauses too: where a test's clock stands still,
// there is an end all the same.
class Absence {
 public:
  Absence(const Clock& clock, const Repeating& repeating)
      : clock_(clock), repeating_(repeating), begun_(clock.Monotonic()) {}

  // A try began; what it took until it failed counts only where nobody answered at once.
  void Reached() { begun_ = clock_.Monotonic(); }

  // Waits a moment; false where that would be too long.
  bool Pause(const absl::Status& failed) {
    absl::Duration next = pause_;
    if (const auto told = RetryAfterOf(failed); told.has_value()) {
      next = std::clamp(absl::FromChrono(*told), kFirstPause, kLongestPause);
    }
    const absl::Duration away = std::max(absl::FromChrono(clock_.Monotonic() - begun_), paused_);
    if (away + next > repeating_.longest_away) return false;
    if (repeating_.pause) {
      repeating_.pause(next);
    } else {
      std::this_thread::sleep_for(absl::ToChronoNanoseconds(next));
    }
    paused_ += next;
    pause_ = std::min(2 * pause_, kLongestPause);
    return true;
  }

 private:
  const Clock& clock_;
  const Repeating& repeating_;
  nanoseconds begun_;
  absl::Duration pause_ = kFirstPause;
  absl::Duration paused_;
};

}  // namespace

bool IsPassing(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  constexpr std::array<const char*, 4> kAway = {"UNREACHABLE", "STORE_UNAVAILABLE", "STORE_CLOSED",
                                                "SERVER_DRAINING"};
  constexpr std::array<const char*, 2> kBusy = {"SERVER_BUSY", "STORE_QUEUE_FULL"};
  if (absl::IsUnavailable(status)) {
    return reason.empty() || std::find(kAway.begin(), kAway.end(), reason) != kAway.end();
  }
  if (absl::IsResourceExhausted(status)) {
    return std::find(kBusy.begin(), kBusy.end(), reason) != kBusy.end();
  }
  return false;
}

std::string RandomRequestId() {
  std::random_device device;
  std::string id;
  for (int i = 0; i < 4; ++i) absl::StrAppendFormat(&id, "%08x", device());
  return id;
}

absl::Status CallRepeated(Calls& calls, const Clock& clock, const Repeating& repeating,
                          const std::string& method, const google::protobuf::Message& request,
                          google::protobuf::Message& reply, google::protobuf::Duration* wait) {
  const nanoseconds begun = clock.Monotonic();
  const nanoseconds whole = wait == nullptr ? nanoseconds::zero() : FromProto(*wait);
  Absence absence(clock, repeating);
  while (true) {
    const nanoseconds sent = clock.Monotonic();
    const nanoseconds left = std::max(whole - (sent - begun), nanoseconds::zero());
    absl::Status status =
        calls.Call(method, request, reply, repeating.timeout + absl::FromChrono(left));
    if (!IsPassing(status)) return status;
    // It waited at the server before it broke off: the absence begins now.
    if (clock.Monotonic() - sent > absl::ToChronoNanoseconds(kLongestPause)) absence.Reached();
    if (!absence.Pause(status)) return status;
    if (wait != nullptr) Shorten(*wait, whole, clock.Monotonic() - begun);
  }
}

}  // namespace interlock::client
