// Names that Druid takes, and the ids that Interlock pins its tasks to.
//
// Threads: functions without state.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lib/time/interval.h"

namespace interlock::druid {

// Datasource and task names by Druid's own rule (IdUtils.validateId), so that a request
// fails here and not in the middle of a URL: not empty, no leading dot, no slash, no
// white space but the plain one, no control characters, nothing beyond the basic
// multilingual plane; and UTF-8, of at most 255 bytes: its metadata store holds no longer
// ones, and answers each POST of such a task with 500. `what` opens the text ("datasource").
// INVALID_ARGUMENT, DRUID_NAME_INVALID.
absl::Status ValidateDruidName(absl::string_view what, absl::string_view name);

// One attempt at one unit, as what its task is named after. Everything that tells two
// attempts apart stands here: no clock, no random.
struct AttemptKey {
  std::string incarnation;  // of the store: a restored backup must not meet its own past
  std::string datasource;
  Interval unit;
  std::string backfill_id;
  int64_t attempt = 0;
};

// Kubernetes task runners cut and lower-case longer ids until two of them are equal.
inline constexpr size_t kMaxTaskIdBytes = 63;

// `il-<20 hex digits>-<datasource>`, of [a-z0-9-], at most kMaxTaskIdBytes long: the
// digits (80 bits of SHA-256 over all of the key) stand early, the datasource is for
// people and cut where it is long.
std::string PinnedTaskId(const AttemptKey& key);

// The same shape for other tasks that must not run twice (a kill's piece, the noop that
// occupies an id): `kind` tells them apart from attempts.
std::string PinnedTaskId(absl::string_view kind, absl::string_view incarnation,
                         absl::string_view datasource, absl::string_view subject);

}  // namespace interlock::druid
