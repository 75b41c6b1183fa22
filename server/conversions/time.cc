#include "server/conversions/time.h"

#include <regex>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/time/period.h"
#include "lib/time/status_reason.h"

namespace interlock::server {
namespace {

constexpr int64_t kMillisPerSecond = 1'000;
constexpr int32_t kNanosPerMilli = 1'000'000;

// Longest text that can be an interval; what is longer is not even parsed.
constexpr size_t kMaxIntervalText = 200;

std::string Text(absl::string_view text) { return {text.data(), text.size()}; }

// Whether an instant of `given` is written without an offset: then it is UTC, as in Druid.
bool AssumesUtc(const std::string& given) {
  static const std::regex kWithOffset(R"(.*T.*(Z|[+-][0-9]{2}(:?[0-9]{2})?))");
  size_t begin = 0;
  while (begin <= given.size()) {
    const size_t slash = std::min(given.find('/', begin), given.size());
    const std::string part = given.substr(begin, slash - begin);
    const bool instant = !part.empty() && part[0] != 'P' && part[0] != 'p';
    if (instant && !std::regex_match(part, kWithOffset)) return true;
    begin = slash + 1;
  }
  return false;
}

v1::IntervalReading Reading(const std::string& given, const Interval& interval) {
  v1::IntervalReading reading;
  reading.set_given(given);
  reading.set_interval(interval.ToString());
  reading.set_utc_assumed(AssumesUtc(given));
  reading.set_whole_unit(!absl::StrContains(given, '/'));
  return reading;
}

absl::Status Invalid(const std::string& text) {
  return WithReason(absl::InvalidArgumentError(text), "INVALID_REQUEST", {});
}

}  // namespace

void ToProto(Instant instant, google::protobuf::Timestamp* proto) {
  int64_t seconds = instant.millis() / kMillisPerSecond;
  int64_t millis = instant.millis() % kMillisPerSecond;
  if (millis < 0) {
    --seconds;
    millis += kMillisPerSecond;
  }
  proto->set_seconds(seconds);
  proto->set_nanos(static_cast<int32_t>(millis) * kNanosPerMilli);
}

void ToProto(absl::Duration duration, google::protobuf::Duration* proto) {
  proto->set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &duration));
  proto->set_nanos(static_cast<int32_t>(duration / absl::Nanoseconds(1)));
}

void ToProto(const Granularity& granularity, v1::Granularity* proto) {
  proto->set_period(granularity.ToString());
  proto->set_time_zone(granularity.zone());
}

Instant FromProto(const google::protobuf::Timestamp& proto) {
  return Instant::FromMillis(proto.seconds() * kMillisPerSecond + proto.nanos() / kNanosPerMilli);
}

absl::Duration FromProto(const google::protobuf::Duration& proto) {
  return absl::Seconds(proto.seconds()) + absl::Nanoseconds(proto.nanos());
}

absl::StatusOr<ReadIntervals> FromProto(
    const google::protobuf::RepeatedPtrField<std::string>& given, const std::string& field,
    bool optional) {
  ReadIntervals read;
  if (given.empty() && !optional) {
    return InvalidField("/" + field, "is missing",
                        "give an interval, like 2026-07-16T13 or START/END");
  }
  absl::Status faults = Invalid(absl::StrCat("not all of ", field, " can be read as intervals"));
  for (int i = 0; i < given.size(); ++i) {
    const std::string pointer = absl::StrCat("/", field, "/", i);
    if (given[i].size() > kMaxIntervalText) {
      AddFault(faults, pointer, "is too long to be an interval", "write START/END");
      continue;
    }
    const auto interval = Interval::ParseShorthand(given[i]);
    if (!interval.ok()) {
      AddFault(faults, pointer, interval.status().message(), "");
    } else if (interval->empty()) {
      AddFault(faults, pointer, absl::StrCat("'", given[i], "' is empty"),
               "its end must be after its start");
    } else {
      read.intervals.push_back(*interval);
      read.readings.push_back(Reading(given[i], *interval));
    }
  }
  const auto found = FaultsOf(faults);
  if (found.empty()) return read;
  // With one fault the line for people says it all.
  if (found.size() == 1) return InvalidField(found[0].pointer, found[0].found, found[0].would_do);
  return faults;
}

absl::StatusOr<std::optional<Interval>> FromProto(const std::string& given,
                                                  const std::string& field) {
  if (given.empty()) return std::nullopt;
  google::protobuf::RepeatedPtrField<std::string> one;
  *one.Add() = given;
  auto read = FromProto(one, field);
  if (!read.ok()) return read.status();
  return read->intervals.front();
}

absl::StatusOr<Granularity> FromProto(const v1::Granularity& proto, const std::string& field) {
  const bool plain = proto.time_zone().empty() && proto.origin().empty();
  const bool period = absl::StartsWith(proto.period(), "P");
  if (!period && !plain) {
    return InvalidField("/" + field,
                        absl::StrCat("'", proto.period(), "' goes without time_zone and origin"),
                        "write it as a period, like P1D");
  }
  absl::StatusOr<Granularity> granularity = absl::UnknownError("");
  if (!period) {
    granularity = Granularity::FromName(proto.period());
  } else {
    const auto parsed = Period::Parse(proto.period());
    if (!parsed.ok())
      return InvalidField("/" + field + "/period", Text(parsed.status().message()), "");
    std::optional<Instant> origin;
    if (!proto.origin().empty()) {
      const auto instant = Instant::Parse(proto.origin());
      if (!instant.ok())
        return InvalidField("/" + field + "/origin", Text(instant.status().message()), "");
      origin = *instant;
    }
    granularity = Granularity::OfPeriod(
        *parsed, proto.time_zone().empty() ? "UTC" : proto.time_zone(), origin);
  }
  if (!granularity.ok()) return InvalidField("/" + field, Text(granularity.status().message()), "");
  return granularity;
}

absl::Status InvalidField(const std::string& field, const std::string& found,
                          const std::string& would_do) {
  absl::Status status =
      Invalid(absl::StrCat(field, ": ", found, would_do.empty() ? "" : "; ", would_do));
  AddFault(status, field, found, would_do);
  return status;
}

}  // namespace interlock::server
