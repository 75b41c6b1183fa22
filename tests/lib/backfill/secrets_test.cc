// Secrets in specs and queries: each kind is a fault, and its value is shown nowhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/backfill/jobs.h"
#include "lib/backfill/json_document.h"
#include "lib/backfill/spec_correction.h"
#include "lib/backfill/spec_secrets.h"
#include "lib/time/status_reason.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/backfill/faulty_specs.h"

namespace interlock::backfill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// What none of the texts that a caller or the log sees may hold.
constexpr char kSecret[] = "hunter2";

struct Kind {
  const char* name;
  Edits edits;
  std::string pointer;  // of the only fault
};

std::string With(const char* json) { return json; }

const std::vector<Kind>& Kinds() {
  static const auto* const kKinds = new std::vector<Kind>{
      {"a key of S3",
       {{kSource, With(R"({"type":"s3","prefixes":["s3://b/{start:%Y}/"],"properties":{
          "accessKeyId":"AKIA1","secretAccessKey":"hunter2"}})")}},
       kSource + "/properties/secretAccessKey"},
      {"Druid's default provider",
       {{kSource, With(R"({"type":"s3","prefixes":["s3://b/{start:%Y}/"],"properties":{
          "accessKeyId":{"type":"default","password":"AKIA1"},
          "secretAccessKey":{"type":"default","password":"hunter2"}}})")}},
       kSource + "/properties/secretAccessKey"},
      {"a password of HTTP",
       {{kSource, With(R"({"type":"http","uris":["https://h/{start:%Y}.json"],
          "httpAuthenticationUsername":"ada","httpAuthenticationPassword":"hunter2"})")}},
       kSource + "/httpAuthenticationPassword"},
      {"a header of HTTP",
       {{kSource, With(R"({"type":"http","uris":["https://h/{start:%Y}.json"],
          "requestHeaders":{"Authorization":"Bearer hunter2"}})")}},
       kSource + "/requestHeaders/Authorization"},
      {"a password in an address",
       {{kSource, With(R"({"type":"http","uris":["https://ada:hunter2@h/{start:%Y}.json"]})")}},
       kSource + "/uris/0"},
      {"a signed address",
       {{kSource, With(R"({"type":"http","uris":
          ["https://h/{start:%Y}?X-Amz-Credential=c&X-Amz-Signature=hunter2"]})")}},
       kSource + "/uris/0"},
      {"a password of a database",
       {{kSource, With(R"({"type":"sql","database":{"type":"mysql","connectorConfig":{
          "connectURI":"jdbc:mysql://h/d","user":"ada","password":"hunter2"}},
          "sqls":["SELECT 1 WHERE t >= '{start}' AND t < '{end}'"]})")},
        {kIo + "/inputFormat", ""}},
       kSource + "/database/connectorConfig/password"},
      {"a password in a database's address",
       {{kSource, With(R"({"type":"sql","database":{"type":"mysql","connectorConfig":{
          "connectURI":"jdbc:mysql://h/d?user=ada&password=hunter2"}},
          "sqls":["SELECT 1 WHERE t >= '{start}' AND t < '{end}'"]})")},
        {kIo + "/inputFormat", ""}},
       kSource + "/database/connectorConfig/connectURI"},
      {"Azure's account key",
       {{kSource, With(R"({"type":"azureStorage","uris":["azureStorage://a/c/{start:%Y}"],
          "properties":{"key":"hunter2"}})")}},
       kSource + "/properties/key"},
      {"a secret one source deeper",
       {{kSource, With(R"({"type":"combining","delegates":[
          {"type":"s3","prefixes":["s3://b/{start:%Y}/"],
           "properties":{"secretAccessKey":"hunter2"}},
          {"type":"s3","prefixes":["s3://c/{start:%Y}/"]}]})")}},
       kSource + "/delegates/0/properties/secretAccessKey"},
      {"a token in the context",
       {{"/context", R"({"authToken":"hunter2"})"}},
       "/context/authToken"},
  };
  return *kKinds;
}

TEST(Secrets, EachKindIsAFaultWhereItStandsAndItsValueIsShownNowhere) {
  for (const Kind& kind : Kinds()) {
    const SpecCheck check = CheckSpec(GoodSpecWith(kind.edits), {});
    EXPECT_FALSE(check.spec) << kind.name;
    EXPECT_THAT(FaultPointers(check), ElementsAre(kind.pointer)) << kind.name << Faults(check);
    EXPECT_THAT(Faults(check), Not(HasSubstr(kSecret))) << kind.name;
    EXPECT_THAT(check.corrected, Not(HasSubstr(kSecret))) << kind.name;
    EXPECT_THAT(std::string(SpecStatus(check).message()), Not(HasSubstr(kSecret)));
    const SpecCorrection correction = CorrectSpec(GoodSpecWith(kind.edits), {});
    EXPECT_THAT(correction.spec, Not(HasSubstr(kSecret))) << kind.name;
    for (const SpecChange& change : correction.changes) {
      EXPECT_THAT(absl::StrCat(change.before, change.after, change.reason), Not(HasSubstr(kSecret)))
          << kind.name;
    }
  }
}

TEST(Secrets, TheEnvironmentsProviderIsTakenAndOffered) {
  const std::string source = R"({"type":"s3","prefixes":["s3://b/{start:%Y}/"],"properties":{
      "accessKeyId":"AKIA1","secretAccessKey":"hunter2"}})";
  const SpecCheck check = CheckSpec(GoodSpecWith({{kSource, source}}), {});
  ASSERT_EQ(check.faults.size(), 1u);
  EXPECT_THAT(check.faults[0].would_do,
              HasSubstr(R"({"type":"environment","variable":"SECRET_ACCESS_KEY"})"));
  const SpecCheck mended = CheckSpec(check.corrected, {});
  ASSERT_TRUE(mended.spec) << Faults(mended);
  EXPECT_THAT(mended.spec->json, HasSubstr("SECRET_ACCESS_KEY"));
}

TEST(Secrets, NamesThatSayWhereASecretIsAreNone) {
  for (const char* harmless :
       {"accessKeyId", "passwordEnvVar", "secretName", "tokenizer", "partitionKey", "keyColumns",
        "maxTokens", "assumeRoleArn", "password_file", "userName", "type"}) {
    EXPECT_FALSE(NamesASecret(harmless)) << harmless;
  }
  for (const char* secret :
       {"password", "PASSWD", "secretAccessKey", "fs.s3a.secret.key", "sharedAccessStorageToken",
        "api-key", "x-auth-token", "apiToken", "s3.session-token"}) {
    EXPECT_TRUE(NamesASecret(secret)) << secret;
  }
}

TEST(Secrets, AddressesWithoutOneAreNone) {
  for (const char* harmless :
       {"https://h/p?year=2026&key=", "s3://bucket/a@b/c", "jdbc:mysql://h/d?useSSL=true",
        "2026-07-16T13:00:00+02:00/P1D", "it's 5; token=late", "https://h:8443/x"}) {
    EXPECT_FALSE(CarriesASecret(harmless)) << harmless;
  }
  for (const char* secret :
       {"ftp://a:b@h/x", "https://h/x?sig=abc&se=1", "jdbc:oracle:thin:scott/tiger@h:1521/x",
        "jdbc:sqlserver://h;user=a;password=b", "https://h/x?a=1&access_token=t"}) {
    EXPECT_TRUE(CarriesASecret(secret)) << secret;
  }
}

// Rows may be called what they want.
TEST(Secrets, ColumnsAndRowsAreNone) {
  const SpecCheck check = CheckSpec(
      GoodSpecWith({{kSchema + "/dimensionsSpec/dimensions", R"(["password","token"])"},
                    {kSource, R"({"type":"inline","data":"{\"password\":\"hunter2\"}"})"}}),
      {});
  for (const SpecFault& fault : check.faults) EXPECT_FALSE(fault.secret) << fault.pointer;
}

std::vector<SpecFault> FaultsOfQuery(const std::string& query, const std::string& context = "") {
  Findings findings;
  FindSecretsInQuery(query, context, &findings);
  return findings.faults();
}

TEST(Secrets, AreFoundInQueries) {
  const std::string extern_json =
      R"(SELECT * FROM TABLE(EXTERN('{"type":"s3","uris":["s3://b/x"],"properties":)"
      R"({"secretAccessKey":"hunter2"}}', '{"type":"json"}')))";
  for (const std::string& query :
       {extern_json, std::string("SELECT * FROM TABLE(S3(secretAccessKey => 'hunter2'))"),
        std::string("SELECT * FROM TABLE(HTTP(uris => ARRAY['https://a:hunter2@h/x']))")}) {
    const auto faults = FaultsOfQuery(query);
    ASSERT_EQ(faults.size(), 1u) << query;
    EXPECT_EQ(faults[0].pointer, "/sql/query");
    EXPECT_THAT(faults[0].found + faults[0].would_do, Not(HasSubstr(kSecret)));
  }
  EXPECT_EQ(FaultsOfQuery("SELECT 1", R"({"password":"hunter2"})").at(0).pointer, "/sql/context");
  EXPECT_THAT(FaultsOfQuery("SELECT 'it''s', password FROM t WHERE __time >= '{start}'",
                            R"({"maxNumTasks":2})"),
              IsEmpty());
  EXPECT_THAT(FaultsOfQuery("SELECT * FROM TABLE(HTTP(passwordEnvVar => 'HTTP_PASSWORD'))"),
              IsEmpty());
}

// What takes a stack frame for each level ends the process.
TEST(Secrets, AreLookedForInQueriesHoweverDeepTheirJson) {
  const size_t levels = 1'000'000;
  const std::string deep = R"({"a":)" + std::string(levels, '[') + std::string(levels, ']') + "}";
  EXPECT_THAT(FaultsOfQuery("SELECT '" + deep + "'", deep), IsEmpty());
}

TEST(Secrets, AreStoredNeitherWithABackfillNorWithAJob) {
  BackfillSite site;
  const std::string spec = GoodSpecWith(Kinds()[0].edits);
  BackfillRequest request;
  request.spec = spec;
  EXPECT_EQ(ReasonOf(site.backfills().Submit(request, site.Caller()).status()), "SPEC_INVALID");
  Jobs jobs(site.store(), site.cluster());
  Jobs::PutRequest put;
  put.job.name = "nightly";
  put.job.work = spec;
  EXPECT_EQ(ReasonOf(jobs.PutJob(put, site.Caller()).status()), "SPEC_INVALID");
  EXPECT_THAT(site.backfills().List({}, 0, "")->backfills, IsEmpty());
}

TEST(Correction, MendsFaultAfterFaultAndTellsWhatItChanged) {
  const SpecCorrection correction = CorrectSpec(SpecFile("append.json"), {});
  EXPECT_TRUE(CheckSpec(correction.spec, {}).spec);
  EXPECT_THAT(correction.left, IsEmpty());
  std::vector<std::string> pointers;
  for (const SpecChange& change : correction.changes) pointers.push_back(change.pointer);
  EXPECT_THAT(pointers,
              ElementsAre("/spec/ioConfig/appendToExisting", "/spec/ioConfig/dropExisting"));
  EXPECT_EQ(correction.changes[0].before, "true");
  EXPECT_EQ(correction.changes[0].after, "false");
}

TEST(Correction, LeavesToAPersonWhatHasNoOneAnswer) {
  const SpecCorrection correction = CorrectSpec(
      GoodSpecWith({{kIo + "/dropExisting", "false"}, {kSchema + "/dataSource", ""}}), {});
  EXPECT_THAT(correction.spec, HasSubstr(R"("dropExisting":true)"));
  ASSERT_EQ(correction.left.size(), 1u);
  EXPECT_EQ(correction.left[0].pointer, kSchema + "/dataSource");
}

TEST(Correction, HasNothingToSayOfWhatIsNoJson) {
  const SpecCorrection correction = CorrectSpec("REPLACE INTO", {});
  EXPECT_EQ(correction.spec, "");
  EXPECT_EQ(correction.left.size(), 1u);
}

TEST(Correction, APlanTellsWhatASubmitChanges) {
  const auto changes = ChangesOf(R"({"id":"mine","spec":{"dataSchema":{"granularitySpec":
      {"intervals":["2026-07-16T13/PT1H"]}}}})",
                                 R"({"spec":{"dataSchema":{"granularitySpec":
      {"intervals":["2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z"]}}}})");
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].pointer, "/id");
  EXPECT_EQ(changes[0].after, "");
  EXPECT_EQ(changes[1].before, R"(["2026-07-16T13/PT1H"])");
}

}  // namespace
}  // namespace interlock::backfill
