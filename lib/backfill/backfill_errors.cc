#include "lib/backfill/backfill_errors.h"

#include "absl/strings/str_cat.h"
#include "lib/time/status_reason.h"

namespace interlock::backfill {

absl::Status UnknownBackfill(absl::string_view id) {
  return WithReason(absl::NotFoundError(absl::StrCat("there is no backfill ", id)),
                    "UNKNOWN_BACKFILL", {{"backfill", std::string(id)}});
}

absl::Status UnknownAttempt(absl::string_view task_id) {
  return WithReason(absl::NotFoundError(absl::StrCat("there is no attempt ", task_id)),
                    "UNKNOWN_ATTEMPT", {{"task", std::string(task_id)}});
}

absl::Status UnknownPartition(absl::string_view backfill_id, absl::string_view partition) {
  return WithReason(absl::NotFoundError(absl::StrCat(backfill_id, " has no partition ", partition)),
                    "UNKNOWN_PARTITION", {{"partition", std::string(partition)}});
}

absl::Status RequestIdReused(absl::string_view request_id, absl::string_view backfill_id) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat(
          "request id ", request_id, " was used for ", backfill_id,
          " with another spec, interval or option: a request id names one request for ever")),
      "REQUEST_ID_REUSED",
      {{"request_id", std::string(request_id)}, {"backfill", std::string(backfill_id)}});
}

absl::Status RequestIdInvalid() {
  return WithReason(
      absl::InvalidArgumentError("a request id is 1 to 128 printable ASCII characters"),
      "REQUEST_ID_INVALID");
}

absl::Status LimitExceeded(absl::string_view limit, int64_t allowed, int64_t asked) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat(limit, " is ", asked, ", and may be 1 to ", allowed)),
      "LIMIT_EXCEEDED", {{"limit", std::string(limit)}, {"allowed", absl::StrCat(allowed)}});
}

absl::Status ReasonRequired(absl::string_view what_for) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat("give a reason ", what_for)),
                    "REASON_REQUIRED");
}

absl::Status ObserveOnly() {
  return WithReason(
      absl::FailedPreconditionError(
          "druid.access is OBSERVE: nothing is sent that changes Druid; set it to MANAGE"),
      "OBSERVE_ONLY");
}

absl::Status ExpectationNotCheckable(absl::string_view expectation, absl::string_view why) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(expectation, " can't be checked: ", why)),
      "EXPECTATION_NOT_CHECKABLE", {{"expectation", std::string(expectation)}});
}

absl::Status AllHeld(const std::string& datasource, const std::vector<lease::Held>& held) {
  absl::Status status = WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          "all of it is held by others, the first being ",
          held.empty() ? std::string("unknown")
                       : absl::StrCat(held.front().holder, " (", held.front().purpose, ")"))),
      "HELD", {{"datasource", datasource}});
  for (const lease::Held& one : held) {
    AddBlocker(status, one.orphaned ? "ORPHANED" : "HELD",
               absl::StrCat(datasource, "/", one.interval.ToString()),
               absl::StrCat("held by ", one.holder, " for ", one.purpose));
  }
  return status;
}

absl::Status AlreadyOver(absl::string_view id, absl::string_view phase) {
  return WithReason(absl::FailedPreconditionError(absl::StrCat(id, " is ", phase)), "ALREADY_OVER",
                    {{"state", std::string(phase)}});
}

absl::Status NotPaused(absl::string_view id) {
  return WithReason(absl::FailedPreconditionError(absl::StrCat(id, " is not paused")),
                    "NOT_PAUSED");
}

absl::Status NothingToRetry(absl::string_view id) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat("nothing of ", id, " is in those states")),
      "NOTHING_TO_RETRY");
}

absl::Status NotAcceptable(absl::string_view partition, absl::string_view state) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          partition, " is ", state, "; only SUSPECT and UNDETERMINED ones can be accepted")),
      "NOT_ACCEPTABLE", {{"state", std::string(state)}});
}

absl::Status AttemptSettled(absl::string_view task_id) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat("the attempt ", task_id, " is over already")),
      "ATTEMPT_SETTLED");
}

absl::Status BadPageToken(absl::string_view token) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat("`", token, "` is no page token of this list")),
      "BAD_PAGE_TOKEN");
}

}  // namespace interlock::backfill
