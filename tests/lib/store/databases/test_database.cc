#include "tests/lib/store/databases/test_database.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include "lib/store/sqlite.h"
#include "tests/lib/store/databases/postgres_database.h"
#include "tests/lib/store/temporary_folder.h"

namespace interlock::store {
namespace {

class SqliteDatabase : public TestDatabase {
 public:
  absl::StatusOr<std::unique_ptr<Store>> Open(std::vector<Schema> schemas,
                                              const Clock& clock) override {
    SqliteOptions options;
    options.path = folder_.File("store.db");
    options.schemas = std::move(schemas);
    options.durable = false;
    return OpenSqlite(std::move(options), clock);
  }

 private:
  TemporaryFolder folder_;
};

// A store that takes its database with it.
class StoreWithDatabase : public Store {
 public:
  StoreWithDatabase(std::unique_ptr<TestDatabase> database, std::unique_ptr<Store> store)
      : database_(std::move(database)), store_(std::move(store)) {}

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
  int64_t clock_jumps() const override { return store_->clock_jumps(); }
  StoreDescription Describe() const override { return store_->Describe(); }

 private:
  const std::unique_ptr<TestDatabase> database_;
  const std::unique_ptr<Store> store_;
};

}  // namespace

std::unique_ptr<TestDatabase> NewSqliteDatabase() { return std::make_unique<SqliteDatabase>(); }

std::unique_ptr<TestDatabase> ChosenDatabase() {
  const char* engine = std::getenv("INTERLOCK_TEST_ENGINE");
  if (engine == nullptr) return NewSqliteDatabase();
  if (std::string(engine) != "postgresql") throw std::runtime_error("INTERLOCK_TEST_ENGINE?");
  return std::make_unique<PostgresDatabase>();
}

std::unique_ptr<Store> OpenChosenStore(std::vector<Schema> schemas, const Clock& clock) {
  std::unique_ptr<TestDatabase> database = ChosenDatabase();
  absl::StatusOr<std::unique_ptr<Store>> store = database->Open(std::move(schemas), clock);
  if (!store.ok()) throw std::runtime_error(store.status().ToString());
  return std::make_unique<StoreWithDatabase>(std::move(database), *std::move(store));
}

}  // namespace interlock::store
