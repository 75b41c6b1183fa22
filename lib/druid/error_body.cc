#include "lib/druid/error_body.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "lib/druid/json.h"

namespace interlock::druid {
namespace {

constexpr size_t kMaxTextBytes = 400;
// Beyond this it is a page or a stack trace, and its beginning will do.
constexpr size_t kMaxParsedBytes = 256 << 10;

ErrorBody FromJson(const rapidjson::Document& document) {
  ErrorBody body;
  body.code = TextMember(document, "errorCode");
  for (const char* name : {"errorMessage", "message", "error"}) {
    body.text = TextMember(document, name);
    if (!body.text.empty()) break;
  }
  body.task = TextMember(document, "task");
  body.has_null_status = document.HasMember("status") && document["status"].IsNull();
  return body;
}

// Jetty's error pages say what matters in their title.
absl::string_view Title(absl::string_view page) {
  const size_t begin = page.find("<title>");
  const size_t end = page.find("</title>");
  if (begin == absl::string_view::npos || end == absl::string_view::npos || end < begin)
    return page;
  return page.substr(begin + 7, end - begin - 7);
}

}  // namespace

std::string Shortened(absl::string_view text) {
  std::string line(absl::StripAsciiWhitespace(text.substr(0, kMaxTextBytes)));
  for (char& c : line) {
    const auto byte = static_cast<unsigned char>(c);
    // Bytes of who knows which encoding would make the texts they end up in unreadable.
    if (byte >= 0x80) c = '?';
    if (absl::ascii_iscntrl(byte)) c = ' ';
  }
  if (text.size() > kMaxTextBytes) line += " ...";
  return line;
}

ErrorBody ReadErrorBody(const HttpReply& reply) {
  const absl::string_view text = absl::StripAsciiWhitespace(reply.body);
  if (absl::StartsWith(text, "{") && text.size() <= kMaxParsedBytes) {
    rapidjson::Document document;
    std::string why;
    if (ParseJson(text, &document, &why) && document.IsObject()) {
      ErrorBody body = FromJson(document);
      // What is matched is matched whole; what people read is short.
      if (body.text.size() > kMaxTextBytes) body.text = Shortened(body.text);
      if (body.text.empty()) body.text = Shortened(text);
      return body;
    }
  }
  ErrorBody body;
  body.text = Shortened(absl::StartsWith(text, "<") ? Title(text) : text);
  return body;
}

}  // namespace interlock::druid
