// A caller that gives up while its grant is on the way, over real gRPC.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
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

class Service : public v1::IngestionCoordinator::CallbackService {
 public:
  explicit Service(ReserveIntervalCall& call) : call_(call) {}
  grpc::ServerUnaryReactor* ReserveInterval(grpc::CallbackServerContext* context,
                                            const v1::ReserveIntervalRequest* request,
                                            v1::ReserveIntervalResponse* response) override {
    grpc::ServerUnaryReactor* reactor = call_.Call(context, request, response);
    // Before it is answered, which is when it goes.
    if (request->request_id().empty()) call_at_work_ = dynamic_cast<GrantCall*>(reactor);
    called_ = true;
    return reactor;
  }
  // The server has the call, and knows that its caller has gone (of one with a request id it
  // does not ask).
  bool caller_has_gone() const {
    const GrantCall* at_work = call_at_work_;
    return called_ && (at_work == nullptr || at_work->caller_has_gone());
  }
  bool called() const { return called_; }

 private:
  ReserveIntervalCall& call_;
  std::atomic<GrantCall*> call_at_work_{nullptr};
  std::atomic<bool> called_{false};
};

void Await(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

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

  // Asks for an hour, goes away before it is granted, and lets it be granted.
  void ReserveAndGo(const std::string& request_id) {
    v1::ReserveIntervalRequest request;
    request.set_datasource("wiki");
    request.add_intervals("2026-07-16T13");
    request.set_request_id(request_id);
    grpc::ClientContext context;
    grpc::Status status;
    v1::ReserveIntervalResponse response;
    std::thread caller([&] { status = stub_->ReserveInterval(&context, request, &response); });
    Await([&] { return service_->called(); });
    context.TryCancel();
    caller.join();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
    Await([&] { return service_->caller_has_gone(); });
    store_->LetGo();
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
  ReserveAndGo("");
  Await([&] { return !StateOfFirst().empty() && StateOfFirst() != "ACTIVE"; });
  EXPECT_EQ(StateOfFirst(), "RELEASED");
}

// The same id gets the answer that the first call did not wait for.
TEST_F(ReserveCancelled, WithARequestIdItIsKeptForWhoAsksAgain) {
  ReserveAndGo("run-1");
  Await([&] { return !StateOfFirst().empty(); });
  server_->Shutdown();
  EXPECT_EQ(StateOfFirst(), "ACTIVE");
}

}  // namespace
}  // namespace interlock::server
