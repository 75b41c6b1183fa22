// The probe of S3-compatible stores: signed as the protocol's own example is, and never
// taking for an answer what is none. tests/lib/drop/s3 runs it against a server.
#include "lib/drop/s3_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "lib/time/fake_clock.h"
#include "tests/lib/drop/segments.h"

namespace interlock::drop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "GET Bucket (List Objects)" of
// docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html.
TEST(S3Signature, IsThatOfTheProtocolsOwnExample) {
  S3Get get;
  get.host = "examplebucket.s3.amazonaws.com";
  get.path = "/";
  get.query = {{"prefix", "J"}, {"max-keys", "2"}};
  const auto headers = S3Headers(
      get, "us-east-1", {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
      At("2013-05-24T00:00:00Z"));
  EXPECT_THAT(headers.back(),
              HasSubstr("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(S3Signature, EscapesWhatAQueryHolds) {
  EXPECT_EQ(S3Query({{"prefix", "a/b c:1"}, {"list-type", "2"}}),
            "list-type=2&prefix=a%2Fb%20c%3A1");
}

class Canned : public druid::HttpTransport {
 public:
  druid::HttpReply Send(const druid::HttpRequest& request) override {
    urls.push_back(request.url);
    druid::HttpReply reply;
    reply.exchange = exchange;
    reply.status = status;
    reply.body = body;
    return reply;
  }
  std::vector<std::string> urls;
  druid::HttpReply::Exchange exchange = druid::HttpReply::Exchange::kWhole;
  int status = 200;
  std::string body;
};

class S3ProbeTest : public ::testing::Test {
 protected:
  S3ProbeTest() : file_(std::filesystem::temp_directory_path() / absl::StrCat("s3-", ::getpid())) {
    std::ofstream(file_) << "id:secret\n";
  }
  ~S3ProbeTest() override { std::filesystem::remove(file_); }

  std::optional<bool> Exists(const std::string& load_spec) {
    return S3Probe({"b", "http://127.0.0.1:9", "us-east-1", file_.string()}, canned_, clock_)
        .Exists(load_spec);
  }
  static std::string Listing(const std::string& keys) {
    return absl::StrCat("<?xml version=\"1.0\"?><ListBucketResult>", keys, "</ListBucketResult>");
  }

  const std::filesystem::path file_;
  FakeClock clock_{At("2026-08-20T12:00Z")};
  std::shared_ptr<Canned> canned_ = std::make_shared<Canned>();
};

constexpr char kSpec[] = R"({"type":"s3_zip","bucket":"b","key":"d/x_1/0/index.zip"})";

TEST_F(S3ProbeTest, TellsThereFromNotThere) {
  canned_->body = Listing("<Contents><Key>d/x_1/0/index.zip</Key></Contents>");
  EXPECT_EQ(Exists(kSpec), true);
  EXPECT_THAT(canned_->urls, ElementsAre("http://127.0.0.1:9/b?list-type=2&max-keys=1&prefix="
                                         "d%2Fx_1%2F0%2Findex.zip"));
  canned_->body = Listing("<Contents><Key>d/x_1/0/index.zip.old</Key></Contents>");
  EXPECT_EQ(Exists(kSpec), false);
  canned_->body = Listing("");
  EXPECT_EQ(Exists(kSpec), false);
}

TEST_F(S3ProbeTest, TakesNothingElseForAnAnswer) {
  canned_->body = Listing("");
  EXPECT_EQ(Exists(R"({"type":"s3_zip","bucket":"other","key":"k"})"), std::nullopt);
  EXPECT_EQ(Exists(R"({"type":"local","path":"/x"})"), std::nullopt);
  EXPECT_EQ(Exists("garbage"), std::nullopt);
  canned_->status = 403;
  EXPECT_EQ(Exists(kSpec), std::nullopt) << "not allowed to look";
  canned_->status = 200;
  canned_->body = "<html>a proxy</html>";
  EXPECT_EQ(Exists(kSpec), std::nullopt);
  canned_->body = Listing("");
  canned_->exchange = druid::HttpReply::Exchange::kBroken;
  EXPECT_EQ(Exists(kSpec), std::nullopt);
  std::ofstream(file_) << "no colon";
  canned_->exchange = druid::HttpReply::Exchange::kWhole;
  EXPECT_EQ(Exists(kSpec), std::nullopt) << "no keys to ask with";
}

TEST(ManyProbes, TheFirstThatHasAnAnswerCounts) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / absl::StrCat("probes-", ::getpid());
  std::filesystem::create_directories(folder);
  const ManyProbes probes(
      {std::make_shared<LocalProbe>(std::vector<std::string>{"/nowhere"}),
       std::make_shared<LocalProbe>(std::vector<std::string>{folder.string()})});
  const std::string there = absl::StrCat(R"({"type":"local","path":")", folder.string(), R"("})");
  const std::string gone = absl::StrCat(R"({"type":"local","path":")", folder.string(), R"(/x"})");
  EXPECT_THAT(probes.Look({there, gone, R"({"type":"s3_zip"})"}),
              ElementsAre(true, false, std::nullopt));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace interlock::drop
