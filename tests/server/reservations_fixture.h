// Reservations through a whole server and real gRPC, on a clock that the test moves.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/create_channel.h"
#include "gtest/gtest.h"
#include "interlock/v1/ingestion_coordinator.grpc.pb.h"
#include "interlock/v1/reservations.grpc.pb.h"
#include "lib/time/fake_clock.h"
#include "server/caller.h"
#include "server/config_defaults.h"
#include "server/interlock_server.h"
#include "tests/lib/store/temporary_folder.h"

namespace interlock::server {

inline std::string ReasonOf(const grpc::Status& status) {
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
  static v1::ReserveIntervalRequest Hour(const std::string& interval = "2026-07-16T13") {
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

}  // namespace interlock::server
