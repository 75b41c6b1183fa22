#include "server/druid_connection.h"

#include <filesystem>
#include <utility>

#include "lib/druid/curl_transport.h"
#include "server/druid_options.h"
#include "server/log.h"

namespace interlock::server {

absl::Status DruidConnection::Connect(const config::v1::ServerConfig& config, const Clock& clock,
                                      Metrics& metrics) {
  config::v1::Druid druid = config.druid();
  if (druid.simulated()) {
    absl::Status status = Simulate(config.store().sqlite().path(), clock, druid);
    if (!status.ok()) return status;
  }
  auto options = DruidOptions(druid);
  if (!options.ok()) return options.status();
  options->on_exchange = [&metrics](const std::string& endpoint, const std::string& result,
                                    double seconds) {
    metrics.druid_requests.Add({{"endpoint", endpoint}, {"result", result}}).Increment();
    metrics.druid_request_seconds.Add({{"endpoint", endpoint}}, SecondsUpTo(100)).Observe(seconds);
  };
  options_ = *std::move(options);
  transport_ = std::make_shared<druid::CurlTransport>(
      druid::CurlTransportOptions{options_.ca_file, options_.connect_deadline});
  cluster_ = std::make_unique<druid::Cluster>(options_, transport_);
  return absl::OkStatus();
}

absl::Status DruidConnection::Simulate(const std::string& store_path, const Clock& clock,
                                       config::v1::Druid& druid) {
  simulator::SimulatorOptions options;
  options.clock = &clock;
  // Beside the store, so that --dev knows after a start what it knew before.
  const std::filesystem::path beside = store_path + ".druid";
  options.world.deep_storage = beside / "deep-storage";
  options.state_file = beside / "state.json";
  std::error_code made;  // an error shows when the simulator writes there
  std::filesystem::create_directories(beside / "deep-storage", made);
  auto simulator = simulator::Simulator::Start(std::move(options));
  if (!simulator.ok()) return simulator.status();
  simulator_ = *std::move(simulator);
  druid.add_coordinator_urls(simulator_->address());
  druid.add_broker_urls(simulator_->address());
  Log(LogLevel::kWarning, "Druid is simulated: a small one in this process",
      {{"address", simulator_->address()}});
  return absl::OkStatus();
}

}  // namespace interlock::server
