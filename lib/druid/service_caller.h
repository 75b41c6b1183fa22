// One call to a service of the cluster: which address, which headers, how often, where a
// redirect leads, and what the reply means. Everything that Cluster does goes through
// here, so that what holds for all calls stands once:
//
//   - under OBSERVE nothing that changes anything is sent;
//   - what changes something is sent once (to the next address only where nothing was
//     sent to the one before);
//   - reads are repeated where that can help, with jitter;
//   - all of it ends within call_deadline.
//
// Threads: any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/druid/answer.h"
#include "lib/druid/classify.h"
#include "lib/druid/cluster_options.h"
#include "lib/druid/redirect.h"
#include "lib/druid/transport.h"
#include "lib/time/mutex.h"

namespace interlock::druid {

enum class Service { kOverlord, kCoordinator, kBroker };

std::string ServiceName(Service service);

struct Call {
  std::string endpoint;  // for metrics: "task_submit"
  Service service = Service::kOverlord;
  std::string method = "GET";
  std::string path;  // "/druid/…", escaped, with its query
  std::string body;  // JSON
  bool changes = false;
  std::string task_id;        // classify.h
  bool submits = false;       // classify.h
  std::string supervisor_id;  // classify.h
  bool json_reply = true;     // classify.h
  bool probe = false;         // classify.h

  // Reads the reply of a call that is done; what it returns is why the reply makes no
  // sense, "" where it does. Called once per attempt: it starts from nothing each time.
  std::function<std::string(const HttpReply& reply)> read;
  // Of large replies: called before each attempt, then with the pieces of its body.
  std::function<void()> start_body;
  std::function<bool(absl::string_view piece)> on_body;
};

class ServiceCaller {
 public:
  ServiceCaller(const ClusterOptions& options, std::shared_ptr<HttpTransport> transport);

  Answer<HttpReply> Send(const Call& call);
  // The same thing in several ways, for versions that lack the first ones: from
  // `*way` on, each is tried until one is not kUnsupported, all within one deadline.
  // `*way` is then the index of that one.
  Answer<HttpReply> SendSupported(const std::vector<Call>& ways, size_t* way);
  // To that address alone, once: for health checks. `path` goes below the base URL.
  Answer<HttpReply> SendTo(const std::string& base, const Call& call);
  // Rises whenever a service was away, after which it may be another version's.
  uint64_t times_away() const { return times_away_; }
  // Base URLs that serve `service`: its own, or the router's.
  const std::vector<std::string>& Addresses(Service service) const;

 private:
  using Milliseconds = std::chrono::milliseconds;
  // What is left of the call's deadline, and what all of it took.
  struct Budget {
    Milliseconds left;
    Milliseconds took{0};
    void Spend(Milliseconds spent) {
      took += spent;
      left -= spent;
    }
  };

  Answer<HttpReply> Attempts(const Call& call, Budget* budget);
  Answer<HttpReply> AtAnyAddress(const Call& call, Budget* budget);
  Answer<HttpReply> At(const std::string& base, const Call& call, Budget* budget);
  Answer<HttpReply> Judge(const Call& call, HttpReply reply);
  HttpReply Exchange(const std::string& url, const Call& call, Budget* budget);
  // Where to go next, or "" with a verdict in `refusal` where redirects end.
  std::string NextHop(const std::string& base, const std::string& url, const Call& call,
                      const HttpReply& reply, Budget* budget, Verdict* refusal);
  // Asks the cluster at `base` who leads.
  void LearnLeader(const std::string& base, Service service, Budget* budget);
  Milliseconds JitteredPause(int attempt);
  void Report(const Call& call, const Answer<HttpReply>& answer, const Budget& budget) const;

  const ClusterOptions options_;
  const std::shared_ptr<HttpTransport> transport_;
  const std::string authorization_;  // header line, "" without a user
  RedirectPolicy redirects_;
  std::atomic<uint64_t> times_away_{0};

  Mutex mutex_;
  // Index of the address that answered last.
  std::map<Service, size_t> preferred_ INTERLOCK_GUARDED_BY(mutex_);
  std::mt19937_64 jitter_ INTERLOCK_GUARDED_BY(mutex_);
};

}  // namespace interlock::druid
