#include "lib/time/fake_clock.h"

#include "absl/strings/str_cat.h"

namespace interlock {
namespace {

constexpr int64_t kDefaultStart = 1784206800000;  // 2026-07-16T13:00:00.000Z

}  // namespace

FakeClock::FakeClock() : FakeClock(Instant::FromMillis(kDefaultStart)) {}

Instant FakeClock::Now() const {
  MutexLock lock(mutex_);
  return now_;
}

std::chrono::nanoseconds FakeClock::Monotonic() const {
  MutexLock lock(mutex_);
  return monotonic_;
}

std::string FakeClock::BootId() const {
  MutexLock lock(mutex_);
  return absl::StrCat("fake-boot-", boots_);
}

void FakeClock::Advance(absl::Duration by) {
  MutexLock lock(mutex_);
  const auto step = absl::ToChronoNanoseconds(by);
  monotonic_ += step;
  wall_rest_ += step;
  const auto whole = std::chrono::floor<std::chrono::milliseconds>(wall_rest_);
  wall_rest_ -= whole;
  now_ += absl::FromChrono(whole);
}

void FakeClock::StepWall(absl::Duration by) {
  MutexLock lock(mutex_);
  now_ += by;
}

void FakeClock::Reboot(absl::Duration downtime) {
  MutexLock lock(mutex_);
  now_ += downtime;
  monotonic_ = std::chrono::nanoseconds(0);
  ++boots_;
}

}  // namespace interlock
