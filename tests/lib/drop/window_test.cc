// The window: who may end it, who may move it, and by which clocks it is judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/drop/drop_site.h"

namespace interlock::drop {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const char kHour13[] = "2026-07-16T13:00Z/2026-07-16T14:00Z";

audit::Caller Bob(const std::string& request_id = "") { return {"bob", request_id, "checked"}; }

class DropWindowTest : public ::testing::Test {
 protected:
  DropWindowTest() { site_.Load(13, 14, 1); }

  Drop Marked(bool approval = false) {
    DropRequest request = site_.Request(kHour13);
    request.approval = approval;
    const Drop drop = site_.Submitted(request);
    EXPECT_TRUE(site_.RunTo(drop.id, State::kMarked, absl::Hours(1)));
    return site_.Now(drop.id);
  }
  // Until its window is over by the store's clock and what follows from that has happened.
  void RunPastWindow(const std::string& id, absl::Duration by = absl::Minutes(5)) {
    const Instant until = *site_.Now(id).window_end + by;
    site_.RunUntil(
        id, [](const Drop&) { return false; }, until - site_.clock().Now());
  }

  DropSite site_;
};

TEST_F(DropWindowTest, EndsNoMillisecondEarlier) {
  const Drop drop = Marked();
  Instant killed_at;
  site_.after_step = [&] {
    if (killed_at == Instant() && site_.UnusedIds().empty()) killed_at = site_.clock().Now();
  };
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
  EXPECT_GE(killed_at, drop.marked->store + absl::Hours(72));
  EXPECT_LE(killed_at, drop.marked->store + absl::Hours(72) + absl::Minutes(1));
}

TEST_F(DropWindowTest, CanBeExtendedAndARepeatedCallExtendsOnce) {
  const Drop drop = Marked();
  ASSERT_TRUE(site_.drops().Extend(drop.id, absl::Hours(24), Bob("e1")).ok());
  ASSERT_TRUE(site_.drops().Extend(drop.id, absl::Hours(24), Bob("e1")).ok());
  EXPECT_EQ(*site_.Now(drop.id).window_end, *drop.window_end + absl::Hours(24));
  EXPECT_EQ(ReasonOf(site_.drops().Extend(drop.id, absl::Hours(48), Bob("e1")).status()),
            "REQUEST_ID_REUSED")
      << "the same id, another length";
  const auto again = site_.drops().Extend(drop.id, absl::Hours(24), Bob("e1"));
  EXPECT_THAT(again->message, HasSubstr(again->window_end->ToString())) << "not the end before";
  EXPECT_EQ(ReasonOf(site_.drops().Extend(drop.id, -absl::Hours(1), Bob()).status()),
            "WINDOW_TOO_SHORT");
  EXPECT_EQ(ReasonOf(site_.drops().Extend(drop.id, absl::Hours(24 * 365), Bob()).status()),
            "WINDOW_TOO_LONG");
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
  EXPECT_GE(*site_.Now(drop.id).kill_started, *drop.window_end + absl::Hours(24));
  EXPECT_EQ(ReasonOf(site_.drops().Extend(drop.id, absl::Hours(1), Bob()).status()), "NOT_MARKED");
}

TEST_F(DropWindowTest, OfADropThatNeedsApprovalWaitsForAnotherPerson) {
  const Drop drop = Marked(true);
  RunPastWindow(drop.id);
  EXPECT_EQ(site_.Now(drop.id).state, State::kAwaitingApproval);
  EXPECT_EQ(site_.Now(drop.id).hold, kApprovalRequired);
  EXPECT_THAT(site_.UnusedIds(), SizeIs(1));
  EXPECT_EQ(ReasonOf(site_.drops().Approve(drop.id, "", false, site_.Ada()).status()), "OWN_DROP");
  EXPECT_EQ(ReasonOf(site_.drops().Approve(drop.id, "abc", false, Bob()).status()),
            "MANIFEST_CHANGED");
  const auto approved = site_.drops().Approve(drop.id, drop.digest, false, Bob());
  ASSERT_TRUE(approved.ok());
  EXPECT_EQ(approved->hold, "");
  EXPECT_THAT(approved->message, HasSubstr("approved by bob"));
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
  EXPECT_EQ(site_.Now(drop.id).approved_by, "bob");
}

// What holds the kill up may have done so for days: time that is bought begins now.
TEST_F(DropWindowTest, ThatIsOverIsExtendedFromNow) {
  const Drop drop = Marked(true);
  RunPastWindow(drop.id);
  site_.clock().Advance(absl::Hours(48));
  const Instant now = site_.clock().Now();
  ASSERT_GT(now, *drop.window_end);
  const auto extended = site_.drops().Extend(drop.id, absl::Hours(24), Bob());
  ASSERT_TRUE(extended.ok());
  EXPECT_EQ(extended->state, State::kMarked) << "its window runs again";
  EXPECT_EQ(extended->hold, "");
  EXPECT_GE(*site_.Now(drop.id).window_end, now + absl::Hours(24));
}

TEST_F(DropWindowTest, ThatNeedsNoApprovalTakesNone) {
  const Drop drop = Marked();
  EXPECT_EQ(ReasonOf(site_.drops().Approve(drop.id, "", false, Bob()).status()),
            "NOT_AWAITING_APPROVAL");
}

TEST_F(DropWindowTest, ThatWasApprovedEarlyStillRunsToItsEnd) {
  const Drop drop = Marked(true);
  ASSERT_TRUE(site_.drops().Approve(drop.id, "", false, Bob()).ok());
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
  EXPECT_GE(*site_.Now(drop.id).kill_started, *drop.window_end);
}

TEST_F(DropWindowTest, DoesNotEndWhileOurWallClockWasSet) {
  const Drop drop = Marked();
  site_.clock().StepWall(absl::Hours(100));
  site_.druid().Tick();
  RunPastWindow(drop.id, absl::Hours(2));
  EXPECT_EQ(site_.Now(drop.id).state, State::kAwaitingApproval);
  EXPECT_EQ(site_.Now(drop.id).hold, kClocksDisagree);
  EXPECT_THAT(site_.UnusedIds(), SizeIs(1));
  // An admin who knows why: from then on all three must say that it is over, and do.
  ASSERT_TRUE(site_.drops().Approve(drop.id, "", true, Bob()).ok());
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
}

// After a reboot of the one machine that all clocks run on they agree again, and are wrong.
TEST_F(DropWindowTest, ThatAJumpFellIntoWaitsForAnAdminThoughAllClocksAgree) {
  const Drop drop = Marked();
  ASSERT_TRUE(site_.drops().NoteClockJump(absl::Hours(80)).ok());
  RunPastWindow(drop.id, absl::Hours(2));
  EXPECT_EQ(site_.Now(drop.id).state, State::kAwaitingApproval);
  EXPECT_EQ(site_.Now(drop.id).hold, kClocksDisagree);
  EXPECT_THAT(site_.Now(drop.id).message, HasSubstr("jumped by"));
  ASSERT_TRUE(site_.drops().Approve(drop.id, "", true, Bob()).ok());
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
}

TEST_F(DropWindowTest, GoesOnByItselfWhenTheClocksAgreeAgain) {
  const Drop drop = Marked();
  site_.druid().Ask("POST", "/simulator/clock", R"({"date_skew_ms":-3600000})");
  RunPastWindow(drop.id, absl::Minutes(30));
  ASSERT_EQ(site_.Now(drop.id).state, State::kAwaitingApproval);
  site_.druid().Ask("POST", "/simulator/clock", R"({"date_skew_ms":0})");
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled, absl::Hours(1)));
}

TEST_F(DropWindowTest, IsNotHeldByAJumpThatWasBeforeTheMarkOrIsSmall) {
  ASSERT_TRUE(site_.drops().NoteClockJump(absl::Hours(80)).ok());
  site_.Pass(absl::Minutes(1));
  const Drop drop = Marked();
  ASSERT_TRUE(site_.drops().NoteClockJump(absl::Seconds(2)).ok());
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
}

TEST_F(DropWindowTest, DoesNotEndWhileDruidsClockIsBehind) {
  const Drop drop = Marked();
  site_.druid().Ask("POST", "/simulator/clock", R"({"date_skew_ms":-3600000})");
  RunPastWindow(drop.id, absl::Minutes(30));
  EXPECT_EQ(site_.Now(drop.id).hold, kClocksDisagree);
  const absl::Status plain = site_.drops().Approve(drop.id, "", false, Bob()).status();
  EXPECT_EQ(ReasonOf(plain), "CLOCKS_DISAGREE");
  EXPECT_THAT(std::string(plain.message()), HasSubstr("--accept-clock"));
  // Consent does not make the window shorter by the clock that says it is not over.
  ASSERT_TRUE(site_.drops().Approve(drop.id, "", true, Bob()).ok());
  RunPastWindow(drop.id, absl::Minutes(50));
  EXPECT_THAT(site_.UnusedIds(), SizeIs(1));
  site_.druid().Ask("POST", "/simulator/clock", R"({"date_skew_ms":0})");
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
}

TEST_F(DropWindowTest, StartsAnewWhenSomebodyMarksTheSegmentsAgain) {
  const Drop drop = Marked();
  site_.Pass(absl::Hours(48));
  site_.Mark(site_.UnusedIds()[0], false);
  RunPastWindow(drop.id);
  const Drop again = site_.Now(drop.id);
  EXPECT_EQ(again.state, State::kMarked);
  EXPECT_GE(*again.window_end, *drop.window_end + absl::Hours(72));
  EXPECT_EQ(again.notes.back().reason, "MARKED_AGAIN");
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
  EXPECT_GE(*site_.Now(drop.id).kill_started, *again.window_end);
}

TEST_F(DropWindowTest, EndsLaterWhereDruidDoesNotAnswerAndAsksNobodyAboutClocks) {
  for (const bool approval : {false, true}) {
    const Drop drop = Marked(approval);
    if (approval) RunPastWindow(drop.id);
    const Drop before = site_.Now(drop.id);
    ASSERT_TRUE(site_.druid().AddFault(R"({"times":0,"kind":"status","status":503})").ok());
    RunPastWindow(drop.id, absl::Hours(1));
    EXPECT_EQ(site_.Now(drop.id).state, before.state) << site_.Now(drop.id).message;
    EXPECT_EQ(site_.Now(drop.id).hold, before.hold);
    site_.druid().ClearFaults();
    if (approval) {
      ASSERT_TRUE(site_.drops().Approve(drop.id, "", false, Bob()).ok());
    }
    ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled)) << site_.Now(drop.id).message;
    site_.Load(13, 14, 1);
  }
}

TEST_F(DropWindowTest, HoldsTheTimeOnlyBeforeAndAfter) {
  const Drop drop = Marked();
  const auto held = [&] {
    std::vector<lease::Held> found;
    EXPECT_TRUE(site_.store()
                    .Read([&](store::Transaction& tx) {
                      auto now = lease::FindHeld(tx, kClicks, lease::Mode::kReplace, {Of(kHour13)});
                      if (now.ok()) found = *now;
                      return now.status();
                    })
                    .ok());
    return found;
  };
  EXPECT_THAT(held(), IsEmpty());
  bool held_while_killing = true;
  site_.after_step = [&] {
    if (site_.Now(drop.id).state == State::kKilling) held_while_killing &= held().size() == 1;
  };
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
  EXPECT_TRUE(held_while_killing);
  EXPECT_THAT(held(), IsEmpty());
}

TEST_F(DropWindowTest, IsHeldUpByWhoeverHasTheTimeAtItsEnd) {
  const Drop drop = Marked();
  site_.Pass(absl::Hours(71));
  lease::Reservation other;
  ASSERT_TRUE(site_.store()
                  .Write([&](store::Transaction& tx) {
                    lease::ReserveRequest reserve;
                    reserve.datasource = kClicks;
                    reserve.intervals = {Of(kHour13)};
                    reserve.holder = "airflow";
                    reserve.ttl = absl::Hours(3);
                    auto grant = lease::Reserve(tx, reserve, Bob());
                    if (grant.ok()) other = grant->reservation;
                    return grant.status();
                  })
                  .ok());
  RunPastWindow(drop.id);
  EXPECT_EQ(site_.Now(drop.id).state, State::kMarked);
  EXPECT_EQ(site_.Now(drop.id).hold, kHeld);
  EXPECT_THAT(site_.Now(drop.id).message, HasSubstr("airflow"));
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
  EXPECT_GE(*site_.Now(drop.id).kill_started, other.deadline);
}

// Who drops and restores in one breath finds it before its mark.
TEST_F(DropWindowTest, IsRestoredBeforeItsMarkWithAllAsItWas) {
  const Drop drop = site_.Submitted(site_.Request(kHour13));
  ASSERT_EQ(drop.state, State::kReserved);
  ASSERT_TRUE(site_.drops().CheckRestore(drop.id).ok());
  const auto restored = site_.drops().Restore(drop.id, site_.Ada("r1", "wrong hour"));
  ASSERT_TRUE(restored.ok()) << restored.status();
  EXPECT_EQ(restored->state, State::kRestored);
  EXPECT_EQ(restored->restored_by, "ada");
  EXPECT_TRUE(site_.drops().Restore(drop.id, site_.Ada("r1", "wrong hour")).ok()) << "once more";
  site_.RunFor(absl::Hours(1));
  EXPECT_THAT(site_.Sent("markUnused"), IsEmpty());
  EXPECT_THAT(site_.UsedIds(), SizeIs(1));
  // Its time is free.
  EXPECT_TRUE(site_.RunTo(site_.Submitted(site_.Request(kHour13)).id, State::kMarked));
}

TEST_F(DropWindowTest, CanBeGivenUpOnlyBeforeTheMark) {
  const Drop drop = site_.Submitted(site_.Request(kHour13));
  ASSERT_TRUE(site_.drops().Cancel(drop.id, site_.Ada("c1")).ok());
  EXPECT_EQ(site_.Now(drop.id).state, State::kCancelled);
  EXPECT_TRUE(site_.drops().Cancel(drop.id, site_.Ada("c1")).ok()) << "the same call again";
  EXPECT_EQ(ReasonOf(site_.drops().Cancel(drop.id, site_.Ada()).status()), "ALREADY_OVER");
  EXPECT_EQ(ReasonOf(site_.drops().Restore(drop.id, site_.Ada()).status()), "NOTHING_TO_RESTORE");
  EXPECT_THAT(site_.UnusedIds(), IsEmpty());
  const Drop second = Marked();
  EXPECT_EQ(ReasonOf(site_.drops().Cancel(second.id, site_.Ada()).status()), "ALREADY_MARKED");
}

}  // namespace
}  // namespace interlock::drop
