// The probe against a server that speaks S3 and checks signatures (run starts it): what it
// says of files, before and after they go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/drop/s3_probe.h"
#include "lib/druid/curl_transport.h"
#include "lib/time/clock.h"

namespace interlock::drop {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::string FromEnvironment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) ADD_FAILURE() << "set " << name << ": tests/lib/drop/s3/run does";
  return value == nullptr ? "" : value;
}

// As Druid names them: colons, and the version in the path.
std::string KeyOf(int partition) {
  return absl::StrCat(
      "druid/segments/clicks/2026-07-16T13:00:00.000Z_2026-07-16T14:00:00.000Z/"
      "2026-08-20T12:00:00.000Z/",
      partition, "/index.zip");
}

std::string LoadSpecOf(const std::string& key, const std::string& bucket = "deep-storage") {
  return absl::StrCat(R"({"type":"s3_zip","bucket":")", bucket, R"(","key":")", key,
                      R"(","S3Schema":"s3n"})");
}

class S3ServerTest : public ::testing::Test {
 protected:
  S3ServerTest() { std::filesystem::create_directories(bucket_); }

  void Put(const std::string& key) {
    std::filesystem::create_directories((bucket_ / key).parent_path());
    std::ofstream(bucket_ / key) << "a segment";
  }
  void Delete(const std::string& key) { EXPECT_TRUE(std::filesystem::remove(bucket_ / key)); }
  S3Probe ProbeWith(const std::string& keys) const {
    return {{"deep-storage", FromEnvironment("S3_ENDPOINT"), "us-east-1", keys},
            std::make_shared<druid::CurlTransport>(druid::CurlTransportOptions()),
            clock_};
  }
  S3Probe Probe() const { return ProbeWith(FromEnvironment("S3_KEYS")); }

  const SystemClock clock_;
  const std::filesystem::path bucket_ =
      std::filesystem::path(FromEnvironment("S3_FOLDER")) / "deep-storage";
};

TEST_F(S3ServerTest, SeesAFileThatIsThereAndThatItIsGone) {
  Put(KeyOf(0));
  Put(KeyOf(1));
  EXPECT_EQ(Probe().Exists(LoadSpecOf(KeyOf(0))), true);
  Delete(KeyOf(0));
  EXPECT_EQ(Probe().Exists(LoadSpecOf(KeyOf(0))), false);
  EXPECT_EQ(Probe().Exists(LoadSpecOf(KeyOf(1))), true) << "and no other";
}

TEST_F(S3ServerTest, AFileWhoseNameOnlyBeginsLikeItIsAnother) {
  Put(KeyOf(2) + ".old");
  EXPECT_EQ(Probe().Exists(LoadSpecOf(KeyOf(2))), false);
}

TEST_F(S3ServerTest, LooksForManyAtOnce) {
  std::vector<std::string> load_specs;
  for (int i = 100; i < 200; ++i) {
    Put(KeyOf(i));
    load_specs.push_back(LoadSpecOf(KeyOf(i)));
  }
  EXPECT_THAT(Probe().Look(load_specs), Each(std::optional<bool>(true)));
  for (int i = 100; i < 200; ++i) Delete(KeyOf(i));
  EXPECT_THAT(Probe().Look(load_specs), Each(std::optional<bool>(false)));
}

TEST_F(S3ServerTest, WithWrongKeysNothingIsKnown) {
  Put(KeyOf(3));
  const std::filesystem::path wrong = bucket_.parent_path().parent_path() / "wrong-keys";
  std::ofstream(wrong) << "interlock:another-secret\n";
  EXPECT_EQ(ProbeWith(wrong).Exists(LoadSpecOf(KeyOf(3))), std::nullopt)
      << "a refusal says nothing of the file";
}

TEST_F(S3ServerTest, OfAnotherBucketNothingIsKnown) {
  Put(KeyOf(4));
  EXPECT_THAT(Probe().Look({LoadSpecOf(KeyOf(4)), LoadSpecOf(KeyOf(4), "elsewhere")}),
              ElementsAre(true, std::nullopt));
}

}  // namespace
}  // namespace interlock::drop
