// Kills: what is sent, what becomes of failures, what is proven, what is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "lib/drop/kill.h"
#include "lib/druid/task_id.h"
#include "tests/lib/drop/kill_fixture.h"

namespace interlock::drop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(DropKillTest, IsOneTaskForNeighboursAndOneForWhatLiesApart) {
  DropSite site;
  site.Load(10, 13, 1);
  site.Load(15, 16, 1);
  const Drop drop = Marked(site, kDay);
  ASSERT_TRUE(site.RunTo(drop.id, State::kKilled));
  const auto kills = KillsSent(site);
  ASSERT_THAT(kills, SizeIs(2));
  EXPECT_THAT(kills[0], HasSubstr("2026-07-16T10:00:00.000Z/2026-07-16T13:00:00.000Z"));
  EXPECT_THAT(kills[1], HasSubstr("2026-07-16T15:00:00.000Z/2026-07-16T16:00:00.000Z"));
  for (const std::string& kill : kills) {
    EXPECT_THAT(kill, HasSubstr(R"("versions":[")"));
    EXPECT_THAT(kill, HasSubstr(R"("maxUsedStatusLastUpdatedTime":"2026-08-20T12:)"));
    EXPECT_THAT(kill, HasSubstr(R"("nonce":"nonce-)"));
  }
  EXPECT_EQ(site.FilesLeft(), 0);
}

// It was marked, and then the server was started again to observe only.
TEST_F(DropKillTest, WaitsWhereTheServerOnlyObservesAndIsCheckedAnewAfter) {
  DropSite site;
  const Drop drop = HourMarked(site);
  site.options().observe_only = true;
  site.Restart();
  ASSERT_TRUE(site.RunUntil(drop.id, [](const Drop& now) { return now.hold == "OBSERVE_ONLY"; }));
  EXPECT_EQ(site.Now(drop.id).state, State::kMarked);
  EXPECT_THAT(site.drops().GetDetail(drop.id)->kills, IsEmpty());
  site.options().observe_only = false;
  site.Restart();
  ASSERT_TRUE(site.RunTo(drop.id, State::kKilled, absl::Hours(1)));
}

TEST_F(DropKillTest, TasksGoOutAtALimitedRateOverAllDrops) {
  DropSite site;
  site.options().kill_spacing = absl::Minutes(1);
  site.Restart();
  for (const int hour : {10, 12, 14}) site.Load(hour, hour + 1, 1);
  const Drop one = Marked(site, "2026-07-16T10:00Z/2026-07-16T13:00Z");
  const Drop two = Marked(site, "2026-07-16T14:00Z/2026-07-16T15:00Z");
  ASSERT_TRUE(site.RunTo(one.id, State::kKilled));
  ASSERT_TRUE(site.RunTo(two.id, State::kKilled));
  std::vector<Instant> stored;
  for (const std::string& id : {one.id, two.id}) {
    const auto detail = site.drops().GetDetail(id);
    ASSERT_TRUE(detail.ok());
    for (const Kill& kill : detail->kills) stored.push_back(kill.stored);
  }
  std::sort(stored.begin(), stored.end());
  ASSERT_THAT(stored, SizeIs(3));
  EXPECT_GE(stored[1] - stored[0], absl::Minutes(1));
  EXPECT_GE(stored[2] - stored[1], absl::Minutes(1));
}

// Case 59: SUCCESS, the rows are gone, and the file is there all the same.
TEST_F(DropKillTest, Case059ReportsAFileThatASuccessfulKillLeftUntilItIsRemoved) {
  DropSite site;
  const Drop drop = HourMarked(site);
  const auto before = site.drops().GetDetail(drop.id);
  const std::filesystem::path path = PathOf(before->manifest.front());
  KeepFile(site, path);
  ASSERT_TRUE(site.RunTo(drop.id, State::kKilled));
  site.after_reply = nullptr;
  const auto detail = site.drops().GetDetail(drop.id);
  EXPECT_EQ(detail->kills.front().outcome, "SUCCESS");
  EXPECT_EQ(detail->manifest.front().phase, Phase::kKilled) << "the metadata is gone";
  EXPECT_TRUE(Orphaned(detail->manifest.front())) << "the file is not";
  EXPECT_EQ(detail->drop.orphans, 1);
  EXPECT_EQ(Orphans(site), 1);
  EXPECT_EQ(detail->drop.hold, kFilesLeft) << "not as plain a success as any other";
  EXPECT_THAT(detail->drop.message, HasSubstr(path.string()));
  // Somebody removes it by hand: it is looked for now and then, and counts no more.
  std::filesystem::remove_all(path);
  site.RunFor(absl::Hours(3));
  EXPECT_EQ(site.Now(drop.id).orphans, 0);
  EXPECT_EQ(site.Now(drop.id).hold, "");
  EXPECT_THAT(site.Now(drop.id).message, Not(HasSubstr("still there")));
  EXPECT_EQ(Orphans(site), 0);
}

TEST_F(DropKillTest, AFailureThatDruidDoesNotExplainIsToldByWhatItLeft) {
  DropSite site;
  const Drop drop = HourMarked(site);
  KeepFile(site, PathOf(site.drops().GetDetail(drop.id)->manifest.front()));
  ASSERT_TRUE(site.druid()
                  .AddFault(R"({"match":{"path":"/druid/indexer/v1/task","method":"POST"},)"
                            R"("kind":"failed_but_published"})")
                  .ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kKilled));
  site.after_reply = nullptr;
  EXPECT_EQ(site.drops().GetDetail(drop.id)->kills.front().failure, kKillFilesLeft);
  EXPECT_THAT(site.kill_failures, ElementsAre(kKillFilesLeft));
  EXPECT_EQ(site.Now(drop.id).hold, kFilesLeft);
}

// Case 53: rows go before files. What a failed kill has left in deep storage is named.
TEST_F(DropKillTest, Case053NamesOrphansOfAKillThatFailed) {
  DropSite site;
  site.Load(13, 14, 1);
  site.Load(13, 14, 5, kClicks, /*append=*/true);
  const Drop drop = Marked(site, kHour13);
  const std::vector<std::string> ids = site.UnusedIds();
  // The first one's file cannot be removed: its row goes, the file stays.
  site.druid().WithWorld([&](simulator::World& world) {
    world.segments.Find(kClicks, ids[0])->file = "/proc/self/fd/";
  });
  ASSERT_TRUE(site.RunUntil(drop.id, [](const Drop& now) { return Ended(now.state); }));
  const auto detail = site.drops().GetDetail(drop.id);
  ASSERT_TRUE(detail.ok());
  EXPECT_EQ(detail->drop.state, State::kKilled) << detail->drop.message;
  EXPECT_EQ(detail->kills[0].outcome, "FAILED");
  EXPECT_THAT(detail->kills[0].error, HasSubstr("cannot remove"));
  EXPECT_EQ(detail->kills[0].failure, "PERMISSION") << detail->kills[0].error;
  EXPECT_EQ(detail->drop.hold, kFilesLeft);
  EXPECT_THAT(detail->drop.message, HasSubstr("the files of 2 are still there"));
  EXPECT_THAT(site.kill_failures, Not(IsEmpty()));
  std::vector<std::string> orphans;
  for (const ManifestRow& row : detail->manifest) {
    EXPECT_EQ(row.phase, Phase::kKilled);
    if (Orphaned(row)) orphans.push_back(row.id);
  }
  // Druid removed both rows, and stopped at the first file.
  EXPECT_EQ(orphans, ids);
  EXPECT_EQ(site.FilesLeft(), 2);
}

TEST_F(DropKillTest, AFailedTaskIsTriedAgainAndThenGivenUpWithWhatIsLeft) {
  DropSite site;
  const Drop drop = HourMarked(site);
  ASSERT_TRUE(site.druid()
                  .AddFault(R"({"match":{"path":"/druid/indexer/v1/task","method":"POST"},)"
                            R"("kind":"failed_task","times":0})")
                  .ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kFailed));
  EXPECT_EQ(site.Now(drop.id).hold, kKillFailed);
  EXPECT_THAT(site.Now(drop.id).message, HasSubstr("1 segment is left"));
  EXPECT_THAT(KillsSent(site), SizeIs(kMaxKillFailures));
  EXPECT_EQ(site.kill_failures.size(), static_cast<size_t>(kMaxKillFailures));
  site.druid().ClearFaults();
  ASSERT_TRUE(site.drops().Restore(drop.id, site.Ada()).ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kRestored));
}

TEST_F(DropKillTest, AFailureIsSaidAtOnceWithWhatTheTaskLeft) {
  DropSite site;
  const Drop drop = HourMarked(site);
  ASSERT_TRUE(site.druid()
                  .AddFault(R"({"match":{"path":"/druid/indexer/v1/task","method":"POST"},)"
                            R"("kind":"failed_task","times":1})")
                  .ok());
  // The very step that sees the task's end.
  ASSERT_TRUE(site.RunUntil(drop.id, [&](const Drop&) {
    const auto detail = site.drops().GetDetail(drop.id);
    return !detail->kills.empty() && detail->kills.back().ended.has_value();
  }));
  EXPECT_EQ(site.Now(drop.id).state, State::kChecking);
  EXPECT_EQ(site.Now(drop.id).hold, kKillFailed);
  EXPECT_THAT(site.Now(drop.id).message, HasSubstr("failed (OTHER)"));
  ASSERT_TRUE(site.RunTo(drop.id, State::kKilled));
  EXPECT_EQ(site.Now(drop.id).hold, "");
  const auto failures = Failures(site);
  ASSERT_THAT(failures, SizeIs(1)) << "counted in the store, whatever restarts";
  EXPECT_EQ(failures[0].reason, kKillOther);
  EXPECT_EQ(failures[0].count, 1);
}

TEST_F(DropKillTest, ATaskOfAnothersUnderOurIdIsNeverTakenForOurs) {
  DropSite site;
  const Drop drop = HourMarked(site);
  const std::string id =
      druid::PinnedTaskId("kill", site.store().incarnation(), kClicks, drop.id + "/1");
  ASSERT_TRUE(site.cluster().SubmitTask(druid::NoopTask(id, 1)).done());
  ASSERT_TRUE(site.RunTo(drop.id, State::kFailed));
  EXPECT_EQ(site.Now(drop.id).hold, kTaskIdTaken);
  EXPECT_THAT(site.UnusedIds(), SizeIs(1));
}

// Up to 28 a kill's bounds are dropped in silence: there is none there.
TEST_F(DropKillTest, OnADruidThatCannotBoundItThereIsNoKill) {
  DropSite site({}, "28.0.0");
  site.Load(12, 15, 1);
  const auto plan = site.drops().MakePlan(site.Request(kHour13));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->notes.front().reason, kKillIsNotBounded);
  const Drop drop = Marked(site, kHour13);
  ASSERT_TRUE(site.RunTo(drop.id, State::kKillNotBounded));
  EXPECT_THAT(KillsSent(site), IsEmpty());
  EXPECT_THAT(site.UnusedIds(), SizeIs(1));
  ASSERT_TRUE(site.drops().Restore(drop.id, site.Ada()).ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kRestored));
  EXPECT_EQ(site.Rows(kHour13), 1);
}

}  // namespace
}  // namespace interlock::drop
