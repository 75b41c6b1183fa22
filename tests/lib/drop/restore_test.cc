// Restores: by the ids of the drop and no others, and proven by their own time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/time/status_reason.h"
#include "tests/lib/drop/kill_fixture.h"

namespace interlock::drop {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// Case 56: both forms of a mark's body are judged invalid by Druid; ids alone are not.
TEST_F(DropKillTest, Case056MarksByIdsAloneAndNeverByAnEmptyList) {
  DropSite site;
  site.Load(12, 15, 1);
  const Drop drop = Marked(site, kHour13);
  ASSERT_TRUE(site.drops().Restore(drop.id, site.Ada()).ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kRestored));
  const auto marks = site.Sent("/mark");
  ASSERT_THAT(marks, SizeIs(2));
  EXPECT_THAT(marks, Each(HasSubstr(R"("segmentIds":["clicks_)")));
  EXPECT_THAT(marks, Each(Not(HasSubstr("interval"))));
}

// Case 61: an undo by interval revives old generations too.
TEST_F(DropKillTest, Case061RestoresTheIdsOfTheDropAndNoOthers) {
  DropSite site;
  site.Load(13, 14, 1);
  const std::string old = site.UsedIds()[0];
  site.Load(13, 14, 5);
  site.Mark(old, false);
  const auto used = site.UsedIds();
  const Drop drop = Marked(site, kHour13);
  ASSERT_TRUE(site.drops().Restore(drop.id, site.Ada()).ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kRestored));
  EXPECT_EQ(site.UsedIds(), used);
  EXPECT_THAT(site.UnusedIds(), ElementsAre(old));
}

TEST_F(DropKillTest, StoppedHalfWayRestoresTheRest) {
  DropSite site;
  site.Load(10, 11, 1);
  site.Load(13, 14, 1);
  const Drop drop = Marked(site, kDay);
  // The first piece's task has done its work, and nobody has seen that yet.
  site.before_send = [&](const druid::HttpRequest&) {
    if (site.Now(drop.id).state != State::kKilling || site.Now(drop.id).cancel) return;
    if (site.UnusedIds().size() != 1) return;
    EXPECT_EQ(ReasonOf(site.drops().Restore(drop.id, site.Ada()).status()), "KILL_STARTED");
    EXPECT_TRUE(site.drops().Cancel(drop.id, site.Ada("", "wrong day")).ok());
  };
  // No second one is sent.
  ASSERT_TRUE(site.RunUntil(drop.id, [](const Drop& now) { return Ended(now.state); }));
  EXPECT_THAT(KillsSent(site), SizeIs(1));
  EXPECT_EQ(site.Now(drop.id).state, State::kFailed) << "one hour is gone";
  EXPECT_EQ(site.Now(drop.id).hold, kCancelledHalfWay);
  EXPECT_THAT(site.Now(drop.id).message, HasSubstr("1 segment killed; 1 segment is left"));
  site.before_send = nullptr;
  ASSERT_TRUE(site.drops().Restore(drop.id, site.Ada()).ok());
  ASSERT_TRUE(site.RunUntil(drop.id, [](const Drop& now) {
    return now.state == State::kPartlyRestored || now.state == State::kFailed;
  }));
  EXPECT_EQ(site.Now(drop.id).state, State::kPartlyRestored) << site.Now(drop.id).message;
  EXPECT_THAT(site.UsedIds(), SizeIs(1));
}

// Between the hours that were dropped another is written, which is none of the drop's.
TEST_F(DropKillTest, ARestoreIsProvenByItsOwnTimeWhateverIsWrittenBeside) {
  DropSite site;
  site.Load(10, 11, 1);
  site.Load(13, 14, 1);
  const Drop drop = Marked(site, kDay);
  site.Load(11, 12, 5);
  ASSERT_TRUE(site.drops().Restore(drop.id, site.Ada()).ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kRestored));
  EXPECT_EQ(site.Now(drop.id).hold, "");
  EXPECT_EQ(site.Rows(kDay), 3);
}

// Druid's duty marks unused again what no query reads, as soon as it is used.
TEST_F(DropKillTest, ARestoreEndsThoughDruidHidesTheOldGenerationAgain) {
  DropSite site;
  site.Load(13, 14, 1);
  const std::string old = site.UsedIds()[0];
  site.Load(13, 14, 5);
  const Drop drop = Marked(site, kHour13);
  site.after_step = [&] {
    const auto used = site.UsedIds();
    if (used.size() == 2) site.Mark(old, false);
  };
  ASSERT_TRUE(site.drops().Restore(drop.id, site.Ada()).ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kRestored, absl::Minutes(5)));
  EXPECT_THAT(site.Sent("/segments/"), SizeIs(1)) << "once, and no more";
  EXPECT_THAT(site.UsedIds(), SizeIs(1));
  EXPECT_THAT(site.Now(drop.id).message, HasSubstr("1 that no query reads"));
  EXPECT_EQ(site.Rows(kHour13), 1);
}

// As a drop rule does; while it stands, no restore can last.
TEST_F(DropKillTest, ARestoreThatIsUndoneEachTimeFailsAndCanBeAskedForAgain) {
  DropSite site;
  site.options().restore_proof_deadline = absl::Minutes(1);
  site.Restart();
  const Drop drop = HourMarked(site);
  site.after_step = [&] {
    for (const std::string& id : site.UsedIds()) site.Mark(id, false);
  };
  ASSERT_TRUE(site.drops().Restore(drop.id, site.Ada()).ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kFailed, absl::Hours(1)));
  EXPECT_EQ(site.Now(drop.id).hold, kRestoreUndone);
  EXPECT_THAT(site.Now(drop.id).message, HasSubstr("1 segment marked used again and unused anew"));
  site.after_step = nullptr;
  ASSERT_TRUE(site.drops().Restore(drop.id, site.Ada()).ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kRestored));
}

}  // namespace
}  // namespace interlock::drop
