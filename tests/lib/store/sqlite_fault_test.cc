// SQLite on a disk that fails and in a process that is killed: what was acknowledged stays.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/store/sqlite.h"
#include "lib/time/status_reason.h"
#include "tests/lib/store/contract/store_contract.h"
#include "tests/lib/store/fault_vfs.h"
#include "tests/lib/store/sqlite_fixture.h"

namespace interlock::store {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST_F(SqliteStoreTest, ADiskThatFailsIsToldAcknowledgesNothingAndHealsByItself) {
  for (const FileFault fault : {FileFault::kDiskFull, FileFault::kWriteError, FileFault::kSyncError,
                                FileFault::kReadOnly}) {
    FaultVfs faults;
    SqliteOptions options = Options();
    options.durable = true;
    options.path = folder_.File(absl::StrCat("store-", static_cast<int>(fault), ".db"));
    {
      const auto store = Open(options);
      ASSERT_TRUE(store->Write(Insert(1)).ok());
      FaultVfs::Set(fault);
      const absl::Status status = store->Write(Insert(2));
      EXPECT_EQ(ReasonOf(status), "STORE_UNAVAILABLE") << status;
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
      EXPECT_EQ(ReasonOf(store->Health()), "STORE_UNAVAILABLE");
      // Reads go on, and see nothing of it.
      EXPECT_THAT(Numbers(*store), ElementsAre(1));
      FaultVfs::Clear();
      ASSERT_TRUE(store->Write(Insert(3)).ok());
      EXPECT_TRUE(store->Health().ok());
      EXPECT_THAT(Numbers(*store), ElementsAre(1, 3));
    }
    EXPECT_THAT(Numbers(*Open(options)), ElementsAre(1, 3));
  }
}

// Readiness that was lost would keep the calls away that could show that it is back.
TEST_F(SqliteStoreTest, HealthComesBackWithoutACall) {
  FaultVfs faults;
  SqliteOptions options = Options();
  options.durable = true;
  Mutex mutex;
  CondVar tried;
  const auto store = Open(options);
  FaultVfs::Set(FileFault::kDiskFull, 0, 1);
  EXPECT_FALSE(store->Write(Insert(2)).ok());
  EXPECT_FALSE(store->Health().ok());
  // A probe a second: wait for its effect, however long it takes.
  MutexLock lock(mutex);
  for (int i = 0; i < 2000 && !store->Health().ok(); ++i) {
    tried.WaitFor(lock, std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(store->Health().ok());
}

TEST_F(SqliteStoreTest, AFailedCommitFailsAllOfItsBatch) {
  FaultVfs faults;
  SqliteOptions options = Options();
  options.durable = true;
  const auto store = Open(options);
  ASSERT_TRUE(store->Write(Insert(1)).ok());
  Mutex mutex;
  std::vector<std::string> reasons;
  {
    HeldWriter held(*store);
    for (int i = 10; i < 15; ++i) {
      // One of them is refused, by what the others' commit would have made true.
      const int number = i == 14 ? 13 : i;
      store->WriteAsync(Insert(number), [&](const absl::Status& status) {
        MutexLock lock(mutex);
        reasons.push_back(ReasonOf(status));
      });
    }
    FaultVfs::Set(FileFault::kSyncError);  // the held writer's own commit changes nothing
  }
  EXPECT_FALSE(store->Write(Insert(99)).ok());
  FaultVfs::Clear();
  EXPECT_TRUE(store->Write(Insert(100)).ok());
  EXPECT_THAT(reasons, ::testing::AllOf(::testing::SizeIs(5), Each("STORE_UNAVAILABLE")));
  EXPECT_THAT(Numbers(*store), ElementsAre(1, 100));
}

// The failure point walks through the life of a store, call by call, until nothing fails
// any more: what was acknowledged is there, nothing else is, and the file opens.
TEST_F(SqliteStoreTest, FaultWalkKeepsWhatWasAcknowledged) {
  for (const FileFault fault :
       {FileFault::kDiskFull, FileFault::kWriteError, FileFault::kSyncError}) {
    bool failed = true;
    for (int call = 0; failed; ++call) {
      ASSERT_LT(call, 500);
      FaultVfs faults;
      TemporaryFolder folder;
      SqliteOptions options = Options();
      options.durable = true;
      options.path = folder.File("store.db");
      std::vector<int64_t> acknowledged, uncertain;
      FaultVfs::Set(fault, call, 1);
      {
        auto store = OpenSqlite(options, clock_);
        for (int i = 0; store.ok() && i < 3; ++i) {
          const absl::Status status = (*store)->Write(Insert(i, std::string(3000, 'n')));
          (status.ok() ? acknowledged : uncertain).push_back(i);
        }
      }
      failed = FaultVfs::failed() > 0;
      FaultVfs::Clear();
      const auto store = OpenSqlite(options, clock_);
      ASSERT_TRUE(store.ok()) << call << store.status();
      std::vector<int64_t> numbers = Numbers(**store);
      for (const int64_t number : acknowledged) {
        EXPECT_THAT(numbers, ::testing::Contains(number)) << "call " << call;
      }
      EXPECT_LE(numbers.size(), acknowledged.size() + uncertain.size());
    }
  }
}

// --- Crash -------------------------------------------------------------------------------

// In a process of its own: writes from several threads and says over `pipe` what was
// acknowledged, until it is killed.
[[noreturn]] void WriteUntilKilled(const SqliteOptions& options, int pipe, int64_t first) {
  SystemClock clock;
  auto store = OpenSqlite(options, clock);
  if (!store.ok()) _exit(3);
  std::atomic<int64_t> next{first};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (true) {
        const int64_t number = next++;
        const absl::Status status = (*store)->Write([&](Transaction& tx) {
          return tx.Execute("INSERT INTO thing (number) VALUES (:number)", {number}).status();
        });
        if (!status.ok() || write(pipe, &number, sizeof(number)) != sizeof(number)) _exit(4);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  _exit(0);
}

TEST_F(SqliteStoreTest, KillingTheProcessLosesNothingThatWasAcknowledged) {
  SqliteOptions options = Options();
  options.durable = true;
  std::vector<int64_t> acknowledged;
  for (int round = 0; round < 6; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) WriteUntilKilled(options, ends[1], int64_t{round} * 1'000'000);
    close(ends[1]);
    int64_t number = 0;
    const int kill_after = 1 + 37 * round;
    for (int i = 0; i < kill_after && read(ends[0], &number, sizeof(number)) > 0; ++i) {
      acknowledged.push_back(number);
    }
    kill(child, SIGKILL);
    // What it had said before it died counts as well.
    while (read(ends[0], &number, sizeof(number)) == sizeof(number)) acknowledged.push_back(number);
    close(ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << WEXITSTATUS(status);
    const auto store = Open(options);
    const std::vector<int64_t> numbers = Numbers(*store);
    std::sort(acknowledged.begin(), acknowledged.end());
    ASSERT_TRUE(
        std::includes(numbers.begin(), numbers.end(), acknowledged.begin(), acknowledged.end()));
  }
  EXPECT_GE(acknowledged.size(), 6u);
}

}  // namespace
}  // namespace interlock::store
