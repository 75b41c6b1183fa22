// Waits in line and watches of reservations through a whole server.
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "tests/server/reservations_fixture.h"

namespace interlock::server {
namespace {

using ::testing::IsEmpty;

// Bob's call, which waits for its turn, from a thread of its own.
class Waits : public Reservations {
 protected:
  struct Call {
    v1::ReserveIntervalResponse response;
    grpc::Status status;
    std::thread thread;
  };
  void Wait(int64_t seconds, Call& call) {
    auto request = Hour();
    request.mutable_wait()->set_seconds(seconds);
    call.thread = std::thread(
        [this, request, &call] { call.status = Reserve("bob", request, &call.response); });
    AwaitLine(1);
  }
};

TEST_F(Waits, AWaitingCallIsAnsweredOnceTheHolderIsGone) {
  Start();
  const v1::Reservation held = Granted("ada", Hour());
  Call bob;
  Wait(300, bob);
  const auto line = List(v1::Reservation::WAITING);
  EXPECT_EQ(line.reservations(0).queue_position(), 1);
  EXPECT_EQ(line.reservations(0).holder(), "loopback/bob");
  EXPECT_EQ(Refused("eve", Hour()), "HELD");
  ASSERT_TRUE(Release("ada", held).ok());
  bob.thread.join();
  ASSERT_TRUE(bob.status.ok()) << bob.status.error_message();
  EXPECT_GT(bob.response.reservation().fencing_token(), held.fencing_token());
  EXPECT_EQ(bob.response.reservation().state(), v1::Reservation::ACTIVE);
  EXPECT_THAT(List(v1::Reservation::WAITING).reservations(), IsEmpty());
}

TEST_F(Waits, AWaitThatRunsOutIsRefusedForWhatItWaitedFor) {
  Start();
  Granted("ada", Hour());
  Call bob;
  Wait(5, bob);
  clock_.Advance(absl::Seconds(5));
  bob.thread.join();
  EXPECT_EQ(ReasonOf(bob.status), "HELD") << bob.status.error_message();
  AwaitLine(0);
}

TEST_F(Waits, AWaitingCallIsAnsweredWhenTheHoldersLeaseEnds) {
  Start();
  auto request = Hour();
  request.mutable_ttl()->set_seconds(10);
  Granted("ada", request);
  Call bob;
  Wait(300, bob);
  clock_.Advance(absl::Seconds(10));
  bob.thread.join();
  EXPECT_TRUE(bob.status.ok()) << bob.status.error_message();
}

TEST_F(Waits, ACallerThatGoesAwayLeavesTheLine) {
  Start();
  Granted("ada", Hour());
  auto request = Hour("2026-07-16T13/2026-07-16T15");
  request.mutable_wait()->set_seconds(300);
  grpc::ClientContext context;
  As(context, "bob");
  std::thread waiting([&] {
    v1::ReserveIntervalResponse response;
    EXPECT_EQ(coordinator_->ReserveInterval(&context, request, &response).error_code(),
              grpc::StatusCode::CANCELLED);
  });
  AwaitLine(1);
  EXPECT_EQ(Refused("eve", Hour("2026-07-16T14")), "BEHIND_WAITER");
  context.TryCancel();
  waiting.join();
  AwaitLine(0);
  Granted("eve", Hour("2026-07-16T14"));
}

TEST_F(Waits, AWaitThatIsTooLongNamesTheLimit) {
  Start();
  auto request = Hour();
  request.mutable_wait()->set_seconds(3601);
  EXPECT_EQ(Refused("ada", request), "LIMIT_EXCEEDED");
}

TEST_F(Waits, AWatchTellsWhatIsSoAndWhatHappensAndResumes) {
  Start();
  const v1::Reservation first = Granted("ada", Hour());
  v1::WatchReservationsRequest request;
  request.set_datasource("wiki");
  int64_t revision = 0;
  {
    grpc::ClientContext context;
    As(context, "eve");
    auto reader = reservations_->WatchReservations(&context, request);
    v1::WatchReservationsResponse event;
    ASSERT_TRUE(reader->Read(&event));
    EXPECT_EQ(event.event(), v1::WatchReservationsResponse::GRANTED);
    EXPECT_EQ(event.reservation().reservation_id(), first.reservation_id());
    ASSERT_TRUE(Release("ada", first).ok());
    ASSERT_TRUE(reader->Read(&event));
    EXPECT_EQ(event.event(), v1::WatchReservationsResponse::RELEASED);
    EXPECT_EQ(event.reservation().state(), v1::Reservation::RELEASED);
    revision = event.revision();
    context.TryCancel();
    reader->Finish();
  }
  const v1::Reservation second = Granted("bob", Hour());
  clock_.Advance(absl::Minutes(10));
  request.set_from_revision(revision);
  grpc::ClientContext context;
  As(context, "eve");
  auto reader = reservations_->WatchReservations(&context, request);
  v1::WatchReservationsResponse event;
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_EQ(event.event(), v1::WatchReservationsResponse::GRANTED);
  EXPECT_EQ(event.reservation().reservation_id(), second.reservation_id());
  // Nobody asked for it: the server notes the expiry by itself.
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_EQ(event.event(), v1::WatchReservationsResponse::EXPIRED);
  context.TryCancel();
  reader->Finish();
}

TEST_F(Waits, TheConfiguredLockDelayHoldsBackAGrantAfterAnExpiry) {
  config_.mutable_limits()->mutable_lock_delay()->set_seconds(15);
  Start();
  Granted("ada", Hour());
  clock_.Advance(absl::Minutes(10));
  EXPECT_EQ(Refused("bob", Hour()), "LOCK_DELAY");
  clock_.Advance(absl::Seconds(15));
  Granted("bob", Hour());
}

TEST_F(Waits, ADrainEndsWatchesAndWaits) {
  Start();
  Granted("ada", Hour());
  Call bob;
  Wait(300, bob);
  server_->Drain();
  bob.thread.join();
  EXPECT_EQ(bob.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(bob.status), "SERVER_DRAINING");
  server_.reset();
}

}  // namespace
}  // namespace interlock::server
