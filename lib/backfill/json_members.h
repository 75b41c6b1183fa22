// Our own JSON in the store's columns: written from values, read back without trust (a
// column may come from an older program).
//
// Threads: one object, one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/backfill/json_document.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

using JsonValue = rapidjson::Value;

// Writes members into one object; what is empty or missing is left out.
class JsonWriter {
 public:
  JsonWriter() : document_(rapidjson::kObjectType) {}

  rapidjson::Document::AllocatorType& allocator() { return document_.GetAllocator(); }
  // `name` must outlive the writer: a literal.
  void Put(const char* name, JsonValue value);
  void Text(const char* name, const std::string& text);
  void Texts(const char* name, const std::vector<std::string>& texts);
  void Number(const char* name, int64_t number) { Put(name, JsonValue(number)); }
  template <class T>
  void Maybe(const char* name, const std::optional<T>& value) {
    if (value) Put(name, JsonValue(*value));
  }
  JsonValue List(const std::vector<std::string>& texts);
  JsonValue Copy(const std::string& text) { return JsonValue(text, allocator()); }
  std::string ToString() const { return WriteJson(document_); }

 private:
  rapidjson::Document document_;
};

// False for what is no JSON object.
bool ReadJsonObject(const std::string& json, rapidjson::Document* document);

const JsonValue* MemberOf(const JsonValue& object, const char* name);
std::string TextIn(const JsonValue& object, const char* name);
std::vector<std::string> TextsIn(const JsonValue& object, const char* name);
std::optional<int64_t> NumberIn(const JsonValue& object, const char* name);
std::optional<double> DoubleIn(const JsonValue& object, const char* name);
Interval IntervalIn(const JsonValue& object, const char* name);

template <class Visit>
void ForEachIn(const JsonValue& object, const char* name, const Visit& visit) {
  const JsonValue* list = MemberOf(object, name);
  if (list == nullptr || !list->IsArray()) return;
  for (const JsonValue& element : list->GetArray()) visit(element);
}

}  // namespace interlock::backfill
