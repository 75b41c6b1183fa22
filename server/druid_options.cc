#include "server/druid_options.h"

#include <chrono>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/conversions/time.h"
#include "server/secret_file.h"

namespace interlock::server {
namespace {

std::chrono::milliseconds Millis(const google::protobuf::Duration& duration) {
  return absl::ToChronoMilliseconds(FromProto(duration));
}

}  // namespace

absl::StatusOr<druid::ClusterOptions> DruidOptions(const config::v1::Druid& config) {
  druid::ClusterOptions options;
  options.router.assign(config.router_urls().begin(), config.router_urls().end());
  options.coordinator.assign(config.coordinator_urls().begin(), config.coordinator_urls().end());
  options.overlord.assign(config.overlord_urls().begin(), config.overlord_urls().end());
  if (options.overlord.empty()) options.overlord = options.coordinator;
  options.broker.assign(config.broker_urls().begin(), config.broker_urls().end());
  options.redirect_patterns.assign(config.redirect_patterns().begin(),
                                   config.redirect_patterns().end());
  options.access = config.access() == config::v1::Druid::OBSERVE ? druid::Access::kObserve
                                                                 : druid::Access::kManage;
  if (config.has_basic_auth()) {
    options.basic_user = config.basic_auth().user();
    auto password =
        ReadSecretFile("druid.basic_auth.password_file", config.basic_auth().password_file());
    if (!password.ok()) return password.status();
    options.basic_password = *password;
  }
  options.ca_file = config.ca_file();
  if (!options.ca_file.empty() && !std::ifstream(options.ca_file)) {
    return absl::InvalidArgumentError(absl::StrCat("druid.ca_file: cannot read ", options.ca_file));
  }
  options.call_deadline = Millis(config.call_timeout());
  options.connect_deadline = Millis(config.connect_timeout());
  options.max_reply_bytes = config.max_reply_bytes();
  if (auto status = druid::ValidateClusterOptions(options); !status.ok()) return status;
  return options;
}

}  // namespace interlock::server
