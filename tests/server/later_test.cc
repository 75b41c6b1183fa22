#include "server/later.h"

#include <atomic>
#include <chrono>
#include <future>

#include "gtest/gtest.h"
#include "server/executor.h"

namespace interlock::server {
namespace {

TEST(Later, RunsWhatIsDue) {
  Executor executor(1);
  Later later(executor);
  std::promise<void> run;
  later.Run(
      std::chrono::steady_clock::now(), [&] { run.set_value(); }, [] { FAIL(); });
  run.get_future().wait();
}

TEST(Later, ItsEndDropsWhatWaitsAndWhatComesAfter) {
  Executor executor(1);
  Later later(executor);
  std::atomic<int> dropped{0};
  const auto wait = [&] {
    later.Run(
        std::chrono::steady_clock::now() + std::chrono::hours(1), [] { FAIL(); },
        [&] { ++dropped; });
  };
  wait();
  wait();
  EXPECT_EQ(dropped, 0);
  later.End();
  EXPECT_EQ(dropped, 2);
  wait();
  EXPECT_EQ(dropped, 3);
}

}  // namespace
}  // namespace interlock::server
