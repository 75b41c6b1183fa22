#include "lib/time/reason.h"

#include <optional>

#include "absl/strings/cord.h"

namespace interlock {
namespace {

constexpr char kReasonPayload[] = "interlock.dev/reason";

}  // namespace

absl::Status WithReason(absl::Status status, absl::string_view reason) {
  status.SetPayload(kReasonPayload, absl::Cord(reason));
  return status;
}

std::string ReasonOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kReasonPayload);
  return payload ? std::string(*payload) : std::string();
}

}  // namespace interlock
