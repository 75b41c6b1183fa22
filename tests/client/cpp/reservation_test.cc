#include "client/cpp/reservation.h"

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "interlock/v1/reservations.pb.h"
#include "lib/time/fake_clock.h"
#include "tests/client/fake_calls.h"

namespace interlock::client {
namespace {

constexpr char kReserve[] = "IngestionCoordinator.ReserveInterval";
constexpr char kRenew[] = "Reservations.RenewReservation";
constexpr char kRelease[] = "Reservations.ReleaseReservation";

// A server that grants and renews leases of `ttl`.
void Grant(FakeCalls& calls, std::chrono::milliseconds ttl) {
  const auto lease = [ttl](v1::Reservation& reservation) {
    reservation.set_reservation_id("r-1");
    reservation.set_fencing_token(7);
    for (auto* duration : {reservation.mutable_remaining(), reservation.mutable_ttl()}) {
      duration->set_seconds(ttl.count() / 1000);
      duration->set_nanos(static_cast<int32_t>(ttl.count() % 1000) * 1'000'000);
    }
  };
  calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
      kReserve, [lease](const auto&, auto& reply) {
        lease(*reply.mutable_reservation());
        return absl::OkStatus();
      });
  calls.On<v1::RenewReservationRequest, v1::RenewReservationResponse>(
      kRenew, [lease](const auto&, auto& reply) {
        lease(*reply.mutable_reservation());
        return absl::OkStatus();
      });
  calls.On<v1::ReleaseReservationRequest, v1::ReleaseReservationResponse>(
      kRelease, [](const auto& request, auto&) {
        EXPECT_EQ(request.reservation_id(), "r-1");
        EXPECT_EQ(request.fencing_token(), 7);
        return absl::OkStatus();
      });
}

TEST(Reservation, TakesALeaseAndGivesItBack) {
  FakeCalls calls;
  FakeClock clock;
  Grant(calls, std::chrono::minutes(10));
  auto lease = Reservation::Take(calls, clock, {}, {});
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ((*lease)->id(), "r-1");
  EXPECT_EQ((*lease)->fencing_token(), 7);
  EXPECT_TRUE((*lease)->held());
  EXPECT_TRUE((*lease)->Release(absl::Seconds(1)).ok());
  EXPECT_EQ(calls.count(kRelease), 1);
  EXPECT_EQ(calls.count(kRenew), 0);
}

TEST(Case99, ItsDestructorGivesItBackUnlessItIsKept) {
  FakeCalls calls;
  FakeClock clock;
  Grant(calls, std::chrono::minutes(10));
  { ASSERT_TRUE(Reservation::Take(calls, clock, {}, {}).ok()); }
  EXPECT_EQ(calls.count(kRelease), 1);
  {
    auto lease = Reservation::Take(calls, clock, {}, {});
    ASSERT_TRUE(lease.ok());
    EXPECT_TRUE((*lease)->Release(absl::Seconds(1)).ok());
  }
  EXPECT_EQ(calls.count(kRelease), 2);
  {
    auto lease = Reservation::Take(calls, clock, {}, {});
    ASSERT_TRUE(lease.ok());
    (*lease)->Keep();
  }
  EXPECT_EQ(calls.count(kRelease), 2);
  {
    auto lease = Reservation::Take(calls, clock, {}, {});
    ASSERT_TRUE(lease.ok());
    clock.Advance(absl::Minutes(11));  // it is not ours any more
  }
  EXPECT_EQ(calls.count(kRelease), 2);
}

// Pauses of a call that is repeated take no time in a test.
Reservation::Options Hasty(std::vector<absl::Duration>* pauses = nullptr) {
  Reservation::Options options;
  options.repeating.pause = [pauses](absl::Duration pause) {
    if (pauses != nullptr) pauses->push_back(pause);
  };
  return options;
}

TEST(Reservation, ALostReplyIsAskedForAgainUnderTheSameId) {
  FakeCalls calls;
  FakeClock clock;
  Grant(calls, std::chrono::minutes(10));
  std::vector<std::string> ids;
  calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
      kReserve, [&](const auto& request, auto& reply) {
        ids.push_back(request.request_id());
        if (ids.size() == 1) return Away();
        if (ids.size() == 2) {
          return Refusal(absl::StatusCode::kUnavailable, "going down", "STORE_CLOSED");
        }
        reply.mutable_reservation()->set_reservation_id("r-1");
        reply.mutable_reservation()->set_fencing_token(7);
        reply.mutable_reservation()->mutable_remaining()->set_seconds(600);
        return absl::OkStatus();
      });
  ASSERT_TRUE(Reservation::Take(calls, clock, {}, Hasty()).ok());
  ASSERT_EQ(ids.size(), 3u);
  EXPECT_EQ(ids[0].size(), 32u);
  EXPECT_EQ(ids[1], ids[0]);
  EXPECT_EQ(ids[2], ids[0]);
  ids.clear();
  v1::ReserveIntervalRequest named;
  named.set_request_id("run-7");
  ASSERT_TRUE(Reservation::Take(calls, clock, named, Hasty()).ok());
  EXPECT_EQ(ids, (std::vector<std::string>{"run-7", "run-7", "run-7"}));
}

TEST(Reservation, AServerThatStaysAwayIsAnAnswerAfterAWhile) {
  FakeCalls calls;
  FakeClock clock;
  std::vector<absl::Duration> pauses;
  const auto lease = Reservation::Take(calls, clock, {}, Hasty(&pauses));
  EXPECT_EQ(ReasonOf(lease.status()), "UNREACHABLE");
  EXPECT_EQ(calls.count(kReserve), static_cast<int>(pauses.size()) + 1);
  absl::Duration paused;
  for (const auto pause : pauses) paused += pause;
  EXPECT_GT(paused, absl::Seconds(8));
  EXPECT_LE(paused, absl::Seconds(10));
}

TEST(Reservation, AnAnswerThatIsNoIsNotAskedForAgain) {
  for (const absl::Status& no :
       {Refusal(absl::StatusCode::kFailedPrecondition, "held", "HELD"),
        Refusal(absl::StatusCode::kUnavailable, "Druid is away", "DRUID_UNAVAILABLE"),
        Refusal(absl::StatusCode::kResourceExhausted, "too many", "LIMIT_EXCEEDED"),
        Refusal(absl::StatusCode::kDeadlineExceeded, "", "NO_ANSWER")}) {
    FakeCalls calls;
    FakeClock clock;
    calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
        kReserve, [&](const auto&, auto&) { return no; });
    EXPECT_EQ(Reservation::Take(calls, clock, {}, Hasty()).status(), no);
    EXPECT_EQ(calls.count(kReserve), 1) << no;
  }
}

TEST(Case113, AWaiterWhoseServerRestartedWaitsForWhatIsLeftAndNotForEver) {
  FakeCalls calls;
  FakeClock clock;
  Grant(calls, std::chrono::minutes(10));
  std::vector<int64_t> waits;
  calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
      kReserve, [&](const auto& request, auto&) {
        waits.push_back(request.wait().seconds());
        clock.Advance(absl::Minutes(4));
        return Refusal(absl::StatusCode::kUnavailable, "going down", "STORE_CLOSED");
      });
  v1::ReserveIntervalRequest request;
  request.mutable_wait()->set_seconds(600);
  EXPECT_FALSE(Reservation::Take(calls, clock, request, Hasty()).ok());
  ASSERT_GE(waits.size(), 4u);
  EXPECT_EQ(waits[0], 600);
  EXPECT_EQ(waits[1], 360);
  EXPECT_EQ(waits[2], 120);
  EXPECT_EQ(waits[3], 0);
}

TEST(Reservation, AGrantThatCanNotBeCountedIsGivenBack) {
  FakeCalls calls;
  FakeClock clock;
  Grant(calls, std::chrono::seconds(60));
  calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
      kReserve, [&](const auto&, auto& reply) {
        clock.Advance(absl::Minutes(5));
        reply.mutable_reservation()->set_reservation_id("r-1");
        reply.mutable_reservation()->set_fencing_token(7);
        reply.mutable_reservation()->mutable_remaining()->set_seconds(60);
        return absl::OkStatus();
      });
  calls.On<v1::RenewReservationRequest, v1::RenewReservationResponse>(
      kRenew, [](const auto&, auto&) { return Away(); });
  EXPECT_EQ(ReasonOf(Reservation::Take(calls, clock, {}, Hasty()).status()), "UNREACHABLE");
  EXPECT_EQ(calls.count(kRelease), 1);
}

TEST(Reservation, CanBeWaitedForUntilItIsLost) {
  FakeCalls calls;
  const SystemClock clock;
  Grant(calls, std::chrono::milliseconds(300));
  calls.On<v1::RenewReservationRequest, v1::RenewReservationResponse>(
      kRenew, [](const auto&, auto&) { return Away(); });
  auto lease = Reservation::Take(calls, clock, {}, {});
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_TRUE((*lease)->WaitUntilLost(absl::Milliseconds(1)).ok());
  EXPECT_EQ(ReasonOf((*lease)->WaitUntilLost()), "LEASE_DEADLINE");
  EXPECT_GT((*lease)->until_end(), absl::ZeroDuration());
}

TEST(Case115, ItsOwnerIsToldInTimeThoughARenewalHangs) {
  FakeCalls calls;
  const SystemClock clock;
  Grant(calls, std::chrono::milliseconds(300));
  std::promise<void> told;
  auto loss = told.get_future().share();
  calls.On<v1::RenewReservationRequest, v1::RenewReservationResponse>(
      kRenew, [&](const auto&, auto&) {
        loss.wait();  // a server that says nothing, whatever deadline the call has
        return Away();
      });
  Reservation::Options options;
  options.events.lost = [&](const absl::Status&) { told.set_value(); };
  auto lease = Reservation::Take(calls, clock, {}, options);
  ASSERT_TRUE(lease.ok()) << lease.status();
  loss.wait();
  EXPECT_FALSE((*lease)->held());
}

TEST(Reservation, ARefusalComesThroughAsItIs) {
  FakeCalls calls;
  FakeClock clock;
  calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
      kReserve, [](const auto&, auto&) {
        return Refusal(absl::StatusCode::kFailedPrecondition, "held by auditor", "HELD");
      });
  const auto lease = Reservation::Take(calls, clock, {}, {});
  EXPECT_EQ(ReasonOf(lease.status()), "HELD");
}

TEST(Reservation, AllSkippedIsHeldAndNamesEach) {
  FakeCalls calls;
  FakeClock clock;
  calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
      kReserve, [](const auto&, auto& reply) {
        auto* held = reply.add_skipped();
        held->set_reason("HELD");
        held->set_interval("2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z");
        held->set_holder("auditor");
        held->set_purpose("quarter");
        return absl::OkStatus();
      });
  const auto lease = Reservation::Take(calls, clock, {}, {});
  EXPECT_EQ(ReasonOf(lease.status()), "HELD");
  const auto blockers = BlockersOf(lease.status());
  ASSERT_EQ(blockers.size(), 1u);
  EXPECT_NE(blockers[0].description.find("auditor (quarter)"), std::string::npos);
}

TEST(Reservation, AGrantThatWasWaitedForIsCountedFromItsRenewal) {
  FakeCalls calls;
  FakeClock clock;
  Grant(calls, std::chrono::seconds(60));
  calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
      kReserve, [&](const auto&, auto& reply) {
        clock.Advance(absl::Minutes(5));
        reply.mutable_reservation()->set_reservation_id("r-1");
        reply.mutable_reservation()->set_fencing_token(7);
        reply.mutable_reservation()->mutable_remaining()->set_seconds(60);
        reply.mutable_reservation()->mutable_ttl()->set_seconds(60);
        return absl::OkStatus();
      });
  v1::ReserveIntervalRequest request;
  request.mutable_wait()->set_seconds(600);
  auto lease = Reservation::Take(calls, clock, request, {});
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_TRUE((*lease)->held());
  EXPECT_EQ((*lease)->left(), absl::Seconds(59));
  EXPECT_EQ(calls.count(kRenew), 1);
}

TEST(Reservation, TakesWhatIsLeftForTheLengthWhereAServerDoesNotSayIt) {
  FakeCalls calls;
  FakeClock clock;
  calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
      kReserve, [](const auto&, auto& reply) {
        reply.mutable_reservation()->set_reservation_id("r-1");
        reply.mutable_reservation()->set_fencing_token(7);
        reply.mutable_reservation()->mutable_remaining()->set_seconds(60);
        return absl::OkStatus();
      });
  Reservation::Options options;
  options.stop_early = absl::Seconds(11);
  auto lease = Reservation::Take(calls, clock, {}, options);
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ((*lease)->left(), absl::Seconds(49));
}

TEST(Reservation, IsRenewedForWhatWasAskedWhereAServerDoesNotSayIt) {
  FakeCalls calls;
  FakeClock clock;
  Grant(calls, std::chrono::seconds(60));
  calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
      kReserve, [&](const auto&, auto& reply) {
        clock.Advance(absl::Seconds(30));
        reply.mutable_reservation()->set_reservation_id("r-1");
        reply.mutable_reservation()->set_fencing_token(7);
        reply.mutable_reservation()->mutable_remaining()->set_seconds(59);
        return absl::OkStatus();
      });
  int64_t asked = 0;
  calls.On<v1::RenewReservationRequest, v1::RenewReservationResponse>(
      kRenew, [&](const auto& request, auto& reply) {
        asked = request.ttl().seconds();
        reply.mutable_reservation()->mutable_remaining()->set_seconds(60);
        return absl::OkStatus();
      });
  v1::ReserveIntervalRequest request;
  request.mutable_ttl()->set_seconds(60);
  ASSERT_TRUE(Reservation::Take(calls, clock, request, {}).ok());
  EXPECT_EQ(asked, 60);
}

TEST(Reservation, RenewsInTheBackgroundAndTellsItsOwnerOfTheLoss) {
  FakeCalls calls;
  const SystemClock clock;
  Grant(calls, std::chrono::milliseconds(300));
  std::atomic<int> renewals = 0;
  calls.On<v1::RenewReservationRequest, v1::RenewReservationResponse>(
      kRenew, [&](const auto&, auto& reply) {
        reply.mutable_reservation()->mutable_remaining()->set_nanos(300'000'000);
        return ++renewals < 3 ? absl::OkStatus()
                              : Refusal(absl::StatusCode::kFailedPrecondition, "taken", "FORCED");
      });
  std::promise<std::string> lost;
  Reservation::Options options;
  options.events.lost = [&](const absl::Status& why) { lost.set_value(ReasonOf(why)); };
  auto lease = Reservation::Take(calls, clock, {}, options);
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ(lost.get_future().get(), "FORCED");
  EXPECT_FALSE((*lease)->held());
  EXPECT_EQ(renewals, 3);
}

}  // namespace
}  // namespace interlock::client
