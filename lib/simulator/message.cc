#include "lib/simulator/message.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/simulator/json.h"

namespace interlock::simulator {
namespace {

constexpr char kJson[] = "application/json";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = absl::ascii_tolower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// "%2F" is '/'; in a query '+' is a space. What is no such escape stays as it is.
std::string Decode(absl::string_view text, bool query) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
                        HexDigit(text[i + 2]) >= 0;
    if (escape) {
      decoded += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      decoded += query && text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

}  // namespace

void Request::SetTarget(absl::string_view raw_path, absl::string_view raw_query) {
  target = std::string(raw_path);
  path = Decode(raw_path, false);
  query.clear();
  if (raw_query.empty()) return;
  absl::StrAppend(&target, "?", raw_query);
  for (absl::string_view part : absl::StrSplit(raw_query, '&')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    query.emplace(Decode(pair.first, true), Decode(pair.second, true));
  }
}

Reply Reply::Json(std::string body, int status) {
  Reply reply;
  reply.status = status;
  reply.content_type = kJson;
  reply.body = std::move(body);
  return reply;
}

Reply Reply::Text(std::string body, int status, std::string content_type) {
  Reply reply;
  reply.status = status;
  reply.content_type = std::move(content_type);
  reply.body = std::move(body);
  return reply;
}

Reply Reply::Empty(int status, std::string content_type) {
  return Text("", status, std::move(content_type));
}

Reply Reply::BadRequest(absl::string_view error) {
  JsonWriter out;
  out.Object().Member("error", error).End();
  return Json(out.Take(), 400);
}

Reply Reply::DruidError(int status, absl::string_view code, absl::string_view category,
                        absl::string_view message) {
  JsonWriter out;
  out.Object()
      .Member("error", "druidException")
      .Member("errorCode", code)
      .Member("persona", "USER")
      .Member("category", category)
      .Member("errorMessage", message);
  out.Key("context").Object().End().End();
  return Json(out.Take(), status);
}

Reply Reply::ErrorPage(const Request& request, int status, const std::string& message) {
  if (request.AsksForJson()) {
    JsonWriter out;
    out.Object().Member("servlet", "default");
    if (status == 500) out.Member("cause0", message);
    out.Member("message", message).Member("url", request.path);
    out.Member("status", absl::StrCat(status)).End();
    return Json(out.Take(), status);
  }
  return Text(absl::StrCat("<html>\n<head>\n<meta http-equiv=\"Content-Type\" "
                           "content=\"text/html;charset=ISO-8859-1\"/>\n<title>Error ",
                           status, " ", message, "</title>\n</head>\n<body><h2>HTTP ERROR ", status,
                           " ", message, "</h2>\n</body>\n</html>\n"),
              status, "text/html;charset=iso-8859-1");
}

}  // namespace interlock::simulator
