#include "lib/druid/url.h"

#include <curl/curl.h>

#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace interlock::druid {
namespace {

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using UrlHandle = std::unique_ptr<CURLU, FreeUrl>;

UrlHandle Parsed(const std::string& text) {
  UrlHandle url(curl_url());
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return nullptr;
  return url;
}

// "" where the part is not there.
std::string Part(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return "";
  std::string copy(text);
  curl_free(text);
  return copy;
}

}  // namespace

std::optional<Url> ParseUrl(const std::string& text) {
  // A control character would end up in a request line; libcurl refuses most of them,
  // and a NUL ends the text for it.
  for (const char c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c)) || c == ' ') return std::nullopt;
  }
  const UrlHandle handle = Parsed(text);
  if (handle == nullptr) return std::nullopt;
  const std::string scheme = absl::AsciiStrToLower(Part(handle.get(), CURLUPART_SCHEME));
  if (scheme != "http" && scheme != "https") return std::nullopt;
  if (!Part(handle.get(), CURLUPART_USER).empty()) return std::nullopt;
  if (!Part(handle.get(), CURLUPART_PASSWORD).empty()) return std::nullopt;
  const std::string host = absl::AsciiStrToLower(Part(handle.get(), CURLUPART_HOST));
  if (host.empty()) return std::nullopt;
  Url url;
  url.https = scheme == "https";
  url.origin = absl::StrCat(scheme, "://", host, ":",
                            Part(handle.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT));
  url.path = Part(handle.get(), CURLUPART_PATH);
  const std::string query = Part(handle.get(), CURLUPART_QUERY);
  if (!query.empty()) absl::StrAppend(&url.path, "?", query);
  return url;
}

std::optional<std::string> ResolveUrl(const std::string& from, const std::string& location) {
  const UrlHandle handle = Parsed(from);
  if (handle == nullptr || location.empty()) return std::nullopt;
  // Setting a relative URL on a handle that has one resolves it.
  if (curl_url_set(handle.get(), CURLUPART_URL, location.c_str(), 0) != CURLUE_OK) {
    return std::nullopt;
  }
  return Part(handle.get(), CURLUPART_URL);
}

std::string EscapeUrl(absl::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || c == '-' || c == '.' || c == '_' || c == '~') {
      escaped.push_back(c);
    } else {
      escaped.push_back('%');
      escaped.push_back(kHex[byte >> 4]);
      escaped.push_back(kHex[byte & 15]);
    }
  }
  return escaped;
}

}  // namespace interlock::druid
