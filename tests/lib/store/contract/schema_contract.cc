#include "gmock/gmock.h"
#include "lib/time/reason.h"
#include "tests/lib/store/contract/store_contract.h"

// What a store makes of the schemas that it is opened with: nothing, an earlier version of
// theirs, a later one, one that fails.
namespace interlock::store {

TEST_P(StoreContract, KeepsItsIncarnation) {
  const std::string incarnation = store_->incarnation();
  EXPECT_THAT(incarnation, ::testing::MatchesRegex("[a-z0-9]{16}"));
  Reopen();
  EXPECT_EQ(store_->incarnation(), incarnation);
  EXPECT_NE(GetParam().make()->Open({}, clock_).value()->incarnation(), incarnation);
}

TEST_P(StoreContract, BringsItsSchemaUpFromEveryEarlierVersion) {
  const Schema all = {
      "steps",
      {{"CREATE TABLE step (id {{serial}}, one TEXT)"},
       {"ALTER TABLE step ADD COLUMN two BIGINT", "UPDATE step SET two = 22"},
       {"CREATE TABLE after_step (a TEXT, b TEXT, PRIMARY KEY (a, b)) {{clustered}}"}},
      {}};
  for (size_t known = 0; known <= all.steps.size(); ++known) {
    auto database = GetParam().make();
    Schema earlier = all;
    earlier.steps.resize(known);
    {
      auto store = database->Open({earlier}, clock_);
      ASSERT_TRUE(store.ok()) << store.status();
      if (known > 0) {
        ASSERT_TRUE((*store)
                        ->Write([](Transaction& tx) {
                          return tx.Execute("INSERT INTO step (one) VALUES ('old')", {}).status();
                        })
                        .ok());
      }
    }
    auto store = database->Open({all}, clock_);
    ASSERT_TRUE(store.ok()) << known << ": " << store.status();
    ASSERT_TRUE((*store)
                    ->Read([&](Transaction& tx) {
                      auto rows = tx.Query("SELECT id, one, two FROM step, after_step", {});
                      if (!rows.ok()) return rows.status();
                      rows = tx.Query("SELECT one, two FROM step", {});
                      EXPECT_EQ(rows->size(), known > 0 ? 1u : 0u);
                      if (known == 1) {
                        EXPECT_EQ(rows->front().Int(1), 22);
                      }
                      return rows.status();
                    })
                    .ok());
  }
}

TEST_P(StoreContract, RefusesASchemaNewerThanItKnows) {
  store_.reset();
  const auto older = database_->Open({{"things", {}, {}}}, clock_);
  EXPECT_EQ(ReasonOf(older.status()), "STORE_NEWER_SCHEMA") << older.status();
  const auto without = database_->Open({}, clock_);
  EXPECT_EQ(ReasonOf(without.status()), "STORE_NEWER_SCHEMA") << without.status();
  Reopen();
}

TEST_P(StoreContract, AFailedMigrationChangesNothing) {
  store_.reset();
  Schema broken = Things();
  broken.steps.push_back({"ALTER TABLE thing ADD COLUMN more TEXT", "THIS IS NOT SQL"});
  const auto store = database_->Open({broken}, clock_);
  EXPECT_EQ(ReasonOf(store.status()), "STORE_MIGRATION") << store.status();
  broken.steps.back().pop_back();
  EXPECT_TRUE(database_->Open({broken}, clock_).ok());
}

}  // namespace interlock::store
