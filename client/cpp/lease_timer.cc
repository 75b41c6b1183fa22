#include "client/cpp/lease_timer.h"

#include <algorithm>

namespace interlock::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Between two tries of a renewal: a twentieth of the lease, within these.
constexpr milliseconds kShortestRetry{50};
constexpr seconds kLongestRetry{5};

}  // namespace

LeaseTimer::LeaseTimer(Nanoseconds sent, Nanoseconds remaining, Nanoseconds ttl,
                       Nanoseconds stop_early)
    : ttl_(ttl), stop_early_(std::min(stop_early, ttl / 3)) {
  Renewed(sent, remaining);
}

void LeaseTimer::Renewed(Nanoseconds sent, Nanoseconds remaining) {
  deadline_ = sent + remaining;
  stop_ = deadline_ - stop_early_;
  next_renewal_ = sent + remaining / 3;
}

void LeaseTimer::Failed(Nanoseconds now) {
  next_renewal_ = now + std::clamp<Nanoseconds>(ttl_ / 20, kShortestRetry, kLongestRetry);
}

}  // namespace interlock::client
