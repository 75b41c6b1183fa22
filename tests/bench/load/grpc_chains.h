// Clients over gRPC's callback API: chains of calls, without a thread for each.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "tests/bench/load/load.h"

namespace interlock::bench {

// Connections to one server, each of its own: gRPC would share one otherwise.
inline std::vector<std::shared_ptr<grpc::Channel>> Channels(const Plan& plan) {
  const int wanted = plan.channels != 0 ? plan.channels : 1 + (plan.clients - 1) / 64;
  std::vector<std::shared_ptr<grpc::Channel>> channels;
  for (int i = 0; i < wanted; ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    channels.push_back(
        grpc::CreateCustomChannel(plan.target, grpc::InsecureChannelCredentials(), arguments));
  }
  return channels;
}

// Runs `plan.clients` of `Client`, made with (plan, meter, channel, done): each has Start(),
// goes on by itself, and calls `done` when the meter gives it no more.
template <class Client>
void RunChains(const Plan& plan, Meter& meter) {
  const auto channels = Channels(plan);
  std::mutex mutex;
  std::condition_variable over;
  int running = plan.clients;
  const auto done = [&] {
    const std::lock_guard<std::mutex> lock(mutex);
    if (--running == 0) over.notify_all();
  };
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < plan.clients; ++i) {
    clients.push_back(std::make_unique<Client>(
        plan, meter, channels[static_cast<size_t>(i) % channels.size()], done));
  }
  for (auto& client : clients) client->Start();
  std::unique_lock<std::mutex> lock(mutex);
  over.wait(lock, [&] { return running == 0; });
}

}  // namespace interlock::bench
