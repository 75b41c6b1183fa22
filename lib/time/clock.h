// Time as the process sees it. Logic is handed a Clock, or better the time itself, and
// never asks the system: so a test can step the wall clock, or reboot the machine, and
// see what the promises are worth.
#pragma once

#include <chrono>
#include <string>

#include "lib/time/instant.h"

namespace interlock {

// Safe to call from any thread.
class Clock {
 public:
  virtual ~Clock() = default;

  // The wall clock. It can jump, either way, at any time.
  virtual Instant Now() const = 0;

  // Since some moment before this boot ended its start; never goes back, counts while the
  // machine sleeps. Readings compare only under one BootId().
  virtual std::chrono::nanoseconds Monotonic() const = 0;

  // Another value after each boot of the machine.
  virtual std::string BootId() const = 0;
};

// CLOCK_REALTIME, CLOCK_BOOTTIME and the kernel's boot id: the only place in lib/ that
// asks the system for the time. Where the kernel gives no boot id (not Linux, or hidden)
// each SystemClock counts as a boot of its own, which is the careful reading.
class SystemClock : public Clock {
 public:
  SystemClock();

  Instant Now() const override;
  std::chrono::nanoseconds Monotonic() const override;
  std::string BootId() const override { return boot_id_; }

 private:
  const std::string boot_id_;
};

}  // namespace interlock
