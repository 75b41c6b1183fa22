#include "lib/seal/snapshot_query.h"

#include "gtest/gtest.h"
#include "lib/time/reason.h"

namespace interlock::seal {
namespace {

SnapshotSpec Spec(const std::string& expression) { return {{}, {{"a", expression}}, ""}; }

TEST(SnapshotQuery, GroupsBySafeNamesWithinTheInterval) {
  const SnapshotSpec spec{{"country", "a\"b"}, {{"amount", "SUM(\"amount\")"}}, "\"x\" = 'y'"};
  EXPECT_EQ(SnapshotQuery("orders", *Interval::Parse("2026-07-01/2026-08-01"), spec, 10),
            "SELECT CAST(\"country\" AS VARCHAR) AS \"g0\", CAST(\"a\"\"b\" AS VARCHAR) AS \"g1\","
            " SUM(\"amount\") AS \"a0\" FROM \"orders\" WHERE __time >="
            " MILLIS_TO_TIMESTAMP(1782864000000) AND __time < MILLIS_TO_TIMESTAMP(1785542400000)"
            " AND (\"x\" = 'y') GROUP BY 1, 2 LIMIT 10");
}

TEST(SnapshotQuery, TakesExpressionsAndNoStatements) {
  for (const char* good :
       {"SUM(\"amount\")", "SUM(CASE WHEN \"a\" = 'SELECT;--' THEN 1 ELSE 0 END)", "COUNT(*)",
        "SUM(a) + MAX(b)", "SUM(EXTRACT(HOUR FROM __time))"}) {
    EXPECT_TRUE(CheckSnapshot(Spec(good)).ok()) << good;
  }
  for (const char* bad :
       {"", "SUM(a) FROM other", "SUM(a), SUM(b)", "(SELECT 1)", "SUM(a)) AS x, (b", "SUM(a); x",
        "SUM(a) -- x", "SUM(a) /* x", "SUM('a)", "SUM((a)", "SUM(TABLE(x))"}) {
    EXPECT_EQ(ReasonOf(CheckSnapshot(Spec(bad))), "INVALID_SNAPSHOT") << bad;
  }
}

TEST(SnapshotQuery, NamesEachColumnOnce) {
  EXPECT_TRUE(CheckSnapshot({}).ok());
  EXPECT_FALSE(CheckSnapshot({{"country"}, {}, ""}).ok());
  EXPECT_FALSE(CheckSnapshot({{"a"}, {{"a", "SUM(x)"}}, ""}).ok());
  EXPECT_FALSE(CheckSnapshot({{"a", "a"}, {{"b", "SUM(x)"}}, ""}).ok());
  EXPECT_FALSE(CheckSnapshot({{}, {{"b", "SUM(x)"}}, "1 = 1) OR (2 = 2"}).ok() &&
               CheckSnapshot({{}, {{"b", "SUM(x)"}}, "1 = 1) OR ("}).ok());
}

}  // namespace
}  // namespace interlock::seal
