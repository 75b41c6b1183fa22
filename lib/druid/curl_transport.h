// HTTP over libcurl's multi interface: one thread does all the IO and keeps connections;
// bodies are handed to the thread that asked, which so parses while the next piece
// arrives, and holds the sender back where it is slower (at most kMaxWaitingBytes lie
// between them).
//
// Deadlines are counted on a monotonic clock and cover resolving, connecting, sending
// and receiving. Redirects are not followed, proxies of the environment not used, and
// nothing is logged: headers carry credentials.
//
// Threads: any.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "lib/druid/transport.h"

namespace interlock::druid {

struct CurlTransportOptions {
  std::string ca_file;  // PEM; "" for the system's own store
  std::chrono::milliseconds connect_deadline{5'000};
};

class CurlTransport : public HttpTransport {
 public:
  static constexpr int64_t kMaxWaitingBytes = int64_t{1} << 20;

  explicit CurlTransport(CurlTransportOptions options);
  // Ends what is under way (kBroken, or kNotConnected where nothing was sent), and waits
  // for those who asked to leave.
  ~CurlTransport() override;

  HttpReply Send(const HttpRequest& request) override;
  void Pause(std::chrono::milliseconds duration) override;

 private:
  class Loop;
  const CurlTransportOptions options_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace interlock::druid
