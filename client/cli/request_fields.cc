#include "client/cli/request_fields.h"

#include <cstdint>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "client/cli/arguments.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/message.h"
#include "google/protobuf/timestamp.pb.h"
#include "lib/time/duration.h"

namespace interlock::cli {
namespace {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Instants that travel as milliseconds: `timestamps_ms`.
bool IsMillis(const FieldDescriptor& field) { return absl::EndsWith(field.name(), "_ms"); }

absl::StatusOr<Instant> ReadInstant(const std::string& text, Instant now) {
  if (const auto ago = ParseDuration(text); ago.ok()) return now - *ago;
  auto instant = Instant::Parse(text);
  if (instant.ok()) return instant;
  return UsageError(absl::StrCat(instant.status().message(), " (or a time ago, as 2h)"));
}

absl::StatusOr<int64_t> ReadInteger(const FieldDescriptor& field, const std::string& text,
                                    Instant now) {
  if (IsMillis(field)) {
    auto instant = ReadInstant(text, now);
    if (!instant.ok()) return instant.status();
    return instant->millis();
  }
  int64_t number = 0;
  if (absl::SimpleAtoi(text, &number)) {
    // Counts, sizes, tokens, revisions: none is ever below zero.
    if (number >= 0) return number;
    return UsageError(absl::StrCat("'", text, "' is below zero"));
  }
  return UsageError(absl::StrCat("'", text, "' is no whole number"));
}

absl::StatusOr<const EnumValueDescriptor*> ReadEnum(const FieldDescriptor& field,
                                                    const std::string& text) {
  const auto& type = *field.enum_type();
  const std::string name = absl::StrReplaceAll(absl::AsciiStrToUpper(text), {{"-", "_"}});
  std::vector<std::string> choices;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() == 0) continue;  // unspecified: to leave it out says that
    if (type.value(i)->name() == name) return type.value(i);
    choices.push_back(absl::AsciiStrToLower(type.value(i)->name()));
  }
  return UsageError(absl::StrCat("'", text, "' is none of ", absl::StrJoin(choices, ", ")));
}

absl::Status ReadMapEntry(Message& entry, const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
  if (parts.size() != 2 || parts[0].empty()) {
    return UsageError(absl::StrCat("'", text, "' is not key=value"));
  }
  const Reflection& reflection = *entry.GetReflection();
  reflection.SetString(&entry, entry.GetDescriptor()->field(0), parts[0]);
  reflection.SetString(&entry, entry.GetDescriptor()->field(1), parts[1]);
  return absl::OkStatus();
}

absl::Status ReadMessage(Message& message, const std::string& text, Instant now) {
  if (auto* duration = dynamic_cast<google::protobuf::Duration*>(&message)) {
    const auto read = ParseDuration(text);
    if (!read.ok()) return UsageError(std::string(read.status().message()));
    if (*read < absl::ZeroDuration()) {
      return UsageError(absl::StrCat("'", text,
                                     "' is below zero; a length of time, as 10m, would "
                                     "do"));
    }
    absl::Duration rest;
    duration->set_seconds(absl::IDivDuration(*read, absl::Seconds(1), &rest));
    duration->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(rest)));
    return absl::OkStatus();
  }
  if (auto* timestamp = dynamic_cast<google::protobuf::Timestamp*>(&message)) {
    const auto read = ReadInstant(text, now);
    if (!read.ok()) return read.status();
    const int64_t millis = read->millis();
    const int64_t rest = ((millis % 1000) + 1000) % 1000;
    timestamp->set_seconds((millis - rest) / 1000);
    timestamp->set_nanos(static_cast<int32_t>(rest) * 1'000'000);
    return absl::OkStatus();
  }
  return ReadMapEntry(message, text);
}

bool HasKey(const Message& message, const FieldDescriptor& field, const std::string& key) {
  const Reflection& of = *message.GetReflection();
  for (int i = 0; i < of.FieldSize(message, &field); ++i) {
    const Message& entry = of.GetRepeatedMessage(message, &field, i);
    if (entry.GetReflection()->GetString(entry, entry.GetDescriptor()->field(0)) == key) {
      return true;
    }
  }
  return false;
}

// One of the two, by whether the field repeats.
template <class Value, class Set, class Add>
absl::Status Put(const absl::StatusOr<Value>& value, bool repeated, Set set, Add add) {
  if (!value.ok()) return value.status();
  repeated ? add(*value) : set(*value);
  return absl::OkStatus();
}

absl::Status SetScalar(Message& message, const FieldDescriptor& field, const std::string& text,
                       Instant now) {
  const Reflection& of = *message.GetReflection();
  const bool repeated = field.is_repeated();
  Message* const m = &message;
  const FieldDescriptor* const f = &field;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      repeated ? of.AddString(m, f, text) : of.SetString(m, f, text);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_BOOL:
      of.SetBool(m, f, true);
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_INT32: {
      auto number = ReadInteger(field, text, now);
      if (number.ok() && *number != static_cast<int32_t>(*number)) {
        return UsageError(absl::StrCat(text, " is too large"));
      }
      return Put(
          number, repeated, [&](int64_t n) { of.SetInt32(m, f, static_cast<int32_t>(n)); },
          [&](int64_t n) { of.AddInt32(m, f, static_cast<int32_t>(n)); });
    }
    case FieldDescriptor::CPPTYPE_INT64:
      return Put(
          ReadInteger(field, text, now), repeated, [&](int64_t n) { of.SetInt64(m, f, n); },
          [&](int64_t n) { of.AddInt64(m, f, n); });
    case FieldDescriptor::CPPTYPE_ENUM:
      return Put(
          ReadEnum(field, text), repeated,
          [&](const EnumValueDescriptor* v) { of.SetEnum(m, f, v); },
          [&](const EnumValueDescriptor* v) { of.AddEnum(m, f, v); });
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (field.is_map() && HasKey(message, field, text.substr(0, text.find('=')))) {
        return UsageError(
            absl::StrCat("'", text.substr(0, text.find('=')), "' is given twice: once is enough"));
      }
      return ReadMessage(repeated ? *of.AddMessage(m, f) : *of.MutableMessage(m, f), text, now);
    default:
      return absl::InternalError(absl::StrCat(field.full_name(), " has no form in words"));
  }
}

}  // namespace

absl::Status SetField(Message& message, const std::string& path, const std::string& text,
                      Instant now) {
  const size_t dot = path.find('.');
  const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(path.substr(0, dot));
  if (field == nullptr) {
    return absl::InternalError(
        absl::StrCat(message.GetDescriptor()->full_name(), " has no field ", path));
  }
  if (dot == std::string::npos) return SetScalar(message, *field, text, now);
  return SetField(*message.GetReflection()->MutableMessage(&message, field), path.substr(dot + 1),
                  text, now);
}

}  // namespace interlock::cli
