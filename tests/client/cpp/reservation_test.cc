#include "client/cpp/reservation.h"

#include <atomic>
#include <chrono>
#include <future>
#include <string>

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

TEST(Reservation, IsNotReleasedByItsDestructor) {
  FakeCalls calls;
  FakeClock clock;
  Grant(calls, std::chrono::minutes(10));
  { ASSERT_TRUE(Reservation::Take(calls, clock, {}, {}).ok()); }
  EXPECT_EQ(calls.count(kRelease), 0);
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
        reply.mutable_reservation()->mutable_remaining()->set_seconds(60);
        return absl::OkStatus();
      });
  Reservation::Options options;
  options.stop_early = absl::Seconds(11);
  auto lease = Reservation::Take(calls, clock, {}, options);
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ((*lease)->left(), absl::Seconds(49));
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
