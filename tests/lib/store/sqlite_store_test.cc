// What is SQLite's own: the file, its lock, group commit, faults, backups.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/store/checkpointer.h"
#include "lib/store/sqlite.h"
#include "lib/time/fake_clock.h"
#include "lib/time/status_reason.h"
#include "tests/lib/store/contract/store_contract.h"
#include "tests/lib/store/fault_vfs.h"
#include "tests/lib/store/temporary_folder.h"

namespace interlock::store {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SqliteStoreTest : public ::testing::Test {
 protected:
  SqliteOptions Options() {
    SqliteOptions options;
    options.path = folder_.File("store.db");
    options.schemas = {
        {"things", {{"CREATE TABLE thing (number BIGINT NOT NULL PRIMARY KEY, note TEXT)"}}, {}}};
    options.durable = false;
    return options;
  }
  std::unique_ptr<SqliteStore> Open(SqliteOptions options) {
    auto store = OpenSqlite(std::move(options), clock_);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? std::move(*store) : nullptr;
  }
  std::unique_ptr<SqliteStore> Open() { return Open(Options()); }

  static Store::Body Insert(int64_t number, const std::string& note = "") {
    return [number, note](Transaction& tx) {
      return tx.Execute("INSERT INTO thing (number, note) VALUES (:number, :note)", {number, note})
          .status();
    };
  }
  static std::vector<int64_t> Numbers(Store& store) {
    std::vector<int64_t> numbers;
    const absl::Status status = store.Read([&](Transaction& tx) {
      numbers.clear();
      auto rows = tx.Query("SELECT number FROM thing ORDER BY number", {});
      if (!rows.ok()) return rows.status();
      for (const Row& row : *rows) numbers.push_back(row.Int(0));
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return numbers;
  }
  static std::string Pragma(Store& store, const char* sql) {
    std::string value;
    EXPECT_TRUE(store
                    .Write([&](Transaction& tx) {
                      auto rows = tx.Query(sql, {});
                      if (rows.ok()) value = rows->front().Text(0);
                      return rows.status();
                    })
                    .ok());
    return value;
  }

  TemporaryFolder folder_;
  FakeClock clock_;
};

TEST_F(SqliteStoreTest, CommitsToAWriteAheadLogThatIsSynced) {
  SqliteOptions options = Options();
  options.durable = true;
  const auto store = Open(std::move(options));
  EXPECT_EQ(Pragma(*store, "PRAGMA journal_mode"), "wal");
  EXPECT_EQ(Pragma(*store, "PRAGMA synchronous"), "2");  // FULL
}

TEST_F(SqliteStoreTest, ASecondServerOnTheFileIsRefused) {
  auto first = Open();
  const auto second = OpenSqlite(Options(), clock_);
  EXPECT_EQ(ReasonOf(second.status()), "STORE_IN_USE");
  EXPECT_EQ(MetadataOf(second.status()).at("owner"), absl::StrCat("process ", getpid()));
  EXPECT_TRUE(first->Write(Insert(1)).ok());
  first.reset();
  EXPECT_NE(Open(), nullptr);
}

TEST_F(SqliteStoreTest, WhatWaitsTogetherIsCommittedTogether) {
  Mutex mutex;
  std::vector<size_t> sizes;
  SqliteOptions options = Options();
  options.largest_batch = 8;
  options.on_batch = [&](const BatchReport& report) {
    MutexLock lock(mutex);
    sizes.push_back(report.size);
  };
  auto store = Open(std::move(options));
  {
    HeldWriter held(*store);
    for (int i = 0; i < 20; ++i) store->WriteAsync(Insert(i), [](const absl::Status&) {});
  }
  store.reset();
  ASSERT_GE(sizes.size(), 4u);
  EXPECT_EQ(std::vector<size_t>(sizes.begin(), sizes.begin() + 4),
            (std::vector<size_t>{1, 8, 8, 4}));
}

TEST_F(SqliteStoreTest, RefusesMoreThanMayWait) {
  SqliteOptions options = Options();
  options.most_waiting = 3;
  const auto store = Open(std::move(options));
  Mutex mutex;
  CondVar answered;
  int committed = 0, refused = 0;
  {
    HeldWriter held(*store);
    for (int i = 0; i < 5; ++i) {
      store->WriteAsync(Insert(i), [&](const absl::Status& status) {
        MutexLock lock(mutex);
        committed += status.ok() ? 1 : 0;
        const bool full = ReasonOf(status) == "STORE_QUEUE_FULL";
        refused += full && RetryAfterOf(status).has_value() ? 1 : 0;
        answered.NotifyAll();
      });
    }
    EXPECT_EQ(refused, 2);
  }
  MutexLock lock(mutex);
  while (committed < 3) answered.Wait(lock);
  EXPECT_TRUE(store->Write(Insert(9)).ok());
  EXPECT_THAT(Numbers(*store), ElementsAre(0, 1, 2, 9));
}

TEST_F(SqliteStoreTest, ABackupIsTakenWhileWritesGoOnAndOpensAsAnotherIncarnation) {
  const auto store = Open();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(store->Write(Insert(i)).ok());
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 100; !stop; ++i) EXPECT_TRUE(store->Write(Insert(i)).ok());
  });
  const std::string backup = folder_.File("backup.db");
  const absl::Status status = store->Backup(backup);
  stop = true;
  writer.join();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(ReasonOf(store->Backup(backup)), "STORE_FILE_EXISTS");
  // One whole file, and no trace of how it was made.
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.File(""))) {
    files += absl::StrContains(entry.path().filename().string(), "backup") ? 1 : 0;
  }
  EXPECT_EQ(files, 1);

  ASSERT_TRUE(RestoreSqlite(backup, folder_.File("restored.db")).ok());
  SqliteOptions options = Options();
  options.path = folder_.File("restored.db");
  std::string incarnation;
  {
    const auto restored = Open(options);
    EXPECT_GE(Numbers(*restored).size(), 100u);
    incarnation = restored->incarnation();
    EXPECT_NE(incarnation, store->incarnation());
  }
  EXPECT_EQ(Open(options)->incarnation(), incarnation);
  EXPECT_EQ(ReasonOf(RestoreSqlite(backup, options.path)), "STORE_FILE_EXISTS");
  EXPECT_EQ(ReasonOf(RestoreSqlite(options.path, folder_.File("again.db"))), "STORE_NOT_A_BACKUP");
}

TEST_F(SqliteStoreTest, ABackupCopiedIntoPlaceByHandIsARestoreToo) {
  std::string incarnation;
  {
    const auto store = Open();
    incarnation = store->incarnation();
    ASSERT_TRUE(store->Backup(folder_.File("backup.db")).ok());
  }
  std::filesystem::copy_file(folder_.File("backup.db"), folder_.File("store.db"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_NE(Open()->incarnation(), incarnation);
}

TEST_F(SqliteStoreTest, ABackupOfAFileThatIsNotThereMakesNone) {
  EXPECT_FALSE(BackupSqlite(folder_.File("no.db"), folder_.File("backup.db")).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_.File("no.db")));
}

TEST_F(SqliteStoreTest, AFileThatIsNoDatabaseIsRefusedAsDamaged) {
  std::ofstream(folder_.File("store.db")) << std::string(8192, 'x');
  EXPECT_EQ(ReasonOf(OpenSqlite(Options(), clock_).status()), "STORE_CORRUPT");
}

TEST_F(SqliteStoreTest, AFolderThatIsNotThereIsRefused) {
  SqliteOptions options = Options();
  options.path = folder_.File("no/store.db");
  EXPECT_EQ(ReasonOf(OpenSqlite(options, clock_).status()), "STORE_UNAVAILABLE");
}

TEST_F(SqliteStoreTest, ADamagedPageIsAnErrorAndNotHealthy) {
  {
    const auto store = Open();
    for (int i = 0; i < 500; ++i) ASSERT_TRUE(store->Write(Insert(i, std::string(500, 'n'))).ok());
  }
  {
    // The database's first page stays as it is, so that it opens.
    std::fstream file(folder_.File("store.db"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(5 * 4096);
    file << std::string(40 * 4096, 'x');
  }
  const auto store = Open();
  const absl::Status status = store->Read(
      [](Transaction& tx) { return tx.Query("SELECT SUM(LENGTH(note)) FROM thing", {}).status(); });
  EXPECT_EQ(ReasonOf(status), "STORE_CORRUPT") << status;
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReasonOf(store->Health()), "STORE_CORRUPT");
}

// --- Faults of the disk ------------------------------------------------------------------

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
    if (child == 0) WriteUntilKilled(options, ends[1], round * 1'000'000);
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

// --- Checkpoints -------------------------------------------------------------------------

TEST_F(SqliteStoreTest, TheLogDoesNotGrowWithoutEnd) {
  const auto store = Open();
  // Some 400 MB of log in all, twice its bound, without a pause.
  uintmax_t largest = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(store
                    ->Write([&](Transaction& tx) {
                      const std::string note(40'000, static_cast<char>('a' + i % 26));
                      for (int j = 0; j < 100; ++j) {
                        auto changed = tx.Execute(
                            "INSERT INTO thing (number, note) VALUES (:n, :note)"
                            " ON CONFLICT (number) DO UPDATE SET note = excluded.note",
                            {j, note});
                        if (!changed.ok()) return changed.status();
                      }
                      return absl::OkStatus();
                    })
                    .ok());
    largest = std::max(largest, std::filesystem::file_size(folder_.File("store.db-wal")));
  }
  EXPECT_LT(largest, uintmax_t{Checkpointer::kFinishAt + Checkpointer::kPassAt} * 4096 * 5 / 4);
}

}  // namespace
}  // namespace interlock::store
