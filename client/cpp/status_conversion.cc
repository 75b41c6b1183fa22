#include "client/cpp/status_conversion.h"

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/cpp/channel.h"
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

// gRPC turns a request away that is larger than the server takes, before any service sees it:
// "Received message larger than max (17000655 vs. 16777216)". It says the same here of a reply
// that is larger than we take, which is no fault of the request.
std::optional<absl::Status> TooLarge(const absl::Status& status) {
  const absl::string_view text = status.message();
  const size_t open = text.find("larger than max (");
  if (!absl::IsResourceExhausted(status) || open == absl::string_view::npos) return std::nullopt;
  const std::vector<std::string> numbers =
      absl::StrSplit(absl::StripSuffix(text.substr(text.find('(', open) + 1), ")"), " vs. ");
  if (numbers.size() != 2 || numbers[1] == absl::StrCat(kMaxReplyBytes)) return std::nullopt;
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat(
          "the request has ", numbers[0], " bytes; at most ", numbers[1],
          ", which is limits.max_request_bytes of this server: put inline data into files")),
      "LIMIT_EXCEEDED", {{"limit", "max_request_bytes"}, {"allowed", numbers[1]}});
}

// What gRPC itself says, where no server of ours has spoken.
absl::Status WithoutDetails(absl::Status status) {
  if (auto too_large = TooLarge(status)) return *std::move(too_large);
  // We cancel no call whose answer is wanted: it came while the server shut down, and no service
  // has seen it.
  if (absl::IsCancelled(status)) {
    status =
        absl::UnavailableError("the server ended the call before it was answered: it goes down");
  }
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
