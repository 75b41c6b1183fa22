// How long the texts of a request may be, by the names of its fields: what is stored with
// every row, shown in every list and told in every refusal has to stay readable. Bodies
// (specs, queries) are bounded by limits.max_spec_bytes alone.
//
// Threads: functions without state.
#pragma once

#include "absl/status/status.h"

namespace google::protobuf {
class Message;
}

namespace interlock::server {

// A name: of a datasource (255 is also what Druid's own tables hold), a holder, a job, a
// policy, a stream …
inline constexpr size_t kMaxNameBytes = 255;
// What something is for; shown wherever a reservation is.
inline constexpr size_t kMaxPurposeBytes = 256;
// Why something is asked for.
inline constexpr size_t kMaxReasonBytes = 1'024;
// Anything else, an id or an interval.
inline constexpr size_t kMaxTextBytes = 4'096;

// FIELD_TOO_LONG (INVALID_ARGUMENT) with each such field's pointer, its length and the bound.
absl::Status CheckBounds(const google::protobuf::Message& request);

}  // namespace interlock::server
