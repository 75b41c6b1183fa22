#include "lib/time/clock.h"

#include <time.h>

#include <fstream>

#include "absl/strings/str_cat.h"

namespace interlock {
namespace {

constexpr char kBootIdFile[] = "/proc/sys/kernel/random/boot_id";

std::chrono::nanoseconds Read(clockid_t which) {
  timespec at{};
  clock_gettime(which, &at);
  return std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec);
}

std::string ReadBootId() {
  std::ifstream file(kBootIdFile);
  std::string id;
  if (file >> id && !id.empty()) return id;
  return absl::StrCat("unknown-", Read(CLOCK_REALTIME).count());
}

}  // namespace

SystemClock::SystemClock() : boot_id_(ReadBootId()) {}

Instant SystemClock::Now() const {
  return Instant::FromMillis(
      std::chrono::duration_cast<std::chrono::milliseconds>(Read(CLOCK_REALTIME)).count());
}

std::chrono::nanoseconds SystemClock::Monotonic() const { return Read(CLOCK_BOOTTIME); }

}  // namespace interlock
