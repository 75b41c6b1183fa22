// Every (state, observation): what is not in the table changes nothing.
#include "lib/backfill/state.h"

#include <gtest/gtest.h>

#include <map>

namespace interlock::backfill {
namespace {

using S = State;
using E = Seen;
using A = Action;

const std::map<std::pair<S, E>, Step>& Table() {
  static const auto* const kTable = new std::map<std::pair<S, E>, Step>{
      {{S::kPending, E::kLeased}, {S::kReserved, A::kLook}},
      {{S::kPending, E::kHeld}, {S::kSkipped, A::kNone}},
      {{S::kPending, E::kBlocked}, {S::kPending, A::kWait}},
      {{S::kPending, E::kCancel}, {S::kCancelled, A::kNone}},

      {{S::kReserved, E::kLeaseLost}, {S::kPending, A::kReserve}},
      {{S::kReserved, E::kAlreadyDone}, {S::kSkipped, A::kNone}},
      {{S::kReserved, E::kBlocked}, {S::kReserved, A::kWait}},
      {{S::kReserved, E::kCantTell}, {S::kReserved, A::kWait}},
      {{S::kReserved, E::kClear}, {S::kSubmitting, A::kPost}},
      {{S::kReserved, E::kOverdue}, {S::kFailed, A::kNone}},
      {{S::kReserved, E::kCancel}, {S::kCancelled, A::kNone}},

      {{S::kSubmitting, E::kPosted}, {S::kRunning, A::kPoll}},
      {{S::kSubmitting, E::kPostUnknown}, {S::kSubmitting, A::kWait}},
      {{S::kSubmitting, E::kQueueFull}, {S::kSubmitting, A::kWait}},
      {{S::kSubmitting, E::kBlocked}, {S::kSubmitting, A::kWait}},
      {{S::kSubmitting, E::kTaken}, {S::kNotApplied, A::kSettle}},
      {{S::kSubmitting, E::kRefused}, {S::kFailed, A::kSettle}},
      {{S::kSubmitting, E::kLeaseLost}, {S::kSubmitting, A::kOccupy}},
      {{S::kSubmitting, E::kCancel}, {S::kSubmitting, A::kOccupy}},
      {{S::kSubmitting, E::kOccupied}, {S::kNotApplied, A::kSettle}},
      {{S::kSubmitting, E::kOverdue}, {S::kUndetermined, A::kProve}},
      {{S::kSubmitting, E::kAbandon}, {S::kNotApplied, A::kSettle}},

      {{S::kRunning, E::kLives}, {S::kRunning, A::kWait}},
      {{S::kRunning, E::kCantTell}, {S::kRunning, A::kWait}},
      {{S::kRunning, E::kOverdue}, {S::kRunning, A::kShutdown}},
      {{S::kRunning, E::kCancel}, {S::kRunning, A::kShutdown}},
      {{S::kRunning, E::kEnded}, {S::kProving, A::kProve}},
      {{S::kRunning, E::kGone}, {S::kProving, A::kProve}},
      {{S::kRunning, E::kAbandon}, {S::kNotApplied, A::kSettle}},

      {{S::kProving, E::kProven}, {S::kDone, A::kSettle}},
      {{S::kProving, E::kProvenEmpty}, {S::kEmpty, A::kSettle}},
      {{S::kProving, E::kNoEffect}, {S::kNotApplied, A::kSettle}},
      {{S::kProving, E::kWrong}, {S::kSuspect, A::kSettle}},
      {{S::kProving, E::kCantTell}, {S::kUndetermined, A::kWait}},
      {{S::kProving, E::kNotYet}, {S::kProving, A::kWait}},
      {{S::kProving, E::kAbandon}, {S::kNotApplied, A::kSettle}},

      {{S::kUndetermined, E::kProven}, {S::kDone, A::kSettle}},
      {{S::kUndetermined, E::kProvenEmpty}, {S::kEmpty, A::kSettle}},
      {{S::kUndetermined, E::kNoEffect}, {S::kNotApplied, A::kSettle}},
      {{S::kUndetermined, E::kWrong}, {S::kSuspect, A::kSettle}},
      {{S::kUndetermined, E::kCantTell}, {S::kUndetermined, A::kWait}},
      {{S::kUndetermined, E::kNotYet}, {S::kProving, A::kWait}},
      {{S::kUndetermined, E::kAccept}, {S::kDone, A::kSettle}},
      {{S::kUndetermined, E::kAbandon}, {S::kNotApplied, A::kSettle}},

      {{S::kNotApplied, E::kAttemptsLeft}, {S::kReserved, A::kLook}},
      {{S::kNotApplied, E::kNoAttemptsLeft}, {S::kFailed, A::kNone}},
      {{S::kNotApplied, E::kLeaseLost}, {S::kPending, A::kReserve}},
      {{S::kNotApplied, E::kCancel}, {S::kCancelled, A::kNone}},
      {{S::kNotApplied, E::kRetry}, {S::kReserved, A::kLook}},

      {{S::kSuspect, E::kAccept}, {S::kDone, A::kNone}},
      {{S::kSuspect, E::kRetry}, {S::kPending, A::kReserve}},
      {{S::kFailed, E::kRetry}, {S::kPending, A::kReserve}},
      {{S::kSkipped, E::kRetry}, {S::kPending, A::kReserve}},
      {{S::kCancelled, E::kRetry}, {S::kPending, A::kReserve}},
      {{S::kDone, E::kRetry}, {S::kPending, A::kReserve}},
      {{S::kEmpty, E::kRetry}, {S::kPending, A::kReserve}},
      {{S::kRolledBack, E::kRetry}, {S::kPending, A::kReserve}},
      {{S::kDone, E::kTotalsDiffer}, {S::kSuspect, A::kNone}},
      {{S::kEmpty, E::kTotalsDiffer}, {S::kSuspect, A::kNone}},
  };
  return *kTable;
}

TEST(State, MovesAsTheTableSaysAndNotOtherwise) {
  for (int s = 0; s <= static_cast<int>(S::kRolledBack); ++s) {
    for (int e = 0; e <= static_cast<int>(E::kRetry); ++e) {
      const S state = static_cast<S>(s);
      const E seen = static_cast<E>(e);
      const auto it = Table().find({state, seen});
      const Step expected = it == Table().end() ? Step{state, A::kNone} : it->second;
      EXPECT_EQ(Next(state, seen), expected) << NameOf(state) << ", observation " << e;
    }
  }
}

// P8: from every state some observation that Druid or a person can give leads on.
TEST(State, NoneIsWithoutAWayOut) {
  for (int s = 0; s <= static_cast<int>(S::kRolledBack); ++s) {
    const S state = static_cast<S>(s);
    bool leads_on = false;
    for (int e = 0; e <= static_cast<int>(E::kRetry); ++e) {
      leads_on = leads_on || Next(state, static_cast<E>(e)).state != state;
    }
    EXPECT_TRUE(leads_on) << NameOf(state);
  }
}

// P3: only an attempt that is proven to write no more lets go of its time.
TEST(State, OpenOnesEndOnlyByASettledAttempt) {
  for (int s = 0; s <= static_cast<int>(S::kRolledBack); ++s) {
    for (int e = 0; e <= static_cast<int>(E::kRetry); ++e) {
      const S state = static_cast<S>(s);
      const Step next = Next(state, static_cast<E>(e));
      if (IsOpen(state) && !IsOpen(next.state)) {
        EXPECT_EQ(next.action, A::kSettle) << NameOf(state) << ", observation " << e;
      }
    }
  }
}

TEST(State, NamesReadBack) {
  for (int s = 0; s <= static_cast<int>(S::kRolledBack); ++s) {
    EXPECT_EQ(StateOf(NameOf(static_cast<S>(s))), static_cast<S>(s));
  }
  EXPECT_EQ(NameOf(S::kNotApplied), "NOT_APPLIED");
}

}  // namespace
}  // namespace interlock::backfill
