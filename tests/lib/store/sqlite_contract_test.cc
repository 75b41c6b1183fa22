#include "lib/store/sqlite.h"
#include "tests/lib/store/contract/store_contract.h"
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

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreContract,
                         ::testing::Values(TestEngine{
                             "Sqlite", [] { return std::make_unique<SqliteDatabase>(); }}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace interlock::store
