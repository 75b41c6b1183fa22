#include "client/cpp/lease_keeper.h"

#include <chrono>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "interlock/v1/reservations.pb.h"
#include "lib/time/fake_clock.h"
#include "tests/client/fake_calls.h"

namespace interlock::client {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr char kRenew[] = "Reservations.RenewReservation";
constexpr char kGet[] = "Reservations.GetReservation";

// A lease of 60 s that was granted at once, and an owner that notes what it is told.
struct Kept {
  FakeCalls calls;
  FakeClock clock;
  std::vector<std::string> lost;
  std::vector<absl::Duration> failed;
  LeaseKeeper keeper{
      calls,
      clock,
      {"r-1", 7, clock.Monotonic(), seconds(60), seconds(60)},
      absl::Seconds(5),
      {[this](const absl::Status& why) { lost.push_back(ReasonOf(why)); },
       [this](const absl::Status&, absl::Duration left) { failed.push_back(left); }}};

  void AnswerRenewals(const absl::Status& status) {
    calls.On<v1::RenewReservationRequest, v1::RenewReservationResponse>(
        kRenew, [status](const auto& request, auto& reply) {
          EXPECT_EQ(request.reservation_id(), "r-1");
          EXPECT_EQ(request.fencing_token(), 7);
          EXPECT_EQ(request.ttl().seconds(), 60);
          reply.mutable_reservation()->mutable_remaining()->set_seconds(60);
          return status;
        });
  }
};

TEST(LeaseKeeper, RenewsAtAThirdOfTheLeaseAndNotBefore) {
  Kept kept;
  kept.AnswerRenewals(absl::OkStatus());
  EXPECT_EQ(kept.keeper.Step(), nanoseconds(seconds(20)));
  EXPECT_EQ(kept.calls.count(kRenew), 0);
  kept.clock.Advance(absl::Seconds(20));
  EXPECT_EQ(kept.keeper.Step(), nanoseconds(seconds(20)));
  EXPECT_EQ(kept.calls.count(kRenew), 1);
  EXPECT_EQ(kept.keeper.left(), absl::Seconds(55));
  EXPECT_TRUE(kept.lost.empty());
}

TEST(LeaseKeeper, LivesForHoursOfRenewals) {
  Kept kept;
  kept.AnswerRenewals(absl::OkStatus());
  for (int i = 0; i < 1'000; ++i) {
    const nanoseconds rest = kept.keeper.Step();
    ASSERT_GT(rest, nanoseconds::zero());
    kept.clock.Advance(absl::FromChrono(rest));
    ASSERT_TRUE(kept.keeper.held());
  }
}

TEST(LeaseKeeper, LooksNowAndThenWhetherItWasTakenAndTellsWhoTookIt) {
  Kept kept;
  kept.AnswerRenewals(absl::OkStatus());
  auto state = v1::Reservation::ACTIVE;
  kept.calls.On<v1::GetReservationRequest, v1::GetReservationResponse>(
      kGet, [&](const auto& request, auto& reply) {
        EXPECT_EQ(request.reservation_id(), "r-1");
        reply.mutable_reservation()->set_reservation_id("r-1");
        reply.mutable_reservation()->set_state(state);
        reply.mutable_reservation()->set_forced_by("root");
        return absl::OkStatus();
      });
  EXPECT_EQ(kept.keeper.Tend(), nanoseconds(seconds(2)));
  EXPECT_EQ(kept.calls.count(kGet), 0) << "it was granted just now";
  kept.clock.Advance(absl::Seconds(2));
  EXPECT_EQ(kept.keeper.Tend(), nanoseconds(seconds(2)));
  EXPECT_EQ(kept.calls.count(kGet), 1);
  EXPECT_TRUE(kept.keeper.held());
  state = v1::Reservation::FORCED;
  kept.clock.Advance(absl::Seconds(2));
  EXPECT_EQ(kept.keeper.Tend(), nanoseconds::zero());
  EXPECT_EQ(kept.lost, std::vector<std::string>{"FORCED"});
  EXPECT_NE(kept.keeper.loss().message().find("root ended it"), absl::string_view::npos);
  EXPECT_EQ(kept.calls.count(kRenew), 0);
}

TEST(LeaseKeeper, AServerThatCannotBeLookedAtSaysNothing) {
  Kept kept;
  kept.AnswerRenewals(absl::OkStatus());
  for (int i = 0; i < 100; ++i) {
    kept.clock.Advance(absl::Seconds(2));
    ASSERT_GT(kept.keeper.Tend(), nanoseconds::zero());
    ASSERT_TRUE(kept.keeper.held());
  }
  EXPECT_GT(kept.calls.count(kGet), 90);
  EXPECT_GT(kept.calls.count(kRenew), 5);
  EXPECT_TRUE(kept.lost.empty());
}

TEST(Case115, StopsByItsOwnDeadlineWithoutAServersWord) {
  Kept kept;  // nobody answers
  while (kept.lost.empty()) {
    const nanoseconds rest = kept.keeper.Step();
    if (kept.lost.empty()) kept.clock.Advance(absl::FromChrono(rest));
  }
  EXPECT_EQ(kept.lost, std::vector<std::string>{"LEASE_DEADLINE"});
  EXPECT_EQ(kept.clock.Monotonic(), seconds(55));
  EXPECT_FALSE(kept.keeper.held());
  EXPECT_GT(kept.calls.count(kRenew), 5);
}

TEST(Case118, AFailedRenewalIsToldEarlyWithTheTimeThatIsLeft) {
  Kept kept;
  kept.clock.Advance(absl::Seconds(20));
  kept.keeper.Step();
  EXPECT_EQ(kept.failed, std::vector<absl::Duration>{absl::Seconds(35)});
  EXPECT_TRUE(kept.keeper.held());
}

TEST(Case118, IsNotHeldAfterTheDeadlineThoughNoThreadCameToNotice) {
  Kept kept;
  kept.AnswerRenewals(absl::OkStatus());
  kept.clock.Advance(absl::Seconds(56));
  EXPECT_FALSE(kept.keeper.held());
  EXPECT_EQ(ReasonOf(kept.keeper.loss()), "LEASE_DEADLINE");
  EXPECT_EQ(kept.keeper.left(), absl::ZeroDuration());
  // And a late renewal does not make it held again for the owner who was told otherwise.
  EXPECT_EQ(kept.keeper.Step(), nanoseconds::zero());
  EXPECT_EQ(kept.calls.count(kRenew), 0);
  EXPECT_EQ(kept.lost, std::vector<std::string>{"LEASE_DEADLINE"});
}

TEST(Case123, TellsLostFromUnreachable) {
  Kept unreachable;
  unreachable.AnswerRenewals(Away());
  unreachable.clock.Advance(absl::Seconds(20));
  EXPECT_GT(unreachable.keeper.Step(), nanoseconds::zero());
  EXPECT_TRUE(unreachable.keeper.held());
  EXPECT_TRUE(unreachable.lost.empty());

  for (const std::string reason : {"EXPIRED", "RELEASED", "SUPERSEDED", "FORCED", "STALE_TOKEN",
                                   "UNKNOWN_RESERVATION", "NOT_THE_HOLDER"}) {
    Kept lost;
    lost.AnswerRenewals(Refusal(absl::StatusCode::kFailedPrecondition, "over", reason));
    lost.clock.Advance(absl::Seconds(20));
    EXPECT_EQ(lost.keeper.Step(), nanoseconds::zero());
    EXPECT_FALSE(lost.keeper.held());
    EXPECT_EQ(lost.lost, std::vector<std::string>{reason});
  }
}

TEST(Case123, UnreachableSoFarShowsWhileHeldAndGoesWithTheNextRenewal) {
  Kept kept;
  EXPECT_TRUE(kept.keeper.renewal().ok());
  kept.clock.Advance(absl::Seconds(20));
  kept.keeper.Step();
  EXPECT_TRUE(kept.keeper.held());
  EXPECT_EQ(ReasonOf(kept.keeper.renewal()), "UNREACHABLE");
  kept.AnswerRenewals(absl::OkStatus());
  kept.clock.Advance(absl::Seconds(5));
  kept.keeper.Step();
  EXPECT_TRUE(kept.keeper.renewal().ok());
  kept.clock.Advance(absl::Seconds(60));
  EXPECT_EQ(ReasonOf(kept.keeper.renewal()), "LEASE_DEADLINE");
}

TEST(Case111, AfterARefusedRenewalItNeverAsksAgain) {
  Kept kept;
  kept.AnswerRenewals(Refusal(absl::StatusCode::kFailedPrecondition, "over", "EXPIRED"));
  for (int i = 0; i < 10; ++i) {
    kept.clock.Advance(absl::Seconds(20));
    kept.keeper.Step();
  }
  EXPECT_EQ(kept.calls.count(kRenew), 1);
  EXPECT_EQ(kept.lost, std::vector<std::string>{"EXPIRED"});
}

TEST(Case121, AnAnswerThatComesAfterTheLossWasToldResurrectsNothing) {
  Kept kept;
  kept.calls.On<v1::RenewReservationRequest, v1::RenewReservationResponse>(
      kRenew, [&](const auto&, auto& reply) {
        // The machine slept in the middle of the call; the other thread noticed first.
        kept.clock.Advance(absl::Minutes(10));
        EXPECT_EQ(kept.keeper.Notice(), nanoseconds::zero());
        reply.mutable_reservation()->mutable_remaining()->set_seconds(60);
        return absl::OkStatus();
      });
  kept.clock.Advance(absl::Seconds(20));
  EXPECT_EQ(kept.keeper.Step(), nanoseconds::zero());
  EXPECT_FALSE(kept.keeper.held());
  EXPECT_EQ(kept.lost, std::vector<std::string>{"LEASE_DEADLINE"});
}

TEST(Case117, TheOwnerStopsBeforeOthersAreLetInAndKnowsHowLongThatIs) {
  Kept kept;
  kept.clock.Advance(absl::Seconds(55));
  EXPECT_EQ(kept.keeper.Notice(), nanoseconds::zero());
  EXPECT_EQ(kept.keeper.left(), absl::ZeroDuration());
  EXPECT_EQ(kept.keeper.until_end(), absl::Seconds(5));
  kept.clock.Advance(absl::Seconds(6));
  EXPECT_EQ(kept.keeper.until_end(), absl::Seconds(-1));
}

TEST(Case105, AHolderThatStalledStopsAtTheStaleTokensRefusal) {
  Kept kept;
  kept.AnswerRenewals(Refusal(absl::StatusCode::kFailedPrecondition, "8 is newer", "STALE_TOKEN"));
  kept.clock.Advance(absl::Seconds(50));
  kept.keeper.Step();
  EXPECT_FALSE(kept.keeper.held());
  EXPECT_EQ(ReasonOf(kept.keeper.loss()), "STALE_TOKEN");
}

TEST(Case116, ALeaseIsHeldOnceItsLengthFromTheAskingAndNotTwice) {
  Kept kept;  // granted 60 s, asked for at the clock's zero; nobody answers again
  kept.clock.Advance(absl::Seconds(60) - absl::Seconds(5) - absl::Nanoseconds(1));
  EXPECT_TRUE(kept.keeper.held());
  kept.clock.Advance(absl::Nanoseconds(1));
  EXPECT_FALSE(kept.keeper.held());
}

TEST(LeaseKeeper, TheSecondThreadFindsNothingToTellBeforeTheDeadline) {
  Kept kept;
  kept.clock.Advance(absl::Seconds(50));
  EXPECT_EQ(kept.keeper.Notice(), nanoseconds(seconds(5)));
  EXPECT_TRUE(kept.lost.empty());
}

TEST(LeaseKeeper, IsToldOfTheLossOnce) {
  Kept kept;
  kept.clock.Advance(absl::Seconds(60));
  kept.keeper.Step();
  kept.keeper.Step();
  EXPECT_EQ(kept.lost.size(), 1u);
}

TEST(LeaseKeeper, ARenewalNeverWaitsBeyondTheOwnDeadline) {
  Kept kept;
  kept.clock.Advance(absl::Seconds(52));
  kept.keeper.Step();
  EXPECT_EQ(kept.calls.last_timeout(), absl::Seconds(3));
}

TEST(LeaseKeeper, AnAnswerThatCameBackAfterTheDeadlineStillCountsFromWhenItWasAskedFor) {
  Kept kept;
  kept.calls.On<v1::RenewReservationRequest, v1::RenewReservationResponse>(
      kRenew, [&](const auto&, auto& reply) {
        kept.clock.Advance(absl::Seconds(10));
        reply.mutable_reservation()->mutable_remaining()->set_seconds(60);
        return absl::OkStatus();
      });
  kept.clock.Advance(absl::Seconds(20));
  kept.keeper.Step();
  EXPECT_EQ(kept.keeper.left(), absl::Seconds(45));
}

TEST(Case108, AStepOfTheWallClockChangesNothingForTheHolder) {
  Kept kept;
  kept.clock.StepWall(absl::Hours(5));
  EXPECT_TRUE(kept.keeper.held());
  EXPECT_EQ(kept.keeper.Step(), nanoseconds(seconds(20)));
  kept.clock.StepWall(-absl::Hours(50));
  EXPECT_EQ(kept.keeper.left(), absl::Seconds(55));
}

}  // namespace
}  // namespace interlock::client
