// Kills: what is sent, what becomes of failures, what is proven, what is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "lib/drop/counts.h"
#include "lib/drop/kill.h"
#include "lib/druid/task_id.h"
#include "tests/lib/drop/drop_site.h"

namespace interlock::drop {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const char kHour13[] = "2026-07-16T13:00Z/2026-07-16T14:00Z";
const char kDay[] = "2026-07-16/2026-07-17";

class DropKillTest : public ::testing::Test {
 protected:
  Drop Marked(DropSite& site, const std::string& interval) {
    const Drop drop = site.Submitted(site.Request(interval));
    EXPECT_TRUE(site.RunTo(drop.id, State::kMarked, absl::Hours(1)));
    return site.Now(drop.id);
  }
  int64_t Orphans(DropSite& site) {
    int64_t count = -1;
    EXPECT_TRUE(site.store()
                    .Read([&](store::Transaction& tx) {
                      auto counts = CountOrphanSegments(tx);
                      if (counts.ok() && !counts->empty()) count = counts->front().count;
                      return counts.status();
                    })
                    .ok());
    return count;
  }
  static std::filesystem::path PathOf(const ManifestRow& row) {
    const size_t begin = row.load_spec.find(R"("path":")") + 8;
    return row.load_spec.substr(begin, row.load_spec.find('"', begin) - begin);
  }
  // As a store does that takes a delete and keeps the object.
  static void KeepFile(DropSite& site, const std::filesystem::path& path) {
    site.after_reply = [&site, path](const druid::HttpRequest&) {
      if (site.UnusedIds().empty() && !std::filesystem::exists(path)) {
        std::filesystem::create_directories(path);
      }
    };
  }
  // That many kill tasks are shown as running, and never end.
  static void Stick(DropSite& site, int times) {
    ASSERT_TRUE(
        site.druid()
            .AddFault(absl::StrCat(R"({"match":{"path":"/druid/indexer/v1/task","method":"POST"},)",
                                   R"("kind":"stuck_task","times":)", times, "}"))
            .ok());
  }
  template <class Counts>
  static Counts Counted(DropSite& site, absl::StatusOr<Counts> (*count)(store::Transaction&)) {
    Counts counts;
    EXPECT_TRUE(site.store()
                    .Read([&](store::Transaction& tx) {
                      auto counted = count(tx);
                      if (counted.ok()) counts = *counted;
                      return counted.status();
                    })
                    .ok());
    return counts;
  }
  static std::vector<OpenKill> OpenKillSince(DropSite& site) {
    return Counted(site, OldestOpenKills);
  }
  static std::vector<KillFailureCount> Failures(DropSite& site) {
    return Counted(site, CountKillFailures);
  }
  std::vector<std::string> KillsSent(DropSite& site) {
    std::vector<std::string> kills;
    for (const std::string& body : site.Sent("/indexer/v1/task")) {
      if (absl::StrContains(body, R"("type":"kill")")) kills.push_back(body);
    }
    return kills;
  }
};

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
  site.Load(13, 14, 1);
  const Drop drop = Marked(site, kHour13);
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
  site.Load(13, 14, 1);
  const Drop drop = Marked(site, kHour13);
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
  site.Load(13, 14, 1);
  const Drop drop = Marked(site, kHour13);
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

TEST_F(DropKillTest, ATaskThatWaitsTooLongIsShutDownAndCheckedAnew) {
  DropSite site;
  site.Load(13, 14, 1);
  const Drop drop = Marked(site, kHour13);
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
  site.Load(13, 14, 1);
  const Drop drop = Marked(site, kHour13);
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
  site.Load(13, 14, 1);
  const Drop drop = Marked(site, kHour13);
  Stick(site, 0);
  ASSERT_TRUE(site.RunTo(drop.id, State::kFailed));
  EXPECT_THAT(KillsSent(site), SizeIs(kMaxKillFailures));
  EXPECT_EQ(site.Now(drop.id).hold, kKillFailed);
  EXPECT_THAT(site.Now(drop.id).message, HasSubstr("1 segment is left"));
}

TEST_F(DropKillTest, CancelShutsDownATaskThatHangsAndReadsWhatItLeft) {
  DropSite site;
  site.Load(13, 14, 1);
  const Drop drop = Marked(site, kHour13);
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
  site.Load(13, 14, 1);
  const Drop drop = Marked(site, kHour13);
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

TEST_F(DropKillTest, AFailureIsSaidAtOnceWithWhatTheTaskLeft) {
  DropSite site;
  site.Load(13, 14, 1);
  const Drop drop = Marked(site, kHour13);
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
  site.Load(13, 14, 1);
  const Drop drop = Marked(site, kHour13);
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

}  // namespace
}  // namespace interlock::drop
