// Looks for segment files in an S3-compatible store: one listing of at most one key per
// file, which tells "not there" from "not allowed to look" where a HEAD would not.
//
// Threads: any. Look asks from several threads at once, and gives up after kLookFor: files
// that it did not come to are not known.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lib/drop/probe.h"
#include "lib/drop/s3_signature.h"
#include "lib/druid/transport.h"
#include "lib/time/clock.h"

namespace interlock::drop {

struct S3Options {
  std::string bucket;
  std::string endpoint;  // "https://s3.example:9000"; "" is Amazon's for the region
  std::string region = "us-east-1";
  std::string credentials_file;  // access_key_id:secret_access_key, read at each Look
};

class S3Probe : public StorageProbe {
 public:
  static constexpr absl::Duration kLookFor = absl::Seconds(20);
  static constexpr int kThreads = 8;

  // `clock` must outlive this.
  S3Probe(S3Options options, std::shared_ptr<druid::HttpTransport> transport, const Clock& clock);
  // loadSpecs of types "s3_zip", "s3" and "s3n" in this bucket.
  std::vector<std::optional<bool>> Look(const std::vector<std::string>& load_specs) const override;

 private:
  std::optional<bool> LookForKey(const std::string& key, const S3Keys& keys) const;

  const S3Options options_;
  const std::shared_ptr<druid::HttpTransport> transport_;
  const Clock& clock_;
};

// "id:secret" without what surrounds it; nothing where the file has no such line.
std::optional<S3Keys> ReadS3Keys(const std::string& file);

}  // namespace interlock::drop
