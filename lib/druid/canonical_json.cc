#include "lib/druid/canonical_json.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/druid/json.h"

namespace interlock::druid {

bool CanonicalJson::Value(std::string text) {
  if (open_.empty()) {
    text_ = std::move(text);
    return true;
  }
  Open& open = open_.back();
  if (open.object) {
    open.members.emplace_back(std::move(open.key), std::move(text));
  } else {
    absl::StrAppend(&open.elements, open.elements.empty() ? "" : ",", text);
  }
  return true;
}

bool CanonicalJson::String(const char* text, rapidjson::SizeType size, bool) {
  return Value(QuoteJson(absl::string_view(text, size)));
}

bool CanonicalJson::Key(const char* text, rapidjson::SizeType size, bool) {
  open_.back().key = QuoteJson(absl::string_view(text, size));
  return true;
}

bool CanonicalJson::StartObject() {
  open_.emplace_back().object = true;
  return true;
}

bool CanonicalJson::EndObject(rapidjson::SizeType) {
  auto members = std::move(open_.back().members);
  open_.pop_back();
  std::sort(members.begin(), members.end());
  std::string text = "{";
  for (size_t i = 0; i < members.size(); ++i) {
    if (i > 0 && members[i].first == members[i - 1].first) has_duplicates_ = true;
    absl::StrAppend(&text, i == 0 ? "" : ",", members[i].first, ":", members[i].second);
  }
  return Value(absl::StrCat(text, "}"));
}

bool CanonicalJson::StartArray() {
  open_.emplace_back();
  return true;
}

bool CanonicalJson::EndArray(rapidjson::SizeType) {
  const std::string elements = std::move(open_.back().elements);
  open_.pop_back();
  return Value(absl::StrCat("[", elements, "]"));
}

void CanonicalJson::Clear() {
  open_.clear();
  text_.clear();
  has_duplicates_ = false;
}

}  // namespace interlock::druid
