// The errors of jobs that callers see.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lib/time/status_reason.h"

namespace interlock::backfill {

// INVALID_ARGUMENT, INVALID_NAME
absl::Status InvalidJobName(absl::string_view name);
// NOT_FOUND, UNKNOWN_JOB; version 0 is "any".
absl::Status UnknownJob(absl::string_view name, int64_t version);
// ABORTED, VERSION_MOVED: another one put a version meanwhile.
absl::Status VersionMoved(absl::string_view name, int64_t expected, int64_t found);
// INVALID_ARGUMENT, REQUEST_ID_REUSED
absl::Status JobRequestIdReused(absl::string_view request_id, absl::string_view job);
// INVALID_ARGUMENT, SOURCE_INVALID: with every fault of its sources.
absl::Status SourcesInvalid(const std::vector<Fault>& faults);
// INVALID_ARGUMENT, CYCLE: `way` is "a ← b ← a".
absl::Status SourceCycle(absl::string_view job, absl::string_view way);
// UNAVAILABLE, DRUID_UNAVAILABLE: how far a running total goes can't be read now.
absl::Status DerivedDruidUnavailable(absl::string_view why);

}  // namespace interlock::backfill
