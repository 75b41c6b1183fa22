// What is SQLite's own: the file, its lock, group commit, backups, checkpoints.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/store/checkpointer.h"
#include "lib/store/sqlite.h"
#include "lib/time/status_reason.h"
#include "tests/lib/store/contract/store_contract.h"
#include "tests/lib/store/sqlite_fixture.h"

namespace interlock::store {
namespace {

using ::testing::ElementsAre;

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

TEST_F(SqliteStoreTest, ASecondServerThatComesThroughALinkIsRefusedToo) {
  const auto first = Open();
  SqliteOptions options = Options();
  const std::string file = options.path;
  options.path = file + ".link";
  ASSERT_EQ(symlink(file.c_str(), options.path.c_str()), 0);
  EXPECT_EQ(ReasonOf(OpenSqlite(std::move(options), clock_).status()), "STORE_IN_USE");
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
    file.seekp(std::streamoff{5} * 4096);
    file << std::string(size_t{40} * 4096, 'x');
  }
  const auto store = Open();
  const absl::Status status = store->Read(
      [](Transaction& tx) { return tx.Query("SELECT SUM(LENGTH(note)) FROM thing", {}).status(); });
  EXPECT_EQ(ReasonOf(status), "STORE_CORRUPT") << status;
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReasonOf(store->Health()), "STORE_CORRUPT");
}

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
