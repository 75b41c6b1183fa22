#include "lib/backfill/runner.h"

#include <openssl/rand.h>

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "lib/backfill/pass.h"

namespace interlock::backfill {
namespace {

constexpr size_t kNonceBytes = 16;
// The longest pause between looks at a Druid that does not answer.
constexpr absl::Duration kLongestPause = absl::Seconds(30);
constexpr int64_t kMostDoublings = 10;

}  // namespace

std::string RandomNonce() {
  unsigned char bytes[kNonceBytes];
  // It cannot fail on a system that has booted; a nonce of zeros would only make a
  // foreign task of the same id (which can't be) look like ours.
  RAND_bytes(bytes, sizeof(bytes));
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes), sizeof(bytes)));
}

Runner::Runner(World world, Options options, std::function<std::string()> nonce)
    : world_(std::move(world)), options_(std::move(options)), nonce_(std::move(nonce)) {}

int64_t Runner::CountFailure(const std::string& id, bool failed) {
  MutexLock lock(mutex_);
  if (failed) return ++failures_[id];
  failures_.erase(id);
  return 0;
}

absl::StatusOr<work::Outcome> Runner::Step(work::Claim& claim) {
  Pass pass(world_, options_, nonce_, claim);
  absl::Status status = pass.Run();
  if (!status.ok()) return status;
  if (pass.finished()) {
    CountFailure(claim.key, false);
    return work::Outcome::Settled();
  }
  const int64_t failures = CountFailure(claim.key, pass.druid_away());
  Instant due = pass.next();
  if (failures > 0) {
    const absl::Duration pause =
        options_.poll_every * static_cast<double>(int64_t{1} << std::min(failures, kMostDoublings));
    due = std::max(due, world_.store.Now() + std::min(pause, kLongestPause));
  }
  return work::Outcome::NextDue(due);
}

}  // namespace interlock::backfill
