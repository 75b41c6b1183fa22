// A database file of its own for each test, and what is counted in it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lib/store/sqlite.h"
#include "lib/time/fake_clock.h"
#include "tests/lib/store/temporary_folder.h"

namespace interlock::store {

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

}  // namespace interlock::store
