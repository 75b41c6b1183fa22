// JSON in and out, over RapidJSON. Members keep their order, as Jackson's do. Reading
// never asserts: what is absent or of another type is nullptr or the fallback.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "rapidjson/document.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"

namespace interlock::simulator {

using JsonValue = rapidjson::Value;
using JsonDocument = rapidjson::Document;

// INVALID_ARGUMENT with the byte where it broke.
absl::StatusOr<JsonDocument> ParseJson(absl::string_view text);

// The member at `path` ("spec/ioConfig/type"), or nullptr; JSON null counts as absent.
const JsonValue* Find(const JsonValue& from, absl::string_view path);
std::string FindString(const JsonValue& from, absl::string_view path,
                       absl::string_view fallback = "");
std::optional<int64_t> FindInt(const JsonValue& from, absl::string_view path);
bool FindBool(const JsonValue& from, absl::string_view path, bool fallback);
// The strings of an array; empty if absent or anything else.
std::vector<std::string> FindStrings(const JsonValue& from, absl::string_view path);

// Compact text, members in order.
std::string ToText(const JsonValue& value);

// Writes compact JSON: out.Object().Member("task", id).End(). Unbalanced calls are the
// caller's mistake.
class JsonWriter {
 public:
  JsonWriter() : writer_(buffer_) {}

  JsonWriter& Object();
  JsonWriter& Array();
  JsonWriter& End();  // of the innermost object or array
  JsonWriter& Key(absl::string_view key);
  JsonWriter& String(absl::string_view value);
  JsonWriter& Int(int64_t value);
  JsonWriter& Double(double value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  // `json` must be JSON already.
  JsonWriter& Raw(absl::string_view json);

  JsonWriter& Member(absl::string_view key, absl::string_view value) {
    return Key(key).String(value);
  }
  JsonWriter& Member(absl::string_view key, const std::string& value) {
    return Key(key).String(value);
  }
  JsonWriter& Member(absl::string_view key, const char* value) { return Key(key).String(value); }
  JsonWriter& Member(absl::string_view key, int64_t value) { return Key(key).Int(value); }
  JsonWriter& Member(absl::string_view key, int value) { return Key(key).Int(value); }
  JsonWriter& Member(absl::string_view key, bool value) { return Key(key).Bool(value); }
  JsonWriter& NullMember(absl::string_view key) { return Key(key).Null(); }
  JsonWriter& RawMember(absl::string_view key, absl::string_view json) {
    return Key(key).Raw(json);
  }

  std::string Take() { return std::string(buffer_.GetString(), buffer_.GetSize()); }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> writer_;
  std::vector<char> open_;  // '{' or '['
};

}  // namespace interlock::simulator
