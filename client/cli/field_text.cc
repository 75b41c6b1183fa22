#include "client/cli/field_text.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/message.h"
#include "google/protobuf/timestamp.pb.h"
#include "interlock/v1/blocker.pb.h"
#include "interlock/v1/drop.pb.h"
#include "interlock/v1/rows.pb.h"
#include "interlock/v1/segment.pb.h"
#include "interlock/v1/verdict.pb.h"
#include "lib/time/duration.h"
#include "lib/time/interval.h"

namespace interlock::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// `2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z`
constexpr size_t kCanonicalIntervalLength = 49;
// Of such a text: so many characters name a year, month, day, hour, minute.
constexpr size_t kUnitLengths[] = {4, 7, 10, 13, 16};

std::string TimestampText(const google::protobuf::Timestamp& timestamp) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(timestamp.seconds()),
                          absl::UTCTimeZone());
}

std::string SumText(const v1::MetricSum& sum) {
  if (sum.value_case() == v1::MetricSum::kLongValue) return absl::StrCat(sum.long_value());
  if (sum.value_case() == v1::MetricSum::kDoubleValue) return absl::StrCat(sum.double_value());
  return "";
}

// `30 of 60`: what was counted, and what was expected where that is another number.
std::string RowText(const v1::RowCheck& check) {
  std::string text = SumText(check.counted());
  if (check.result() != v1::RowCheck::EQUAL && check.has_expected()) {
    absl::StrAppend(&text, text.empty() ? "?" : "", " of ", SumText(check.expected()));
  }
  return check.measure().empty() || check.measure() == "rows"
             ? text
             : absl::StrCat(text, " ", check.measure());
}

std::string BlockerText(const v1::Blocker& blocker) {
  std::string text = absl::StrCat(blocker.reason());
  if (!blocker.holder().empty()) absl::StrAppend(&text, " by ", blocker.holder());
  if (!blocker.purpose().empty()) absl::StrAppend(&text, " (", blocker.purpose(), ")");
  if (blocker.has_until_time()) {
    absl::StrAppend(&text, " until ", TimestampText(blocker.until_time()));
  }
  return blocker.blocking() ? text : absl::StrCat(text, " [reported only]");
}

std::string VersionText(const v1::SegmentVersion& version) {
  std::string text = version.version();
  if (version.standing() != v1::SegmentVersion::VISIBLE) {
    absl::StrAppend(&text, " ", v1::SegmentVersion::Standing_Name(version.standing()));
  }
  return text;
}

std::string MessageText(const Message& message);

std::string FieldsText(const Message& message) {
  std::vector<const FieldDescriptor*> set;
  message.GetReflection()->ListFields(message, &set);
  std::vector<std::string> parts;
  for (const FieldDescriptor* field : set) parts.push_back(FieldText(message, *field));
  return absl::StrJoin(parts, " ");
}

// Numbers that say nothing without their names.
std::string NamedFieldsText(const Message& message) {
  std::vector<const FieldDescriptor*> set;
  message.GetReflection()->ListFields(message, &set);
  std::vector<std::string> parts;
  for (const FieldDescriptor* field : set) {
    parts.push_back(absl::StrCat(field->name(), " ", FieldText(message, *field)));
  }
  return absl::StrJoin(parts, ", ");
}

std::string MessageText(const Message& message) {
  if (const auto* t = dynamic_cast<const google::protobuf::Timestamp*>(&message)) {
    return TimestampText(*t);
  }
  if (const auto* d = dynamic_cast<const google::protobuf::Duration*>(&message)) {
    return interlock::FormatDuration(absl::Seconds(d->seconds()) + absl::Nanoseconds(d->nanos()));
  }
  if (const auto* sum = dynamic_cast<const v1::MetricSum*>(&message)) return SumText(*sum);
  if (const auto* rows = dynamic_cast<const v1::RowCheck*>(&message)) return RowText(*rows);
  if (const auto* b = dynamic_cast<const v1::Blocker*>(&message)) return BlockerText(*b);
  if (const auto* v = dynamic_cast<const v1::SegmentVersion*>(&message)) return VersionText(*v);
  if (const auto* v = dynamic_cast<const v1::Verdict*>(&message)) {
    return v1::Verdict::Kind_Name(v->kind());
  }
  if (dynamic_cast<const v1::RowExpectation*>(&message) != nullptr ||
      dynamic_cast<const v1::TaskRows*>(&message) != nullptr ||
      dynamic_cast<const v1::ManifestSummary*>(&message) != nullptr) {
    return NamedFieldsText(message);
  }
  return FieldsText(message);
}

// Element `at` of a repeated field; of a single one where `at` is negative.
std::string Element(const Message& message, const FieldDescriptor& field, int at) {
  const Reflection& of = *message.GetReflection();
  const FieldDescriptor* const f = &field;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return ShortInterval(at < 0 ? of.GetString(message, f)
                                  : of.GetRepeatedString(message, f, at));
    case FieldDescriptor::CPPTYPE_BOOL:
      return of.GetBool(message, f) ? "yes" : "no";
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(at < 0 ? of.GetInt32(message, f) : of.GetRepeatedInt32(message, f, at));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(at < 0 ? of.GetInt64(message, f) : of.GetRepeatedInt64(message, f, at));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return absl::StrCat(at < 0 ? of.GetDouble(message, f) : of.GetRepeatedDouble(message, f, at));
    case FieldDescriptor::CPPTYPE_ENUM:
      return at < 0 ? of.GetEnum(message, f)->name() : of.GetRepeatedEnum(message, f, at)->name();
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageText(at < 0 ? of.GetMessage(message, f)
                                : of.GetRepeatedMessage(message, f, at));
    default:
      return "";
  }
}

// Numbers whose zero says that there is none.
bool ZeroIsNone(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM || field.name() == "queue_position" ||
         field.name() == "fencing_token" || field.name() == "priority";
}

bool IsSet(const Message& message, const FieldDescriptor& field) {
  if (field.has_presence()) return message.GetReflection()->HasField(message, &field);
  // Else a zero counts: `0` segments is an answer.
  return !ZeroIsNone(field) || message.GetReflection()->HasField(message, &field);
}

}  // namespace

std::string ShortInterval(const std::string& text) {
  if (text.size() != kCanonicalIntervalLength || text[24] != '/') return text;
  const auto interval = Interval::Parse(text);
  if (!interval.ok()) return text;
  for (const size_t length : kUnitLengths) {
    const auto unit = Interval::ParseShorthand(text.substr(0, length));
    if (unit.ok() && *unit == *interval) return text.substr(0, length);
  }
  return absl::StrReplaceAll(text, {{":00.000Z", "Z"}, {".000Z", "Z"}});
}

std::string FieldText(const Message& message, const FieldDescriptor& field) {
  if (!field.is_repeated()) {
    return IsSet(message, field) ? Element(message, field, -1) : std::string();
  }
  std::vector<std::string> elements;
  const int size = message.GetReflection()->FieldSize(message, &field);
  for (int at = 0; at < size; ++at) elements.push_back(Element(message, field, at));
  return absl::StrJoin(elements, ", ");
}

std::string FieldText(const Message& message, const std::string& path) {
  const size_t dot = path.find('.');
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(path.substr(0, dot));
  if (field == nullptr) return "?";
  if (dot == std::string::npos) return FieldText(message, *field);
  if (!field->is_repeated()) {
    return FieldText(message.GetReflection()->GetMessage(message, field), path.substr(dot + 1));
  }
  std::vector<std::string> elements;
  const int size = message.GetReflection()->FieldSize(message, field);
  for (int at = 0; at < size; ++at) {
    std::string element = FieldText(message.GetReflection()->GetRepeatedMessage(message, field, at),
                                    path.substr(dot + 1));
    if (!element.empty()) elements.push_back(std::move(element));
  }
  return absl::StrJoin(elements, ", ");
}

}  // namespace interlock::cli
