// The whole life of drops, against the simulated Druid.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/drop/drop_site.h"

namespace interlock::drop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const char kHour13[] = "2026-07-16T13:00Z/2026-07-16T14:00Z";
const char kDay[] = "2026-07-16/2026-07-17";

TEST(DropWorkflow, MarksWaitsKillsAndProves) {
  DropSite site;
  site.Load(12, 15, 1);
  const std::string before = site.UsedIds()[1];
  ASSERT_EQ(site.FilesLeft(), 3);

  const Drop drop = site.Submitted(site.Request(kHour13));
  EXPECT_EQ(drop.state, State::kReserved);
  EXPECT_EQ(drop.segment_count, 1);
  ASSERT_TRUE(site.RunTo(drop.id, State::kMarked));
  EXPECT_THAT(site.UnusedIds(), ElementsAre(before));
  EXPECT_EQ(site.Rows(kHour13), 0);
  const Drop marked = site.Now(drop.id);
  EXPECT_EQ(*marked.window_end - marked.marked->store, absl::Hours(72));
  EXPECT_EQ(marked.reservation_id, "") << "the time is free while the window runs";

  ASSERT_TRUE(site.RunTo(drop.id, State::kKilled));
  const auto detail = site.drops().GetDetail(drop.id);
  ASSERT_TRUE(detail.ok());
  EXPECT_GE(*detail->drop.kill_started, *marked.window_end);
  EXPECT_THAT(site.UnusedIds(), IsEmpty());
  EXPECT_THAT(site.UsedIds(), SizeIs(2));
  EXPECT_EQ(site.FilesLeft(), 2);
  ASSERT_THAT(detail->kills, SizeIs(1));
  EXPECT_EQ(detail->kills[0].outcome, "SUCCESS");
  EXPECT_EQ(detail->manifest[0].phase, Phase::kKilled);
  EXPECT_EQ(detail->manifest[0].file, File::kGone);
  EXPECT_FALSE(Orphaned(detail->manifest[0]));
}

TEST(DropWorkflow, RestoresWithTheSameRowsAndSums) {
  DropSite site;
  site.Load(12, 15, 1);
  site.Load(13, 14, 7);  // hides the first one's hour
  const auto used = site.UsedIds();
  const Drop drop = site.Submitted(site.Request(kHour13));
  EXPECT_EQ(drop.hidden_count, 1);
  ASSERT_TRUE(site.RunTo(drop.id, State::kMarked));
  EXPECT_THAT(site.UnusedIds(), SizeIs(2));

  ASSERT_TRUE(site.drops().Restore(drop.id, site.Ada("r1", "wrong hour")).ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kRestored));
  EXPECT_EQ(site.UsedIds(), used);
  EXPECT_EQ(site.Rows(kHour13), 1);
  const Drop restored = site.Now(drop.id);
  EXPECT_EQ(restored.hold, "");
  ASSERT_TRUE(restored.sums_after && restored.sums_before);
  EXPECT_TRUE(SameSums(*restored.sums_before, *restored.sums_after));
  EXPECT_EQ(restored.sums_after->front().sums.at("n"), 20);
  EXPECT_EQ(restored.restored_by, "ada");
  EXPECT_EQ(restored.reservation_id, "");
}

// Wherever a restore is allowed, it brings back the same segments and the same sums.
TEST(DropWorkflow, RestoresFromEveryStateThatAllowsIt) {
  for (const State state : {State::kMarking, State::kMarked, State::kAwaitingApproval,
                            State::kChecking, State::kFailed}) {
    SCOPED_TRACE(Name(state));
    DropSite site;
    site.Load(12, 15, 1);
    site.Load(13, 14, 7);
    const auto used = site.UsedIds();
    DropRequest request = site.Request(kDay);
    request.approval = state == State::kAwaitingApproval;
    if (state == State::kFailed) {
      ASSERT_TRUE(site.druid()
                      .AddFault(R"({"match":{"path":"/druid/indexer/v1/task","method":"POST"},)"
                                R"("kind":"failed_task","times":0})")
                      .ok());
    }
    const Drop drop = site.Submitted(request);
    ASSERT_TRUE(site.RunTo(drop.id, state));
    const auto restored = site.drops().Restore(drop.id, site.Ada());
    ASSERT_TRUE(restored.ok()) << restored.status();
    ASSERT_TRUE(site.RunTo(drop.id, State::kRestored));
    EXPECT_EQ(site.UsedIds(), used);
    EXPECT_EQ(site.Now(drop.id).hold, "");
    EXPECT_EQ(site.Now(drop.id).sums_after->front().sums.at("n"), 13 + 20 + 15);
  }
}

// A mark of ours whose answer was lost may still take effect: a restore waits it out.
TEST(DropWorkflow, RestoreWaitsOutAMarkThatMayStillBeUnderWay) {
  DropSite site;
  site.Load(13, 14, 1);
  const auto used = site.UsedIds();
  ASSERT_TRUE(site.druid()
                  .AddFault(R"({"match":{"path":"*/markUnused","method":"POST"},"kind":"late",)"
                            R"("delay_ms":25000})")
                  .ok());
  const Drop drop = site.Submitted(site.Request(kHour13));
  ASSERT_TRUE(site.RunTo(drop.id, State::kMarking));
  EXPECT_EQ(site.UsedIds(), used) << "it has no effect yet";
  ASSERT_TRUE(site.drops().Restore(drop.id, site.Ada()).ok());
  ASSERT_TRUE(site.RunTo(drop.id, State::kRestored));
  site.Pass(absl::Minutes(5));
  EXPECT_EQ(site.UsedIds(), used);
}

TEST(DropWorkflow, AMarkThatDruidRefusesForGoodEndsItWithNothingMarked) {
  DropSite site;
  site.Load(13, 14, 1);
  ASSERT_TRUE(site.druid()
                  .AddFault(R"({"match":{"path":"*/markUnused","method":"POST"},"times":0,)"
                            R"("kind":"status","status":403})")
                  .ok());
  const Drop drop = site.Submitted(site.Request(kHour13));
  ASSERT_TRUE(site.RunTo(drop.id, State::kFailed));
  EXPECT_EQ(site.Now(drop.id).hold, kMarkRefused);
  EXPECT_THAT(site.Now(drop.id).message, HasSubstr("403"));
  EXPECT_THAT(site.UnusedIds(), IsEmpty());
}

}  // namespace
}  // namespace interlock::drop
