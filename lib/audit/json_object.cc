#include "lib/audit/json_object.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace interlock::audit {
namespace {

void AppendQuoted(std::string& out, absl::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace

void JsonObject::Key(absl::string_view key) {
  if (body_.size() > 1) body_ += ',';
  AppendQuoted(body_, key);
  body_ += ':';
}

JsonObject& JsonObject::Text(absl::string_view key, absl::string_view value) {
  Key(key);
  AppendQuoted(body_, value);
  return *this;
}

JsonObject& JsonObject::Number(absl::string_view key, int64_t value) {
  Key(key);
  absl::StrAppend(&body_, value);
  return *this;
}

JsonObject& JsonObject::Texts(absl::string_view key, const std::vector<std::string>& values) {
  Key(key);
  body_ += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) body_ += ',';
    AppendQuoted(body_, values[i]);
  }
  body_ += ']';
  return *this;
}

}  // namespace interlock::audit
