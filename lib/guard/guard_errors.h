// The errors of lib/guard.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace interlock::guard {

// INVALID_ARGUMENT, INVALID_DATASOURCE
absl::Status InvalidDatasource(absl::string_view datasource, absl::string_view why);
// INVALID_ARGUMENT, TAIL_MISSING
absl::Status TailMissing();
// INVALID_ARGUMENT, TAIL_INVALID
absl::Status TailInvalid(absl::string_view why);
// NOT_FOUND, UNKNOWN_SUPERVISOR
absl::Status UnknownSupervisor(absl::string_view id);
// FAILED_PRECONDITION, OTHER_DATASOURCE
absl::Status OtherDatasource(absl::string_view what, absl::string_view its,
                             absl::string_view asked);
// FAILED_PRECONDITION, STREAM_CONFLICT
absl::Status StreamConflict(absl::string_view datasource, absl::string_view name,
                            absl::string_view why);
// NOT_FOUND, UNKNOWN_STREAM
absl::Status UnknownStream(absl::string_view datasource, absl::string_view name);
// UNAVAILABLE, DRUID_UNAVAILABLE
absl::Status DruidUnavailable(absl::string_view why);
// INVALID_ARGUMENT, BAD_PAGE_TOKEN
absl::Status BadPageToken(absl::string_view token);
// INVALID_ARGUMENT, LIMIT_EXCEEDED
absl::Status TooManyInstants(int64_t asked, int64_t allowed);

}  // namespace interlock::guard
