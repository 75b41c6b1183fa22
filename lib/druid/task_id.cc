#include "lib/druid/task_id.h"

#include <openssl/sha.h>

#include <algorithm>
#include <initializer_list>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/druid/utf8.h"
#include "lib/time/status_reason.h"

namespace interlock::druid {
namespace {

constexpr size_t kHexDigits = 20;
// Of the columns of Druid's metadata store.
constexpr size_t kMaxNameBytes = 255;

absl::Status NameInvalid(absl::string_view what, absl::string_view why) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat(what, " ", why)), "DRUID_NAME_INVALID");
}

// The code point that a well-formed sequence at the front of `text` spells.
uint32_t FrontCodePoint(absl::string_view text, size_t* length) {
  const auto lead = static_cast<unsigned char>(text[0]);
  *length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint32_t point = *length == 1 ? lead : lead & (0x7Fu >> *length);
  for (size_t i = 1; i < *length; ++i) {
    point = (point << 6) | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  return point;
}

// IdUtils leaves single end points of these ranges out, by its use of < for <=.
bool Forbidden(uint32_t point) {
  return point < 32 || (point >= 127 && point < 160) || (point >= 0xD800 && point <= 0xF8FF) ||
         point >= 0xFFF0;
}

// Java's \s knows no other white space in ASCII but these, which Forbidden covers;
// U+00A0 and its kin pass in Druid.
absl::Status ValidateCharacters(absl::string_view what, absl::string_view name) {
  size_t at = 0;
  while (at < name.size()) {
    size_t length = 0;
    const uint32_t point = FrontCodePoint(name.substr(at), &length);
    if (Forbidden(point)) {
      return NameInvalid(what, absl::StrCat("has a character that Druid forbids at byte ", at,
                                            " (U+", absl::Hex(point, absl::kZeroPad4), ")"));
    }
    at += length;
  }
  return absl::OkStatus();
}

// Parts are told apart by their lengths: no two lists of parts give one text.
std::string Digest(std::initializer_list<absl::string_view> parts) {
  std::string text;
  for (const absl::string_view part : parts) absl::StrAppend(&text, part.size(), ":", part);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return absl::BytesToHexString(
             absl::string_view(reinterpret_cast<const char*>(digest), sizeof(digest)))
      .substr(0, kHexDigits);
}

std::string WithDatasource(const std::string& digest, absl::string_view datasource) {
  std::string id = absl::StrCat("il-", digest, "-");
  for (const char c : datasource) {
    if (id.size() == kMaxTaskIdBytes) break;
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte)) {
      id.push_back(absl::ascii_tolower(byte));
    } else if (id.back() != '-') {
      id.push_back('-');
    }
  }
  // A name of a Kubernetes object does not end in a dash.
  while (id.back() == '-') id.pop_back();
  return id;
}

}  // namespace

absl::Status ValidateDruidName(absl::string_view what, absl::string_view name) {
  if (name.empty()) return NameInvalid(what, "is empty");
  if (name.front() == '.') return NameInvalid(what, "starts with a dot");
  if (name.find('/') != absl::string_view::npos) return NameInvalid(what, "has a slash");
  if (name.size() > kMaxNameBytes) {
    return NameInvalid(
        what, absl::StrCat("has ", name.size(), " bytes, and Druid's tables hold ", kMaxNameBytes));
  }
  if (!IsUtf8(name)) return NameInvalid(what, "is no UTF-8");
  return ValidateCharacters(what, name);
}

std::string PinnedTaskId(const AttemptKey& key) {
  const std::string digest =
      Digest({"attempt", key.incarnation, key.datasource, key.unit.ToString(), key.backfill_id,
              absl::StrCat(key.attempt)});
  return WithDatasource(digest, key.datasource);
}

std::string PinnedTaskId(absl::string_view kind, absl::string_view incarnation,
                         absl::string_view datasource, absl::string_view subject) {
  return WithDatasource(Digest({kind, incarnation, datasource, subject}), datasource);
}

}  // namespace interlock::druid
