// Reserving, renewing and releasing through a whole server.
#include <string>

#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "server/malformed_request.h"
#include "tests/server/reservations_fixture.h"

namespace interlock::server {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr char kHourAsPrinted[] = "2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z";

TEST_F(Reservations, AReplySaysHowLongItIsGoodFor) {
  Start();
  auto request = Hour();
  request.mutable_ttl()->set_seconds(90);
  request.set_holder("nightly");
  const v1::Reservation granted = Granted("ada", request);
  EXPECT_EQ(granted.holder(), "loopback/ada/nightly");
  EXPECT_EQ(granted.ttl().seconds(), 90);
  EXPECT_EQ(granted.remaining().seconds(), 90);
  EXPECT_GT(granted.revision(), 0);
  // Renewed without a length it gets the one it was granted with.
  clock_.Advance(absl::Seconds(30));
  grpc::ClientContext context;
  As(context, "ada");
  v1::RenewReservationRequest renew;
  renew.set_reservation_id(granted.reservation_id());
  renew.set_fencing_token(granted.fencing_token());
  v1::RenewReservationResponse renewed;
  ASSERT_TRUE(reservations_->RenewReservation(&context, renew, &renewed).ok());
  EXPECT_EQ(renewed.reservation().remaining().seconds(), 90);
  v1::Reservation after;
  ASSERT_TRUE(Release("ada", granted, &after).ok());
  EXPECT_EQ(after.state(), v1::Reservation::RELEASED);
  EXPECT_EQ(after.remaining().seconds(), 0);
  EXPECT_TRUE(after.has_end_time());
}

TEST_F(Reservations, WhatIsWrongWithAnIntervalHasItsOwnReason) {
  Start();
  EXPECT_EQ(Refused("ada", Hour("yesterday")), "INTERVAL_MALFORMED");
  EXPECT_EQ(Refused("ada", Hour("2026-07-16/2026-07-15")), "INTERVAL_ENDS_BEFORE_START");
  EXPECT_EQ(Refused("ada", Hour("2026-07-16/2026-07-16")), "INTERVAL_ENDS_BEFORE_START");
  auto request = Hour();
  request.mutable_segment_granularity()->set_period("DAY");
  EXPECT_EQ(Refused("ada", request), "MISALIGNED");
  request.set_accept_widening(true);
  EXPECT_THAT(Granted("ada", request).intervals(),
              ElementsAre("2026-07-16T00:00:00.000Z/2026-07-17T00:00:00.000Z"));
}

TEST_F(Reservations, ADatasourceIsWhatDruidCallsOne) {
  Start();
  for (const char* name : {"a/b", ".d", "a\nb", "a\tb", "\x7f", "smile\xf0\x9f\x98\x80"}) {
    auto request = Hour();
    request.set_datasource(name);
    EXPECT_EQ(Refused("ada", request), "INVALID_DATASOURCE") << name;
    request.set_validate_only(true);
    EXPECT_EQ(Refused("ada", request), "INVALID_DATASOURCE") << name;
  }
  for (const char* name : {"a b", "a.b", "gr\xc3\xb6\xc3\x9f", "A-1_x"}) {
    auto request = Hour();
    request.set_datasource(name);
    EXPECT_EQ(Refused("ada", request), "") << name;
  }
}

TEST_F(Reservations, AZoneAloneIsNoCalendar) {
  Start();
  auto request = Hour();
  request.mutable_segment_granularity()->set_time_zone("Europe/Berlin");
  v1::ReserveIntervalResponse response;
  const grpc::Status status = Reserve("ada", request, &response);
  EXPECT_EQ(ReasonOf(status), "INVALID_REQUEST");
  EXPECT_EQ(status.error_message(),
            "/segment_granularity/period: is missing; name the calendar, like HOUR or P1D; a zone "
            "alone is none");
}

// `ada/x` who calls, and the name x that ada gives herself, are two holders: neither gets
// the other's lease by its request id.
TEST_F(Reservations, ACallersNameIsNeverAnothersWithANameBelowIt) {
  Start();
  auto request = Hour();
  request.set_request_id("run-1");
  EXPECT_EQ(Granted("ada/x", request).holder(), "loopback/ada%2Fx");
  request.set_holder("x");
  EXPECT_EQ(Refused("ada", request), "HELD");
  auto other = Hour("2026-07-16T20");
  EXPECT_EQ(Granted("a%2Fb c", other).holder(), "loopback/a%252Fb%20c");
}

TEST_F(Reservations, ATextThatIsNotUtf8IsBadInputThatNamesItsField) {
  TakeOverProtobufLog();
  Start();
  auto request = Hour();
  request.set_purpose("gr\xf6\xdf");
  v1::ReserveIntervalResponse response;
  const grpc::Status status = Reserve("ada", request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ReasonOf(status), "NOT_UTF8");
  EXPECT_EQ(status.error_message(),
            "interlock.v1.ReserveIntervalRequest.purpose is not UTF-8; write it in UTF-8");
  EXPECT_EQ(Refused("ada", Hour()), "");
}

TEST_F(Reservations, BytesThatAreNoRequestAreBadInput) {
  Start();
  auto channel = grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub(channel);
  const grpc::Slice bytes(std::string("\x0a\xff", 2));
  const grpc::ByteBuffer sent(&bytes, 1);
  grpc::ByteBuffer got;
  grpc::ClientContext context;
  As(context, "ada");
  grpc::Status status;
  Mutex mutex;
  CondVar changed;
  bool done = false;
  stub.UnaryCall(&context, "/interlock.v1.IngestionCoordinator/ReserveInterval", {}, &sent, &got,
                 [&](grpc::Status answer) {
                   const MutexLock lock(mutex);
                   status = std::move(answer);
                   done = true;
                   changed.NotifyAll();
                 });
  MutexLock lock(mutex);
  while (!done) changed.Wait(lock);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(ReasonOf(status), "REQUEST_MALFORMED");
}

TEST_F(Reservations, ADryRunAnswersARequestIdAsTheCallWould) {
  Start();
  auto request = Hour();
  request.set_request_id("run-1");
  const v1::Reservation held = Granted("ada", request);
  request.set_validate_only(true);
  v1::ReserveIntervalResponse response;
  ASSERT_TRUE(Reserve("ada", request, &response).ok());
  EXPECT_EQ(response.reservation().reservation_id(), held.reservation_id());
  EXPECT_TRUE(response.attached());
  ASSERT_TRUE(Release("ada", held).ok());
  EXPECT_EQ(Refused("ada", request), "RELEASED");
}

TEST_F(Reservations, ARefusalAndASkipNameTheHolder) {
  Start();
  auto request = Hour();
  request.set_purpose("nightly load");
  const v1::Reservation held = Granted("ada", request);
  EXPECT_EQ(Refused("bob", Hour()), "HELD");
  auto day = Hour("2026-07-16T12/2026-07-16T15");
  day.set_skip_held(true);
  v1::ReserveIntervalResponse response;
  ASSERT_TRUE(Reserve("bob", day, &response).ok());
  ASSERT_THAT(response.skipped(), SizeIs(1));
  EXPECT_EQ(response.skipped(0).holder(), "loopback/ada");
  EXPECT_EQ(response.skipped(0).purpose(), "nightly load");
  EXPECT_EQ(response.skipped(0).reservation_id(), held.reservation_id());
  EXPECT_EQ(response.skipped(0).interval(), kHourAsPrinted);
  EXPECT_THAT(response.reservation().intervals(), SizeIs(2));
}

TEST_F(Reservations, OnlyTheHolderReleasesAndAnAdminForcesWithAReason) {
  Start();
  const v1::Reservation held = Granted("ada", Hour());
  EXPECT_EQ(ReasonOf(Release("bob", held)), "NOT_THE_HOLDER");
  v1::ForceReleaseReservationRequest force;
  force.set_reservation_id(held.reservation_id());
  v1::ForceReleaseReservationResponse forced;
  {
    grpc::ClientContext context;
    As(context, "root");
    EXPECT_EQ(ReasonOf(reservations_->ForceReleaseReservation(&context, force, &forced)),
              "REASON_REQUIRED");
  }
  force.set_reason("ada is on leave");
  grpc::ClientContext context;
  As(context, "root");
  ASSERT_TRUE(reservations_->ForceReleaseReservation(&context, force, &forced).ok());
  EXPECT_EQ(forced.reservation().state(), v1::Reservation::FORCED);
  EXPECT_EQ(forced.reservation().forced_by(), "loopback/root");
  EXPECT_EQ(forced.reservation().force_reason(), "ada is on leave");
  EXPECT_EQ(ReasonOf(Release("ada", held)), "FORCED");
}

TEST_F(Reservations, APageTokenIsOfOneListAlone) {
  Start();
  for (const char* hour : {"2026-07-16T13", "2026-07-16T14", "2026-07-16T15"}) {
    Granted("ada", Hour(hour));
  }
  v1::ListReservationsRequest request;
  request.set_datasource("wiki");
  request.set_page_size(1);
  v1::ListReservationsResponse response;
  const auto list = [&] {
    grpc::ClientContext context;
    As(context, "ada");
    return ReasonOf(reservations_->ListReservations(&context, request, &response));
  };
  EXPECT_EQ(list(), "");
  request.set_page_token(response.next_page_token());
  EXPECT_EQ(list(), "");
  EXPECT_THAT(response.reservations(0).intervals(), ElementsAre(::testing::HasSubstr("T14")));
  request.set_holder("ada");
  EXPECT_EQ(list(), "BAD_PAGE_TOKEN");
  request.clear_holder();
  request.set_page_token("1.2");
  EXPECT_EQ(list(), "BAD_PAGE_TOKEN");
}

}  // namespace
}  // namespace interlock::server
