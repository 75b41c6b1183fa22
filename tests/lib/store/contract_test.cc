// The contract, on every engine.
#include "tests/lib/store/contract/store_contract.h"
#include "tests/lib/store/databases/postgres_database.h"

namespace interlock::store {
namespace {

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreContract,
                         ::testing::Values(TestEngine{"Sqlite", NewSqliteDatabase}),
                         ::testing::PrintToStringParamName());

INSTANTIATE_TEST_SUITE_P(Postgres, StoreContract,
                         ::testing::Values(TestEngine{
                             "Postgres", [] { return std::make_unique<PostgresDatabase>(); }}),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace interlock::store
