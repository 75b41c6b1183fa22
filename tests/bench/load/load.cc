#include "tests/bench/load/load.h"

#include <algorithm>
#include <cstdio>

namespace interlock::bench {
namespace {

constexpr int64_t kMinute = 60'000;
constexpr int64_t kOrigin = 946'684'800'000;  // 2000-01-01
// Numbers are scattered over so many places: an odd factor, modulo a power of two, is a
// permutation.
constexpr uint64_t kPlaces = uint64_t{1} << 22;
constexpr uint64_t kFactor = 2'654'435'761;
// More answers than one run can have.
constexpr size_t kMostAnswers = 8'000'000;

Clock::duration Seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double Millis(const std::vector<uint32_t>& sorted, double part) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<size_t>(part * static_cast<double>(sorted.size() - 1));
  return sorted[at] / 1000.0;
}

}  // namespace

std::vector<Slot> SlotsOf(const Plan& plan, uint64_t number) {
  const auto place = static_cast<int64_t>(number * kFactor % kPlaces);
  std::vector<Slot> slots;
  for (int64_t i = 0; i < plan.intervals; ++i) {
    const int64_t start = kOrigin + (place * plan.intervals + i) * 2 * kMinute;
    slots.push_back({start, start + kMinute});
  }
  return slots;
}

Meter::Meter(const Plan& plan)
    : plan_(plan),
      begin_(Clock::now()),
      from_(plan.at_most == 0 ? begin_ + Seconds(plan.warm_up) : begin_),
      until_(plan.at_most == 0 ? from_ + Seconds(plan.measured) : Clock::time_point::max()),
      micros_(plan.at_most == 0 ? kMostAnswers : plan.at_most) {}

int64_t Meter::Next() {
  if (failed_ != 0 || Clock::now() >= until_) return -1;
  const uint64_t number = next_++;
  if (plan_.at_most != 0 && number >= plan_.at_most) return -1;
  return static_cast<int64_t>(plan_.first + number);
}

void Meter::Answered(Clock::time_point sent) {
  const auto now = Clock::now();
  if (now < from_ || now >= until_) return;
  const uint64_t at = answered_++;
  if (at >= micros_.size()) return;
  micros_[at] = static_cast<uint32_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now - sent).count());
  last_ = now.time_since_epoch().count();
}

void Meter::Failed(const std::string& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (failed_++ == 0) failure_ = why;
}

bool Meter::Print() {
  const uint64_t answered = std::min<uint64_t>(answered_, micros_.size());
  micros_.resize(answered);
  std::sort(micros_.begin(), micros_.end());
  const auto end = plan_.at_most == 0 ? until_ : Clock::time_point(Clock::duration(last_.load()));
  const double seconds = std::chrono::duration<double>(end - from_).count();
  std::printf(
      "{\"calls\": %llu, \"seconds\": %.3f, \"rate\": %.1f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, "
      "\"used\": %llu}\n",
      static_cast<unsigned long long>(answered), seconds,
      seconds > 0 ? static_cast<double>(answered) / seconds : 0.0, Millis(micros_, 0.5),
      Millis(micros_, 0.99),
      static_cast<unsigned long long>(plan_.first) + static_cast<unsigned long long>(next_));
  if (failed_ != 0) std::fprintf(stderr, "load: %s\n", failure_.c_str());
  return failed_ == 0;
}

}  // namespace interlock::bench
