// When a stream is suspended and resumed around a backfill: the machine alone.
#include "lib/backfill/handover.h"

#include "gtest/gtest.h"

namespace interlock::backfill {
namespace {

using State = HandoverState;
using Act = HandoverAct;

const Instant kNow = *Instant::Parse("2026-07-16T13:00Z");

Handover In(State state) {
  Handover handover;
  handover.backfill_id = "b1";
  Supervised views;
  views.id = "views";
  handover.supervisors = {views};
  handover.state = state;
  handover.max_pause = absl::Minutes(10);
  if (state != State::kBefore) {
    handover.suspended = kNow;
    handover.resume_by = kNow + absl::Minutes(10);
  }
  return handover;
}

HandoverSight Suspended() {
  HandoverSight sight;
  sight.known = true;
  sight.supervisors["views"].there = sight.supervisors["views"].suspended = true;
  sight.inside_open = true;
  return sight;
}

HandoverSight Alive() {
  HandoverSight sight = Suspended();
  sight.supervisors["views"].suspended = false;
  return sight;
}

HandoverStep Step(State state, const HandoverSight& sight) {
  return NextHandover(In(state), sight, kNow + absl::Minutes(1));
}

TEST(Handover, WhatLiesOutsideOfTheTailRunsFirst) {
  HandoverSight sight = Alive();
  sight.outside_open = true;
  EXPECT_EQ(Step(State::kBefore, sight).state, State::kBefore);
  EXPECT_EQ(Step(State::kBefore, sight).act, Act::kNone);
  sight.outside_open = false;
  EXPECT_EQ(Step(State::kBefore, sight),
            (HandoverStep{State::kDraining, Act::kSuspend, "", {"views"}}));
}

TEST(Handover, NothingIsSuspendedForNothing) {
  HandoverSight sight = Alive();
  sight.inside_open = false;
  EXPECT_EQ(Step(State::kBefore, sight).state, State::kOver);
  sight = Alive();
  sight.wanted = false;
  EXPECT_EQ(Step(State::kBefore, sight), (HandoverStep{State::kOver, Act::kNone, ""}));
}

TEST(Handover, OneThatAPersonSuspendedIsNotAskedAgain) {
  EXPECT_EQ(Step(State::kBefore, Suspended()), (HandoverStep{State::kDraining, Act::kNone, ""}));
}

TEST(Handover, ASecondOneWaitsForTheFirst) {
  HandoverSight sight = Alive();
  sight.supervisors["views"].another_has_it = true;
  EXPECT_EQ(Step(State::kBefore, sight),
            (HandoverStep{State::kBefore, Act::kNone, "HANDOVER_BUSY", {"views"}}));
}

TEST(Handover, ASuspendThatWasLostIsAskedForAgain) {
  EXPECT_EQ(Step(State::kDraining, Alive()).act, Act::kSuspend);
}

TEST(Handover, WhoeverResumesItMeanwhileIsNoticed) {
  Handover handover = In(State::kDraining);
  handover.supervisors[0].seen_suspended = true;
  EXPECT_EQ(NextHandover(handover, Alive(), kNow),
            (HandoverStep{State::kResuming, Act::kNone, "RESUMED_BY_OTHERS", {"views"}}));
  EXPECT_EQ(Step(State::kSuspended, Alive()).reason, "RESUMED_BY_OTHERS");
}

TEST(Handover, TheBackfillRunsOnlyWhenTasksAndLocksAreGone) {
  HandoverSight sight = Suspended();
  EXPECT_EQ(Step(State::kDraining, sight).state, State::kDraining);
  sight.tasks_gone = true;
  EXPECT_EQ(Step(State::kDraining, sight).state, State::kSuspended);
}

TEST(Handover, WhatCantBeAskedChangesNothing) {
  const HandoverSight blind = [] {
    HandoverSight sight;
    sight.inside_open = true;
    return sight;
  }();
  for (const State state :
       {State::kBefore, State::kDraining, State::kSuspended, State::kResuming}) {
    EXPECT_EQ(Step(state, blind).state, state) << NameOf(state);
    EXPECT_EQ(Step(state, blind).act, Act::kNone) << NameOf(state);
  }
}

TEST(Handover, WhenAllIsProvenTheStreamResumes) {
  HandoverSight sight = Suspended();
  sight.inside_open = false;
  EXPECT_EQ(Step(State::kSuspended, sight).state, State::kResuming);
  EXPECT_EQ(Step(State::kResuming, sight).act, Act::kResume);
  sight.supervisors["views"].suspended = false;
  EXPECT_EQ(Step(State::kResuming, sight).state, State::kOver);
}

TEST(Handover, OneThatAPersonSuspendedStaysSuspended) {
  Handover handover = In(State::kResuming);
  handover.supervisors[0].was_suspended = true;
  EXPECT_EQ(NextHandover(handover, Suspended(), kNow),
            (HandoverStep{State::kOver, Act::kNone, ""}));
}

TEST(Handover, ItIsNeverResumedOverAnAttemptThatMayStillWrite) {
  HandoverSight sight = Suspended();
  sight.attempt_open = true;
  for (const bool wanted : {true, false}) {
    sight.wanted = wanted;
    for (const State state : {State::kSuspended, State::kResuming}) {
      const HandoverStep step = NextHandover(In(state), sight, kNow + absl::Hours(5));
      EXPECT_NE(step.state, State::kOver) << NameOf(state);
      EXPECT_NE(step.act, Act::kResume) << NameOf(state);
      EXPECT_EQ(step.state, state);
    }
  }
}

TEST(Handover, ThePauseHasABound) {
  const Instant late = kNow + absl::Minutes(10);
  HandoverSight sight = Suspended();
  EXPECT_EQ(NextHandover(In(State::kDraining), sight, late),
            (HandoverStep{State::kResuming, Act::kNone, "PAUSE_OVER"}));
  EXPECT_EQ(NextHandover(In(State::kSuspended), sight, late),
            (HandoverStep{State::kResuming, Act::kNone, "PAUSE_OVER"}));
  sight.attempt_open = true;
  EXPECT_EQ(NextHandover(In(State::kSuspended), sight, late),
            (HandoverStep{State::kSuspended, Act::kShutDown, "PAUSE_OVER"}));
}

TEST(Handover, NoUnitStartsThatThePauseDoesNotOutlast) {
  const Handover handover = In(State::kSuspended);
  EXPECT_TRUE(MayRunInTail(handover, kNow, absl::Seconds(30)));
  EXPECT_FALSE(
      MayRunInTail(handover, kNow + absl::Minutes(9) + absl::Seconds(30), absl::Seconds(30)));
  EXPECT_FALSE(MayRunInTail(In(State::kDraining), kNow, absl::Seconds(30)));
}

TEST(Handover, ACancelledOneResumes) {
  HandoverSight sight = Suspended();
  sight.wanted = false;
  EXPECT_EQ(Step(State::kSuspended, sight).state, State::kResuming);
  EXPECT_EQ(Step(State::kDraining, sight).state, State::kResuming);
}

// A datasource may have several supervisors: all suspended, all waited for, all resumed.

Handover Two(State state) {
  Handover handover = In(state);
  Supervised clicks;
  clicks.id = "clicks";
  handover.supervisors.insert(handover.supervisors.begin(), clicks);
  return handover;
}

HandoverSight BothSuspended() {
  HandoverSight sight = Suspended();
  sight.supervisors["clicks"] = sight.supervisors["views"];
  return sight;
}

HandoverStep StepTwo(State state, const HandoverSight& sight) {
  return NextHandover(Two(state), sight, kNow + absl::Minutes(1));
}

TEST(Handover, OfSeveralAllAreSuspendedThatRun) {
  HandoverSight sight = BothSuspended();
  sight.supervisors["views"].suspended = false;
  EXPECT_EQ(StepTwo(State::kBefore, sight),
            (HandoverStep{State::kDraining, Act::kSuspend, "", {"views"}}));
  sight.supervisors["clicks"].suspended = false;
  const std::vector<std::string> both = {"clicks", "views"};
  EXPECT_EQ(StepTwo(State::kBefore, sight).whom, both);
  EXPECT_EQ(StepTwo(State::kDraining, sight).whom, both);
}

TEST(Handover, OfSeveralOneThatRunsHoldsTheBackfillBack) {
  HandoverSight sight = BothSuspended();
  sight.tasks_gone = true;
  EXPECT_EQ(StepTwo(State::kDraining, sight).state, State::kSuspended);
  sight.supervisors["views"].suspended = false;
  EXPECT_EQ(StepTwo(State::kDraining, sight).state, State::kDraining);
}

TEST(Handover, OfSeveralNoneIsTakenWhileAnotherHandoverHasOne) {
  HandoverSight sight = BothSuspended();
  sight.supervisors["views"].another_has_it = true;
  EXPECT_EQ(StepTwo(State::kBefore, sight),
            (HandoverStep{State::kBefore, Act::kNone, "HANDOVER_BUSY", {"views"}}));
}

TEST(Handover, OfSeveralOneThatAPersonResumesEndsItForAll) {
  HandoverSight sight = BothSuspended();
  sight.supervisors["clicks"].suspended = false;
  EXPECT_EQ(StepTwo(State::kSuspended, sight),
            (HandoverStep{State::kResuming, Act::kNone, "RESUMED_BY_OTHERS", {"clicks"}}));
}

TEST(Handover, OfSeveralItIsOverWhenEachIsAsAPersonHadIt) {
  Handover handover = Two(State::kResuming);
  handover.supervisors[0].was_suspended = true;  // clicks
  HandoverSight sight = BothSuspended();
  EXPECT_EQ(NextHandover(handover, sight, kNow),
            (HandoverStep{State::kResuming, Act::kResume, "", {"views"}}));
  // A suspend of ours that may still arrive: not before that is settled.
  sight.supervisors["views"].call_settled = false;
  EXPECT_EQ(NextHandover(handover, sight, kNow), (HandoverStep{State::kResuming, Act::kNone, ""}));
  sight.supervisors["views"] = {true, false, false, true, true};
  EXPECT_EQ(NextHandover(handover, sight, kNow), (HandoverStep{State::kOver, Act::kNone, ""}));
}

TEST(Handover, ASupervisorThatIsGoneLeavesNothingToResume) {
  HandoverSight sight = Suspended();
  sight.supervisors.clear();
  EXPECT_EQ(Step(State::kSuspended, sight).reason, "SUPERVISOR_GONE");
  EXPECT_EQ(Step(State::kResuming, sight).state, State::kOver);
}

}  // namespace
}  // namespace interlock::backfill
