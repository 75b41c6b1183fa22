// What stops a kill: whatever changed since the mark, and whatever a kill could reach
// beyond the manifest. A stopped drop can still be restored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/lease/obstacle.h"
#include "tests/lib/drop/drop_site.h"

namespace interlock::drop {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const char kHour13[] = "2026-07-16T13:00Z/2026-07-16T14:00Z";

class DropStopTest : public ::testing::Test {
 protected:
  DropStopTest() { site_.Load(13, 14, 1); }

  Drop Marked(absl::Duration window = absl::Hours(72)) {
    DropRequest request = site_.Request(kHour13);
    request.window = window;
    const Drop drop = site_.Submitted(request);
    EXPECT_TRUE(site_.RunTo(drop.id, State::kMarked, absl::Hours(1)));
    return site_.Now(drop.id);
  }
  // Lets the window end, and says what holds the kill then.
  std::string Hold(const Drop& drop) {
    site_.RunUntil(
        drop.id, [](const Drop&) { return false; },
        *site_.Now(drop.id).window_end - site_.clock().Now() + absl::Minutes(30));
    const Drop now = site_.Now(drop.id);
    EXPECT_EQ(now.state, State::kMarked) << now.message;
    EXPECT_EQ(now.reservation_id, "") << "a drop that is held holds nothing";
    EXPECT_THAT(site_.Sent("/indexer/v1/task"), SizeIs(loads_)) << "no kill was sent";
    return now.hold;
  }

  DropSite site_;
  size_t loads_ = 1;
};

TEST_F(DropStopTest, NewerDataStopsItUntilItIsGone) {
  const Drop drop = Marked();
  site_.Load(13, 14, 9);
  ++loads_;
  EXPECT_EQ(Hold(drop), kNewerDataOver);
  EXPECT_THAT(site_.Now(drop.id).message, HasSubstr("clicks_2026-07-16T13"));
  EXPECT_EQ(ReasonOf(site_.drops().Restore(drop.id, site_.Ada()).status()), "NEWER_DATA");
  site_.Mark(site_.UsedIds()[0], false);
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
  EXPECT_THAT(site_.UnusedIds(), SizeIs(1)) << "the newer one is not ours";
}

// The older of two drops of one hour was restored: the newer can be as well, which hides it
// again; its kill waits meanwhile.
TEST_F(DropStopTest, OlderDataThatWasBroughtBackHoldsTheKillAndNoRestore) {
  const Drop older = Marked(absl::Hours(300));
  site_.Load(13, 14, 9);
  ++loads_;
  const std::string newest = site_.UsedIds()[0];
  const Drop newer = Marked();
  ASSERT_TRUE(site_.RunTo(newer.id, State::kMarked));
  ASSERT_TRUE(site_.drops().Restore(older.id, site_.Ada()).ok());
  ASSERT_TRUE(site_.RunTo(older.id, State::kRestored));
  EXPECT_EQ(Hold(newer), kOlderDataUnder);
  EXPECT_THAT(site_.Now(newer.id).message, HasSubstr("or restore this drop"));
  EXPECT_THAT(site_.UnusedIds(), SizeIs(1));
  ASSERT_TRUE(site_.drops().Restore(newer.id, site_.Ada()).ok());
  ASSERT_TRUE(site_.RunTo(newer.id, State::kRestored));
  EXPECT_EQ(site_.Now(newer.id).hold, "");
  EXPECT_THAT(site_.UsedIds(), SizeIs(2));
  EXPECT_EQ(site_.Now(newer.id).sums_after->front().sums.at("n"), 22);
}

TEST_F(DropStopTest, ASegmentAppendedDuringTheWindowStopsIt) {
  const Drop drop = Marked();
  site_.Load(13, 14, 9, kClicks, /*append=*/true);
  ++loads_;
  EXPECT_EQ(Hold(drop), kNewerDataOver);
}

// A task that waits in the queue has no lock yet, and will write all the same.
TEST_F(DropStopTest, ATaskThatRunsOverItStopsItAndOneElsewhereDoesNot) {
  const Drop drop = Marked();
  site_.Pass(*drop.window_end - site_.clock().Now());
  // They run as long as the clock stands still.
  site_.Start("elsewhere", 15);
  site_.Start("here", 13);
  loads_ += 2;
  while (site_.Now(drop.id).objections.empty() && site_.DoOneDue()) {
  }
  std::vector<std::string> tasks;
  for (const Objection& objection : site_.Now(drop.id).objections) {
    if (objection.reason == kRunningTask) tasks.push_back(objection.subject);
  }
  EXPECT_THAT(tasks, ElementsAre("here"));
  EXPECT_THAT(site_.Sent("/indexer/v1/task"), SizeIs(loads_)) << "no kill was sent";
}

// What seals do: they bar time inside the grant, so before the mark and before the kill.
TEST_F(DropStopTest, ASealThatCameInTheWindowStopsItAndOneBeforeRefusesIt) {
  bool sealed = false;
  lease::Obstacle seal =
      [&sealed](
          store::Transaction&, const std::string&, lease::Mode,
          const std::vector<Interval>& intervals) -> absl::StatusOr<std::vector<lease::Held>> {
    std::vector<lease::Held> held;
    if (!sealed) return held;
    lease::Held one;
    one.interval = intervals.front();
    one.holder = "eve";
    one.reason = "SEALED";
    one.message = "sealed by eve";
    one.until = Instant::kMax;
    held.push_back(one);
    return held;
  };
  site_.options().lease.obstacles =
      std::make_shared<lease::Obstacles>(std::vector<lease::Obstacle>{seal});
  site_.Restart();
  const Drop drop = Marked();
  sealed = true;
  EXPECT_EQ(Hold(drop), "SEALED");
  EXPECT_THAT(site_.Now(drop.id).message, HasSubstr("sealed by eve"));
  const auto plan = site_.drops().MakePlan(site_.Request("2026-07-16T13:00Z/2026-07-16T14:00Z"));
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(plan->blockers, Contains(::testing::Field(&Objection::reason, "SEALED")));
  sealed = false;
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
}

TEST_F(DropStopTest, ASegmentMarkedUsedAgainStopsIt) {
  const Drop drop = Marked();
  site_.Mark(site_.UnusedIds()[0], true);
  EXPECT_EQ(Hold(drop), kMarkedUsedAgain);
  EXPECT_THAT(site_.UsedIds(), SizeIs(1));
}

// Case 54: two ids stand behind one file, and one of them is used and stays.
TEST_F(DropStopTest, Case054AFileThatAUsedSegmentSharesStopsIt) {
  site_.Load(14, 15, 1);
  ++loads_;
  DropRequest request = site_.Request("2026-07-16T13:00Z/2026-07-16T14:30Z");
  request.accept_partial_cover = true;
  const Drop drop = site_.Submitted(request);
  ASSERT_TRUE(site_.RunTo(drop.id, State::kMarked, absl::Hours(1)));
  std::string own;
  site_.druid().WithWorld([&](simulator::World& world) {
    auto* doomed = world.segments.All(kClicks)[0];
    auto* stays = world.segments.All(kClicks)[1];
    own = stays->load_spec_json;
    stays->load_spec_json = doomed->load_spec_json;
  });
  EXPECT_EQ(Hold(drop), kSharedFile);
  // Asked for anew it is refused before anything is marked.
  ASSERT_TRUE(site_.drops().Restore(drop.id, site_.Ada()).ok());
  ASSERT_TRUE(site_.RunTo(drop.id, State::kRestored));
  EXPECT_EQ(ReasonOf(site_.drops().Submit(request, site_.Ada()).status()), "SHARED_FILES");
  EXPECT_THAT(site_.UnusedIds(), IsEmpty());
}

TEST_F(DropStopTest, ALockOverItStopsItUntilItIsReleased) {
  const Drop drop = Marked();
  site_.druid().Ask("POST", "/simulator/locks",
                    R"({"group":"index_kafka_clicks","datasource":"clicks","type":"APPEND",)"
                    R"("interval":"2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z",)"
                    R"("priority":75})");
  EXPECT_EQ(Hold(drop), kLocked);
  EXPECT_THAT(site_.Now(drop.id).message, HasSubstr("index_kafka_clicks"));
  site_.druid().Ask("DELETE", "/simulator/locks/index_kafka_clicks");
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
}

// Case 48: an unused segment that no bound of a kill leaves out, and one that they do.
TEST_F(DropStopTest, Case048AnUnlistedSegmentThatTheKillWouldReachStopsIt) {
  site_.Load(13, 14, 5, kClicks, /*append=*/true);
  ++loads_;
  const std::vector<std::string> ids = site_.UsedIds();
  site_.Mark(ids[1], false);  // long ago, by somebody else, of the same version
  site_.Pass(absl::Hours(1));
  const Drop drop = Marked();
  EXPECT_EQ(drop.segment_count, 1);
  EXPECT_EQ(Hold(drop), kNotOnManifest);
  EXPECT_THAT(site_.Now(drop.id).message, HasSubstr(ids[1]));
  EXPECT_THAT(site_.UnusedIds(), SizeIs(2));
}

TEST_F(DropStopTest, Case048OtherVersionsAndLaterMarksSurviveTheKill) {
  const std::string old = site_.UsedIds()[0];
  site_.Load(13, 14, 5);
  site_.Mark(old, false);  // an old generation, unused long before the drop
  const Drop drop = Marked();
  EXPECT_EQ(drop.segment_count, 1);
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
  EXPECT_THAT(site_.UnusedIds(), ElementsAre(old));
}

TEST_F(DropStopTest, AFloorThatWasRaisedMeanwhileStopsIt) {
  const Drop drop = Marked();
  site_.options().floor = absl::Hours(24 * 365);
  site_.Restart();
  EXPECT_EQ(Hold(drop), kYoungerThanFloor);
  ASSERT_TRUE(site_.drops().Restore(drop.id, site_.Ada()).ok());
  ASSERT_TRUE(site_.RunTo(drop.id, State::kRestored));
}

// Case 62: who else marks segments inside our window is told, and audited.
TEST_F(DropStopTest, Case062AForeignMarkIsToldApartAndAudited) {
  site_.Load(13, 14, 5, kClicks, /*append=*/true);
  const std::vector<std::string> ids = site_.UsedIds();
  const Drop drop = site_.Submitted(site_.Request(kHour13));
  // Between our plan and our mark.
  site_.Mark(ids[1], false);
  site_.Pass(absl::Minutes(1));
  ASSERT_TRUE(site_.RunTo(drop.id, State::kMarked, absl::Hours(1)));
  const auto detail = site_.drops().GetDetail(drop.id);
  ASSERT_TRUE(detail.ok());
  EXPECT_EQ(detail->drop.notes.back().reason, kForeignDrop);
  EXPECT_THAT(detail->drop.notes.back().text, HasSubstr(ids[1]));
  EXPECT_THAT(site_.foreign_changes, Contains(kForeignDrop));
  for (const ManifestRow& row : detail->manifest) {
    EXPECT_EQ(row.phase, row.id == ids[1] ? Phase::kForeign : Phase::kMarked);
  }
  std::vector<std::string> results;
  ASSERT_TRUE(site_.store()
                  .Read([&](store::Transaction& tx) {
                    audit::Filter filter;
                    filter.subject = drop.id;
                    const auto events = audit::List(tx, filter, {});
                    EXPECT_TRUE(events.ok());
                    for (const auto& recorded : events->events) {
                      results.push_back(recorded.event.result);
                      EXPECT_NE(recorded.event.caller.identity, "");
                      EXPECT_EQ(recorded.event.caller.reason, "GDPR");
                    }
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_THAT(results, Contains(kForeignDrop));
  // What the other marked is not ours to bring back.
  ASSERT_TRUE(site_.drops().Restore(drop.id, site_.Ada()).ok());
  ASSERT_TRUE(site_.RunTo(drop.id, State::kRestored));
  EXPECT_EQ(site_.Now(drop.id).hold, kRowsNotProven);
  EXPECT_THAT(site_.UnusedIds(), ElementsAre(ids[1]));
}

TEST_F(DropStopTest, ADropOfWhichOthersMarkedAllFails) {
  const Drop drop = site_.Submitted(site_.Request(kHour13));
  site_.Mark(site_.UsedIds()[0], false);
  site_.Pass(absl::Minutes(1));
  ASSERT_TRUE(site_.RunTo(drop.id, State::kFailed, absl::Hours(1)));
  EXPECT_EQ(site_.Now(drop.id).hold, kForeignDrop);
  EXPECT_THAT(site_.Sent("/markUnused"), IsEmpty()) << "that would have re-dated it";
}

TEST_F(DropStopTest, DataThatCameBetweenPlanAndMarkEndsItWithNothingMarked) {
  const Drop drop = site_.Submitted(site_.Request(kHour13));
  site_.Load(13, 14, 9);
  ASSERT_TRUE(site_.RunTo(drop.id, State::kFailed, absl::Hours(1)));
  EXPECT_EQ(site_.Now(drop.id).hold, kChangedSincePlan);
  EXPECT_THAT(site_.UnusedIds(), IsEmpty());
}

TEST_F(DropStopTest, TwoDropsThatOverlapKillEachItsOwn) {
  const Drop first = site_.Submitted(site_.Request(kHour13));
  EXPECT_EQ(
      ReasonOf(site_.drops().Submit(site_.Request("2026-07-16/2026-07-17"), site_.Ada()).status()),
      "HELD");
  ASSERT_TRUE(site_.RunTo(first.id, State::kMarked, absl::Hours(1)));
  site_.Pass(absl::Hours(1));
  site_.Load(13, 14, 9);
  const Drop second = site_.Submitted(site_.Request("2026-07-16/2026-07-17"));
  EXPECT_EQ(second.segment_count, 1);
  ASSERT_TRUE(site_.RunTo(second.id, State::kKilled));
  EXPECT_EQ(site_.Now(first.id).state, State::kKilled);
  EXPECT_THAT(site_.UnusedIds(), IsEmpty());
}

}  // namespace
}  // namespace interlock::drop
