// What a load is, and what is measured of it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace interlock::bench {

using Clock = std::chrono::steady_clock;

// Each client asks for the next thing when the last was answered.
struct Plan {
  std::string target;  // host:port, or what the peer's own client library takes
  std::string datasource = "bench";
  int clients = 1;
  int intervals = 1;      // asked for in one call
  uint64_t first = 0;     // calls of the same datasource before this run
  uint64_t at_most = 0;   // calls; 0: as the time allows
  double warm_up = 0.5;   // seconds that are not measured
  double measured = 3.0;  // seconds
  int channels = 0;       // gRPC connections; 0: by the number of clients
};

// `[start, end)` in milliseconds.
struct Slot {
  int64_t start = 0;
  int64_t end = 0;
};

// What call `number` asks for: minutes that no other number asks for, with a free minute
// between, scattered over three centuries as no index likes them best.
std::vector<Slot> SlotsOf(const Plan& plan, uint64_t number);

// Counts answers, from any thread, and says when it is over.
class Meter {
 public:
  explicit Meter(const Plan& plan);

  // The number of the next call; negative when no more are wanted.
  int64_t Next();
  // The call that was sent at `sent` was answered.
  void Answered(Clock::time_point sent);
  // An answer that is not what was asked for makes the run worthless: says the first.
  void Failed(const std::string& why);

  // One line of JSON. False where a call failed.
  bool Print();

 private:
  const Plan plan_;
  const Clock::time_point begin_, from_, until_;
  std::atomic<uint64_t> next_{0};
  std::atomic<uint64_t> answered_{0};  // measured ones
  std::vector<uint32_t> micros_;       // of each, by order of coming
  std::atomic<Clock::rep> last_{0};
  std::mutex mutex_;
  std::string failure_;
  std::atomic<uint64_t> failed_{0};
};

// Each returns when the meter is over and all calls are answered.
void LoadInterlock(const Plan& plan, Meter& meter);
void ListFromInterlock(const Plan& plan, Meter& meter);     // reads what the slot overlaps
void AskInterlockToAppend(const Plan& plan, Meter& meter);  // `intervals` instants a call
void LoadEtcd(const Plan& plan, Meter& meter);
void LoadPostgres(const Plan& plan, Meter& meter);
void LoadRedis(const Plan& plan, Meter& meter);

}  // namespace interlock::bench
