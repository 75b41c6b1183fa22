#include "lib/backfill/source_reads.h"

#include <openssl/sha.h>

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/time/interval_set.h"

namespace interlock::backfill {

std::vector<ReadPart> PartsOf(const SourceRead& read) {
  std::vector<ReadPart> parts;
  std::vector<Interval> live = Subtract({read.interval}, read.corrected);
  if (!live.empty()) parts.push_back({read.datasource, std::move(live)});
  if (!read.corrected.empty()) parts.push_back({read.corrections_datasource, read.corrected});
  return parts;
}

std::string DigestOfIds(std::vector<std::string> ids) {
  std::sort(ids.begin(), ids.end());
  std::string all;
  for (const std::string& id : ids) absl::StrAppend(&all, id, "\n");
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(all.data()), all.size(), digest);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), sizeof(digest)));
}

}  // namespace interlock::backfill
