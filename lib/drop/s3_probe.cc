#include "lib/drop/s3_probe.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "rapidjson/document.h"

namespace interlock::drop {
namespace {

constexpr std::chrono::milliseconds kOneRequest{5'000};
constexpr int64_t kMaxReplyBytes = 1 << 20;

std::string TextOf(const rapidjson::Document& json, const char* name) {
  const auto member = json.FindMember(name);
  return member != json.MemberEnd() && member->value.IsString() ? member->value.GetString() : "";
}

// The key that a loadSpec names in `bucket`, or nothing.
std::optional<std::string> KeyOf(const std::string& load_spec, const std::string& bucket) {
  rapidjson::Document json;
  json.Parse<rapidjson::kParseIterativeFlag>(load_spec.data(), load_spec.size());
  if (json.HasParseError() || !json.IsObject()) return std::nullopt;
  const std::string type = TextOf(json, "type");
  if (type != "s3_zip" && type != "s3" && type != "s3n") return std::nullopt;
  const std::string key = TextOf(json, "key");
  if (key.empty() || TextOf(json, "bucket") != bucket) return std::nullopt;
  return key;
}

std::string AsXml(const std::string& text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

// Whether a listing with prefix `key` shows it: the key itself, or what lies below it.
std::optional<bool> ShowsKey(const std::string& xml, const std::string& key) {
  if (!absl::StrContains(xml, "<ListBucketResult")) return std::nullopt;
  const std::string shown = absl::StrCat("<Key>", AsXml(key));
  const std::string end = absl::EndsWith(key, "/") ? "" : "</Key>";
  return absl::StrContains(xml, shown + end);
}

}  // namespace

std::optional<S3Keys> ReadS3Keys(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  const std::string text(absl::StripAsciiWhitespace(line));
  const size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return std::nullopt;
  return S3Keys{text.substr(0, colon), text.substr(colon + 1)};
}

S3Probe::S3Probe(S3Options options, std::shared_ptr<druid::HttpTransport> transport,
                 const Clock& clock)
    : options_(std::move(options)), transport_(std::move(transport)), clock_(clock) {}

std::optional<bool> S3Probe::LookForKey(const std::string& key, const S3Keys& keys) const {
  const std::string endpoint = options_.endpoint.empty()
                                   ? absl::StrCat("https://s3.", options_.region, ".amazonaws.com")
                                   : options_.endpoint;
  S3Get get;
  get.host = endpoint.substr(endpoint.find("://") + 3);
  get.path = absl::StrCat("/", options_.bucket);
  get.query = {{"list-type", "2"}, {"max-keys", "1"}, {"prefix", key}};
  druid::HttpRequest request;
  request.url = absl::StrCat(endpoint, get.path, "?", S3Query(get.query));
  request.headers = S3Headers(get, options_.region, keys, clock_.Now());
  request.deadline = kOneRequest;
  request.max_reply_bytes = kMaxReplyBytes;
  const druid::HttpReply reply = transport_->Send(request);
  const bool whole = reply.exchange == druid::HttpReply::Exchange::kWhole;
  return whole && reply.status == 200 ? ShowsKey(reply.body, key) : std::nullopt;
}

std::vector<std::optional<bool>> S3Probe::Look(const std::vector<std::string>& load_specs) const {
  std::vector<std::optional<bool>> there(load_specs.size());
  const std::optional<S3Keys> keys = ReadS3Keys(options_.credentials_file);
  if (!keys) return there;
  const std::chrono::nanoseconds end = clock_.Monotonic() + absl::ToChronoNanoseconds(kLookFor);
  std::atomic<size_t> next{0};
  const auto look = [&] {
    for (size_t i = next++; i < load_specs.size(); i = next++) {
      const std::optional<std::string> key = KeyOf(load_specs[i], options_.bucket);
      if (key && clock_.Monotonic() < end) there[i] = LookForKey(*key, *keys);
    }
  };
  const size_t wanted = std::min<size_t>(kThreads, load_specs.size());
  std::vector<std::thread> threads;
  for (size_t i = 1; i < wanted; ++i) threads.emplace_back(look);
  look();
  for (std::thread& thread : threads) thread.join();
  return there;
}

}  // namespace interlock::drop
