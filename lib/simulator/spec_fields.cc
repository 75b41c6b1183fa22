#include "lib/simulator/spec_fields.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/simulator/spec_errors.h"
#include "lib/time/reason.h"

namespace interlock::simulator {
namespace {

constexpr char kGranularityClass[] = "org.apache.druid.java.util.common.granularity.Granularity";

absl::StatusOr<Granularity> NamedGranularity(const std::string& name) {
  absl::StatusOr<Granularity> granularity = Granularity::FromName(name);
  if (granularity.ok()) return granularity;
  return CannotConstruct(
      kGranularityClass,
      absl::StrCat(
          "No enum constant org.apache.druid.java.util.common.granularity.GranularityType.",
          absl::AsciiStrToUpper(name)));
}

absl::StatusOr<Granularity> PeriodGranularity(const JsonValue& value) {
  const std::string text = FindString(value, "period");
  absl::StatusOr<Period> period = Period::Parse(text);
  if (!period.ok()) return BadInstant(text, "PeriodGranularity[\"period\"]");
  std::optional<Instant> origin;
  if (Find(value, "origin") != nullptr) {
    absl::StatusOr<Instant> instant = Instant::Parse(FindString(value, "origin"));
    if (!instant.ok()) return BadInstant(FindString(value, "origin"), "PeriodGranularity");
    origin = *instant;
  }
  absl::StatusOr<Granularity> granularity =
      Granularity::OfPeriod(*period, FindString(value, "timeZone", "UTC"), origin);
  if (ReasonOf(granularity.status()) == "TIME_ZONE_UNKNOWN") {
    // Druid takes a zone that it does not know for UTC, without a word.
    granularity = Granularity::OfPeriod(*period, "UTC", origin);
  }
  if (!granularity.ok()) return NotSimulated(granularity.status().message());
  return granularity;
}

absl::StatusOr<Granularity> ObjectGranularity(const JsonValue& value) {
  const std::string type = FindString(value, "type");
  if (type == "period") return PeriodGranularity(value);
  if (type == "all" || type == "none") return Granularity::FromName(type);
  if (type == "duration" && FindInt(value, "duration").has_value()) {
    absl::StatusOr<Granularity> granularity = Granularity::OfDuration(*FindInt(value, "duration"));
    if (Find(value, "origin") == nullptr && granularity.ok()) return granularity;
    return NotSimulated("this duration granularity");
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "Cannot construct instance of `", kGranularityClass,
      "` (although at least one Creator exists): cannot deserialize from Object value (no "
      "delegate- or property-based Creator)"));
}

std::string WhyNoInterval(const std::string& text, const absl::Status& status) {
  if (!absl::StrContains(text, "/")) {
    return absl::StrCat("Format requires a '/' separator: ", text);
  }
  if (ReasonOf(status) == "INTERVAL_ENDS_BEFORE_START") {
    return "The end instant must be greater than the start instant";
  }
  return absl::StrCat("Invalid format: \"", text, "\"");
}

}  // namespace

absl::StatusOr<bool> BoolField(const JsonValue& object, const char* name, bool fallback) {
  const JsonValue* value = Find(object, name);
  if (value == nullptr) return fallback;
  if (value->IsBool()) return value->GetBool();
  const std::string text = value->IsString() ? value->GetString() : ToText(*value);
  if (value->IsString() && (text == "true" || text == "false")) return text == "true";
  return WrongType("java.lang.Boolean",
                   absl::StrCat("String \"", text, "\": only \"true\" or \"false\" recognized"));
}

absl::StatusOr<std::optional<int64_t>> IntField(const JsonValue& object, const char* name) {
  const JsonValue* value = Find(object, name);
  if (value == nullptr) return std::optional<int64_t>();
  if (value->IsInt64()) return std::optional<int64_t>(value->GetInt64());
  const std::string text = value->IsString() ? value->GetString() : ToText(*value);
  return WrongType("java.lang.Integer",
                   absl::StrCat("String \"", text, "\": not a valid `java.lang.Integer` value"));
}

absl::StatusOr<Interval> ParseDruidInterval(const std::string& text, const std::string& chain) {
  absl::StatusOr<Interval> interval = Interval::Parse(text);
  if (interval.ok()) return interval;
  return BadInterval(text, WhyNoInterval(text, interval.status()), chain);
}

absl::StatusOr<Granularity> GranularityField(const JsonValue& object, const char* name,
                                             const char* fallback) {
  const JsonValue* value = Find(object, name);
  if (value == nullptr) return Granularity::FromName(fallback);
  if (value->IsString()) return NamedGranularity(value->GetString());
  if (value->IsObject()) return ObjectGranularity(*value);
  return NotSimulated("this granularity");
}

absl::Status CheckId(const std::string& field, const std::string& id,
                     absl::string_view java_class) {
  const auto invalid = [&](absl::string_view why) {
    return CannotConstruct(java_class,
                           absl::StrCat("Invalid value for field [", field, "]: ", why));
  };
  if (id.empty()) return invalid("must not be null");
  if (id.front() == '.') return invalid(absl::StrCat("Value [", id, "] cannot start with '.'."));
  if (absl::StrContains(id, "/")) {
    return invalid(absl::StrCat("Value [", id, "] cannot contain '/'."));
  }
  for (const char c : id) {
    if (absl::ascii_isspace(c) && c != ' ') {
      return invalid(absl::StrCat("Value [", id,
                                  "] contains illegal whitespace characters. Only space is "
                                  "allowed."));
    }
    if (absl::ascii_iscntrl(c)) {
      return invalid(absl::StrCat("Value [", id, "] contains illegal UTF8 character"));
    }
  }
  return absl::OkStatus();
}

}  // namespace interlock::simulator
