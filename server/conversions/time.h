// Instants, durations, intervals and calendars, between the wire and lib/time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/repeated_field.h"
#include "google/protobuf/timestamp.pb.h"
#include "interlock/v1/interval.pb.h"
#include "lib/time/granularity.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::server {

void ToProto(Instant instant, google::protobuf::Timestamp* proto);
void ToProto(absl::Duration duration, google::protobuf::Duration* proto);
void ToProto(const Granularity& granularity, v1::Granularity* proto);
Instant FromProto(const google::protobuf::Timestamp& proto);
absl::Duration FromProto(const google::protobuf::Duration& proto);

// Intervals as a request writes them: any form Druid takes, or a lone date, month or hour.
struct ReadIntervals {
  std::vector<Interval> intervals;
  std::vector<v1::IntervalReading> readings;
};

// All faults at once, each with the pointer `/FIELD/INDEX`: INTERVAL_MALFORMED, or, where
// that is all that is wrong, INTERVAL_ENDS_BEFORE_START. No interval at all is a fault
// (INVALID_REQUEST) unless `optional`.
absl::StatusOr<ReadIntervals> FromProto(
    const google::protobuf::RepeatedPtrField<std::string>& given, const std::string& field,
    bool optional = false);

// One interval that may be left out.
absl::StatusOr<std::optional<Interval>> FromProto(const std::string& given,
                                                  const std::string& field);

// A calendar; FIELD names it in faults.
absl::StatusOr<Granularity> FromProto(const v1::Granularity& proto, const std::string& field);

// INVALID_ARGUMENT, INVALID_REQUEST, with one fault.
absl::Status InvalidField(const std::string& field, const std::string& found,
                          const std::string& would_do);

}  // namespace interlock::server
