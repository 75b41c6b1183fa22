// What only a database that several servers share can get wrong.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lib/time/mutex.h"
#include "lib/time/reason.h"
#include "tests/lib/store/postgres_fixture.h"

namespace interlock::store {
namespace {

// A place where a body can be held: it goes on when `Open` is called.
class Gate {
 public:
  void Pass() {
    MutexLock lock(mutex_);
    reached_ = true;
    changed_.NotifyAll();
    while (!open_) changed_.Wait(lock);
  }
  void AwaitReached() {
    MutexLock lock(mutex_);
    while (!reached_) changed_.Wait(lock);
  }
  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool reached_ = false;
  bool open_ = false;
};

TEST_F(PostgresStoreTest, ManyServersCanStartAtOnce) {
  std::vector<std::thread> servers;
  std::vector<std::unique_ptr<Store>> stores(6);
  for (auto& store : stores) servers.emplace_back([&] { store = Open(); });
  for (std::thread& server : servers) server.join();
  for (auto& store : stores) {
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->incarnation(), stores[0]->incarnation());
    EXPECT_TRUE(Put(*store, "a").ok());
  }
  EXPECT_EQ(Get(*stores[0], "a"), 6);
}

TEST_F(PostgresStoreTest, WritesOfTwoServersThatNameNoLocksFollowEachOther) {
  auto one = Open(), other = Open();
  ASSERT_TRUE(Put(*one, "counter", 0).ok());
  std::vector<std::thread> threads;
  for (Store* store : {one.get(), other.get()}) {
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([store] {
        for (int j = 0; j < 30; ++j) {
          const absl::Status status =
              store->Write([](Transaction& tx) { return Count(tx, "counter"); });
          EXPECT_TRUE(status.ok()) << status;
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Get(*one, "counter"), 180);
}

TEST_F(PostgresStoreTest, WritesThatNameOneLockFollowEachOther) {
  auto one = Open(), other = Open();
  for (const char* name : {"a", "b"}) ASSERT_TRUE(Put(*one, name, 0).ok());
  std::vector<std::thread> threads;
  for (Store* store : {one.get(), other.get()}) {
    for (const std::string name : {"a", "b"}) {
      // One half names the lock beforehand, the other takes it in the body, in whichever
      // order batches happen to have them.
      threads.emplace_back([store, name] {
        for (int j = 0; j < 40; ++j) {
          std::vector<std::string> locks;
          if (j % 2 == 0) locks.push_back(name);
          const absl::Status status = store->WriteLocked(locks, [&](Transaction& tx) {
            absl::Status locked = tx.Lock(name);
            return locked.ok() ? Count(tx, name) : locked;
          });
          EXPECT_TRUE(status.ok()) << status;
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Get(*one, "a"), 80);
  EXPECT_EQ(Get(*one, "b"), 80);
}

TEST_F(PostgresStoreTest, WritesThatNameOtherLocksPassEachOther) {
  auto one = Open(), other = Open();
  Gate gate;
  std::thread holder([&] {
    EXPECT_TRUE(one->WriteLocked({"wiki"},
                                 [&](Transaction& tx) {
                                   absl::Status status = Add(tx, "wiki", 1);
                                   gate.Pass();
                                   return status;
                                 })
                    .ok());
  });
  gate.AwaitReached();
  EXPECT_TRUE(
      other->WriteLocked({"clicks"}, [](Transaction& tx) { return Add(tx, "clicks", 1); }).ok());
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    EXPECT_TRUE(
        other->WriteLocked({"wiki"}, [](Transaction& tx) { return Add(tx, "wiki", 1); }).ok());
    done = true;
  });
  EXPECT_EQ(Get(*one, "clicks"), 1);
  EXPECT_FALSE(done);
  gate.Open();
  holder.join();
  waiter.join();
  EXPECT_EQ(Get(*one, "wiki"), 2);
}

TEST_F(PostgresStoreTest, TimeIsReadAfterTheLock) {
  auto one = Open(), other = Open();
  Gate gate;
  std::thread holder([&] {
    EXPECT_TRUE(one->WriteLocked({"wiki"},
                                 [&](Transaction& tx) {
                                   gate.Pass();
                                   return Add(tx, "wiki", 1);
                                 })
                    .ok());
  });
  gate.AwaitReached();
  Instant decided;
  std::thread waiter([&] {
    EXPECT_TRUE(other
                    ->WriteLocked({"wiki"},
                                  [&](Transaction& tx) {
                                    decided = tx.now();
                                    return absl::OkStatus();
                                  })
                    .ok());
  });
  // It waits for the lock by now, as the database sees it.
  while (database_.Ask("SELECT COUNT(*) FROM pg_locks WHERE NOT granted") == "0") {
  }
  clock_.Advance(absl::Seconds(30));
  gate.Open();
  holder.join();
  waiter.join();
  EXPECT_EQ(decided, clock_.Now());
}

TEST_F(PostgresStoreTest, AStepOfTheDatabasesClockMovesNoDeadline) {
  std::atomic<int> jumps{0};
  PostgresOptions options = database_.Options({Things()}, clock_);
  options.on_clock_jump = [&](absl::Duration) { ++jumps; };
  auto one = Open(options), other = Open(options);
  const auto now = [](Store& store) {
    Instant at;
    EXPECT_TRUE(store
                    .Write([&](Transaction& tx) {
                      at = tx.now();
                      return Add(tx, "a", 1);
                    })
                    .ok());
    return at;
  };
  const Instant start = now(*one);
  EXPECT_EQ(now(*other), start);
  clock_.StepWall(absl::Hours(3));
  clock_.Advance(absl::Seconds(2));
  // A read that sees it first goes by its server's own clock.
  Instant in_read;
  EXPECT_TRUE(other
                  ->Read([&](Transaction& tx) {
                    in_read = tx.now();
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_EQ(in_read, start + absl::Seconds(2));
  EXPECT_EQ(now(*one), start + absl::Seconds(2));
  EXPECT_EQ(now(*other), start + absl::Seconds(2));
  EXPECT_EQ(jumps, 1);
  EXPECT_EQ(one->clock_jumps() + other->clock_jumps(), 1);
  one.reset();
  one = Open(options);
  EXPECT_EQ(now(*one), start + absl::Seconds(2));
}

TEST_F(PostgresStoreTest, NotificationsReachTheOtherServerAfterTheCommit) {
  auto one = Open(), other = Open();
  Mutex mutex;
  CondVar changed;
  int wakes = 0;
  auto listening = other->Listen("wiki's", [&] {
    MutexLock lock(mutex);
    ++wakes;
    changed.NotifyAll();
  });
  // One comes with the connection.
  const auto notify = [&](const char* channel, bool commit) {
    one->Write([&](Transaction& tx) {
         absl::Status status = tx.Notify(channel);
         if (!commit) return absl::AbortedError("no");
         return status.ok() ? Add(tx, "a", 1) : status;
       })
        .IgnoreError();
  };
  int seen = 0;
  for (int i = 0; i < 3; ++i) {
    notify("another", true);
    notify("wiki's", false);
    notify("wiki's", true);
    MutexLock lock(mutex);
    while (wakes == seen) changed.Wait(lock);
    seen = wakes;
  }
  EXPECT_LE(seen, 4);
  listening.reset();
  notify("wiki's", true);
}

TEST_F(PostgresStoreTest, ABatchThatTripsAConstraintIsRetriedOneByOne) {
  auto store = Open();
  database_.Ask("ALTER TABLE thing ADD CHECK (number < 100)");
  Gate gate;
  std::thread holder([&] {
    EXPECT_TRUE(store
                    ->Write([&](Transaction&) {
                      gate.Pass();
                      return absl::OkStatus();
                    })
                    .ok());
  });
  gate.AwaitReached();
  std::vector<std::thread> writers;
  std::atomic<int> refused{0};
  for (int i = 0; i < 6; ++i) {
    writers.emplace_back([&, i] {
      const absl::Status status = Put(*store, absl::StrCat("n", i), i == 3 ? 100 : i);
      EXPECT_EQ(status.ok(), i != 3) << status;
      if (ReasonOf(status) == "STORE_CONSTRAINT") ++refused;
    });
  }
  gate.Open();
  holder.join();
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(Get(*store, "n5"), 5);
  EXPECT_EQ(Get(*store, "n3"), -1);
}

TEST_F(PostgresStoreTest, ADeadlockIsRetried) {
  auto store = Open();
  for (const char* name : {"a", "b"}) ASSERT_TRUE(Put(*store, name, 0).ok());
  auto other = Open();
  // Each holds one row and wants the other's.
  Gate has_a, has_b;
  std::atomic<int> runs{0};
  const auto add = [&](Store& by, const char* first, const char* then, Gate& own, Gate& others) {
    return std::thread([&runs, &by, first, then, &own, &others] {
      bool again = false;
      const absl::Status status = by.WriteLocked({}, [&](Transaction& tx) {
        ++runs;
        absl::Status added = Add(tx, first, 1);
        if (!std::exchange(again, true)) {
          own.Open();
          others.Pass();
        }
        return added.ok() ? Add(tx, then, 1) : added;
      });
      EXPECT_TRUE(status.ok()) << status;
    });
  };
  std::thread one = add(*store, "a", "b", has_a, has_b);
  std::thread two = add(*other, "b", "a", has_b, has_a);
  one.join();
  two.join();
  EXPECT_EQ(Get(*store, "a"), 2);
  EXPECT_EQ(Get(*store, "b"), 2);
  EXPECT_GT(runs, 2);
}

TEST_F(PostgresStoreTest, TextsCompareByteByByteWhateverTheLocale) {
  auto store = Open();
  EXPECT_EQ(database_.Ask("SELECT collation_name FROM information_schema.columns WHERE table_name"
                          " = 'thing' AND column_name = 'name'"),
            "C");
}

}  // namespace
}  // namespace interlock::store
