// A caller that gives up while its grant is on the way, over real gRPC.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "grpcpp/create_channel.h"
#include "grpcpp/server_builder.h"
#include "interlock/v1/ingestion_coordinator.grpc.pb.h"
#include "lib/lease/reservations.h"
#include "lib/store/sqlite.h"
#include "lib/time/fake_clock.h"
#include "lib/time/mutex.h"
#include "server/config_defaults.h"
#include "server/reserve_interval.h"
#include "server/store_schemas.h"

namespace interlock::server {
namespace {

// A store whose first write waits until it is let go.
class HeldStore : public store::Store {
 public:
  explicit HeldStore(std::unique_ptr<store::Store> store) : store_(std::move(store)) {}

  void WriteAsync(Body body, Done done) override {
    store_->WriteAsync(std::move(body), std::move(done));
  }
  void WriteLockedAsync(std::vector<std::string> locks, Body body, Done done) override {
    const MutexLock lock(mutex_);
    if (first_) return store_->WriteLockedAsync(std::move(locks), std::move(body), std::move(done));
    first_ = [this, locks = std::move(locks), body = std::move(body), done = std::move(done)] {
      store_->WriteLockedAsync(locks, body, done);
    };
  }
  absl::Status Read(const Body& body) override { return store_->Read(body); }
  std::unique_ptr<store::Listening> Listen(const std::string& channel,
                                           std::function<void()> wake) override {
    return store_->Listen(channel, std::move(wake));
  }
  Instant Now() const override { return store_->Now(); }
  const std::string& incarnation() const override { return store_->incarnation(); }
  absl::Status Health() const override { return store_->Health(); }
  int64_t clock_jumps() const override { return store_->clock_jumps(); }
  store::StoreDescription Describe() const override { return store_->Describe(); }

  void LetGo() {
    std::function<void()> first;
    {
      const MutexLock lock(mutex_);
      first = first_;
    }
    first();
  }

 private:
  std::unique_ptr<store::Store> store_;
  Mutex mutex_;
  std::function<void()> first_ INTERLOCK_GUARDED_BY(mutex_);
};

// Says which call it has begun.
class Service : public v1::IngestionCoordinator::CallbackService {
 public:
  explicit Service(ReserveIntervalCall& call) : call_(call) {}
  grpc::ServerUnaryReactor* ReserveInterval(grpc::CallbackServerContext* context,
                                            const v1::ReserveIntervalRequest* request,
                                            v1::ReserveIntervalResponse* response) override {
    grpc::ServerUnaryReactor* reactor = call_.Call(context, request, response);
    const MutexLock lock(mutex_);
    begun_ = reactor;
    changed_.NotifyAll();
    return reactor;
  }
  grpc::ServerUnaryReactor* AwaitCall() {
    MutexLock lock(mutex_);
    while (begun_ == nullptr) changed_.Wait(lock);
    return begun_;
  }

 private:
  ReserveIntervalCall& call_;
  Mutex mutex_;
  CondVar changed_;
  grpc::ServerUnaryReactor* begun_ INTERLOCK_GUARDED_BY(mutex_) = nullptr;
};

class ReserveCancelled : public ::testing::Test {
 protected:
  ReserveCancelled() {
    auto store = store::OpenTemporarySqlite(StoreSchemas(), clock_);
    EXPECT_TRUE(store.ok()) << store.status();
    store_ = std::make_unique<HeldStore>(*std::move(store));
    FillDefaults(config_);
    settings_ = std::make_unique<LeaseSettings>(config_);
    line_ = std::make_unique<WaitingLine>(*store_);
    call_ = std::make_unique<ReserveIntervalCall>(*store_, metrics_, *line_, *settings_);
    service_ = std::make_unique<Service>(*call_);
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    stub_ = v1::IngestionCoordinator::NewStub(grpc::CreateChannel(
        "127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()));
  }
  ~ReserveCancelled() override { server_->Shutdown(); }

  // Asks for an hour; that its caller has gone is told, as gRPC tells it, before it is granted.
  grpc::StatusCode ReserveAndGo(const std::string& request_id) {
    v1::ReserveIntervalRequest request;
    request.set_datasource("wiki");
    request.add_intervals("2026-07-16T13");
    request.set_request_id(request_id);
    grpc::ClientContext context;
    grpc::Status status;
    v1::ReserveIntervalResponse response;
    std::thread caller([&] { status = stub_->ReserveInterval(&context, request, &response); });
    service_->AwaitCall()->OnCancel();
    store_->LetGo();
    caller.join();
    return status.error_code();
  }
  // "" while there is none.
  std::string StateOfFirst() {
    std::string state;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto found = lease::Get(tx, "r1-1");
                      if (found.ok()) state = std::string(lease::NameOf(found->state));
                      return absl::OkStatus();
                    })
                    .ok());
    return state;
  }

  FakeClock clock_;
  config::v1::ServerConfig config_;
  Metrics metrics_;
  std::unique_ptr<HeldStore> store_;
  std::unique_ptr<LeaseSettings> settings_;
  std::unique_ptr<WaitingLine> line_;
  std::unique_ptr<ReserveIntervalCall> call_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::IngestionCoordinator::Stub> stub_;
};

TEST_F(ReserveCancelled, WhatNobodyKnowsOfIsGivenBackAtOnce) {
  EXPECT_EQ(ReserveAndGo(""), grpc::StatusCode::CANCELLED);
  EXPECT_EQ(StateOfFirst(), "RELEASED");
}

// The same id gets the answer that the first call did not wait for.
TEST_F(ReserveCancelled, WithARequestIdItIsKeptForWhoAsksAgain) {
  EXPECT_EQ(ReserveAndGo("run-1"), grpc::StatusCode::OK);
  EXPECT_EQ(StateOfFirst(), "ACTIVE");
}

}  // namespace
}  // namespace interlock::server
