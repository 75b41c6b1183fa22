#include "lib/time/status_reason.h"

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace interlock {
namespace {

constexpr char kMetadataUrl[] = "interlock/metadata";
constexpr char kFaultsUrl[] = "interlock/faults";
constexpr char kBlockersUrl[] = "interlock/blockers";
constexpr char kRetryUrl[] = "interlock/retry_after_ms";

// A list of texts as "LENGTH:TEXT" after each other: texts may hold anything.
void AppendText(std::string& encoded, absl::string_view text) {
  absl::StrAppend(&encoded, text.size(), ":", text);
}

std::vector<std::string> TextsOf(const absl::Status& status, const char* url) {
  std::vector<std::string> texts;
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  if (!payload.has_value()) return texts;
  const std::string encoded(*payload);
  absl::string_view rest = encoded;
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    uint64_t length = 0;
    if (colon == absl::string_view::npos || !absl::SimpleAtoi(rest.substr(0, colon), &length) ||
        length > rest.size() - colon - 1) {
      return {};  // not written by this file
    }
    texts.emplace_back(rest.substr(colon + 1, length));
    rest.remove_prefix(colon + 1 + length);
  }
  return texts;
}

void AppendTexts(absl::Status& status, const char* url,
                 std::initializer_list<absl::string_view> texts) {
  const absl::optional<absl::Cord> payload = status.GetPayload(url);
  std::string encoded = payload.has_value() ? std::string(*payload) : std::string();
  for (const absl::string_view text : texts) AppendText(encoded, text);
  status.SetPayload(url, absl::Cord(encoded));
}

// Groups of three texts, as faults and blockers are.
template <class T>
std::vector<T> TriplesOf(const absl::Status& status, const char* url) {
  std::vector<std::string> texts = TextsOf(status, url);
  std::vector<T> triples;
  for (size_t i = 0; i + 2 < texts.size(); i += 3) {
    triples.push_back(T{std::move(texts[i]), std::move(texts[i + 1]), std::move(texts[i + 2])});
  }
  return triples;
}

}  // namespace

absl::Status WithReason(absl::Status status, absl::string_view reason, const Metadata& metadata) {
  std::string encoded;
  for (const auto& [key, value] : metadata) {
    AppendText(encoded, key);
    AppendText(encoded, value);
  }
  status.SetPayload(kMetadataUrl, absl::Cord(encoded));
  return WithReason(std::move(status), reason);
}

Metadata MetadataOf(const absl::Status& status) {
  const std::vector<std::string> texts = TextsOf(status, kMetadataUrl);
  Metadata metadata;
  for (size_t i = 0; i + 1 < texts.size(); i += 2) metadata[texts[i]] = texts[i + 1];
  return metadata;
}

void AddFault(absl::Status& status, absl::string_view pointer, absl::string_view found,
              absl::string_view would_do) {
  AppendTexts(status, kFaultsUrl, {pointer, found, would_do});
}

std::vector<Fault> FaultsOf(const absl::Status& status) {
  return TriplesOf<Fault>(status, kFaultsUrl);
}

void AddBlocker(absl::Status& status, absl::string_view type, absl::string_view subject,
                absl::string_view description) {
  AppendTexts(status, kBlockersUrl, {type, subject, description});
}

std::vector<Blocker> BlockersOf(const absl::Status& status) {
  return TriplesOf<Blocker>(status, kBlockersUrl);
}

absl::Status WithRetryAfter(absl::Status status, std::chrono::milliseconds delay) {
  status.SetPayload(kRetryUrl, absl::Cord(absl::StrCat(delay.count())));
  return status;
}

std::optional<std::chrono::milliseconds> RetryAfterOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kRetryUrl);
  int64_t millis = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &millis)) {
    return std::nullopt;
  }
  return std::chrono::milliseconds(millis);
}

}  // namespace interlock
