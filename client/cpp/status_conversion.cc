#include "client/cpp/status_conversion.h"

#include <array>
#include <chrono>
#include <string>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/support/status.h"
#include "lib/time/status_reason.h"

namespace interlock::client {
namespace {

void Decode(const google::protobuf::Any& detail, absl::Status& status) {
  google::rpc::ErrorInfo info;
  google::rpc::BadRequest bad;
  google::rpc::PreconditionFailure failure;
  google::rpc::RetryInfo retry;
  if (detail.UnpackTo(&info)) {
    status = WithReason(std::move(status), info.reason(),
                        Metadata(info.metadata().begin(), info.metadata().end()));
  } else if (detail.UnpackTo(&bad)) {
    for (const auto& fault : bad.field_violations()) {
      AddFault(status, fault.field(), fault.description(), "");
    }
  } else if (detail.UnpackTo(&failure)) {
    for (const auto& blocker : failure.violations()) {
      AddBlocker(status, blocker.type(), blocker.subject(), blocker.description());
    }
  } else if (detail.UnpackTo(&retry)) {
    const auto delay = std::chrono::seconds(retry.retry_delay().seconds()) +
                       std::chrono::nanoseconds(retry.retry_delay().nanos());
    status = WithRetryAfter(std::move(status),
                            std::chrono::duration_cast<std::chrono::milliseconds>(delay));
  }
}

// What gRPC itself says, where no server of ours has spoken.
absl::Status WithoutDetails(absl::Status status) {
  if (absl::IsUnavailable(status)) return WithReason(std::move(status), "UNREACHABLE");
  if (absl::IsDeadlineExceeded(status)) return WithReason(std::move(status), "NO_ANSWER");
  return status;
}

}  // namespace

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status ours(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  google::rpc::Status details;
  if (status.error_details().empty() || !details.ParseFromString(status.error_details())) {
    return WithoutDetails(std::move(ours));
  }
  for (const auto& detail : details.details()) Decode(detail, ours);
  return ours;
}

bool EndsLease(const absl::Status& status) {
  constexpr std::array<const char*, 7> kFinal = {"STALE_TOKEN",        "EXPIRED", "RELEASED",
                                                 "SUPERSEDED",         "FORCED",  "ORPHANED",
                                                 "UNKNOWN_RESERVATION"};
  const std::string reason = ReasonOf(status);
  for (const char* final : kFinal) {
    if (reason == final) return true;
  }
  return reason == "NOT_THE_HOLDER";
}

}  // namespace interlock::client
