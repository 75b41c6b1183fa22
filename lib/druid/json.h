// Druid's smaller replies as a tree. What comes from the network is never asked for a
// type that it does not have: RapidJSON answers that with an assertion.
//
// Bounded: the text by the reply's cap, the depth here (writing recurses). For lists of
// segments see segment_reader.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "rapidjson/document.h"

namespace interlock::druid {

inline constexpr int kMaxJsonDepth = 200;

// False, with the reason, for what is no single JSON value in valid UTF-8.
bool ParseJson(absl::string_view text, rapidjson::Document* document, std::string* why);

// The member, or nullptr: `value` is no object, has none of that name, or it is null.
const rapidjson::Value* Member(const rapidjson::Value& value, const char* name);
// "" for what is no text.
std::string TextMember(const rapidjson::Value& value, const char* name);
std::optional<int64_t> IntMember(const rapidjson::Value& value, const char* name);
std::optional<bool> BoolMember(const rapidjson::Value& value, const char* name);

// Compact text of a value that ParseJson made.
std::string WriteJson(const rapidjson::Value& value);
// `text` as a JSON string, quotes included.
std::string QuoteJson(absl::string_view text);

}  // namespace interlock::druid
