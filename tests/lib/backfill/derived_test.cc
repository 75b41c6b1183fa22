// Derived jobs: what comes from a table that changed is recomputed, whole, once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/lease/reservations.h"
#include "lib/time/status_reason.h"
#include "tests/lib/backfill/derived_site.h"

namespace interlock::backfill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Mapping = Source::Mapping;

TEST_F(DerivedTest, ARunningTotalIsRecomputedFromTheChangeOnAndOnceForAllThatChanged) {
  PutTotals();
  Clicks(12, 16, 3);
  Settle();
  EXPECT_THAT(Runs("totals"), ElementsAre(Done(12, 16)));
  EXPECT_THAT(Totals(12, 16), ElementsAre(3, 6, 9, 12));
  // Two hours change, within the time of gathering.
  Clicks(14, 15, 7);
  Run(absl::Seconds(3));
  Clicks(13, 14, 5);
  Settle();
  EXPECT_THAT(Runs("totals"), ElementsAre(Done(12, 16), Done(13, 16)));
  EXPECT_THAT(Totals(12, 16), ElementsAre(3, 8, 15, 18));
  // And back again, in another order.
  Clicks(13, 14, 3);
  Settle();
  Clicks(14, 15, 3);
  Settle();
  EXPECT_THAT(Totals(12, 16), ElementsAre(3, 6, 9, 12));
  EXPECT_THAT(Runs("totals"), SizeIs(4));
}

// druidforum.org, idempotent delta ingestion: what is added to is added twice by a retry.
TEST_F(DerivedTest, Case003AnHourThatIsRerunTwiceIsInTheTotalOnce) {
  PutTotals();
  Clicks(12, 14, 3);
  Settle();
  Clicks(12, 13, 3);
  Settle();
  Clicks(12, 13, 3);
  Settle();
  EXPECT_THAT(Totals(12, 14), ElementsAre(3, 6));
}

TEST_F(DerivedTest, ANewLastPartitionIsAddedAndNothingBeforeItTouched) {
  PutTotals();
  Clicks(12, 14, 3);
  Settle();
  Clicks(14, 15, 4);
  Settle();
  EXPECT_THAT(Runs("totals"), ElementsAre(Done(12, 14), Done(14, 15)));
  EXPECT_THAT(Totals(12, 15), ElementsAre(3, 6, 10));
}

TEST_F(DerivedTest, ARollUpIsRecomputedInWholePartitionsOfItsOwnCalendar) {
  ASSERT_TRUE(
      Put("days", Derived("days", "clicks", "DAY", false), {From("clicks", Mapping::kCovering)})
          .ok());
  Clicks(12, 15, 3);
  Settle();
  const Interval day = *Interval::Parse("2026-07-16/P1D");
  EXPECT_THAT(Runs("days"), ElementsAre(absl::StrCat("DONE ", IntervalsToText({day}))));
  EXPECT_EQ(Events("days", day), 9);
  Clicks(13, 14, 5);
  Settle();
  EXPECT_EQ(Events("days", day), 11);
}

// What comes from a derived table, and from its source, waits for the derived one.
TEST_F(DerivedTest, WhatIsDerivedTwiceOverRunsOnceAndLast) {
  PutTotals();
  ASSERT_TRUE(Put("report", Derived("report", "totals", "DAY", false),
                  {From("totals", Mapping::kCovering), From("clicks", Mapping::kCovering)})
                  .ok());
  Clicks(12, 14, 3);
  Run(absl::Minutes(2));
  const Interval day = *Interval::Parse("2026-07-16/P1D");
  EXPECT_THAT(Runs("totals"), SizeIs(1));
  EXPECT_THAT(Runs("report"), ElementsAre(absl::StrCat("DONE ", IntervalsToText({day}))));
  EXPECT_EQ(Events("report", day), 3 + 6);
}

TEST_F(DerivedTest, ASourceThatChangesUnderARunMakesItNotAppliedAndRunAgain) {
  PutTotals();
  Clicks(12, 13, 3);
  bool changed = false;
  site_.transport().Before([&](const druid::HttpRequest& request) {
    // As its task is posted, somebody else writes the source.
    const bool ours = request.body.find("\"dataSource\":\"totals\"") != std::string::npos;
    if (changed || !ours || request.method != "POST") return;
    changed = true;
    site_.Load(12, 9);
  });
  Settle();
  ASSERT_TRUE(changed);
  ASSERT_THAT(Runs("totals"), ElementsAre(Done(12, 13)));
  Backfills::Filter filter;
  filter.datasource = "totals";
  const std::string id = site_.backfills().List(filter, 0, "")->backfills[0].backfill.id;
  const auto attempts = site_.backfills().ListAttempts(id, 0);
  ASSERT_TRUE(attempts.ok());
  ASSERT_THAT(*attempts, SizeIs(2));
  ASSERT_THAT(attempts->at(0).before.reads, SizeIs(1));
  ASSERT_THAT(attempts->at(1).before.reads, SizeIs(1));
  EXPECT_THAT(attempts->at(0).before.reads[0].ids, SizeIs(1));
  EXPECT_NE(attempts->at(0).before.reads[0].digest, attempts->at(1).before.reads[0].digest);
  EXPECT_THAT(Totals(12, 13), ElementsAre(9));
}

TEST_F(DerivedTest, ASealedPartGoesBesideItAndTheRestIsRecomputed) {
  PutTotals();
  Clicks(12, 16, 3);
  Settle();
  sealed_["totals"] = {HoursOf(13, 15)};
  Clicks(12, 13, 5);
  Settle();
  EXPECT_THAT(corrections_, ElementsAre(HoursOf(13, 15)));
  EXPECT_THAT(Totals(12, 16), ElementsAre(5, 6, 9, 14));
  EXPECT_EQ(Events("totals__corrections", Hour(13)), 8);
  EXPECT_EQ(Events("totals__corrections", Hour(14)), 11);
  EXPECT_THAT(Runs("totals__corrections"), ElementsAre(Done(13, 15)));
}

TEST_F(DerivedTest, WhatIsHeldIsTriedAgainAndASubmitThatWasCutShortIsNotDoneTwice) {
  PutTotals();
  lease::ReserveRequest hold;
  hold.datasource = "totals";
  hold.holder = "bob";
  hold.intervals = {Hour(12)};
  hold.ttl = absl::Minutes(1);
  ASSERT_TRUE(site_.store()
                  .Write([&](store::Transaction& tx) {
                    return lease::Reserve(tx, hold, site_.Caller(), {}).status();
                  })
                  .ok());
  Clicks(12, 13, 3);
  Run(absl::Seconds(40));
  EXPECT_EQ(ReasonOf(last_), "HELD");
  EXPECT_THAT(Runs("totals"), IsEmpty());
  // Whoever reads the table is told that it is behind.
  ASSERT_THAT(Stale(), SizeIs(1));
  EXPECT_EQ(Stale()[0].reason, "RUN_REFUSED");
  EXPECT_THAT(Stale()[0].intervals, ElementsAre(Hour(12)));
  EXPECT_THAT(Stale()[0].message, HasSubstr("held by bob"));
  // The process dies right after it has submitted: it does not know of it any more.
  for (int i = 0; i < 1000 && Runs("totals").empty(); ++i) {
    site_.Pass(absl::Milliseconds(200));
    while (StepDerived()) {
    }
  }
  ASSERT_THAT(Runs("totals"), SizeIs(1));
  ASSERT_TRUE(site_.store()
                  .Write([](store::Transaction& tx) {
                    return tx.Execute("UPDATE derived_run SET backfill_id = ''", {}).status();
                  })
                  .ok());
  site_.Restart();
  Open();
  Settle();
  EXPECT_THAT(Runs("totals"), ElementsAre(Done(12, 13)));
  EXPECT_THAT(Totals(12, 13), ElementsAre(3));
  EXPECT_THAT(Stale(), IsEmpty());
}

TEST_F(DerivedTest, ARunThatFailedLeavesItsChangesToTheNextOne) {
  PutTotals();
  Clicks(12, 13, 3);
  Run(absl::Seconds(8));
  // Whatever it posts is refused for good.
  site_.transport().SpoilBy([](int64_t, const druid::HttpRequest& request) {
    const bool ours = request.body.find("\"dataSource\":\"totals\"") != std::string::npos;
    return ours ? Spoil::kUnreachable : Spoil::kNot;
  });
  Run(absl::Seconds(20));
  ASSERT_THAT(Runs("totals"), SizeIs(1));
  Backfills::Filter filter;
  filter.datasource = "totals";
  const std::string id = site_.backfills().List(filter, 0, "")->backfills[0].backfill.id;
  ASSERT_TRUE(site_.backfills().Cancel(id, site_.Caller()).ok());
  site_.transport().SpoilBy(nullptr);
  Settle();
  EXPECT_THAT(Runs("totals"), SizeIs(1)) << "it is not run again by itself";
  ASSERT_THAT(Stale(), SizeIs(1));
  EXPECT_EQ(Stale()[0].reason, "RUN_FAILED");
  EXPECT_EQ(Stale()[0].backfill_id, id);
  Clicks(13, 14, 4);
  Settle();
  ASSERT_THAT(Runs("totals"), SizeIs(2));
  EXPECT_EQ(Runs("totals")[1], Done(12, 14));
  EXPECT_THAT(Totals(12, 14), ElementsAre(3, 7));
  EXPECT_THAT(Stale(), IsEmpty());
}

TEST_F(DerivedTest, ARunThatAPersonMendedIsRun) {
  PutTotals();
  site_.transport().SpoilBy([](int64_t, const druid::HttpRequest& request) {
    const bool ours = request.body.find("\"dataSource\":\"totals\"") != std::string::npos;
    return ours ? Spoil::kUnreachable : Spoil::kNot;
  });
  Clicks(12, 13, 3);
  Run(absl::Seconds(28));
  Backfills::Filter filter;
  filter.datasource = "totals";
  const std::string id = site_.backfills().List(filter, 0, "")->backfills.at(0).backfill.id;
  ASSERT_TRUE(site_.backfills().Cancel(id, site_.Caller()).ok());
  Run(absl::Seconds(10));
  ASSERT_THAT(Stale(), SizeIs(1));
  site_.transport().SpoilBy(nullptr);
  ASSERT_TRUE(site_.backfills().Retry(id, {}, {}, site_.Caller()).ok());
  Run(kDriftLook + absl::Minutes(1));
  EXPECT_THAT(Runs("totals"), ElementsAre(Done(12, 13)));
  EXPECT_THAT(Stale(), IsEmpty());
}

TEST_F(DerivedTest, ARollbackOfTheSourceIsAChangeToo) {
  PutTotals();
  Clicks(12, 13, 3);
  Settle();
  const std::string id = Clicks(12, 13, 8);
  Settle();
  EXPECT_THAT(Totals(12, 13), ElementsAre(8));
  const auto reply = site_.backfills().Rollback(id, {}, site_.Caller());
  ASSERT_TRUE(reply.ok()) << reply.status();
  Settle();
  EXPECT_THAT(Totals(12, 13), ElementsAre(3));
}

TEST_F(DerivedTest, CyclesAreRefusedAndDependentsTold) {
  PutTotals();
  ASSERT_TRUE(
      Put("days", Derived("days", "totals", "DAY", false), {From("totals", Mapping::kCovering)})
          .ok());
  const auto cycle =
      Put("clicks", Derived("clicks", "days", "HOUR", false), {From("days", Mapping::kSame)});
  EXPECT_EQ(ReasonOf(cycle.status()), "CYCLE");
  EXPECT_EQ(MetadataOf(cycle.status())["way"], "clicks ← days ← totals ← clicks");
  Jobs jobs(site_.store(), site_.cluster());
  EXPECT_THAT(jobs.GetJob({"totals", 0})->dependents, ElementsAre("days"));
  EXPECT_EQ(jobs.GetJob({"totals", 0})->job.sources,
            (std::vector<Source>{From("clicks", Mapping::kFromStart)}));
  // A version that comes from elsewhere ends what the one before depended on.
  ASSERT_TRUE(
      Put("days", Derived("days", "clicks", "DAY", false), {From("clicks", Mapping::kCovering)})
          .ok());
  EXPECT_THAT(jobs.GetJob({"totals", 0})->dependents, IsEmpty());
}

}  // namespace
}  // namespace interlock::backfill
