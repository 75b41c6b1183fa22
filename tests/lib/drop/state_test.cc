#include "lib/drop/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/drop/state_table.h"

namespace interlock::drop {
namespace {

constexpr State kAll[] = {
    State::kPlanned,          State::kReserved,       State::kMarking,  State::kMarked,
    State::kAwaitingApproval, State::kChecking,       State::kKilling,  State::kVerifying,
    State::kKilled,           State::kRestoring,      State::kRestored, State::kPartlyRestored,
    State::kCancelled,        State::kKillNotBounded, State::kFailed,
};

using S = State;
using A = Action;
using O = Observation;

TEST(DropState, ReservesThenMarks) {
  Expect({
      {"asks for its interval", S::kPlanned, {}, nullptr, {S::kPlanned, A::kReserve, ""}},
      {"held by another",
       S::kPlanned,
       {},
       [](O& o) { o.lease_refused = true; },
       {S::kPlanned, A::kNone, kHeld}},
      {"granted", S::kPlanned, {}, [](O& o) { o.leased = true; }, {S::kReserved, A::kLook, ""}},
      {"cancelled",
       S::kPlanned,
       Fine(),
       [](O& o) { o.cancel = true; },
       {S::kCancelled, A::kNone, ""}},
      {"marks", S::kReserved, Fine(), nullptr, {S::kMarking, A::kMark, ""}},
      {"unanswered",
       S::kReserved,
       Fine(),
       [](O& o) { o.known = false; },
       {S::kReserved, A::kLook, ""}},
      {"another plan than was agreed to",
       S::kReserved,
       Fine(),
       [](O& o) { o.strangers = true; },
       {S::kFailed, A::kNone, kChangedSincePlan}},
      {"its lease ran out",
       S::kReserved,
       Fine(),
       [](O& o) { o.leased = false; },
       {S::kPlanned, A::kReserve, ""}},
      {"cancelled in time",
       S::kReserved,
       Fine(),
       [](O& o) { o.cancel = true; },
       {S::kCancelled, A::kNone, ""}},
  });
}

TEST(DropState, MarksUntilAllReadsAsUnusedTwice) {
  Expect({
      {"the next batch", S::kMarking, Fine(), nullptr, {S::kMarking, A::kMark, ""}},
      {"a call may be under way",
       S::kMarking,
       Fine(),
       [](O& o) { o.open_intent = true; },
       {S::kMarking, A::kLook, ""}},
      {"unanswered",
       S::kMarking,
       Fine(),
       [](O& o) { o.known = false; },
       {S::kMarking, A::kLook, ""}},
      {"no lease, no mark",
       S::kMarking,
       Fine(),
       [](O& o) { o.leased = false; },
       {S::kMarking, A::kReserve, ""}},
      {"no lease to be had",
       S::kMarking,
       Fine(),
       [](O& o) { o.leased = false, o.lease_refused = true; },
       {S::kMarking, A::kNone, kHeld}},
      {"not settled",
       S::kMarking,
       AllMarked(),
       [](O& o) { o.settled = false; },
       {S::kMarking, A::kLook, ""}},
      {"proven", S::kMarking, AllMarked(), nullptr, {S::kMarked, A::kNone, ""}},
      {"all by others",
       S::kMarking,
       AllMarked(),
       [](O& o) { o.marked = 0; },
       {S::kFailed, A::kNone, kForeignDrop}},
      {"refused for good",
       S::kMarking,
       Fine(),
       [](O& o) { o.exhausted = true; },
       {S::kFailed, A::kNone, kMarkRefused}},
      {"cancelled",
       S::kMarking,
       Fine(),
       [](O& o) { o.cancel = true; },
       {S::kCancelled, A::kNone, ""}},
      {"not cancelled while a call is under way",
       S::kMarking,
       Fine(),
       [](O& o) { o.cancel = o.open_intent = true; },
       {S::kMarking, A::kLook, ""}},
  });
}

TEST(DropState, WaitsForTheWindowAndForConsent) {
  Expect({
      {"runs", S::kMarked, AllMarked(), nullptr, {S::kMarked, A::kNone, ""}},
      {"clocks",
       S::kMarked,
       AllMarked(),
       [](O& o) { o.window = Window::kUnclear; },
       {S::kAwaitingApproval, A::kNone, kClocksDisagree}},
      {"over",
       S::kMarked,
       WindowOver(),
       [](O& o) { o.leased = false; },
       {S::kChecking, A::kReserve, ""}},
      {"over, granted", S::kMarked, WindowOver(), nullptr, {S::kChecking, A::kLook, ""}},
      {"over, held",
       S::kMarked,
       WindowOver(),
       [](O& o) { o.leased = false, o.lease_refused = true; },
       {S::kMarked, A::kNone, kHeld}},
      {"over, not approved",
       S::kMarked,
       WindowOver(),
       [](O& o) { o.needs_approval = true; },
       {S::kAwaitingApproval, A::kNone, kApprovalRequired}},
      {"still not",
       S::kAwaitingApproval,
       WindowOver(),
       [](O& o) { o.needs_approval = true; },
       {S::kAwaitingApproval, A::kNone, kApprovalRequired}},
      {"extended",
       S::kAwaitingApproval,
       AllMarked(),
       [](O& o) { o.needs_approval = true; },
       {S::kMarked, A::kNone, ""}},
      {"approved",
       S::kAwaitingApproval,
       WindowOver(),
       [](O& o) { o.needs_approval = o.approved = true, o.leased = false; },
       {S::kChecking, A::kReserve, ""}},
  });
}

TEST(DropState, KillsOnlyWhatAWholeLookAllows) {
  Expect({
      {"goes", S::kChecking, WindowOver(), nullptr, {S::kKilling, A::kPostKill, ""}},
      {"unanswered",
       S::kChecking,
       WindowOver(),
       [](O& o) { o.known = false; },
       {S::kChecking, A::kLook, ""}},
      {"a call may be under way",
       S::kChecking,
       WindowOver(),
       [](O& o) { o.open_intent = true; },
       {S::kChecking, A::kLook, ""}},
      {"no lease",
       S::kChecking,
       WindowOver(),
       [](O& o) { o.leased = false; },
       {S::kChecking, A::kReserve, ""}},
      {"lease refused",
       S::kChecking,
       WindowOver(),
       [](O& o) { o.leased = false, o.lease_refused = true; },
       {S::kMarked, A::kNone, kHeld}},
      {"extended meanwhile", S::kChecking, AllMarked(), nullptr, {S::kMarked, A::kNone, ""}},
      {"clocks",
       S::kChecking,
       WindowOver(),
       [](O& o) { o.window = Window::kUnclear; },
       {S::kAwaitingApproval, A::kNone, kClocksDisagree}},
      {"approval withdrawn",
       S::kChecking,
       WindowOver(),
       [](O& o) { o.needs_approval = true; },
       {S::kAwaitingApproval, A::kNone, kApprovalRequired}},
      {"something speaks against it",
       S::kChecking,
       WindowOver(),
       [](O& o) { o.speaks_against = true; },
       {S::kMarked, A::kNone, kCheckFailed}},
      {"a Druid without bounds",
       S::kChecking,
       WindowOver(),
       [](O& o) { o.kill_bounded = false; },
       {S::kKillNotBounded, A::kNone, kKillIsNotBounded}},
      {"tried too often",
       S::kChecking,
       WindowOver(),
       [](O& o) { o.exhausted = true; },
       {S::kFailed, A::kNone, kKillFailed}},
      {"nothing left",
       S::kChecking,
       WindowOver(),
       [](O& o) { o.marked = 0, o.gone = 3; },
       {S::kVerifying, A::kLook, ""}},
      {"cancelled",
       S::kChecking,
       WindowOver(),
       [](O& o) { o.cancel = true; },
       {S::kCancelled, A::kNone, ""}},
      {"its reservation was taken by force",
       S::kChecking,
       WindowOver(),
       [](O& o) { o.leased = false, o.cancel = o.forced = true; },
       {S::kCancelled, A::kNone, kForced}},
      {"taken when a piece was gone",
       S::kChecking,
       WindowOver(),
       [](O& o) { o.leased = false, o.cancel = o.forced = true, o.gone = 1; },
       {S::kFailed, A::kNone, kCancelledHalfWay}},
  });
}

TEST(DropState, StaysWhereItEnded) {
  for (State state : kAll) {
    if (!Ended(state)) continue;
    Observation seen = WindowOver();
    seen.cancel = true;
    EXPECT_EQ(Next(state, seen), (Move{state, Action::kNone, ""})) << state;
  }
}

TEST(DropState, NamesRoundTrip) {
  for (State state : kAll) EXPECT_EQ(StateNamed(Name(state)), state);
  EXPECT_EQ(StateNamed("BURNING"), std::nullopt);
}

// Every observation there is (in what decides), from every state: P5 in one place.
TEST(DropState, NeverPostsAKillWithoutWindowLeaseAndAnswers) {
  for (State state : kAll) {
    for (int bits = 0; bits < 1 << 11; ++bits) {
      for (Window window : {Window::kRuns, Window::kOver, Window::kUnclear}) {
        Observation seen;
        const auto bit = [bits](int n) { return (bits >> n & 1) != 0; };
        seen.leased = bit(0);
        seen.known = bit(1);
        seen.needs_approval = bit(2);
        seen.approved = bit(3);
        seen.speaks_against = bit(4);
        seen.kill_bounded = bit(5);
        seen.open_intent = bit(6);
        seen.cancel = bit(7);
        seen.used = bit(8);
        seen.marked = bit(9);
        seen.settled = bit(10);
        seen.window = window;
        const Move move = Next(state, seen);
        if (move.action != Action::kPostKill) continue;
        EXPECT_EQ(state, State::kChecking);
        EXPECT_TRUE(seen.leased && seen.known && window == Window::kOver && seen.kill_bounded &&
                    !seen.speaks_against && !seen.open_intent && !seen.cancel &&
                    (seen.approved || !seen.needs_approval))
            << bits;
      }
    }
  }
}

}  // namespace
}  // namespace interlock::drop
