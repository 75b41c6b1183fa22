#include "lib/sweep/sweeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/audit/audit.h"
#include "lib/lease/reservations.h"
#include "lib/store/sqlite.h"
#include "lib/sweep/swept.h"
#include "lib/time/fake_clock.h"
#include "tests/lib/sweep/canned_druid.h"

namespace interlock::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr char kHour[] = "2026-07-16T10/2026-07-16T11";
constexpr char kNextHour[] = "2026-07-16T11/2026-07-16T12";
constexpr char kOld[] = "2026-07-16T10:30:00.000Z";
constexpr char kNew[] = "2026-07-16T11:30:00.000Z";

// The clock stands at 13:00: a version of 11:30 is past a grace of an hour.
class SweeperTest : public ::testing::Test {
 protected:
  SweeperTest()
      : store_(*store::OpenTemporarySqlite(
            {audit::AuditSchema(), work::WorkSchema(), lease::LeaseSchema(), SweepSchema()},
            clock_)),
        sweeper_(MakeSweeper()) {
    EXPECT_TRUE(sweeper_->Begin().ok());
  }

  std::unique_ptr<Sweeper> MakeSweeper() {
    SweeperOptions options;
    options.on_open = [this](const Finding& finding) { opened_.push_back(finding); };
    options.datasources = patterns_;
    return std::make_unique<Sweeper>(*store_, druid_.cluster(), clock_, options);
  }
  // Does all steps that are due within the next minute; gives the datasources swept.
  std::vector<std::string> Round(Sweeper& sweeper, int64_t most = 100) {
    std::vector<std::string> swept;
    clock_.Advance(absl::Minutes(1));
    while (true) {
      auto claims =
          work::ClaimDue(*store_, clock_, {"me", absl::Seconds(60)}, {kListKind, kSweepKind}, most);
      EXPECT_TRUE(claims.ok()) << claims.status();
      if (claims->empty()) return swept;
      for (work::Claim& claim : *claims) {
        if (claim.kind == kSweepKind) swept.push_back(claim.key);
        Do(sweeper, claim);
      }
      if (most < 100) return swept;
    }
  }
  std::vector<std::string> Round() { return Round(*sweeper_); }
  void Do(Sweeper& sweeper, work::Claim& claim) {
    const auto outcome = sweeper.Step(claim);
    last_ = outcome.status();
    const auto status = store_->Write([&](store::Transaction& tx) -> absl::Status {
      if (!outcome.ok()) return work::Retry(tx, claim, tx.now() + absl::Minutes(1));
      if (outcome->kind == work::Outcome::Kind::kNextDue) {
        return work::Reschedule(tx, claim, outcome->due);
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
  }
  // The first finds the datasources, the second sweeps them.
  void FirstRounds() {
    Round();
    Round();
  }
  void NextSweep() {
    clock_.Advance(absl::Minutes(17));
    Round();
  }
  std::vector<Finding> Open(bool closed = false) {
    Listed listed;
    Filter filter;
    filter.open = !closed;
    filter.closed = closed;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto found = List(tx, filter, 100, "");
                      if (found.ok()) listed = *found;
                      return found.status();
                    })
                    .ok());
    return listed.findings;
  }
  std::vector<Swept> AllSwept() {
    std::vector<Swept> swept;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto found = ListSwept(tx, "");
                      if (found.ok()) swept = *found;
                      return found.status();
                    })
                    .ok());
    return swept;
  }

  FakeClock clock_;
  std::vector<std::string> patterns_;
  CannedDruid druid_;
  std::vector<Finding> opened_;
  absl::Status last_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Sweeper> sweeper_;
};

TEST_F(SweeperTest, AFindingOpensOnceIsUpdatedWhileItLastsAndClosesByItself) {
  druid_.segments["clicks"] = {{kHour, kOld}, {kHour, kNew}};
  FirstRounds();
  auto open = Open();
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_EQ(open[0].observed.verdict, "DOUBLE_VERSION");
  EXPECT_EQ(open[0].observed.reason, "USED_PAST_GRACE");
  EXPECT_EQ(open[0].observed.interval, *Interval::Parse(kHour));
  EXPECT_THAT(open[0].observed.segments, ElementsAre(CannedSegment{kHour, kOld}.id("clicks")));
  EXPECT_THAT(open[0].observed.remedy, HasSubstr("duty"));
  const Instant opened = open[0].opened;

  NextSweep();
  open = Open();
  ASSERT_THAT(open, SizeIs(1)) << "the same finding, once";
  EXPECT_EQ(open[0].opened, opened);
  EXPECT_GT(open[0].seen, opened);
  EXPECT_THAT(opened_, SizeIs(1));

  druid_.segments["clicks"] = {{kHour, kNew}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
  const auto closed = Open(/*closed=*/true);
  ASSERT_THAT(closed, SizeIs(1));
  EXPECT_EQ(closed[0].opened, opened);
  EXPECT_GT(*closed[0].closed, opened);
}

TEST_F(SweeperTest, AFindingThatComesAgainIsANewOne) {
  druid_.segments["clicks"] = {{kHour, kOld}, {kHour, kNew}};
  FirstRounds();
  druid_.segments["clicks"] = {{kHour, kNew}};
  NextSweep();
  druid_.segments["clicks"] = {{kHour, kOld}, {kHour, kNew}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty()) << "hidden for some minutes, however old the version above is";
  for (int i = 0; i < 4; ++i) NextSweep();
  EXPECT_THAT(Open(), SizeIs(1));
  EXPECT_THAT(Open(true), SizeIs(1));
  EXPECT_THAT(opened_, SizeIs(2));
}

TEST_F(SweeperTest, ADruidThatDoesNotAnswerOpensNothingAndClosesNothing) {
  druid_.segments["clicks"] = {{kHour, kOld}, {kHour, kNew}};
  FirstRounds();
  const Instant swept = *AllSwept()[0].at;
  druid_.down = true;
  NextSweep();
  EXPECT_FALSE(last_.ok());
  EXPECT_THAT(Open(), SizeIs(1));
  EXPECT_EQ(*AllSwept()[0].at, swept) << "a sweep that was not whole counts for none";
  druid_.down = false;
  druid_.segments["clicks"] = {{kHour, kNew}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
}

TEST_F(SweeperTest, WhatIsGoneAltogetherIsNoLongerWrong) {
  druid_.segments["clicks"] = {{kHour, kOld}, {kHour, kNew}, {kNextHour, kNew}};
  FirstRounds();
  druid_.segments["clicks"] = {{kNextHour, kNew}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty()) << "no page reaches there any more";
  druid_.segments["clicks"] = {};
  NextSweep();
  EXPECT_THAT(AllSwept(), IsEmpty()) << "a datasource without segments is not swept";
}

TEST_F(SweeperTest, ADatasourceThatWasFoundAndNeverSweptHasAnAge) {
  druid_.segments["clicks"] = {{kHour, kNew}};
  Round();
  ASSERT_THAT(AllSwept(), SizeIs(1));
  EXPECT_FALSE(AllSwept()[0].at.has_value());
  EXPECT_LE(AllSwept()[0].since(), store_->Now());
}

TEST_F(SweeperTest, WhatIsQuietIsNotReadAgainUntilItsIdsChange) {
  druid_.segments["clicks"] = {{kHour, kNew}};
  FirstRounds();
  EXPECT_EQ(druid_.Asked("/segments?full"), 1);
  NextSweep();
  EXPECT_EQ(druid_.Asked("/segments?full"), 1);
  druid_.segments["clicks"] = {{kHour, kNew}, {kNextHour, kNew}};
  NextSweep();
  EXPECT_EQ(druid_.Asked("/segments?full"), 2);
  // Loading is no matter of ids.
  druid_.unavailable["clicks"] = 1;
  NextSweep();
  EXPECT_EQ(druid_.Asked("/segments?full"), 3);
  ASSERT_FALSE(Open().empty());
  EXPECT_EQ(Open()[0].observed.verdict, "NOT_LOADED");
  EXPECT_EQ(AllSwept()[0].unavailable, 1);
}

TEST_F(SweeperTest, OfManyHoursOnlyTheOneThatIsNotLoadedHasAFinding) {
  druid_.segments["clicks"] = {{kHour, kNew}, {kNextHour, kNew}};
  druid_.not_loaded = {CannedSegment{kNextHour, kNew}.id("clicks")};
  FirstRounds();
  ASSERT_THAT(Open(), SizeIs(1));
  EXPECT_EQ(Open()[0].observed.verdict, "NOT_LOADED");
  EXPECT_EQ(Open()[0].observed.interval, *Interval::Parse(kNextHour));
}

// It lists segments and says 204 of their loading: that is no "all is loaded".
TEST_F(SweeperTest, ALoadStatusThatKnowsNothingLeavesTheSweepUnfinished) {
  druid_.segments["clicks"] = {{kHour, kNew}};
  druid_.knows_loading = false;
  FirstRounds();
  EXPECT_FALSE(AllSwept()[0].at.has_value());
  druid_.knows_loading = true;
  NextSweep();
  EXPECT_TRUE(AllSwept()[0].at.has_value());
}

TEST_F(SweeperTest, ABrokerThatIsDownMakesNoDuplicatesOfLateRows) {
  druid_.segments["clicks"] = {{kHour, kNew, 0, 1, 60'000}, {kHour, kNew, 1, 1, 1'477}};
  druid_.rows[CannedSegment{kHour, kNew}.id("clicks")] = 400;
  druid_.broker_down = true;
  FirstRounds();
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_FALSE(AllSwept()[0].at.has_value()) << "it was not whole";
  druid_.broker_down = false;
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_TRUE(AllSwept()[0].at.has_value());
}

TEST_F(SweeperTest, WhatIsNoLongerChosenIsSweptUntilNothingIsWrongAndThenNoMore) {
  druid_.segments["clicks"] = {{kHour, kOld}, {kHour, kNew}};
  druid_.segments["views"] = {{kHour, kNew}};
  FirstRounds();
  patterns_ = {"others"};
  sweeper_ = MakeSweeper();
  NextSweep();
  ASSERT_THAT(AllSwept(), SizeIs(1)) << "what is open must be able to close";
  EXPECT_EQ(AllSwept()[0].datasource, "clicks");
  druid_.segments["clicks"] = {{kHour, kNew}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_THAT(AllSwept(), IsEmpty());
}

TEST_F(SweeperTest, StreamsComeFirst) {
  for (const char* name : {"a", "b", "c", "d", "e"}) druid_.segments[name] = {{kHour, kNew}};
  druid_.streams = {"d"};
  // What is found is due at once where a stream writes it, and within half a minute else.
  EXPECT_THAT(Round(), ElementsAre("d"));
  EXPECT_THAT(Round(), UnorderedElementsAre("a", "b", "c", "e"));
}

TEST_F(SweeperTest, OnlyTheChosenDatasourcesAreSwept) {
  patterns_ = {"click*", "views"};
  sweeper_ = MakeSweeper();
  for (const char* name : {"clicks", "clicks_daily", "views", "views2"}) {
    druid_.segments[name] = {{kHour, kNew}};
  }
  Round();
  EXPECT_THAT(Round(), UnorderedElementsAre("clicks", "clicks_daily", "views"));
}

TEST_F(SweeperTest, TwoReplicasShareTheWorkAndNoneIsDoneTwice) {
  for (const char* name : {"a", "b", "c", "d"}) druid_.segments[name] = {{kHour, kNew}};
  const auto other = MakeSweeper();
  Round();
  clock_.Advance(absl::Minutes(1));
  std::vector<std::string> all;
  for (int i = 0; i < 4; ++i) {
    const auto mine = Round(*sweeper_, 1);
    const auto theirs = Round(*other, 1);
    all.insert(all.end(), mine.begin(), mine.end());
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  EXPECT_THAT(all, UnorderedElementsAre("a", "b", "c", "d"));
}

TEST_F(SweeperTest, ASweepWhoseClaimWasLostKeepsNothing) {
  druid_.segments["clicks"] = {{kHour, kOld}, {kHour, kNew}};
  Round();
  clock_.Advance(absl::Minutes(1));
  auto claims = work::ClaimDue(*store_, clock_, {"slow", absl::Seconds(1)}, {kSweepKind}, 1);
  ASSERT_THAT(*claims, SizeIs(1));
  clock_.Advance(absl::Minutes(1));
  auto again = work::ClaimDue(*store_, clock_, {"quick", absl::Seconds(60)}, {kSweepKind}, 1);
  ASSERT_THAT(*again, SizeIs(1));
  EXPECT_FALSE(sweeper_->Step((*claims)[0]).ok());
  EXPECT_THAT(Open(), IsEmpty());
}

TEST_F(SweeperTest, EqualSumsOfAnAppendAreDuplicatesAndOthersAreLateRows) {
  const CannedSegment core{kHour, kNew, 0, 1, 20'000};
  const CannedSegment appended{kHour, kNew, 1, 1, 19'000};
  druid_.segments["clicks"] = {core, appended};
  druid_.rows[core.id("clicks")] = 100;
  druid_.rows[appended.id("clicks")] = 100;
  FirstRounds();
  ASSERT_THAT(Open(), SizeIs(1));
  EXPECT_EQ(Open()[0].observed.reason, "EQUAL_SUMS");
  EXPECT_THAT(Open()[0].observed.segments, SizeIs(2));
  druid_.rows[appended.id("clicks")] = 3;
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
}

TEST_F(SweeperTest, Case047AVersionInTheFutureIsAClockThatIsWrong) {
  druid_.segments["clicks"] = {{kHour, "2027-07-16T10:30:00.000Z"}};
  FirstRounds();
  ASSERT_THAT(Open(), SizeIs(1));
  EXPECT_EQ(Open()[0].observed.kind, kClockSkew);
  druid_.segments["clicks"] = {{kHour, kNew}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
}

TEST_F(SweeperTest, ATaskThatIsNotOursInTimeOfABackfillIsAForeignWriter) {
  druid_.segments["clicks"] = {{kHour, kNew}};
  druid_.locks = R"("clicks":[{"type":"EXCLUSIVE","groupId":"index_clicks_1","dataSource":)"
                 R"("clicks","interval":"2026-07-16T10:00:00.000Z/2026-07-16T11:00:00.000Z",)"
                 R"("version":"x","priority":50,"revoked":false},{"type":"EXCLUSIVE",)"
                 R"("groupId":"il-0123-clicks","dataSource":"clicks",)"
                 R"("interval":"2026-07-16T10:00:00.000Z/2026-07-16T11:00:00.000Z",)"
                 R"("version":"x","priority":50,"revoked":false}])";
  const auto reserve = [&](store::Transaction& tx) -> absl::Status {
    lease::ReserveRequest request;
    request.datasource = "clicks";
    request.intervals = {*Interval::Parse(kHour)};
    request.ttl = absl::Hours(10);
    request.holder = "airflow";
    auto grant = lease::Reserve(tx, request, {"airflow", "", ""}, {});
    if (!grant.ok()) return grant.status();
    return lease::PinWork(tx, grant->reservation.id, grant->reservation.token,
                          {"work", request.intervals[0], "backfills/b1", tx.now()});
  };
  ASSERT_TRUE(store_->Write(reserve).ok());
  FirstRounds();
  ASSERT_THAT(Open(), SizeIs(1));
  EXPECT_EQ(Open()[0].observed.kind, kForeignWriter);
  EXPECT_EQ(Open()[0].observed.subject, "index_clicks_1");
  EXPECT_THAT(Open()[0].observed.message, HasSubstr("airflow"));
  druid_.locks = "";
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
}

// Its lock is gone, and what it wrote is not: segments of that lock's version.
TEST_F(SweeperTest, WhatAForeignWriterLeftInReservedTimeKeepsItsFinding) {
  druid_.segments["clicks"] = {{kHour, kOld}};
  druid_.locks = absl::StrCat(R"("clicks":[{"type":"EXCLUSIVE","groupId":"index_clicks_1",)",
                              R"("dataSource":"clicks","interval":"2026-07-16T10:00:00.000Z/)",
                              R"(2026-07-16T11:00:00.000Z","version":")", kNew,
                              R"(","priority":50,"revoked":false}])");
  lease::Grant grant;
  ASSERT_TRUE(store_
                  ->Write([&](store::Transaction& tx) -> absl::Status {
                    lease::ReserveRequest request;
                    request.datasource = "clicks";
                    request.intervals = {*Interval::Parse(kHour)};
                    request.ttl = absl::Hours(10);
                    request.holder = "airflow";
                    auto granted = lease::Reserve(tx, request, {"airflow", "", ""}, {});
                    if (!granted.ok()) return granted.status();
                    grant = *granted;
                    return lease::PinWork(tx, grant.reservation.id, grant.reservation.token,
                                          {"work", request.intervals[0], "backfills/b1", tx.now()});
                  })
                  .ok());
  FirstRounds();
  ASSERT_THAT(Open(), SizeIs(1));
  const int64_t number = Open()[0].number;
  druid_.locks = "";
  druid_.segments["clicks"] = {{kHour, kNew}};
  NextSweep();
  ASSERT_THAT(Open(), SizeIs(1));
  EXPECT_EQ(Open()[0].number, number) << "the same finding";
  EXPECT_EQ(Open()[0].observed.reason, "SEGMENTS_IN_RESERVED_TIME");
  EXPECT_THAT(Open()[0].observed.segments, ElementsAre(CannedSegment{kHour, kNew}.id("clicks")));
  ASSERT_TRUE(store_
                  ->Write([&](store::Transaction& tx) -> absl::Status {
                    auto unpinned = lease::UnpinWork(tx, "work");
                    return unpinned;
                  })
                  .ok());
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty()) << "nobody's time any more";
}

std::string AppendLock(const char* interval) {
  return absl::StrCat(R"("clicks":[{"type":"APPEND","groupId":"index_clicks_2","dataSource":)",
                      R"("clicks","interval":")", Interval::Parse(interval)->ToString(),
                      R"(","version":"1970-01-01T00:00:00.000Z","priority":75,"revoked":false}])");
}

// Measured on a real Druid: its rows are not seen, and the metadata never tells.
TEST_F(SweeperTest, Case006AnAppendThatGetsTheIdsOfDroppedSegmentsIsAFinding) {
  const CannedSegment dropped{kHour, "1970-01-01T00:00:00.000Z", 0, 0};
  druid_.segments["clicks"] = {{kNextHour, kNew}};
  druid_.unused_segments["clicks"] = {dropped};
  druid_.locks = AppendLock(kHour);
  FirstRounds();
  ASSERT_THAT(Open(), SizeIs(1));
  EXPECT_EQ(Open()[0].observed.kind, kIdReused);
  EXPECT_THAT(Open()[0].observed.segments, ElementsAre(dropped.id("clicks")));
  EXPECT_THAT(Open()[0].observed.remedy, HasSubstr("replaces"));
  druid_.locks = "";
  NextSweep();
  EXPECT_THAT(Open(), SizeIs(1)) << "the task is over, and the rows are not to be seen";
  druid_.segments["clicks"] = {{kHour, kNew}, {kNextHour, kNew}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty()) << "replaced";
}

TEST_F(SweeperTest, Case006AnAppendBesideSegmentsThatAreUsedGetsIdsOfItsOwn) {
  druid_.segments["clicks"] = {{kHour, kNew}};
  druid_.unused_segments["clicks"] = {{kHour, "1970-01-01T00:00:00.000Z", 0, 0}};
  druid_.locks = AppendLock(kHour);
  FirstRounds();
  EXPECT_THAT(Open(), IsEmpty());
  // And what was replaced once has a version that no append has.
  druid_.segments["clicks"] = {{kNextHour, kNew}};
  druid_.unused_segments["clicks"] = {{kHour, kOld}};
  NextSweep();
  EXPECT_THAT(Open(), IsEmpty());
}

TEST(MatchesPattern, AStarIsAnyCharacters) {
  EXPECT_TRUE(MatchesPattern("clicks", "clicks"));
  EXPECT_FALSE(MatchesPattern("clicks", "clicks2"));
  EXPECT_TRUE(MatchesPattern("*", ""));
  EXPECT_TRUE(MatchesPattern("raw_*_v*", "raw_clicks_v2"));
  EXPECT_FALSE(MatchesPattern("raw_*_v*", "raw_clicks"));
}

}  // namespace
}  // namespace interlock::sweep
