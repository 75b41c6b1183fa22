#include "server/call_observer.h"

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "lib/time/mutex.h"
#include "server/caller.h"
#include "server/log.h"
#include "server/malformed_request.h"
#include "server/status_conversion.h"

namespace interlock::server {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

// "/interlock.v1.Reservations/GetReservation" → "Reservations/GetReservation".
std::string ShortName(const std::string& name) {
  const size_t dot = name.rfind('.', name.rfind('/'));
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

std::string CodeName(grpc::StatusCode code) {
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

// The counters of one method, one a code: looked up in the registry once, held then.
class MethodCounters {
 public:
  MethodCounters(std::string method, Metrics& metrics)
      : method_(std::move(method)), metrics_(metrics) {}

  const std::string& method() const { return method_; }

  void Count(grpc::StatusCode code) {
    const auto place = static_cast<size_t>(code);
    if (place >= by_code_.size()) return Family(code).Increment();
    prometheus::Counter* counter = by_code_[place].load(std::memory_order_acquire);
    if (counter == nullptr) {
      counter = &Family(code);  // the same one, whichever thread asks
      by_code_[place].store(counter, std::memory_order_release);
    }
    counter->Increment();
  }

 private:
  prometheus::Counter& Family(grpc::StatusCode code) {
    return metrics_.calls.Add({{"method", method_}, {"code", CodeName(code)}});
  }

  const std::string method_;
  Metrics& metrics_;
  std::array<std::atomic<prometheus::Counter*>, 17> by_code_{};  // the canonical codes
};

class Observer : public Interceptor {
 public:
  Observer(ServerRpcInfo* info, MethodCounters& counters)
      : info_(info), counters_(counters), begun_(std::chrono::steady_clock::now()) {}

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE) &&
        methods->GetRecvMessage() == nullptr) {
      unread_ = ToGrpc(MalformedRequest(counters_.method()));
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      grpc::Status status = methods->GetSendStatus();
      if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED &&
          status.error_details().empty()) {
        status = unread_.ok() ? NotYetBuilt(counters_.method()) : unread_;
        methods->ModifySendStatus(status);
      }
      Told(status);
    }
    methods->Proceed();
  }

 private:
  void Told(const grpc::Status& status) {
    counters_.Count(status.error_code());
    if (status.ok() && !Logs(LogLevel::kDebug)) return;
    const auto taken = std::chrono::steady_clock::now() - begun_;
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(taken).count();
    LogFields fields = {{"method", counters_.method()},
                        {"code", CodeName(status.error_code())},
                        {"caller", IdentityOf(*info_->server_context())},
                        {"micros", std::to_string(micros)}};
    if (status.ok()) return Log(LogLevel::kDebug, "call", fields);
    fields.emplace_back("error", status.error_message());
    Log(LogLevel::kInfo, "call refused", fields);
  }

  ServerRpcInfo* info_;
  MethodCounters& counters_;
  const std::chrono::steady_clock::time_point begun_;
  grpc::Status unread_;  // not OK where the request could not be read
};

class Factory : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Factory(Metrics& metrics) : metrics_(metrics) {}
  Interceptor* CreateServerInterceptor(ServerRpcInfo* info) override {
    return new Observer(info, CountersOf(info->method()));
  }

 private:
  // Far above the methods that there are: what else a caller makes up is counted as one.
  static constexpr size_t kMostMethods = 200;

  MethodCounters& CountersOf(std::string method) {
    const MutexLock lock(mutex_);
    if (by_method_.size() >= kMostMethods && by_method_.count(method) == 0) method = "other";
    std::unique_ptr<MethodCounters>& counters = by_method_[method];
    if (counters == nullptr) {
      counters = std::make_unique<MethodCounters>(ShortName(method), metrics_);
    }
    return *counters;
  }

  Metrics& metrics_;
  Mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<MethodCounters>> by_method_
      INTERLOCK_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> ObserveCalls(
    Metrics& metrics) {
  return std::make_unique<Factory>(metrics);
}

}  // namespace interlock::server
