#include "lib/guard/guard_errors.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "lib/time/status_reason.h"

namespace interlock::guard {

absl::Status InvalidDatasource(absl::string_view datasource, absl::string_view why) {
  absl::Status status =
      absl::InvalidArgumentError(absl::StrCat("datasource '", datasource, "' ", why));
  AddFault(status, "/datasource", why, "name the datasource as Druid does");
  return WithReason(std::move(status), "INVALID_DATASOURCE");
}

absl::Status TailMissing() {
  absl::Status status = absl::InvalidArgumentError("nothing is said of what the stream may write");
  AddFault(status, "", "none of tail, tail_start_time, supervisor_id, supervisor_spec is there",
           "one of them, or accept_unbounded_tail");
  return WithReason(std::move(status), "TAIL_MISSING");
}

absl::Status TailInvalid(absl::string_view why) {
  absl::Status status = absl::InvalidArgumentError(absl::StrCat("tail ", why));
  AddFault(status, "/tail", why, "a length of time such as P2D");
  return WithReason(std::move(status), "TAIL_INVALID");
}

absl::Status UnknownSupervisor(absl::string_view id) {
  return WithReason(absl::NotFoundError(absl::StrCat(
                        "Druid has no supervisor '", id,
                        "' that reads a stream; post it first, or declare its spec with "
                        "supervisor_spec")),
                    "UNKNOWN_SUPERVISOR");
}

absl::Status OtherDatasource(absl::string_view what, absl::string_view its,
                             absl::string_view asked) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(what, " writes ", its, " and not ", asked)),
      "OTHER_DATASOURCE");
}

absl::Status StreamConflict(absl::string_view datasource, absl::string_view name,
                            absl::string_view why) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat("stream ", name, " of ", datasource, " ", why)),
      "STREAM_CONFLICT");
}

absl::Status UnknownStream(absl::string_view datasource, absl::string_view name) {
  return WithReason(
      absl::NotFoundError(name.empty()
                              ? absl::StrCat("no single stream is declared for ", datasource,
                                             "; name the one that is meant (--stream NAME)")
                              : absl::StrCat("no stream ", name, " is declared for ", datasource)),
      "UNKNOWN_STREAM");
}

absl::Status DruidUnavailable(absl::string_view why) {
  return WithRetryAfter(
      WithReason(absl::UnavailableError(absl::StrCat("Druid can't be asked: ", why)),
                 "DRUID_UNAVAILABLE"),
      std::chrono::seconds(5));
}

absl::Status BadPageToken(absl::string_view token) {
  return WithReason(absl::InvalidArgumentError(
                        absl::StrCat("page_token '", token, "' is none that a list has given")),
                    "BAD_PAGE_TOKEN");
}

absl::Status TooManyInstants(int64_t asked, int64_t allowed) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat("timestamps_ms has ", asked,
                                                            " instants, and at most ", allowed,
                                                            " can be asked about in one call")),
                    "LIMIT_EXCEEDED");
}

}  // namespace interlock::guard
