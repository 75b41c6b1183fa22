// The HTTP door of the simulator: loopback, one port, replies that can be lost, cut or
// reset on the way out. CivetWeb does the protocol.
//
// Threads: the handler is called by any of CivetWeb's threads, several at once.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/simulator/message.h"
#include "lib/time/mutex.h"

struct mg_context;
struct mg_connection;

namespace interlock::simulator {

// A reply, and what becomes of it on its way.
struct Delivery {
  enum class Way {
    kWhole,
    kNothing,    // the connection is closed without a byte
    kReset,      // the connection is reset without a byte
    kTruncated,  // the headers, then only the first `bytes` of the body
  };
  Reply reply;
  Way way = Way::kWhole;
  size_t bytes = 0;
  std::string date;  // the Date header
};

class HttpServer {
 public:
  using Handler = std::function<Delivery(const Request&)>;

  // Port 0 takes a free one. UNAVAILABLE if the port is taken.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(int port, Handler handler);
  ~HttpServer();

  int port() const { return port_; }

  // Closes the port (connections are refused) and opens the same one again. Not from a
  // handler. Replies that are on their way get a moment to leave.
  void StopListening() INTERLOCK_EXCLUDES(mutex_);
  absl::Status StartListening();
  bool listening() const { return context_ != nullptr; }

 private:
  explicit HttpServer(Handler handler) : handler_(std::move(handler)) {}
  static int Serve(mg_connection* connection);
  void Answer(mg_connection* connection) INTERLOCK_EXCLUDES(mutex_);
  void Deliver(mg_connection* connection);

  Handler handler_;
  int port_ = 0;
  mg_context* context_ = nullptr;
  Mutex mutex_;
  CondVar answered_;
  int answering_ INTERLOCK_GUARDED_BY(mutex_) = 0;
};

}  // namespace interlock::simulator
