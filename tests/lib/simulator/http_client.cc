#include "tests/lib/simulator/http_client.h"

#include <curl/curl.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace interlock::simulator {
namespace {

constexpr long kPatienceMillis = 20'000;

size_t OnBody(char* data, size_t size, size_t count, void* exchange) {
  static_cast<Exchange*>(exchange)->body.append(data, size * count);
  return size * count;
}

size_t OnHeader(char* data, size_t size, size_t count, void* target) {
  auto* exchange = static_cast<Exchange*>(target);
  const absl::string_view line(data, size * count);
  const auto value = [&](size_t from) {
    return std::string(absl::StripAsciiWhitespace(line.substr(from)));
  };
  if (absl::StartsWithIgnoreCase(line, "date:")) exchange->date = value(5);
  if (absl::StartsWithIgnoreCase(line, "location:")) exchange->location = value(9);
  return size * count;
}

}  // namespace

Exchange Fetch(const std::string& method, const std::string& url, const std::string& body) {
  Exchange exchange;
  CURL* curl = curl_easy_init();
  curl_slist* headers = curl_slist_append(nullptr, "Accept: application/json");
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, kPatienceMillis);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  if (method != "GET") curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &exchange);
  exchange.error = curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (exchange.error == CURLE_OK) exchange.status = static_cast<int>(status);
  curl_slist_free_all(headers);
  curl_easy_cleanup(curl);
  return exchange;
}

}  // namespace interlock::simulator
