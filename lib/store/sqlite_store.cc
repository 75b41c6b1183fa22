#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/store/batch_runner.h"
#include "lib/store/checkpointer.h"
#include "lib/store/facts.h"
#include "lib/store/file_lock.h"
#include "lib/store/group_commit.h"
#include "lib/store/listeners.h"
#include "lib/store/mark_file.h"
#include "lib/store/reader_pool.h"
#include "lib/store/sqlite.h"
#include "lib/store/sqlite_connection.h"
#include "lib/store/sqlite_start.h"
#include "lib/store/sqlite_transaction.h"
#include "lib/store/store_clock.h"
#include "lib/store/store_errors.h"

namespace interlock::store {
namespace {

// The parts of an open store, in the order in which they are made; they go in reverse.
class OpenedSqliteStore : public SqliteStore {
 public:
  struct Connections {
    std::unique_ptr<Connection> writer;
    std::unique_ptr<Connection> checkpoints;
    // Of the writer's thread, which writes it inside of COMMIT.
    std::shared_ptr<int64_t> wal_frames;
  };

  OpenedSqliteStore(SqliteOptions options, const Clock& clock, std::unique_ptr<FileLock> lock,
                    Connections connections, SqliteStart start)
      : options_(std::move(options)),
        incarnation_(std::move(start.incarnation)),
        notices_(std::move(start.notices)),
        lock_(std::move(lock)),
        mark_file_(std::move(start.mark_file)),
        clock_(std::move(start.clock)),
        wal_frames_(std::move(connections.wal_frames)),
        writer_(std::move(connections.writer)),
        checkpointer_(std::move(connections.checkpoints)),
        readers_(Readers()),
        transaction_(*writer_, *clock_, listeners_, {*mark_file_, NewestQueries(options_.schemas)}),
        runner_(transaction_),
        commits_(runner_, clock, CommitOptions()) {}

  // Leaves the mark at the time that was shown last.
  ~OpenedSqliteStore() override {
    if (!clock_->MarkFor(clock_->Now()).has_value()) return;
    Write([](Transaction&) { return absl::OkStatus(); }).IgnoreError();
  }

  void WriteAsync(Body body, Done done) override {
    commits_.Add({std::move(body), std::move(done)});
  }
  void WriteLockedAsync(std::vector<std::string> locks, Body body, Done done) override {
    commits_.Add({std::move(body), std::move(done), std::move(locks)});
  }

  absl::Status Read(const Body& body) override {
    absl::Status status = readers_.Read(body);
    if (IsStoreCorrupt(status)) NoteDamage(status);
    KeepMark();
    return status;
  }

  std::unique_ptr<Listening> Listen(const std::string& channel,
                                    std::function<void()> wake) override {
    return listeners_.Add(channel, std::move(wake));
  }

  Instant Now() const override { return clock_->Now(); }
  const std::string& incarnation() const override { return incarnation_; }
  int64_t clock_jumps() const override { return clock_->jumps(); }
  StoreDescription Describe() const override { return {"sqlite", std::nullopt, notices_}; }

  absl::Status Health() const override {
    {
      MutexLock lock(mutex_);
      if (!damage_.ok()) return damage_;
    }
    return commits_.Health();
  }

  absl::Status Backup(const std::string& to) override { return BackupSqlite(options_.path, to); }

 private:
  GroupCommit::Options CommitOptions() {
    GroupCommit::Options commit;
    commit.largest_batch = options_.largest_batch;
    commit.most_waiting = options_.most_waiting;
    commit.on_batch = options_.on_batch;
    commit.after_commit = [this] {
      if (checkpointer_.Notice(*wal_frames_)) Checkpointer::Pass(*writer_);
    };
    return commit;
  }

  ReaderPool::Engine Readers() {
    ReaderPool::Engine engine;
    engine.open = [this] { return OpenSqliteReader(options_.path); };
    engine.time = [this](Connection& connection) -> absl::StatusOr<Instant> {
      absl::Status status = connection.Query("SELECT 1 FROM store_facts LIMIT 1", {}).status();
      if (!status.ok()) return status;
      return clock_->Now();
    };
    return engine;
  }

  // Somebody has read the time: it must not come again, even if nothing is written for
  // long. Costs a commit a second at most, and only while there are reads.
  void KeepMark() {
    if (!clock_->MarkFor(clock_->Now()).has_value() || mark_queued_.exchange(true)) return;
    commits_.Add({[](Transaction&) { return absl::OkStatus(); },
                  [this](const absl::Status&) { mark_queued_ = false; }});
  }

  void NoteDamage(const absl::Status& status) {
    MutexLock lock(mutex_);
    damage_ = status;
  }

  const SqliteOptions options_;
  const std::string incarnation_;
  const std::vector<StoreNotice> notices_;
  const std::unique_ptr<FileLock> lock_;
  const std::unique_ptr<MarkFile> mark_file_;  // says at its end that all is in the file
  const std::unique_ptr<StoreClock> clock_;
  const std::shared_ptr<int64_t> wal_frames_;
  const std::unique_ptr<Connection> writer_;
  Checkpointer checkpointer_;
  ReaderPool readers_;
  mutable Mutex mutex_;
  absl::Status damage_ INTERLOCK_GUARDED_BY(mutex_);
  std::atomic<bool> mark_queued_{false};
  Listeners listeners_;
  SqliteTransaction transaction_;
  BatchRunner runner_;
  GroupCommit commits_;
};

// Lock and mark stand beside the file itself: beside a link to it they would be others, and two
// processes would own one file.
std::string FileItself(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_symlink(path, failed)) return path;
  const std::filesystem::path file = std::filesystem::canonical(path, failed);
  return failed ? path : file.string();
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteStore>> OpenSqlite(SqliteOptions options, const Clock& clock) {
  options.schemas.insert(options.schemas.begin(), FactsSchema());
  options.path = FileItself(options.path);
  absl::StatusOr<std::unique_ptr<FileLock>> lock = FileLock::Take(options.path + ".lock");
  if (!lock.ok()) return lock.status();
  auto wal_frames = std::make_shared<int64_t>(0);
  auto writer = OpenSqliteWriter(options.path, options.durable,
                                 [wal_frames](int64_t frames) { *wal_frames = frames; });
  if (!writer.ok()) return writer.status();
  absl::StatusOr<SqliteStart> start = StartSqlite(**writer, options, clock);
  if (!start.ok()) return start.status();
  auto checkpoints = OpenSqliteAside(options.path, options.durable);
  if (!checkpoints.ok()) return checkpoints.status();
  return std::make_unique<OpenedSqliteStore>(
      std::move(options), clock, std::move(*lock),
      OpenedSqliteStore::Connections{std::move(*writer), std::move(*checkpoints), wal_frames},
      std::move(*start));
}

absl::Status MigrateSqlite(SqliteOptions options, const Clock& clock) {
  return OpenSqlite(std::move(options), clock).status();
}

}  // namespace interlock::store
