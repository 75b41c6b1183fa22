// Retention policies: what is old enough, what one run may take, what it asks about, and
// what it leaves alone.
#include "lib/drop/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/drop/drop_site.h"

namespace interlock::drop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

RetentionPolicy Policy(const std::string& age = "P30D") {
  RetentionPolicy policy;
  policy.name = "month";
  policy.datasource_pattern = "cli*";
  policy.age = Period::Parse(age).value();
  policy.max_share = 1;
  return policy;
}

TEST(RetentionPolicy, IsCheckedFieldByField) {
  const Options options;
  EXPECT_TRUE(CheckPolicy(Policy(), options).ok());
  const auto reason = [&](auto change) {
    RetentionPolicy policy = Policy();
    change(policy);
    return ReasonOf(CheckPolicy(policy, options));
  };
  EXPECT_EQ(reason([](auto& p) { p.name = ""; }), "INVALID_NAME");
  EXPECT_EQ(reason([](auto& p) { p.name = "a/b"; }), "INVALID_NAME");
  EXPECT_EQ(reason([](auto& p) { p.name = std::string(129, 'a'); }), "INVALID_NAME");
  EXPECT_EQ(reason([](auto& p) { p.datasource_pattern = ""; }), "INVALID_PATTERN");
  EXPECT_EQ(reason([](auto& p) { p.age = Period(); }), "INVALID_PERIOD");
  EXPECT_EQ(reason([](auto& p) { p.age = Period::Days(-1); }), "INVALID_PERIOD");
  EXPECT_EQ(reason([](auto& p) { p.schedule = Period::Seconds(59); }), "INVALID_PERIOD");
  EXPECT_EQ(reason([](auto& p) { p.time_zone = "Mars/Base"; }), "INVALID_PERIOD");
  EXPECT_EQ(reason([](auto& p) { p.window = absl::Minutes(59); }), "WINDOW_TOO_SHORT");
  EXPECT_EQ(reason([](auto& p) { p.window = absl::Hours(24 * 366); }), "WINDOW_TOO_LONG");
  EXPECT_EQ(reason([](auto& p) { p.floor = absl::Hours(24 * 13); }), "FLOOR_TOO_LOW");
  EXPECT_EQ(reason([](auto& p) { p.max_segments = 0; }), "INVALID_CAP");
  EXPECT_EQ(reason([](auto& p) { p.max_bytes = -1; }), "INVALID_CAP");
  EXPECT_EQ(reason([](auto& p) { p.max_share = 1.5; }), "INVALID_CAP");
}

TEST(RetentionPolicy, CountsItsAgeOnTheCalendarAndNeverGoesBelowTheFloor) {
  Options options;
  RetentionPolicy policy = Policy("P1M");
  EXPECT_EQ(OldBefore(policy, "clicks", options, At("2026-03-31T12:00Z")), At("2026-02-28T12:00Z"));
  policy.age = Period::Days(1);
  EXPECT_EQ(OldBefore(policy, "clicks", options, At("2026-03-31T12:00Z")), At("2026-03-17T12:00Z"))
      << "the floor of 14 days holds";
  options.datasource_floors = {{"clicks", absl::Hours(24 * 100)}};
  EXPECT_EQ(OldBefore(policy, "clicks", options, At("2026-04-11T12:00Z")), At("2026-01-01T12:00Z"));
  // A day with a change of the clocks has 23 hours.
  policy = Policy("P20D");
  policy.time_zone = "Europe/Zurich";
  EXPECT_EQ(OldBefore(policy, "x", options, At("2026-04-10T12:00Z")), At("2026-03-21T13:00Z"));
}

TEST(RetentionPolicy, RunsBySteps) {
  const RetentionPolicy policy = Policy();
  EXPECT_EQ(NextRun(policy, At("2026-03-01T05:00Z"), At("2026-03-01T05:10Z")),
            At("2026-03-02T05:00Z"));
  EXPECT_EQ(NextRun(policy, At("2026-03-01T05:00Z"), At("2026-03-09T07:00Z")),
            At("2026-03-10T07:00Z"))
      << "not eight times after eight days";
}

TEST(RetentionPolicy, TakesTheOldestUpToTheLimitsOfADrop) {
  OldData old;
  old[Of("2026-01-01/2026-01-02")] = {6'000, 10};
  old[Of("2026-01-02/2026-01-03")] = {3'000, 20};
  Share share = OldestOf(old);
  EXPECT_THAT(share.intervals, ElementsAre(Of("2026-01-01/2026-01-03")));
  EXPECT_EQ(share.segments, 9'000);
  EXPECT_TRUE(share.all);
  old[Of("2026-02-02/2026-02-03")] = {2'000, 40};
  share = OldestOf(old);
  EXPECT_EQ(share.segments, 9'000);
  EXPECT_FALSE(share.all);
  Exclude({Of("2026-01-01T05:00Z/2026-01-01T06:00Z")}, old);
  EXPECT_THAT(old, SizeIs(2)) << "whole intervals are left alone";
}

TEST(RetentionPolicy, HasCapsOnSegmentsBytesAndShare) {
  RetentionPolicy policy = Policy();
  policy.max_segments = 10;
  policy.max_bytes = 1'000;
  policy.max_share = 0.5;
  EXPECT_EQ(CapReached(policy, {4, 500}, {{}, 6, 500, true}, 1'000), "");
  EXPECT_THAT(CapReached(policy, {4, 0}, {{}, 7, 1, true}, 1'000), HasSubstr("11 segments"));
  EXPECT_THAT(CapReached(policy, {0, 501}, {{}, 1, 500, true}, 1'000), HasSubstr("1001 bytes"));
  EXPECT_THAT(CapReached(policy, {}, {{}, 1, 501, true}, 1'000), HasSubstr("0.501"));
  EXPECT_THAT(CapReached(policy, {}, {{}, 1, 1, false}, 0), HasSubstr("or more"));
}

class RetentionRunTest : public ::testing::Test {
 protected:
  // Three hours of 2026-07-16, 35 days old; and one of another datasource.
  RetentionRunTest() {
    site_.Load(12, 15, 1);
    site_.Load(12, 13, 1, "orders");
  }
  RetentionPolicy Put(const RetentionPolicy& policy) {
    const auto put = site_.retention().Put(policy, site_.Ada());
    EXPECT_TRUE(put.ok()) << put.status();
    return put.ok() ? *put : RetentionPolicy();
  }
  RetentionPolicy Stored() {
    const auto page = site_.retention().List(0, "");
    EXPECT_TRUE(page.ok()) << page.status();
    return page.ok() && !page->policies.empty() ? page->policies.front() : RetentionPolicy();
  }
  std::vector<Drop> Drops() {
    const auto page = site_.drops().List({}, 0, "");
    EXPECT_TRUE(page.ok()) << page.status();
    return page.ok() ? page->drops : std::vector<Drop>();
  }

  DropSite site_;
};

TEST_F(RetentionRunTest, DropsWhatIsOldEnoughAndNothingElse) {
  Put(Policy());
  site_.RunFor(absl::Minutes(1));
  ASSERT_THAT(Drops(), SizeIs(1));
  const Drop drop = Drops().front();
  EXPECT_EQ(drop.state, State::kMarked) << drop.message;
  EXPECT_EQ(drop.datasource, "clicks");
  EXPECT_EQ(drop.retention_policy, "month");
  EXPECT_EQ(drop.requested_by, "ada");
  EXPECT_THAT(drop.intervals, ElementsAre(Of("2026-07-16T12:00Z/2026-07-16T15:00Z")));
  EXPECT_THAT(Stored().run_message, HasSubstr(drop.id));
  EXPECT_THAT(site_.UsedIds("orders"), SizeIs(1)) << "its name does not fit";
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
  site_.RunFor(absl::Hours(72));
  EXPECT_THAT(Drops(), SizeIs(1)) << "later runs found nothing old enough";
  EXPECT_THAT(Stored().run_message, HasSubstr("nothing old enough"));
}

TEST_F(RetentionRunTest, LeavesYoungerData) {
  Put(Policy("P36D"));
  site_.RunFor(absl::Minutes(1));
  EXPECT_THAT(Drops(), IsEmpty());
  site_.RunFor(absl::Hours(49));
  EXPECT_THAT(Drops(), SizeIs(1)) << "it has grown old enough since";
}

TEST_F(RetentionRunTest, BeyondACapItAsksAndMarksNothingUntilAPersonAgrees) {
  RetentionPolicy policy = Policy();
  policy.max_segments = 2;
  Put(policy);
  site_.RunFor(absl::Hours(50));
  ASSERT_THAT(Drops(), SizeIs(1)) << "it asks once, not with every run";
  const Drop drop = Drops().front();
  EXPECT_EQ(drop.state, State::kAwaitingApproval);
  EXPECT_EQ(drop.hold, kCapReached);
  EXPECT_THAT(drop.message, HasSubstr("3 segments, its cap is 2"));
  EXPECT_EQ(drop.reservation_id, "") << "it holds no time while it asks";
  EXPECT_THAT(site_.UsedIds(), SizeIs(3));
  EXPECT_EQ(ReasonOf(site_.drops().Extend(drop.id, absl::Hours(1), {"bob", "", "later"}).status()),
            "NOT_MARKED");
  ASSERT_TRUE(site_.drops().Approve(drop.id, "", false, {"bob", "", "looks right"}).ok());
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
  EXPECT_EQ(site_.Now(drop.id).approved_by, "bob");
  EXPECT_THAT(site_.UsedIds(), IsEmpty());
}

TEST_F(RetentionRunTest, AnApprovalToBeginIsNoneOfTheKill) {
  RetentionPolicy policy = Policy();
  policy.max_share = 0.5;
  policy.approval = true;
  Put(policy);
  site_.RunFor(absl::Minutes(1));
  const std::string id = Drops().front().id;
  EXPECT_EQ(ReasonOf(site_.drops().Approve(id, "", false, site_.Ada()).status()), "OWN_DROP");
  ASSERT_TRUE(site_.drops().Approve(id, "", false, {"bob", "", "fine"}).ok());
  ASSERT_TRUE(site_.RunTo(id, State::kMarked));
  ASSERT_TRUE(site_.RunTo(id, State::kAwaitingApproval));
  EXPECT_THAT(site_.UnusedIds(), SizeIs(3));
  ASSERT_TRUE(site_.drops().Approve(id, "", false, {"bob", "", "still"}).ok());
  ASSERT_TRUE(site_.RunTo(id, State::kKilled));
}

TEST_F(RetentionRunTest, WhatAPersonGaveUpOrBroughtBackIsLeftAloneUntilThePolicyIsStoredAnew) {
  RetentionPolicy policy = Policy();
  policy.max_segments = 2;
  Put(policy);
  site_.RunFor(absl::Minutes(1));
  ASSERT_TRUE(site_.drops().Cancel(Drops().front().id, site_.Ada()).ok());
  site_.RunFor(absl::Hours(48));
  EXPECT_THAT(Drops(), SizeIs(1));
  EXPECT_THAT(site_.UsedIds(), SizeIs(3));
  EXPECT_THAT(Stored().run_message, HasSubstr("is left alone")) << "some is old enough";

  policy.max_segments = 100;
  Put(policy);
  site_.RunFor(absl::Minutes(1));
  ASSERT_THAT(Drops(), SizeIs(2));
  const std::string id = Drops().front().id;
  ASSERT_EQ(site_.Now(id).state, State::kMarked);
  ASSERT_TRUE(site_.drops().Restore(id, site_.Ada()).ok());
  ASSERT_TRUE(site_.RunTo(id, State::kRestored));
  site_.RunFor(absl::Hours(48));
  EXPECT_THAT(Drops(), SizeIs(2)) << "a policy does not fight with people";
  EXPECT_THAT(site_.UsedIds(), SizeIs(3));
}

TEST_F(RetentionRunTest, ADryRunOnlySaysWhatItWouldDo) {
  RetentionPolicy policy = Policy();
  policy.dry_run = true;
  Put(policy);
  site_.RunFor(absl::Minutes(1));
  EXPECT_THAT(Drops(), IsEmpty());
  EXPECT_THAT(Stored().run_message, HasSubstr("would drop 3 segments"));
}

TEST_F(RetentionRunTest, APreviewPlansAndStoresNothing) {
  const auto plans = site_.retention().Preview(Policy());
  ASSERT_TRUE(plans.ok()) << plans.status();
  ASSERT_THAT(*plans, SizeIs(1));
  EXPECT_EQ(plans->front().visible_count(), 3);
  EXPECT_THAT(plans->front().blockers, IsEmpty());
  RetentionPolicy tight = Policy();
  tight.max_segments = 1;
  EXPECT_EQ(site_.retention().Preview(tight)->front().blockers.front().reason, kCapReached);
  EXPECT_THAT(Drops(), IsEmpty());
  EXPECT_THAT(site_.retention().List(0, "")->policies, IsEmpty());
}

TEST_F(RetentionRunTest, AReservationOfAnothersIsSaidAndTriedAgainWithTheNextRun) {
  lease::ReserveRequest request;
  request.datasource = "clicks";
  request.intervals = {Of("2026-07-16T13:00Z/2026-07-16T14:00Z")};
  request.holder = "airflow";
  request.ttl = absl::Hours(2);
  ASSERT_TRUE(site_.store()
                  .Write([&](store::Transaction& tx) {
                    return lease::Reserve(tx, request, {"airflow", "", ""}).status();
                  })
                  .ok());
  Put(Policy());
  site_.RunFor(absl::Minutes(1));
  EXPECT_THAT(Drops(), IsEmpty());
  EXPECT_THAT(Stored().run_message, HasSubstr("airflow"));
  site_.RunFor(absl::Hours(25));
  EXPECT_THAT(Drops(), SizeIs(1));
}

// Killed anywhere in a run, it makes each drop once.
TEST_F(RetentionRunTest, ARunThatIsKilledMakesNothingTwice) {
  for (int n = 1; n < 60; ++n) {
    SCOPED_TRACE(n);
    DropSite site;
    site.Load(12, 15, 1);
    RetentionPolicy policy = Policy();
    ASSERT_TRUE(site.retention().Put(policy, site.Ada()).ok());
    int exchange = 0;
    site.after_reply = [&](const druid::HttpRequest&) {
      if (++exchange == n) throw Crash();
    };
    site.RunFor(absl::Hours(2));
    const auto page = site.drops().List({}, 0, "");
    ASSERT_THAT(page->drops, SizeIs(1));
    ASSERT_EQ(page->drops.front().state, State::kMarked) << page->drops.front().message;
    if (exchange < n) return;
  }
  ADD_FAILURE() << "the walk never ends";
}

TEST_F(RetentionRunTest, APolicyThatIsTakenAwayRunsNoMoreAndItsDropsStay) {
  Put(Policy());
  site_.RunFor(absl::Minutes(1));
  ASSERT_TRUE(site_.retention().Delete("month", site_.Ada("d1")).ok());
  EXPECT_TRUE(site_.retention().Delete("month", site_.Ada("d1")).ok()) << "the same call again";
  EXPECT_EQ(ReasonOf(site_.retention().Delete("month", site_.Ada())), "UNKNOWN_RETENTION_POLICY");
  ASSERT_TRUE(site_.RunTo(Drops().front().id, State::kKilled));
}

TEST_F(RetentionRunTest, PoliciesAreListedByNameInPages) {
  for (const char* name : {"b", "a", "c"}) {
    RetentionPolicy policy = Policy();
    policy.name = name;
    policy.dry_run = true;
    Put(policy);
  }
  const auto first = site_.retention().List(2, "");
  ASSERT_THAT(first->policies, SizeIs(2));
  EXPECT_EQ(first->policies.front().name, "a");
  const auto second = site_.retention().List(2, first->next);
  ASSERT_THAT(second->policies, SizeIs(1));
  EXPECT_EQ(second->policies.front().name, "c");
  EXPECT_EQ(second->next, "");
}

}  // namespace
}  // namespace interlock::drop
