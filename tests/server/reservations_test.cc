// Reservations through a whole server and real gRPC, on a clock that the test moves.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "interlock/v1/ingestion_coordinator.grpc.pb.h"
#include "interlock/v1/reservations.grpc.pb.h"
#include "lib/time/fake_clock.h"
#include "lib/time/mutex.h"
#include "server/caller.h"
#include "server/config_defaults.h"
#include "server/interlock_server.h"
#include "server/malformed_request.h"
#include "tests/lib/store/temporary_folder.h"

namespace interlock::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kHour[] = "2026-07-16T13";
constexpr char kHourAsPrinted[] = "2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z";

std::string ReasonOf(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return "";
  for (const auto& detail : details.details()) {
    google::rpc::ErrorInfo info;
    if (detail.UnpackTo(&info)) return info.reason();
  }
  return "";
}

class Reservations : public ::testing::Test {
 protected:
  void Start() {
    config_.mutable_listen()->set_address("127.0.0.1:0");
    config_.mutable_listen()->set_admin_address("127.0.0.1:0");
    config_.mutable_store()->mutable_sqlite()->set_path(folder_.File("store.db"));
    config_.mutable_druid()->set_simulated(true);
    FillDefaults(config_);
    auto server = InterlockServer::Start(config_, clock_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    auto channel = grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
    coordinator_ = v1::IngestionCoordinator::NewStub(channel);
    reservations_ = v1::Reservations::NewStub(channel);
  }
  void TearDown() override {
    if (server_) server_->Drain();
  }

  static void As(grpc::ClientContext& context, const std::string& name) {
    context.AddMetadata(kCallerKey, name);
    // Longer than anything here takes; a hang is a failure, not a wait.
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  }
  static v1::ReserveIntervalRequest Hour(const std::string& interval = kHour) {
    v1::ReserveIntervalRequest request;
    request.set_datasource("wiki");
    request.add_intervals(interval);
    return request;
  }
  grpc::Status Reserve(const std::string& name, const v1::ReserveIntervalRequest& request,
                       v1::ReserveIntervalResponse* response) {
    grpc::ClientContext context;
    As(context, name);
    return coordinator_->ReserveInterval(&context, request, response);
  }
  v1::Reservation Granted(const std::string& name, const v1::ReserveIntervalRequest& request) {
    v1::ReserveIntervalResponse response;
    const grpc::Status status = Reserve(name, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.reservation();
  }
  std::string Refused(const std::string& name, const v1::ReserveIntervalRequest& request) {
    v1::ReserveIntervalResponse response;
    return ReasonOf(Reserve(name, request, &response));
  }
  grpc::Status Release(const std::string& name, const v1::Reservation& reservation,
                       v1::Reservation* after = nullptr) {
    grpc::ClientContext context;
    As(context, name);
    v1::ReleaseReservationRequest request;
    request.set_reservation_id(reservation.reservation_id());
    request.set_fencing_token(reservation.fencing_token());
    v1::ReleaseReservationResponse response;
    grpc::Status status = reservations_->ReleaseReservation(&context, request, &response);
    if (after != nullptr) *after = response.reservation();
    return status;
  }
  v1::ListReservationsResponse List(v1::Reservation::State state) {
    grpc::ClientContext context;
    As(context, "ada");
    v1::ListReservationsRequest request;
    request.set_datasource("wiki");
    request.add_states(state);
    v1::ListReservationsResponse response;
    EXPECT_TRUE(reservations_->ListReservations(&context, request, &response).ok());
    return response;
  }
  // Until so many wait in line: the server's own threads bring it about.
  void AwaitLine(int size) {
    while (List(v1::Reservation::WAITING).reservations_size() != size) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  TemporaryFolder folder_;
  FakeClock clock_;
  config::v1::ServerConfig config_;
  std::unique_ptr<InterlockServer> server_;
  std::unique_ptr<v1::IngestionCoordinator::Stub> coordinator_;
  std::unique_ptr<v1::Reservations::Stub> reservations_;
};

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

TEST_F(Reservations, AWaitingCallIsAnsweredOnceTheHolderIsGone) {
  Start();
  const v1::Reservation held = Granted("ada", Hour());
  auto request = Hour();
  request.mutable_wait()->set_seconds(300);
  v1::ReserveIntervalResponse response;
  grpc::Status status;
  std::thread waiting([&] { status = Reserve("bob", request, &response); });
  AwaitLine(1);
  const auto line = List(v1::Reservation::WAITING);
  EXPECT_EQ(line.reservations(0).queue_position(), 1);
  EXPECT_EQ(line.reservations(0).holder(), "loopback/bob");
  EXPECT_EQ(Refused("eve", Hour()), "HELD");
  ASSERT_TRUE(Release("ada", held).ok());
  waiting.join();
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_GT(response.reservation().fencing_token(), held.fencing_token());
  EXPECT_EQ(response.reservation().state(), v1::Reservation::ACTIVE);
  EXPECT_THAT(List(v1::Reservation::WAITING).reservations(), IsEmpty());
}

TEST_F(Reservations, AWaitThatRunsOutIsRefusedForWhatItWaitedFor) {
  Start();
  Granted("ada", Hour());
  auto patient = Hour();
  patient.mutable_wait()->set_seconds(5);
  v1::ReserveIntervalResponse response;
  grpc::Status status;
  std::thread waiting([&] { status = Reserve("bob", patient, &response); });
  AwaitLine(1);
  clock_.Advance(absl::Seconds(5));
  waiting.join();
  EXPECT_EQ(ReasonOf(status), "HELD") << status.error_message();
  AwaitLine(0);
}

TEST_F(Reservations, AWaitingCallIsAnsweredWhenTheHoldersLeaseEnds) {
  Start();
  auto request = Hour();
  request.mutable_ttl()->set_seconds(10);
  Granted("ada", request);
  auto patient = Hour();
  patient.mutable_wait()->set_seconds(300);
  v1::ReserveIntervalResponse response;
  grpc::Status status;
  std::thread waiting([&] { status = Reserve("bob", patient, &response); });
  AwaitLine(1);
  clock_.Advance(absl::Seconds(10));
  waiting.join();
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(Reservations, ACallerThatGoesAwayLeavesTheLine) {
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

TEST_F(Reservations, AWaitThatIsTooLongNamesTheLimit) {
  Start();
  auto request = Hour();
  request.mutable_wait()->set_seconds(3601);
  EXPECT_EQ(Refused("ada", request), "LIMIT_EXCEEDED");
}

TEST_F(Reservations, AWatchTellsWhatIsSoAndWhatHappensAndResumes) {
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

TEST_F(Reservations, TheConfiguredLockDelayHoldsBackAGrantAfterAnExpiry) {
  config_.mutable_limits()->mutable_lock_delay()->set_seconds(15);
  Start();
  Granted("ada", Hour());
  clock_.Advance(absl::Minutes(10));
  EXPECT_EQ(Refused("bob", Hour()), "LOCK_DELAY");
  clock_.Advance(absl::Seconds(15));
  Granted("bob", Hour());
}

TEST_F(Reservations, ADrainEndsWatchesAndWaits) {
  Start();
  Granted("ada", Hour());
  auto request = Hour();
  request.mutable_wait()->set_seconds(300);
  grpc::Status waited;
  std::thread waiting([&] {
    v1::ReserveIntervalResponse response;
    waited = Reserve("bob", request, &response);
  });
  AwaitLine(1);
  server_->Drain();
  waiting.join();
  EXPECT_EQ(waited.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(waited), "SERVER_DRAINING");
  server_.reset();
}

}  // namespace
}  // namespace interlock::server
