#include "server/call_observer.h"

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "server/caller.h"
#include "server/log.h"
#include "server/status_conversion.h"

namespace interlock::server {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

// "/interlock.v1.Reservations/GetReservation" → "Reservations/GetReservation".
std::string ShortName(const char* method) {
  const std::string name = method;
  const size_t dot = name.rfind('.', name.rfind('/'));
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

std::string CodeName(grpc::StatusCode code) {
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

class Observer : public Interceptor {
 public:
  Observer(ServerRpcInfo* info, Metrics& metrics)
      : info_(info),
        metrics_(metrics),
        method_(ShortName(info->method())),
        begun_(std::chrono::steady_clock::now()) {}

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      grpc::Status status = methods->GetSendStatus();
      if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED &&
          status.error_details().empty()) {
        status = NotYetBuilt(method_);
        methods->ModifySendStatus(status);
      }
      Told(status);
    }
    methods->Proceed();
  }

 private:
  void Told(const grpc::Status& status) {
    const std::string code = CodeName(status.error_code());
    metrics_.calls.Add({{"method", method_}, {"code", code}}).Increment();
    const auto taken = std::chrono::steady_clock::now() - begun_;
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(taken).count();
    LogFields fields = {{"method", method_},
                        {"code", code},
                        {"caller", IdentityOf(*info_->server_context())},
                        {"micros", std::to_string(micros)}};
    if (status.ok()) return Log(LogLevel::kDebug, "call", fields);
    fields.emplace_back("error", status.error_message());
    Log(LogLevel::kInfo, "call refused", fields);
  }

  ServerRpcInfo* info_;
  Metrics& metrics_;
  const std::string method_;
  const std::chrono::steady_clock::time_point begun_;
};

class Factory : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Factory(Metrics& metrics) : metrics_(metrics) {}
  Interceptor* CreateServerInterceptor(ServerRpcInfo* info) override {
    return new Observer(info, metrics_);
  }

 private:
  Metrics& metrics_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> ObserveCalls(
    Metrics& metrics) {
  return std::make_unique<Factory>(metrics);
}

}  // namespace interlock::server
