// The errors of lib/seal that callers see.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lib/seal/seal.h"

namespace interlock::seal {

// NOT_FOUND: UNKNOWN_SEAL, UNKNOWN_SEAL_POLICY
absl::Status UnknownSeal(absl::string_view id);
absl::Status UnknownSealPolicy(absl::string_view name);
// INVALID_ARGUMENT: REASON_REQUIRED, REQUEST_ID_REUSED, INVALID_SNAPSHOT, UNSEAL_TOO_LONG,
// BAD_PAGE_TOKEN, INVALID_NAME, INVALID_PATTERN, INVALID_PERIOD, INVALID_DATASOURCE
absl::Status ReasonRequired(absl::string_view what_for);
absl::Status RequestIdReused(absl::string_view request_id, absl::string_view id);
absl::Status InvalidSnapshot(const std::string& field, absl::string_view found,
                             absl::string_view would_do);
absl::Status UnsealTooLong(absl::string_view asked);
absl::Status BadPageToken(absl::string_view token);
absl::Status InvalidPolicy(absl::string_view reason, const std::string& field,
                           absl::string_view found, absl::string_view would_do);
absl::Status InvalidDatasource(const std::string& field, absl::string_view found);
absl::Status CorrectionsInto(const std::string& field, absl::string_view sealed);
// INVALID_ARGUMENT, MISALIGNED: the segment that sticks out, and what would do.
absl::Status Misaligned(const Interval& asked, const Interval& chunk, const Interval& would_do);
// FAILED_PRECONDITION: ALREADY_SEALED, NOT_SEALED, NOT_SINGLE_VERSION, COMPACTION_CONFIGURED,
// NOTHING_TO_SEAL, CHANGED_MEANWHILE
absl::Status AlreadySealed(const Seal& seal);
absl::Status NotSealed(const Seal& seal, State state);
absl::Status NotSingleVersion(const Interval& where, absl::string_view found);
absl::Status CompactionConfigured(absl::string_view datasource);
absl::Status NothingToSeal(absl::string_view datasource, const Interval& interval);
absl::Status ChangedMeanwhile(const Interval& interval);
// RESOURCE_EXHAUSTED, SNAPSHOT_TOO_LARGE
absl::Status SnapshotTooLarge(int64_t most);
// UNAVAILABLE, DRUID_UNAVAILABLE
absl::Status DruidUnavailable(absl::string_view why);
// FAILED_PRECONDITION, NOT_SEALED: a correction reaches where nothing is sealed.
absl::Status CorrectionNotSealed(const Interval& where);

}  // namespace interlock::seal
