// A server on loopback that does with its connections what a test says, byte by byte:
// answers, half-answers, goes away. Each connection has a thread of its own.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/time/mutex.h"

namespace interlock::druid {

class WireServer;

class WireConnection {
 public:
  explicit WireConnection(int fd) : fd_(fd) {}

  // The next request, head and body; nullopt when the client is gone.
  std::optional<std::string> ReadRequest();
  // False when the client is gone.
  bool Write(absl::string_view bytes);
  // A whole reply, after which the connection stays open.
  bool Reply(int status, const std::string& body, const std::string& headers = "");
  // Ends it so that the client reads "connection reset".
  void Reset();
  // Until the client goes away.
  void WaitForClose();

 private:
  bool Fill();
  const int fd_;
  std::string received_;
};

class WireServer {
 public:
  using Handler = std::function<void(WireConnection&)>;

  explicit WireServer(Handler handler);
  ~WireServer();

  std::string url() const;
  int connections() const { return connections_; }

 private:
  void Accept();
  void Serve(int fd);

  const Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_{0};
  Mutex mutex_;
  bool closing_ INTERLOCK_GUARDED_BY(mutex_) = false;
  std::set<int> open_ INTERLOCK_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ INTERLOCK_GUARDED_BY(mutex_);
  std::thread acceptor_;
};

// A port of loopback that refuses connections: it was free a moment ago.
std::string RefusingUrl();

}  // namespace interlock::druid
