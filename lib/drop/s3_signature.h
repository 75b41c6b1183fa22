// Signs requests to S3 and to what speaks its protocol (AWS Signature Version 4,
// docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
//
// Threads: functions without state.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/time/instant.h"

namespace interlock::drop {

struct S3Keys {
  std::string access_key_id;
  std::string secret_access_key;
};

// A GET without a body. `path` is already escaped; `query` is not.
struct S3Get {
  std::string host;  // with its port, as it stands in the Host header
  std::string path;
  std::map<std::string, std::string> query;
};

// As the signature counts them: sorted, every byte escaped but letters, digits and -._~.
std::string S3Query(const std::map<std::string, std::string>& query);

// The headers to send: x-amz-date, x-amz-content-sha256, Authorization.
std::vector<std::string> S3Headers(const S3Get& get, const std::string& region, const S3Keys& keys,
                                   Instant now);

}  // namespace interlock::drop
