// What changes in a derived table's sources past every proof: found by segment ids.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/guard/findings.h"
#include "lib/guard/rows.h"
#include "tests/lib/backfill/derived_site.h"

namespace interlock::backfill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SourceDriftTest : public DerivedTest {
 protected:
  // Until the sources have been looked at, and what follows from that is over.
  void LookAgain() { Run(kDriftLook + absl::Minutes(1)); }

  void MarkUnused(int hour) {
    const auto reply =
        site_.simulator().Ask("POST", "/druid/indexer/v1/datasources/clicks/markUnused",
                              absl::StrCat(R"({"interval":")", Hour(hour).ToString(), R"("})"));
    ASSERT_EQ(reply.status, 200) << reply.body;
  }
};

TEST_F(SourceDriftTest, WhatSomebodyElseWroteIsRecomputedOnce) {
  PutTotals();
  Clicks(12, 15, 3);
  Settle();
  site_.Load(13, 9);
  LookAgain();
  EXPECT_THAT(Totals(12, 15), ElementsAre(3, 12, 15));
  EXPECT_THAT(Runs("totals"), ElementsAre(Done(12, 15), Done(13, 15)));
  LookAgain();
  LookAgain();
  EXPECT_THAT(Runs("totals"), SizeIs(2));
  EXPECT_THAT(Stale(), IsEmpty());
}

TEST_F(SourceDriftTest, WhatIsGoneIsToldAndNothingIsComputedFromTheRest) {
  PutTotals();
  Clicks(12, 15, 3);
  Settle();
  MarkUnused(12);
  LookAgain();
  EXPECT_THAT(Totals(12, 15), ElementsAre(3, 6, 9));
  ASSERT_THAT(Stale(), SizeIs(1));
  EXPECT_EQ(Stale()[0].kind, kDerivedStale);
  EXPECT_THAT(Stale()[0].intervals, ElementsAre(Hour(12)));
  EXPECT_THAT(Stale()[0].message, HasSubstr("job totals had computed totals from it"));
  // A total from here on would lack the first hour.
  Clicks(14, 15, 8);
  LookAgain();
  EXPECT_THAT(Totals(12, 15), ElementsAre(3, 6, 9));
  EXPECT_THAT(Runs("totals"), SizeIs(1));
  Clicks(12, 13, 4);
  LookAgain();
  EXPECT_THAT(Stale(), IsEmpty());
  EXPECT_THAT(Totals(12, 15), ElementsAre(4, 7, 15));
}

TEST_F(SourceDriftTest, WhereAStreamMayStillWriteNothingIsCompared) {
  PutTotals();
  Clicks(12, 14, 3);
  Settle();
  guard::Stream stream;
  stream.datasource = "clicks";
  stream.name = "flink";
  stream.tail.bound.fixed = Hour(13).start();
  ASSERT_TRUE(site_.store()
                  .Write([&](store::Transaction& tx) { return guard::PutStream(tx, stream); })
                  .ok());
  site_.Load(13, 9);
  LookAgain();
  EXPECT_THAT(Runs("totals"), SizeIs(1));
  site_.Load(12, 9);  // before its tail
  LookAgain();
  EXPECT_THAT(Totals(12, 13), ElementsAre(9));
}

TEST_F(SourceDriftTest, WhatWentBesideASealIsNotCorrectedAgainAtEachLook) {
  PutTotals();
  Clicks(12, 14, 3);
  Settle();
  sealed_["totals"] = {Hour(13)};
  site_.Load(12, 5);
  LookAgain();
  EXPECT_THAT(corrections_, ElementsAre(Hour(13)));
  LookAgain();
  LookAgain();
  EXPECT_THAT(corrections_, SizeIs(1));
  EXPECT_THAT(Totals(12, 14), ElementsAre(5, 6));
  EXPECT_EQ(Events("totals__corrections", Hour(13)), 8);
}

TEST_F(SourceDriftTest, ARunThatFailedIsNotRunAgainByALook) {
  PutTotals();
  Clicks(12, 13, 3);
  Settle();
  Clicks(12, 13, 5);
  Run(absl::Seconds(8));
  site_.transport().SpoilBy([](int64_t, const druid::HttpRequest& request) {
    const bool ours = request.body.find("\"dataSource\":\"totals\"") != std::string::npos;
    return ours ? Spoil::kUnreachable : Spoil::kNot;
  });
  Run(absl::Seconds(20));
  Backfills::Filter filter;
  filter.datasource = "totals";
  const std::string id = site_.backfills().List(filter, 0, "")->backfills[0].backfill.id;
  ASSERT_TRUE(site_.backfills().Cancel(id, site_.Caller()).ok());
  site_.transport().SpoilBy(nullptr);
  LookAgain();
  EXPECT_THAT(Runs("totals"), SizeIs(2)) << "it waits for a person, or the next change";
}

}  // namespace
}  // namespace interlock::backfill
