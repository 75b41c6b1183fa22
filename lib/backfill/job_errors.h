// The errors of jobs that callers see.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace interlock::backfill {

// INVALID_ARGUMENT, INVALID_NAME
absl::Status InvalidJobName(absl::string_view name);
// NOT_FOUND, UNKNOWN_JOB; version 0 is "any".
absl::Status UnknownJob(absl::string_view name, int64_t version);
// ABORTED, VERSION_MOVED: another one put a version meanwhile.
absl::Status VersionMoved(absl::string_view name, int64_t expected, int64_t found);
// INVALID_ARGUMENT, REQUEST_ID_REUSED
absl::Status JobRequestIdReused(absl::string_view request_id, absl::string_view job);

}  // namespace interlock::backfill
