#include "server/retarget.h"

#include "gtest/gtest.h"
#include "lib/backfill/sql_work.h"

namespace interlock::server {
namespace {

std::string QueryBeside(const std::string& query) {
  backfill::SqlWork work;
  work.query = query;
  const std::string moved = Retarget(backfill::ToJson(work), "beside");
  return moved.empty() ? "" : backfill::SqlWorkFrom(moved).query;
}

TEST(Retarget, ASpecIsWrittenToTheOtherDatasource) {
  EXPECT_EQ(Retarget(R"({"spec":{"dataSchema":{"dataSource":"orders"}}})", "beside"),
            R"({"spec":{"dataSchema":{"dataSource":"beside"}}})");
}

TEST(Retarget, AQuerysTargetIsWhatFollowsReplaceInto) {
  for (const char* target : {"orders", "\"orders\"", "\"a \"\"b\"\"\"", "druid.orders",
                             "\"druid\" . \"orders\"", "or-ders"}) {
    EXPECT_EQ(QueryBeside(std::string("replace  INTO ") + target + " OVERWRITE ALL SELECT 1"),
              "replace  INTO \"beside\" OVERWRITE ALL SELECT 1")
        << target;
  }
  EXPECT_EQ(QueryBeside("INSERT INTO orders SELECT 1"), "");
}

// What takes a stack frame for each character ends the process.
TEST(Retarget, AQueryOfMegabytesIsReadToItsEnd) {
  const std::string blanks(2'000'000, ' ');
  EXPECT_EQ(QueryBeside("REPLACE" + blanks + "INTO x SELECT 1"),
            "REPLACE" + blanks + "INTO \"beside\" SELECT 1");
  EXPECT_EQ(QueryBeside("REPLACE INTO \"" + std::string(2'000'000, 'x')), "");
}

}  // namespace
}  // namespace interlock::server
