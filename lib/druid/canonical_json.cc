#include "lib/druid/canonical_json.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/druid/json.h"

namespace interlock::druid {
namespace {

bool StandsForItself(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
}

void Quote(absl::string_view text, std::string* quoted) {
  quoted->clear();
  if (std::all_of(text.begin(), text.end(), StandsForItself)) {
    absl::StrAppend(quoted, "\"", text, "\"");
  } else {
    *quoted = QuoteJson(text);
  }
}

}  // namespace

bool CanonicalJson::Start(bool object) {
  if (depth_ == open_.size()) open_.emplace_back();
  Open& open = open_[depth_++];
  open.object = object;
  open.count = 0;
  open.elements.clear();
  return true;
}

bool CanonicalJson::Value(absl::string_view text) {
  if (depth_ == 0) {
    text_.assign(text.data(), text.size());
    return true;
  }
  Open& open = open_[depth_ - 1];
  if (open.object) {
    open.members[open.count++].second.assign(text.data(), text.size());
  } else {
    absl::StrAppend(&open.elements, open.elements.empty() ? "" : ",", text);
  }
  return true;
}

bool CanonicalJson::String(const char* text, rapidjson::SizeType size, bool) {
  Quote(absl::string_view(text, size), &quoted_);
  return Value(quoted_);
}

bool CanonicalJson::Key(const char* text, rapidjson::SizeType size, bool) {
  Open& open = open_[depth_ - 1];
  if (open.count == open.members.size()) open.members.emplace_back();
  Quote(absl::string_view(text, size), &open.members[open.count].first);
  return true;
}

bool CanonicalJson::EndObject(rapidjson::SizeType) {
  Open& open = open_[depth_ - 1];
  const auto end = open.members.begin() + static_cast<ptrdiff_t>(open.count);
  std::sort(open.members.begin(), end);
  std::string text = "{";
  for (size_t i = 0; i < open.count; ++i) {
    const auto& [key, value] = open.members[i];
    if (i > 0 && key == open.members[i - 1].first) has_duplicates_ = true;
    absl::StrAppend(&text, i == 0 ? "" : ",", key, ":", value);
  }
  text.push_back('}');
  return Close(text);
}

bool CanonicalJson::EndArray(rapidjson::SizeType) {
  return Close(absl::StrCat("[", open_[depth_ - 1].elements, "]"));
}

bool CanonicalJson::Close(const std::string& text) {
  --depth_;
  return Value(text);
}

void CanonicalJson::Clear() {
  depth_ = 0;
  text_.clear();
  has_duplicates_ = false;
}

}  // namespace interlock::druid
