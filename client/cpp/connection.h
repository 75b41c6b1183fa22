// A connection to interlockd over gRPC.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/cpp/calls.h"

namespace grpc {
class Channel;
}

namespace interlock::client {

// All of them can be left out: `{.address = "interlock.example:7430"}`.
struct ConnectionOptions {
  // host:port, or unix:/path.
  std::string address = "127.0.0.1:7430";
  // Sent as `authorization: Bearer TOKEN`, over TLS or on loopback only.
  std::string token{};
  // The name the caller states. A server believes it on loopback alone.
  std::string caller{};
  // Each of these files, PEM, turns TLS on; the authority may be kSystemAuthorities.
  std::string authority_file{};
  std::string certificate_file{};
  std::string key_file{};
};

// As an authority: those that the machine trusts.
inline constexpr char kSystemAuthorities[] = "system";

// True for 127.0.0.0/8, ::1, localhost and unix sockets: bytes do not leave the machine.
bool IsLoopback(const std::string& address);

// Keeps one channel, which reconnects by itself. Safe to use from any thread; must
// outlive the calls that are under way.
class Connection : public Calls {
 public:
  // Connects with the first call. INVALID_ARGUMENT: TOKEN_OVER_PLAIN_TEXT (a token must
  // not be read on the way), FILE_NOT_READABLE, CERTIFICATE_WITHOUT_KEY,
  // NOT_ASCII (a caller or token that no header can carry).
  static absl::StatusOr<std::unique_ptr<Connection>> Open(ConnectionOptions options);

  absl::Status Call(const std::string& method, const google::protobuf::Message& request,
                    google::protobuf::Message& reply, absl::Duration timeout) override;
  absl::Status Watch(const std::string& method, const google::protobuf::Message& request,
                     google::protobuf::Message& reply, absl::Duration timeout,
                     const std::function<bool()>& on_reply) override;

  // For generated stubs. Calls made on it carry neither token nor stated name.
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  Connection(ConnectionOptions options, std::shared_ptr<grpc::Channel> channel);

  const ConnectionOptions options_;
  const std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace interlock::client
