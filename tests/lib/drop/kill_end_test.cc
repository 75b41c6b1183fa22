// Kill tasks that hang, that wait, that are cancelled: how each comes to an end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "lib/drop/kill.h"
#include "tests/lib/drop/kill_fixture.h"

namespace interlock::drop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(DropKillTest, ATaskThatWaitsTooLongIsShutDownAndCheckedAnew) {
  DropSite site;
  const Drop drop = HourMarked(site);
  ASSERT_TRUE(
      site.RunUntil(drop.id, [](const Drop& now) { return now.state == State::kChecking; }));
  // Slots: none is free, so the kill stays PENDING.
  for (int i = 0; i < 3; ++i) {
    const auto noop =
        site.cluster().SubmitTask(druid::NoopTask(absl::StrCat("busy-", i), 15 * 60'000));
    ASSERT_TRUE(noop.done()) << noop.text();
  }
  ASSERT_TRUE(site.RunUntil(drop.id, [](const Drop& now) { return Ended(now.state); }));
  const auto detail = site.drops().GetDetail(drop.id);
  EXPECT_EQ(detail->drop.state, State::kKilled) << detail->drop.message;
  ASSERT_GT(detail->kills.size(), 1u);
  EXPECT_TRUE(detail->kills[0].shutdown_asked);
  EXPECT_EQ(detail->kills[0].failure, kKillWaitedTooLong);
  EXPECT_FALSE(detail->kills[0].running.has_value());
  EXPECT_EQ(detail->kills.back().outcome, "SUCCESS");
  EXPECT_THAT(site.Sent("/shutdown"), Not(IsEmpty()));
}

// Cases 78 and 79: Druid shows it as RUNNING for ever. Counted from when it began to run.
TEST_F(DropKillTest, Case079ATaskThatRunsForEverIsSaidShutDownAndTriedAgain) {
  DropSite site;
  const Drop drop = HourMarked(site);
  Stick(site, 1);
  ASSERT_TRUE(site.RunTo(drop.id, State::kKilling));
  site.RunFor(absl::Minutes(30));
  EXPECT_EQ(site.Now(drop.id).state, State::kKilling) << "30 minutes are none too many";
  EXPECT_THAT(site.Now(drop.id).message, HasSubstr("RUNNING since 2026-"));
  EXPECT_THAT(site.Now(drop.id).message, HasSubstr("1 segment over 2026-07-16T13"));
  EXPECT_THAT(OpenKillSince(site), SizeIs(1));
  EXPECT_THAT(site.Sent("/shutdown"), IsEmpty());
  ASSERT_TRUE(site.RunTo(drop.id, State::kKilled));
  const auto detail = site.drops().GetDetail(drop.id);
  ASSERT_THAT(detail->kills, SizeIs(2));
  EXPECT_EQ(detail->kills[0].failure, kKillRanTooLong);
  EXPECT_GE(*detail->kills[0].ended - *detail->kills[0].running, absl::Hours(2));
  EXPECT_LE(*detail->kills[0].ended - *detail->kills[0].running, absl::Hours(2) + absl::Minutes(1));
  EXPECT_THAT(site.kill_failures, ElementsAre(kKillRanTooLong));
  EXPECT_THAT(OpenKillSince(site), IsEmpty());
}

TEST_F(DropKillTest, ATaskThatRunsForEverEachTimeIsGivenUpWithWhatIsLeft) {
  DropSite site;
  site.options().kill_run_deadline = absl::Minutes(5);
  site.Restart();
  const Drop drop = HourMarked(site);
  Stick(site, 0);
  ASSERT_TRUE(site.RunTo(drop.id, State::kFailed));
  EXPECT_THAT(KillsSent(site), SizeIs(kMaxKillFailures));
  EXPECT_EQ(site.Now(drop.id).hold, kKillFailed);
  EXPECT_THAT(site.Now(drop.id).message, HasSubstr("1 segment is left"));
}

TEST_F(DropKillTest, CancelShutsDownATaskThatHangsAndReadsWhatItLeft) {
  DropSite site;
  const Drop drop = HourMarked(site);
  Stick(site, 1);
  ASSERT_TRUE(site.RunTo(drop.id, State::kKilling));
  site.RunFor(absl::Minutes(1));
  const auto cancelled = site.drops().Cancel(drop.id, site.Ada("", "wrong hour"));
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_THAT(cancelled->message, HasSubstr("shut down"));
  ASSERT_TRUE(site.RunTo(drop.id, State::kCancelled, absl::Minutes(1)));
  const auto detail = site.drops().GetDetail(drop.id);
  EXPECT_EQ(detail->kills.front().outcome, "FAILED");
  EXPECT_EQ(detail->kills.front().failure, kKillCancelled);
  EXPECT_THAT(detail->drop.message, HasSubstr("1 segment is left, marked unused"));
  EXPECT_EQ(detail->drop.revivable, 1);
  EXPECT_THAT(site.kill_failures, IsEmpty()) << "a person wanted it";
  EXPECT_THAT(Failures(site), IsEmpty());
  ASSERT_TRUE(site.drops().Restore(drop.id, site.Ada()).ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kRestored));
}

TEST_F(DropKillTest, ATaskThatDoesNotStopIsAskedAgainAndThatIsSaid) {
  DropSite site;
  const Drop drop = HourMarked(site);
  Stick(site, 1);
  // Each shutdown is answered and none has an effect (case 72).
  ASSERT_TRUE(site.druid()
                  .AddFault(R"({"match":{"path":"*/shutdown","method":"POST"},"times":3,)"
                            R"("kind":"status","status":200,"body":"{}"})")
                  .ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kKilling));
  ASSERT_TRUE(site.drops().Cancel(drop.id, site.Ada()).ok());
  site.RunFor(absl::Seconds(20));
  EXPECT_EQ(site.Now(drop.id).state, State::kKilling);
  EXPECT_THAT(site.Now(drop.id).message, HasSubstr("was asked to stop"));
  EXPECT_THAT(site.Sent("/shutdown"), SizeIs(1)) << "not with every look";
  ASSERT_TRUE(site.RunTo(drop.id, State::kCancelled, absl::Minutes(5)));
}

// The reply to the kill's post is lost, and so is the kill: it is not sent again only to be
// shut down. Its id is taken, so that it cannot begin late either.
TEST_F(DropKillTest, CancelOfAPostWithoutAnAnswerHasItNeverBegin) {
  DropSite site;
  const Drop drop = HourMarked(site);
  LoseKillPost(site, DropSite::Fate::kTimesOutBefore);
  ASSERT_TRUE(site.RunTo(drop.id, State::kKilling));
  ASSERT_THAT(KillsSent(site), IsEmpty());
  ASSERT_TRUE(site.drops().Cancel(drop.id, site.Ada("", "wrong hour")).ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kCancelled, absl::Minutes(5)));
  EXPECT_THAT(KillsSent(site), IsEmpty());
  EXPECT_THAT(site.Sent("/shutdown"), IsEmpty());
  const auto detail = site.drops().GetDetail(drop.id);
  ASSERT_THAT(detail->kills, SizeIs(1));
  EXPECT_EQ(detail->kills[0].outcome, "") << "Druid has said nothing of it";
  EXPECT_EQ(detail->kills[0].failure, kKillCancelled);
  EXPECT_THAT(Failures(site), IsEmpty());
  EXPECT_THAT(OpenKillSince(site), IsEmpty());
  // The post that was lost comes after all.
  const auto late = site.cluster().SubmitTask(detail->kills[0].json);
  EXPECT_EQ(late.cause(), druid::Cause::kAlreadyExists) << late.text();
  site.Pass(absl::Minutes(1));
  EXPECT_THAT(site.UnusedIds(), SizeIs(1)) << "nothing was killed";
  ASSERT_TRUE(site.drops().Restore(drop.id, site.Ada()).ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kRestored));
}

// As above, and this time Druid has it: it is found by its id, and shut down.
TEST_F(DropKillTest, CancelOfAPostWithoutAnAnswerFindsTheTaskThatIsThereAndShutsItDown) {
  DropSite site;
  const Drop drop = HourMarked(site);
  Stick(site, 1);
  LoseKillPost(site, DropSite::Fate::kTimesOutAfter);
  ASSERT_TRUE(site.RunTo(drop.id, State::kKilling));
  ASSERT_TRUE(site.drops().Cancel(drop.id, site.Ada("", "wrong hour")).ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kCancelled, absl::Minutes(5)));
  EXPECT_THAT(KillsSent(site), SizeIs(1));
  EXPECT_THAT(site.Sent("/shutdown"), SizeIs(1));
  EXPECT_EQ(site.drops().GetDetail(drop.id)->kills[0].outcome, "FAILED");
  EXPECT_THAT(site.UnusedIds(), SizeIs(1));
}

// The reply to what takes the id is lost as well: it is known again by its own nonce.
TEST_F(DropKillTest, WhatTookTheIdIsNeverTakenForTheKill) {
  DropSite site;
  const Drop drop = HourMarked(site);
  LoseKillPost(site, DropSite::Fate::kTimesOutBefore);
  ASSERT_TRUE(site.RunTo(drop.id, State::kKilling));
  ASSERT_TRUE(site.drops().Cancel(drop.id, site.Ada()).ok());
  LosePost(site, R"("type":"noop")", DropSite::Fate::kTimesOutAfter);
  ASSERT_TRUE(site.RunTo(drop.id, State::kCancelled, absl::Minutes(5)));
  EXPECT_THAT(KillsSent(site), IsEmpty());
  EXPECT_THAT(site.UnusedIds(), SizeIs(1));
}

}  // namespace
}  // namespace interlock::drop
