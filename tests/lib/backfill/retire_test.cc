// What a backfill replaced is marked unused by us: after the window, by id, and nothing else.
#include "lib/backfill/retire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "lib/lease/reservations.h"
#include "tests/lib/backfill/backfill_site.h"

namespace interlock::backfill {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kWindow = absl::Hours(1);

Options Retiring(bool retire = true) {
  Options options = BackfillSite::SiteOptions();
  options.rollback_window = kWindow;
  options.retire = retire;
  return options;
}

class RetireTest : public testing::Test {
 protected:
  explicit RetireTest(Options options = Retiring()) : site_(std::move(options)) {}

  std::string Done(const std::string& spec) {
    const std::string id = site_.Submit(spec);
    EXPECT_EQ(NameOf(site_.RunUntilOver(id).backfill.phase), "DONE");
    return id;
  }
  // Time passes, and what is due is done.
  void Run(absl::Duration duration) {
    for (absl::Duration gone; gone < duration; gone += absl::Seconds(20)) {
      site_.Pass(absl::Seconds(20));
      while (site_.StepOnce()) {
      }
    }
  }
  std::vector<std::string> Ids(int hour, bool hidden) {
    const auto used = site_.cluster().ListUsedSegments("clicks", {Hour(hour)});
    const auto timeline = druid::Timeline::Of(used.value());
    std::vector<std::string> ids;
    for (const druid::Segment& segment : hidden ? timeline.Hidden() : timeline.segments()) {
      ids.push_back(segment.id);
    }
    return ids;
  }
  std::vector<Retirement> Retirements(const std::string& id) {
    std::vector<Retirement> all;
    EXPECT_TRUE(site_.store()
                    .Read([&](store::Transaction& tx) {
                      auto read = ReadRetirements(tx, id);
                      if (read.ok()) all = *read;
                      return read.status();
                    })
                    .ok());
    return all;
  }
  std::string Step(const std::string& id) {
    const auto all = Retirements(id);
    return all.empty() ? "" : std::string(NameOf(all.front().step));
  }
  void CountMarks() {
    site_.transport().SpoilBy([this](int64_t, const druid::HttpRequest& request) {
      marks_ += absl::StrContains(request.url, "markUnused") ? 1 : 0;
      return Spoil::kNot;
    });
  }

  BackfillSite site_;
  int marks_ = 0;
};

class NotRetiringTest : public RetireTest {
 protected:
  NotRetiringTest() : RetireTest(Retiring(false)) {}
};

TEST_F(RetireTest, WhatWasReplacedIsMarkedAfterTheWindowAndNothingElse) {
  site_.Load(13, 5);
  site_.Load(14, 5);
  const std::string next_door = site_.Version(14);
  const std::string id = Done(BackfillSite::InlineSpec(13, 14, 8));
  CountMarks();
  Run(kWindow - absl::Minutes(1));
  EXPECT_EQ(marks_, 0) << "it can still be rolled back";
  EXPECT_EQ(Step(id), "");
  const auto hidden = Ids(13, /*hidden=*/true);
  Run(absl::Minutes(3));
  EXPECT_EQ(Step(id), "DONE");
  EXPECT_THAT(Ids(13, /*hidden=*/true), IsEmpty());
  EXPECT_THAT(Ids(13, /*hidden=*/false), SizeIs(1));
  EXPECT_EQ(site_.Rows(13), 8);
  EXPECT_EQ(site_.Version(14), next_door);
  EXPECT_EQ(site_.Partitions(id)[0].proof->level, "RETIRED");
  EXPECT_THAT(site_.Held(Hour(13)), IsEmpty());
  ASSERT_THAT(hidden, SizeIs(1)) << "Druid's duty had not come";
  EXPECT_EQ(marks_, 1);
  const auto unused = site_.cluster().ListUnusedSegments("clicks", Hour(13));
  EXPECT_THAT(unused.value(), SizeIs(1)) << "marked, and not killed";
}

TEST_F(RetireTest, DruidsOwnDutyComingFirstIsAsGood) {
  site_.Load(13, 5);
  const std::string id = Done(BackfillSite::InlineSpec(13, 14, 8));
  const auto hidden = Ids(13, /*hidden=*/true);
  ASSERT_TRUE(site_.cluster().MarkUnused("clicks", hidden).done());
  CountMarks();
  Run(kWindow + absl::Minutes(2));
  EXPECT_EQ(Step(id), "DONE");
  EXPECT_EQ(marks_, 0) << "marking again would re-date it";
  EXPECT_EQ(site_.Partitions(id)[0].proof->level, "RETIRED");
}

TEST_F(RetireTest, WaitsForWhoeverHoldsTheTime) {
  site_.Load(13, 5);
  const std::string id = Done(BackfillSite::InlineSpec(13, 14, 8));
  const auto old = Ids(13, /*hidden=*/true);
  ASSERT_THAT(old, SizeIs(1));
  lease::Grant grant;
  ASSERT_TRUE(site_.store()
                  .Write([&](store::Transaction& tx) {
                    lease::ReserveRequest request;
                    request.datasource = "clicks";
                    request.intervals = {Hour(13)};
                    request.holder = "bob";
                    request.ttl = kWindow + absl::Minutes(10);
                    auto granted = lease::Reserve(tx, request, site_.Caller());
                    if (granted.ok()) grant = *granted;
                    return granted.status();
                  })
                  .ok());
  CountMarks();
  Run(kWindow + absl::Minutes(3));
  EXPECT_EQ(marks_, 0);
  EXPECT_EQ(Step(id), "MARK");
  Run(absl::Minutes(10));
  EXPECT_EQ(Step(id), "DONE");
}

TEST_F(RetireTest, WhatQueriesReadAgainIsLeftAlone) {
  site_.Load(13, 5);
  const std::string id = Done(BackfillSite::InlineSpec(13, 14, 8));
  const auto all = Ids(13, /*hidden=*/false);
  const auto old = Ids(13, /*hidden=*/true);
  ASSERT_THAT(old, SizeIs(1));
  // Somebody takes the new one away, past Interlock.
  for (const std::string& segment : all) {
    if (segment == old[0]) continue;
    ASSERT_TRUE(site_.cluster().MarkUnused("clicks", {segment}).done());
  }
  CountMarks();
  Run(kWindow + absl::Minutes(2));
  EXPECT_EQ(marks_, 0);
  EXPECT_EQ(Step(id), "LEFT");
  EXPECT_THAT(Retirements(id)[0].message, HasSubstr("read by queries"));
  EXPECT_EQ(site_.Rows(13), 5);
  EXPECT_THAT(site_.Held(Hour(13)), IsEmpty());
}

TEST_F(RetireTest, ALostReplyAndARestartLoseNothing) {
  site_.Load(13, 5);
  const std::string id = Done(BackfillSite::InlineSpec(13, 14, 8));
  ASSERT_THAT(Ids(13, /*hidden=*/true), SizeIs(1));
  site_.transport().SpoilBy([this](int64_t, const druid::HttpRequest& request) {
    if (!absl::StrContains(request.url, "markUnused") || ++marks_ > 1) return Spoil::kNot;
    return Spoil::kLostAfter;
  });
  Run(kWindow);
  site_.Pass(absl::Seconds(1));
  while (marks_ == 0 && site_.StepOnce()) {
  }
  EXPECT_EQ(marks_, 1);
  site_.Restart();
  Run(absl::Minutes(3));
  EXPECT_EQ(Step(id), "DONE");
  EXPECT_EQ(marks_, 1) << "the effect was read, so that it was not sent again";
  EXPECT_THAT(site_.Held(Hour(13)), IsEmpty());
}

TEST_F(RetireTest, ABackfillAtLevelRetiredIsDoneOnceDruidHasRetiredTheOldVersion) {
  site_.Load(13, 5);
  BackfillRequest request;
  request.spec = BackfillSite::InlineSpec(13, 14, 8);
  request.level = verify::Level::kRetired;
  const auto submitted = site_.backfills().Submit(request, site_.Caller());
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  const std::string& id = submitted->backfill.id;
  Run(absl::Minutes(2));
  ASSERT_THAT(Ids(13, /*hidden=*/true), SizeIs(1));
  EXPECT_EQ(NameOf(site_.Partitions(id)[0].state), "PROVING");
  EXPECT_EQ(site_.Partitions(id)[0].reason, "NOT_RETIRED");
  ASSERT_TRUE(site_.cluster().MarkUnused("clicks", Ids(13, /*hidden=*/true)).done());
  EXPECT_EQ(NameOf(site_.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_EQ(site_.Partitions(id)[0].proof->level, "RETIRED");
}

TEST_F(NotRetiringTest, NothingIsMarkedUnlessItIsConfigured) {
  site_.Load(13, 5);
  const std::string id = Done(BackfillSite::InlineSpec(13, 14, 8));
  CountMarks();
  Run(kWindow + absl::Minutes(3));
  EXPECT_EQ(marks_, 0);
  EXPECT_THAT(Retirements(id), IsEmpty());
}

}  // namespace
}  // namespace interlock::backfill
