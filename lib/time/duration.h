// Durations as people write them, for the command line and the configuration.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace interlock {

// `10m`, `72h`, `14d`, `1h30m`, `1.5h`, `250ms`, `2w`, `0`; or an ISO-8601 period of fixed
// length, `P2D`, `PT10M`. Units are w, d (24 hours), h, m, s, ms, from large to small,
// each once. A sign may stand first; whether a negative one makes sense is the caller's
// business. INVALID_ARGUMENT (DURATION_MALFORMED): also for a bare number, whose unit
// nobody knows, and for months and years, which have no fixed length.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text);

// In the same units, the shortest way that ParseDuration reads back: `10m`, `1h30m`,
// `3d`, `1.5ms` for what is below a millisecond's grain, `0s`.
std::string FormatDuration(absl::Duration duration);

}  // namespace interlock
