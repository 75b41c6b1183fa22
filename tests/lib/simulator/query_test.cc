// Timeseries and the little SQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/simulator/sql_parser.h"
#include "tests/lib/simulator/simulated_druid.h"

namespace interlock::simulator {
namespace {

using testing::HasSubstr;

class Queries : public testing::Test {
 protected:
  Queries() {
    druid.Run({.intervals = {"2026-07-16T13/2026-07-16T16"},
               .lines = Line(13, 1, "a", 1) + Line(13, 2, "b", 2) + Line(15, 5, "a", 4)});
    druid.Pass(1'000);
  }
  std::string Timeseries(const std::string& intervals, const std::string& granularity,
                         const std::string& context = "{}") {
    return druid
        .Post("/druid/v2",
              absl::StrCat(R"({"queryType":"timeseries","dataSource":"clicks","intervals":)",
                           intervals, R"(,"granularity":)", granularity, R"(,"context":)", context,
                           R"(,"aggregations":[{"type":"count","name":"rows"},)",
                           R"({"type":"longSum","name":"n","fieldName":"n"},)",
                           R"({"type":"doubleSum","name":"x","fieldName":"none"},)",
                           R"({"type":"longMax","name":"m","fieldName":"n"}]})"))
        .body;
  }
  Reply Sql(const std::string& query) {
    JsonWriter body;
    body.Object().Member("query", query).End();
    return druid.Post("/druid/v2/sql", body.Take());
  }
  SimulatedDruid druid;
};

TEST_F(Queries, TheWholeDatesFromItsFirstRow) {
  EXPECT_EQ(Timeseries(R"(["2026-07-16/2026-07-17"])", R"("all")"),
            R"([{"timestamp":"2026-07-16T13:01:00.000Z",)"
            R"("result":{"rows":3,"n":7,"x":null,"m":4}}])");
}

TEST_F(Queries, OfNothingTheWholeIsZeroRowsAndNoSum) {
  EXPECT_EQ(Timeseries(R"(["2026-07-16T14/2026-07-16T15"])", R"("all")"),
            R"([{"timestamp":"2026-07-16T14:00:00.000Z",)"
            R"("result":{"rows":0,"n":null,"x":null,"m":null}}])");
  EXPECT_EQ(
      Timeseries(R"(["2026-07-16T14/2026-07-16T15"])", R"("all")", R"({"skipEmptyBuckets":true})"),
      "[]");
  EXPECT_EQ(Timeseries(R"(["2026-07-16T14/2026-07-16T15"])", R"("hour")"), "[]");
}

TEST_F(Queries, CountsByHourAndOnlyInsideTheIntervals) {
  EXPECT_EQ(Timeseries(R"(["2026-07-16T13:02/2026-07-16T14","2026-07-16T15/2026-07-16T16"])",
                       R"("hour")"),
            R"([{"timestamp":"2026-07-16T13:00:00.000Z",)"
            R"("result":{"rows":1,"n":2,"x":null,"m":2}},)"
            R"({"timestamp":"2026-07-16T15:00:00.000Z",)"
            R"("result":{"rows":1,"n":4,"x":null,"m":4}}])");
}

TEST_F(Queries, RefusesQueriesItDoesNotKnow) {
  EXPECT_EQ(druid.Post("/druid/v2", R"({"queryType":"topN"})").status, 400);
  EXPECT_EQ(druid.Post("/druid/v2", "{bad").status, 400);
  EXPECT_EQ(druid
                .Post("/druid/v2", R"({"queryType":"timeseries","dataSource":"clicks",)"
                                   R"("intervals":["2020/2030"],"filter":{"type":"true"}})")
                .status,
            400);
}

TEST_F(Queries, SqlCountsAndSums) {
  EXPECT_EQ(Sql(R"(SELECT COUNT(*) FROM "clicks")").body, "[{\"EXPR$0\":3}]\n");
  EXPECT_EQ(Sql("SELECT COUNT(*) AS c, SUM(n) FROM clicks WHERE __time >= TIMESTAMP "
                "'2026-07-16 13:02:00' AND __time < TIMESTAMP '2026-07-16 15:00:00'")
                .body,
            "[{\"c\":1,\"EXPR$1\":2}]\n");
  EXPECT_EQ(Sql(R"(SELECT SUM("n") s, MIN(n), MAX(n) FROM clicks)").body,
            "[{\"s\":7,\"EXPR$1\":1,\"EXPR$2\":4}]\n");
}

TEST_F(Queries, SqlNamesWhatIsNotThere) {
  const Reply table = Sql("SELECT COUNT(*) FROM \"nosuch\"");
  EXPECT_EQ(table.status, 400);
  EXPECT_THAT(table.body, HasSubstr("Object 'nosuch' not found (line [1], column [22])"));
  EXPECT_THAT(Sql("SELECT SUM(nosuch) FROM clicks").body,
              HasSubstr("Column 'nosuch' not found in any table (line [1], column [12])"));
}

TEST(Sql, RefusesWhatItDoesNotKnowAndGuessesNothing) {
  for (const char* query :
       {"", "SELECT", "SELECT 1 FROM t", "SELECT COUNT(*) FORM t", "SELECT COUNT(n) FROM t",
        "SELECT COUNT(*) FROM t WHERE page = 'a'", "SELECT COUNT(*) FROM t GROUP BY 1",
        "SELECT COUNT(*) FROM t LIMIT 1", "SELECT COUNT(*) FROM t; SELECT 1",
        "SELECT COUNT(*) FROM t WHERE __time >= TIMESTAMP 'soon'",
        "SELECT COUNT(*) FROM t WHERE __time >= TIMESTAMP '2026-01-01' OR 1=1",
        "SELECT COUNT(*) FROM t WHERE __time <> TIMESTAMP '2026-01-01'",
        "SELECT SUM(n) FROM t JOIN u", "SELECT COUNT(*) FROM \"t", "SELECT AVG(n) FROM t"}) {
    EXPECT_FALSE(ParseSql(query).ok()) << query;
  }
}

TEST(Sql, ReadsBoundsToTheMillisecond) {
  const auto select = ParseSql(
      "select count(*) from t where __time > TIMESTAMP '2026-07-16 13:00:00.001' and __time <= "
      "MILLIS_TO_TIMESTAMP(1784210400000);");
  ASSERT_TRUE(select.ok()) << select.status();
  EXPECT_EQ(select->interval.ToString(), "2026-07-16T13:00:00.002Z/2026-07-16T14:00:00.001Z");
}

}  // namespace
}  // namespace interlock::simulator
