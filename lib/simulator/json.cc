#include "lib/simulator/json.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "rapidjson/error/en.h"

namespace interlock::simulator {

absl::StatusOr<JsonDocument> ParseJson(absl::string_view text) {
  JsonDocument document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag>(text.data(),
                                                                                      text.size());
  if (document.HasParseError()) {
    return absl::InvalidArgumentError(
        absl::StrCat(rapidjson::GetParseError_En(document.GetParseError()), " at byte ",
                     document.GetErrorOffset()));
  }
  return document;
}

const JsonValue* Find(const JsonValue& from, absl::string_view path) {
  const JsonValue* at = &from;
  for (absl::string_view key : absl::StrSplit(path, '/')) {
    if (!at->IsObject()) return nullptr;
    const auto found = at->FindMember(JsonValue(key.data(), key.size()));
    if (found == at->MemberEnd() || found->value.IsNull()) return nullptr;
    at = &found->value;
  }
  return at;
}

std::string FindString(const JsonValue& from, absl::string_view path, absl::string_view fallback) {
  const JsonValue* value = Find(from, path);
  if (value == nullptr || !value->IsString()) return std::string(fallback);
  return std::string(value->GetString(), value->GetStringLength());
}

std::optional<int64_t> FindInt(const JsonValue& from, absl::string_view path) {
  const JsonValue* value = Find(from, path);
  if (value == nullptr || !value->IsInt64()) return std::nullopt;
  return value->GetInt64();
}

bool FindBool(const JsonValue& from, absl::string_view path, bool fallback) {
  const JsonValue* value = Find(from, path);
  return value != nullptr && value->IsBool() ? value->GetBool() : fallback;
}

std::vector<std::string> FindStrings(const JsonValue& from, absl::string_view path) {
  std::vector<std::string> strings;
  const JsonValue* value = Find(from, path);
  if (value == nullptr || !value->IsArray()) return strings;
  for (const JsonValue& entry : value->GetArray()) {
    if (entry.IsString()) strings.emplace_back(entry.GetString(), entry.GetStringLength());
  }
  return strings;
}

std::string ToText(const JsonValue& value) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return std::string(buffer.GetString(), buffer.GetSize());
}

JsonWriter& JsonWriter::Object() {
  writer_.StartObject();
  open_.push_back('{');
  return *this;
}

JsonWriter& JsonWriter::Array() {
  writer_.StartArray();
  open_.push_back('[');
  return *this;
}

JsonWriter& JsonWriter::End() {
  const char kind = open_.back();
  open_.pop_back();
  if (kind == '{') {
    writer_.EndObject();
  } else {
    writer_.EndArray();
  }
  return *this;
}

JsonWriter& JsonWriter::Key(absl::string_view key) {
  writer_.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
  return *this;
}

JsonWriter& JsonWriter::String(absl::string_view value) {
  writer_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  return *this;
}

JsonWriter& JsonWriter::Int(int64_t value) {
  writer_.Int64(value);
  return *this;
}

JsonWriter& JsonWriter::Double(double value) {
  writer_.Double(value);
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  writer_.Bool(value);
  return *this;
}

JsonWriter& JsonWriter::Null() {
  writer_.Null();
  return *this;
}

JsonWriter& JsonWriter::Raw(absl::string_view json) {
  writer_.RawValue(json.data(), json.size(), rapidjson::kObjectType);
  return *this;
}

}  // namespace interlock::simulator
