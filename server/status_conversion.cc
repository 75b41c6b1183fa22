#include "server/status_conversion.h"

#include <chrono>
#include <string>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "lib/time/status_reason.h"

namespace interlock::server {
namespace {

// Metadata travels in a trailer, of which proxies take about 8 KiB: beyond these many
// entries a caller asks the list methods.
constexpr size_t kMaxEntries = 40;

void AddErrorInfo(const absl::Status& status, google::rpc::Status& details) {
  google::rpc::ErrorInfo info;
  const std::string reason = ReasonOf(status);
  info.set_reason(reason.empty() ? absl::StatusCodeToString(status.code()) : reason);
  info.set_domain(kErrorDomain);
  for (const auto& [key, value] : MetadataOf(status)) (*info.mutable_metadata())[key] = value;
  details.add_details()->PackFrom(info);
}

void AddFaults(const absl::Status& status, google::rpc::Status& details) {
  const auto faults = FaultsOf(status);
  if (faults.empty()) return;
  google::rpc::BadRequest bad;
  for (const auto& fault : faults) {
    if (static_cast<size_t>(bad.field_violations_size()) == kMaxEntries) break;
    auto* violation = bad.add_field_violations();
    violation->set_field(fault.pointer);
    violation->set_description(fault.would_do.empty() ? fault.found
                                                      : fault.found + "; " + fault.would_do);
  }
  details.add_details()->PackFrom(bad);
}

void AddBlockers(const absl::Status& status, google::rpc::Status& details) {
  const auto blockers = BlockersOf(status);
  if (blockers.empty()) return;
  google::rpc::PreconditionFailure failure;
  for (const auto& blocker : blockers) {
    if (static_cast<size_t>(failure.violations_size()) == kMaxEntries) break;
    auto* violation = failure.add_violations();
    violation->set_type(blocker.type);
    violation->set_subject(blocker.subject);
    violation->set_description(blocker.description);
  }
  details.add_details()->PackFrom(failure);
}

void AddRetry(const absl::Status& status, google::rpc::Status& details) {
  const auto delay = RetryAfterOf(status);
  if (!delay) return;
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(delay->count() / 1000);
  retry.mutable_retry_delay()->set_nanos(static_cast<int32_t>(delay->count() % 1000) * 1'000'000);
  details.add_details()->PackFrom(retry);
}

}  // namespace

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const std::string text(status.message().data(), status.message().size());
  google::rpc::Status details;
  details.set_code(static_cast<int>(status.code()));
  details.set_message(text);
  AddErrorInfo(status, details);
  AddFaults(status, details);
  AddBlockers(status, details);
  AddRetry(status, details);
  return {static_cast<grpc::StatusCode>(status.code()), text, details.SerializeAsString()};
}

grpc::Status NotYetBuilt(const std::string& method) {
  return ToGrpc(WithReason(
      absl::UnimplementedError(method + " is part of the API and not built in this version"),
      "NOT_YET_BUILT", {{"method", method}}));
}

absl::Status Draining(const std::string& what_would_do) {
  return WithReason(absl::UnavailableError("the server is draining; " + what_would_do),
                    "SERVER_DRAINING", {});
}

}  // namespace interlock::server
