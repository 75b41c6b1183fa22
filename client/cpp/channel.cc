#include "client/cpp/channel.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "lib/time/status_reason.h"

namespace interlock::client {
namespace {

// An error names up to 40 faults and 40 holders in a trailer; gRPC's own cap is 8 KiB.
constexpr int kMaxMetadataBytes = 64 << 10;
// A watch through a proxy that forgets idle connections stays alive, and a server that
// went away without a word is noticed. interlockd bears a ping each 10 s.
constexpr int kPingEveryMillis = 30'000;
constexpr int kPingAnswerMillis = 10'000;
// A server that restarts is found again within about this time. Between two tries, calls
// fail at once.
constexpr int kFirstReconnectMillis = 100;
constexpr int kLongestReconnectMillis = 1'000;

absl::StatusOr<std::string> Contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty()) {
    return WithReason(absl::InvalidArgumentError(absl::StrCat("cannot read ", path)),
                      "FILE_NOT_READABLE", {{"file", path}});
  }
  return text.str();
}

bool WantsTls(const ConnectionOptions& options) {
  return !options.authority_file.empty() || !options.certificate_file.empty() ||
         !options.key_file.empty();
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> TlsCredentials(
    const ConnectionOptions& options) {
  if (options.certificate_file.empty() != options.key_file.empty()) {
    return WithReason(
        absl::InvalidArgumentError("a certificate and its key go together: give both or neither"),
        "CERTIFICATE_WITHOUT_KEY");
  }
  grpc::SslCredentialsOptions tls;
  if (!options.authority_file.empty() && options.authority_file != kSystemAuthorities) {
    auto authority = Contents(options.authority_file);
    if (!authority.ok()) return authority.status();
    tls.pem_root_certs = *authority;
  }
  if (!options.certificate_file.empty()) {
    auto certificate = Contents(options.certificate_file);
    if (!certificate.ok()) return certificate.status();
    auto key = Contents(options.key_file);
    if (!key.ok()) return key.status();
    tls.pem_cert_chain = *certificate;
    tls.pem_private_key = *key;
  }
  return grpc::SslCredentials(tls);
}

// gRPC ends the process over a header with any other byte in it.
absl::Status CheckHeader(const char* field, const std::string& value) {
  const bool fits =
      std::all_of(value.begin(), value.end(), [](unsigned char c) { return c >= ' ' && c <= '~'; });
  if (fits) return absl::OkStatus();
  // Without the value: it may be a secret.
  return WithReason(absl::InvalidArgumentError(
                        absl::StrCat("the ", field,
                                     " has a byte in it that is no printable ASCII, such as a "
                                     "line's end or an accent: a header takes none; leave it out")),
                    "NOT_ASCII", {{"field", field}});
}

// gRPC takes a name without a port for one of port 443, and a URL for a name.
absl::Status CheckAddress(const std::string& address) {
  constexpr int kHighestPort = 65535;
  const bool url = absl::StartsWith(address, "http://") || absl::StartsWith(address, "https://");
  const bool has_scheme = absl::StartsWith(address, "unix") || absl::StrContains(address, "/");
  if (has_scheme && !url) return absl::OkStatus();  // gRPC's own: dns:///, unix:
  const size_t colon = address.rfind(':');
  int port = 0;
  if (!url && colon != std::string::npos && colon > 0 &&
      absl::SimpleAtoi(address.substr(colon + 1), &port) && port > 0 && port <= kHighestPort) {
    return absl::OkStatus();
  }
  return WithReason(absl::InvalidArgumentError(absl::StrCat(
                        "the address is '", address,
                        "'; HOST:PORT would do, like interlock.example:7430, without http://")),
                    "ADDRESS_MALFORMED", {{"address", address}});
}

grpc::ChannelArguments Arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxReplyBytes);
  arguments.SetInt(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingEveryMillis);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingAnswerMillis);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMillis);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLongestReconnectMillis);
  // An authority behind a proxy that the environment names is never meant for loopback.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

}  // namespace

bool IsLoopback(const std::string& address) {
  if (absl::StartsWith(address, "unix:")) return true;
  const std::string host = address.substr(0, address.rfind(':'));
  // A name may begin with 127 too: only digits and dots are an address.
  const bool numeric = host.find_first_not_of("0123456789.") == std::string::npos;
  return (numeric && absl::StartsWith(host, "127.")) || host == "localhost" || host == "[::1]";
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> OpenChannel(const ConnectionOptions& options) {
  absl::Status fits = CheckAddress(options.address);
  if (fits.ok()) fits = CheckHeader("caller", options.caller);
  if (fits.ok()) fits = CheckHeader("token", options.token);
  if (!fits.ok()) return fits;
  if (!WantsTls(options)) {
    if (!options.token.empty() && !IsLoopback(options.address)) {
      return WithReason(absl::InvalidArgumentError(absl::StrCat(
                            "a token is not sent to ", options.address,
                            " in plain text: turn TLS on with the server's authority (a file, or '",
                            kSystemAuthorities, "')")),
                        "TOKEN_OVER_PLAIN_TEXT", {{"address", options.address}});
    }
    return grpc::CreateCustomChannel(options.address, grpc::InsecureChannelCredentials(),
                                     Arguments());
  }
  auto credentials = TlsCredentials(options);
  if (!credentials.ok()) return credentials.status();
  return grpc::CreateCustomChannel(options.address, *credentials, Arguments());
}

}  // namespace interlock::client
