// HTTP as the adapter needs it: one request, one reply, a deadline, a size cap. The
// narrow door behind which IO stands: curl_transport.h is the real one, and tests wrap
// any of them to lose replies.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace interlock::druid {

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  std::chrono::milliseconds deadline{30'000};  // for the whole exchange
  int64_t max_reply_bytes = 64 << 20;
  // Never sent twice, not even where a kept connection turns out to be dead: libcurl
  // would send it again by itself, and then call "never connected" what had its effect.
  bool once = false;
  // When set, the body of a 2xx reply is handed over piece by piece, and not kept;
  // false ends the exchange (reply.error says so).
  std::function<bool(absl::string_view piece)> on_body;
};

struct HttpReply {
  // What happened to the exchange, apart from what the server said.
  enum class Exchange {
    kWhole,         // a whole reply; `status` counts
    kNotConnected,  // nothing was sent
    kBroken,        // sent in whole or part; no whole reply (reset, deadline, too large)
  };
  Exchange exchange = Exchange::kNotConnected;
  int status = 0;
  std::string content_type;
  std::string location;  // of a redirect; "" if none
  std::string date;      // the Date header; "" if none
  std::string body;
  std::string error;  // for people; no credentials
  // We ended it: the reply passed max_reply_bytes, or on_body said so.
  bool cut_by_us = false;
  std::chrono::milliseconds took{0};  // on a monotonic clock
};

class HttpTransport {
 public:
  virtual ~HttpTransport() = default;
  // Blocks until the reply or the deadline. Any thread.
  virtual HttpReply Send(const HttpRequest& request) = 0;
  // Blocks that long, or until the transport is being destroyed: the wait before a read
  // is repeated. Those without a wire need not wait.
  virtual void Pause(std::chrono::milliseconds duration) { static_cast<void>(duration); }
};

}  // namespace interlock::druid
