#include "server/grpc_listener.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/security/tls_certificate_provider.h"
#include "grpcpp/security/tls_credentials_options.h"
#include "grpcpp/server_builder.h"
#include "server/call_observer.h"

namespace interlock::server {
namespace {

// How often certificate files are looked at: a rotated one is in use within seconds.
constexpr unsigned kCertificateRefreshSeconds = 2;
// Pings of an idle client, such as a watch through a proxy, that are borne.
constexpr int kMinPingIntervalMillis = 10'000;
// A client that went away without a word is noticed in half a minute: what waits for it, a
// watch or a place in a queue, ends then.
constexpr int kPingEveryMillis = 20'000;
constexpr int kPingAnswerMillis = 10'000;

std::shared_ptr<grpc::ServerCredentials> Credentials(const config::v1::Tls& tls) {
  if (tls.certificate_file().empty()) return grpc::InsecureServerCredentials();
  auto files = std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      tls.key_file(), tls.certificate_file(), tls.client_ca_file(), kCertificateRefreshSeconds);
  grpc::experimental::TlsServerCredentialsOptions options(files);
  options.watch_identity_key_cert_pairs();
  if (!tls.client_ca_file().empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(tls.require_client_certificate()
                                      ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                      : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

// gRPC would listen without them, and end each connection.
absl::Status CheckFiles(const config::v1::Tls& tls) {
  for (const auto& [field, path] :
       {std::pair<const char*, const std::string&>{"certificate_file", tls.certificate_file()},
        {"key_file", tls.key_file()},
        {"client_ca_file", tls.client_ca_file()}}) {
    if (path.empty()) continue;
    errno = 0;
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file || text.str().empty()) {
      return absl::InvalidArgumentError(absl::StrCat("tls.", field, ": cannot read ", path, ": ",
                                                     errno == 0 ? "it is empty" : strerror(errno)));
    }
    if (!absl::StrContains(text.str(), "-----BEGIN ")) {
      return absl::InvalidArgumentError(
          absl::StrCat("tls.", field, ": ", path, " is no PEM: it has no -----BEGIN line"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcListener>> GrpcListener::Start(
    const config::v1::ServerConfig& config, const std::vector<grpc::Service*>& services,
    Metrics& metrics) {
  static const bool kPlugins = [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    return true;
  }();
  static_cast<void>(kPlugins);
  if (absl::Status status = CheckFiles(config.tls()); !status.ok()) return status;
  std::unique_ptr<GrpcListener> listener(new GrpcListener());
  grpc::ServerBuilder builder;
  builder.AddListeningPort(config.listen().address(), Credentials(config.tls()), &listener->port_);
  builder.SetMaxReceiveMessageSize(config.limits().max_request_bytes());
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kMinPingIntervalMillis);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingEveryMillis);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingAnswerMillis);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  for (auto* service : services) builder.RegisterService(service);
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> observers;
  observers.push_back(ObserveCalls(metrics));
  builder.experimental().SetInterceptorCreators(std::move(observers));
  listener->server_ = builder.BuildAndStart();
  if (listener->server_ == nullptr || listener->port_ == 0) {
    return absl::UnavailableError(
        absl::StrCat("gRPC port: cannot listen on ", config.listen().address(),
                     "; is it taken, or its key another certificate's? stop what has it, or set "
                     "listen.address"));
  }
  return listener;
}

void GrpcListener::SetServing(const std::string& service, bool serving) {
  server_->GetHealthCheckService()->SetServingStatus(service, serving);
}

void GrpcListener::Drain(std::chrono::milliseconds longest) {
  server_->GetHealthCheckService()->SetServingStatus(false);
  server_->Shutdown(std::chrono::system_clock::now() + longest);
}

}  // namespace interlock::server
