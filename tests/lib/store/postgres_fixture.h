// A database of its own for each test, and what is counted in it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "lib/store/postgres.h"
#include "lib/time/fake_clock.h"
#include "tests/lib/store/databases/postgres_database.h"

namespace interlock::store {

class PostgresStoreTest : public ::testing::Test {
 protected:
  static Schema Things() {
    return {"things",
            {{"CREATE TABLE thing (name TEXT NOT NULL PRIMARY KEY, number BIGINT NOT NULL)"}},
            {}};
  }
  std::unique_ptr<Store> Open() { return Open(database_.Options({Things()}, clock_)); }
  std::unique_ptr<Store> Open(PostgresOptions options) {
    auto store = OpenPostgres(std::move(options), clock_);
    EXPECT_TRUE(store.ok()) << store.status();
    return std::move(*store);
  }
  static absl::Status Add(Transaction& tx, const std::string& name, int64_t by) {
    return tx
        .Execute(
            "INSERT INTO thing (name, number) VALUES (:name, :by) ON CONFLICT (name)"
            " DO UPDATE SET number = thing.number + excluded.number",
            {name, by})
        .status();
  }
  static absl::Status Put(Store& store, const std::string& name, int64_t by = 1) {
    return store.Write([&](Transaction& tx) { return Add(tx, name, by); });
  }
  static int64_t Get(Store& store, const std::string& name) {
    int64_t number = -1;
    const absl::Status status = store.Read([&](Transaction& tx) {
      auto rows = tx.Query("SELECT number FROM thing WHERE name = :name", {name});
      if (rows.ok() && !rows->empty()) number = rows->front().Int(0);
      return rows.status();
    });
    EXPECT_TRUE(status.ok()) << status;
    return number;
  }
  // Reads, then writes one more: lost updates show.
  static absl::Status Count(Transaction& tx, const std::string& name) {
    auto rows = tx.Query("SELECT number FROM thing WHERE name = :name", {name});
    if (!rows.ok()) return rows.status();
    return tx
        .Execute("UPDATE thing SET number = :n WHERE name = :name",
                 {rows->front().Int(0) + 1, name})
        .status();
  }

  FakeClock clock_;
  PostgresDatabase database_;
};

}  // namespace interlock::store
