#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/store/sqlite.h"
#include "lib/store/store_errors.h"

namespace interlock::store {
namespace {

// A folder with a name of its own, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_((std::filesystem::temp_directory_path() / "interlock-XXXXXX").string()) {
    made_ = mkdtemp(path_.data()) != nullptr;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (made_) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  bool made() const { return made_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool made_ = false;
};

class TemporarySqliteStore : public SqliteStore {
 public:
  TemporarySqliteStore(std::unique_ptr<TemporaryFolder> folder, std::unique_ptr<SqliteStore> store)
      : folder_(std::move(folder)), store_(std::move(store)) {}

  void WriteAsync(Body body, Done done) override {
    store_->WriteAsync(std::move(body), std::move(done));
  }
  void WriteLockedAsync(std::vector<std::string> locks, Body body, Done done) override {
    store_->WriteLockedAsync(std::move(locks), std::move(body), std::move(done));
  }
  absl::Status Read(const Body& body) override { return store_->Read(body); }
  std::unique_ptr<Listening> Listen(const std::string& channel,
                                    std::function<void()> wake) override {
    return store_->Listen(channel, std::move(wake));
  }
  Instant Now() const override { return store_->Now(); }
  const std::string& incarnation() const override { return store_->incarnation(); }
  absl::Status Health() const override { return store_->Health(); }
  absl::Status Backup(const std::string& to) override { return store_->Backup(to); }
  int64_t clock_jumps() const override { return store_->clock_jumps(); }
  StoreDescription Describe() const override { return store_->Describe(); }

 private:
  const std::unique_ptr<TemporaryFolder> folder_;
  const std::unique_ptr<SqliteStore> store_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteStore>> OpenTemporarySqlite(std::vector<Schema> schemas,
                                                                 const Clock& clock) {
  auto folder = std::make_unique<TemporaryFolder>();
  if (!folder->made()) return StoreUnavailable("no folder for temporary files");
  SqliteOptions options;
  options.path = absl::StrCat(folder->path(), "/store.db");
  options.schemas = std::move(schemas);
  options.durable = false;
  absl::StatusOr<std::unique_ptr<SqliteStore>> store = OpenSqlite(std::move(options), clock);
  if (!store.ok()) return store.status();
  return std::make_unique<TemporarySqliteStore>(std::move(folder), std::move(*store));
}

}  // namespace interlock::store
