#include "server/conversions/time.h"

#include <algorithm>

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

bool AreDigits(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return '0' <= c && c <= '9'; });
}

// Whether an instant's text ends in Z, +02, +0200 or +02:00. By hand: a regular expression
// took as long as the grant that is asked for.
bool HasOffset(const std::string& instant) {
  const size_t time = instant.find('T');
  if (time == std::string::npos) return false;
  if (instant.back() == 'Z') return true;
  const size_t sign = instant.find_last_of("+-");
  if (sign == std::string::npos || sign < time) return false;
  std::string offset = instant.substr(sign + 1);
  if (offset.size() == 5 && offset[2] == ':') offset.erase(2, 1);
  return (offset.size() == 2 || offset.size() == 4) && AreDigits(offset);
}

// Whether an instant of `given` is written without an offset: then it is UTC, as in Druid.
bool AssumesUtc(const std::string& given) {
  size_t begin = 0;
  while (begin <= given.size()) {
    const size_t slash = std::min(given.find('/', begin), given.size());
    const std::string part = given.substr(begin, slash - begin);
    const bool instant = !part.empty() && part[0] != 'P' && part[0] != 'p';
    if (instant && !HasOffset(part)) return true;
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

absl::Status Invalid(const std::string& text, absl::string_view reason = "INVALID_REQUEST") {
  return WithReason(absl::InvalidArgumentError(text), reason, {});
}

constexpr char kMalformed[] = "INTERVAL_MALFORMED";
constexpr char kEndsBeforeStart[] = "INTERVAL_ENDS_BEFORE_START";

// One text of a request: the interval, or a fault, whose reason is the status's.
absl::Status ReadOne(const std::string& given, const std::string& pointer, ReadIntervals& read) {
  absl::Status fault;
  const auto interval = given.size() > kMaxIntervalText
                            ? absl::StatusOr<Interval>(absl::UnknownError(""))
                            : Interval::ParseShorthand(given);
  if (given.size() > kMaxIntervalText) {
    fault = Invalid("", kMalformed);
    AddFault(fault, pointer, "is too long to be an interval", "write START/END");
  } else if (!interval.ok()) {
    const bool turned = ReasonOf(interval.status()) == kEndsBeforeStart;
    fault = Invalid("", turned ? kEndsBeforeStart : kMalformed);
    AddFault(fault, pointer, interval.status().message(), "");
  } else if (interval->empty()) {
    fault = Invalid("", kEndsBeforeStart);
    AddFault(fault, pointer, absl::StrCat("'", given, "' is empty"),
             "its end must be after its start");
  } else {
    read.intervals.push_back(*interval);
    read.readings.push_back(Reading(given, *interval));
  }
  return fault;
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
  std::vector<Fault> faults;
  std::string reason;
  for (int i = 0; i < given.size(); ++i) {
    const absl::Status fault = ReadOne(given[i], absl::StrCat("/", field, "/", i), read);
    if (fault.ok()) continue;
    for (Fault& one : FaultsOf(fault)) faults.push_back(std::move(one));
    // Where they differ, what can't be read at all weighs more.
    if (reason.empty() || reason != ReasonOf(fault)) {
      reason = reason.empty() ? ReasonOf(fault) : kMalformed;
    }
  }
  if (faults.empty()) return read;
  const Fault& first = faults.front();
  // With one fault the line for people says it all.
  absl::Status status =
      faults.size() == 1
          ? Invalid(absl::StrCat(first.pointer, ": ", first.found,
                                 first.would_do.empty() ? "" : "; ", first.would_do),
                    reason)
          : Invalid(absl::StrCat("not all of ", field, " can be read as intervals"), reason);
  for (const Fault& fault : faults) {
    AddFault(status, fault.pointer, fault.found, fault.would_do);
  }
  return status;
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
