#include "lib/backfill/json_members.h"

namespace interlock::backfill {

void JsonWriter::Put(const char* name, JsonValue value) {
  document_.AddMember(rapidjson::StringRef(name), value, allocator());
}

void JsonWriter::Text(const char* name, const std::string& text) {
  if (!text.empty()) Put(name, Copy(text));
}

void JsonWriter::Texts(const char* name, const std::vector<std::string>& texts) {
  if (!texts.empty()) Put(name, List(texts));
}

JsonValue JsonWriter::List(const std::vector<std::string>& texts) {
  JsonValue list(rapidjson::kArrayType);
  for (const std::string& text : texts) list.PushBack(Copy(text), allocator());
  return list;
}

bool ReadJsonObject(const std::string& json, rapidjson::Document* document) {
  document->Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag>(json);
  return !document->HasParseError() && document->IsObject();
}

const JsonValue* MemberOf(const JsonValue& object, const char* name) {
  if (!object.IsObject()) return nullptr;
  const auto it = object.FindMember(name);
  return it == object.MemberEnd() ? nullptr : &it->value;
}

std::string TextIn(const JsonValue& object, const char* name) {
  const JsonValue* value = MemberOf(object, name);
  return value != nullptr && value->IsString() ? value->GetString() : "";
}

std::vector<std::string> TextsIn(const JsonValue& object, const char* name) {
  std::vector<std::string> texts;
  ForEachIn(object, name, [&](const JsonValue& value) {
    if (value.IsString()) texts.emplace_back(value.GetString());
  });
  return texts;
}

std::optional<int64_t> NumberIn(const JsonValue& object, const char* name) {
  const JsonValue* value = MemberOf(object, name);
  if (value == nullptr || !value->IsInt64()) return std::nullopt;
  return value->GetInt64();
}

std::optional<double> DoubleIn(const JsonValue& object, const char* name) {
  const JsonValue* value = MemberOf(object, name);
  if (value == nullptr || !value->IsNumber()) return std::nullopt;
  return value->GetDouble();
}

Interval IntervalIn(const JsonValue& object, const char* name) {
  const auto interval = Interval::Parse(TextIn(object, name));
  return interval.ok() ? *interval : Interval();
}

}  // namespace interlock::backfill
