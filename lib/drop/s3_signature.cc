#include "lib/drop/s3_signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

namespace interlock::drop {
namespace {

constexpr char kSignedHeaders[] = "host;x-amz-content-sha256;x-amz-date";

const unsigned char* Bytes(absl::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());  // NOLINT
}

std::string Text(const unsigned char* digest, unsigned int size) {
  return {reinterpret_cast<const char*>(digest), size};  // NOLINT
}

std::string Sha256Hex(absl::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  return absl::BytesToHexString(Text(digest, size));
}

std::string Hmac(absl::string_view key, absl::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), Bytes(text), text.size(), digest,
       &size);
  return Text(digest, size);
}

std::string Escaped(absl::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (absl::ascii_isalnum(byte) || absl::StrContains("-._~", absl::string_view(&c, 1))) {
      escaped += c;
    } else {
      absl::StrAppend(&escaped, "%",
                      absl::AsciiStrToUpper(absl::BytesToHexString(absl::string_view(&c, 1))));
    }
  }
  return escaped;
}

}  // namespace

std::string S3Query(const std::map<std::string, std::string>& query) {
  return absl::StrJoin(query, "&", [](std::string* out, const auto& parameter) {
    absl::StrAppend(out, Escaped(parameter.first), "=", Escaped(parameter.second));
  });
}

std::vector<std::string> S3Headers(const S3Get& get, const std::string& region, const S3Keys& keys,
                                   Instant now) {
  const absl::Time time = absl::FromUnixMillis(now.millis());
  const std::string at = absl::FormatTime("%Y%m%dT%H%M%SZ", time, absl::UTCTimeZone());
  const std::string day = at.substr(0, 8);
  const std::string no_body = Sha256Hex("");
  const std::string request =
      absl::StrCat("GET\n", get.path, "\n", S3Query(get.query), "\nhost:", get.host,
                   "\nx-amz-content-sha256:", no_body, "\nx-amz-date:", at, "\n\n", kSignedHeaders,
                   "\n", no_body);
  const std::string scope = absl::StrCat(day, "/", region, "/s3/aws4_request");
  const std::string to_sign =
      absl::StrCat("AWS4-HMAC-SHA256\n", at, "\n", scope, "\n", Sha256Hex(request));
  std::string key = Hmac(absl::StrCat("AWS4", keys.secret_access_key), day);
  for (const std::string& part : {region, std::string("s3"), std::string("aws4_request")}) {
    key = Hmac(key, part);
  }
  const std::string signature = absl::BytesToHexString(Hmac(key, to_sign));
  return {absl::StrCat("x-amz-date: ", at), absl::StrCat("x-amz-content-sha256: ", no_body),
          absl::StrCat("Authorization: AWS4-HMAC-SHA256 Credential=", keys.access_key_id, "/",
                       scope, ", SignedHeaders=", kSignedHeaders, ", Signature=", signature)};
}

}  // namespace interlock::drop
