#include "lib/time/mutex.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace interlock {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;

class Box {
 public:
  void Put(int value) INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    value_ = value;
    full_ = true;
    filled_.NotifyAll();
  }

  int Take() INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (!full_) filled_.Wait(lock);
    full_ = false;
    return value_;
  }

  // False where nothing came.
  bool WaitFull(nanoseconds timeout) INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (!full_) {
      if (!filled_.WaitFor(lock, timeout)) return full_;
    }
    return true;
  }

 private:
  Mutex mutex_;
  CondVar filled_;
  bool full_ INTERLOCK_GUARDED_BY(mutex_) = false;
  int value_ INTERLOCK_GUARDED_BY(mutex_) = 0;
};

TEST(Mutex, LetsOneInAtATime) {
  Mutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        MutexLock lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 8000);
}

TEST(MutexLock, CanBeLetGoForAWhile) {
  Mutex mutex;
  MutexLock lock(mutex);
  lock.Unlock();
  std::thread other([&] {
    const bool free = mutex.TryLock();
    EXPECT_TRUE(free);
    if (free) mutex.Unlock();
  });
  other.join();
  lock.Lock();
}

TEST(CondVar, WakesWhoWaits) {
  Box box;
  std::thread giver([&] { box.Put(7); });
  EXPECT_EQ(box.Take(), 7);
  giver.join();
}

TEST(CondVar, SaysWhenTheTimeIsOver) {
  Box box;
  EXPECT_FALSE(box.WaitFull(std::chrono::milliseconds(1)));
  EXPECT_FALSE(box.WaitFull(nanoseconds(-5)));
  EXPECT_FALSE(box.WaitFull(nanoseconds::min()));
}

TEST(CondVar, WaitsForEverWithoutOverflow) {
  Box box;
  std::thread giver([&] { box.Put(1); });
  EXPECT_TRUE(box.WaitFull(nanoseconds::max()));
  EXPECT_TRUE(box.WaitFull(hours(1)));
  giver.join();
}

}  // namespace
}  // namespace interlock
