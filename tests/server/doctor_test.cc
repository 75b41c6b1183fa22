#include "server/doctor.h"

#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lib/time/fake_clock.h"
#include "tests/lib/druid/cluster_fixture.h"

namespace interlock::server {
namespace {

using druid::HttpReply;
using druid::HttpRequest;
using druid::Reply;

constexpr char kLoads[] = R"([{"type":"loadForever","tieredReplicants":{"_default_tier":1}}])";

std::string Supervisor(const std::string& id, const std::string& io) {
  return absl::StrCat(
      R"({"id":")", id, R"(","state":"RUNNING","detailedState":"RUNNING",)",
      R"("healthy":true,"spec":{"type":"kafka","spec":{"dataSchema":{"dataSource":")", id,
      R"("},"ioConfig":{"topic":"t")", io, R"(},"tuningConfig":{}}}})");
}

// A Druid that has one datasource, and says of it what a test wants.
struct Asked {
  std::string rules = kLoads;
  std::string supervisors = "[]";
  std::string compaction = "[]";
  int properties_status = 200;
  bool down = false;
  bool proxied = true;  // by a Router
  std::vector<std::string> routers = {};

  std::map<std::string, v1::Check> Diagnose() const {
    druid::ClusterOptions options = druid::Options();
    if (!routers.empty()) {
      options.coordinator = options.overlord = options.broker = {};
      options.router = routers;
    }
    druid::Fixture fixture(options, [this](const HttpRequest& request) { return Answer(request); });
    const FakeClock clock(*Instant::Parse("2026-07-16T20:00:00.000Z"));
    v1::DiagnoseResponse response;
    Doctor(fixture.cluster, clock, druid::Access::kObserve, routers).Diagnose({}, response);
    std::map<std::string, v1::Check> checks;
    for (const auto& check : response.checks()) {
      checks[absl::StrCat(check.name(), " ", check.subject())] = check;
    }
    return checks;
  }

  HttpReply Answer(const HttpRequest& request) const {
    if (down) return druid::NotConnected();
    const std::string& url = request.url;
    const auto asks = [&](const char* part) { return absl::StrContains(url, part); };
    if (!proxied) return asks("/status/health") ? Reply(200, "true") : Reply(404, "", "");
    if (asks("/metadata/datasources")) return Reply(200, asks("/segments") ? "[]" : R"(["views"])");
    if (asks("/rules/")) return Reply(200, rules);
    if (asks("/supervisor")) return Reply(200, supervisors);
    if (asks("/config/compaction")) {
      return Reply(200, absl::StrCat(R"({"compactionConfigs":)", compaction, "}"));
    }
    if (asks("/status/properties")) return Reply(properties_status, "{}");
    return Reply(404, "");
  }
};

TEST(Doctor, TellsWhatTheRulesMakeOfWhatIsNew) {
  Asked asked;
  EXPECT_EQ(asked.Diagnose()["retention rules views"].result(), v1::Check::OK);
  asked.rules = R"([{"type":"dropForever"}])";
  v1::Check check = asked.Diagnose()["retention rules views"];
  EXPECT_EQ(check.result(), v1::Check::WARNING);
  EXPECT_TRUE(absl::StrContains(check.found(), "dropForever")) << check.found();
  asked.rules = "[]";
  check = asked.Diagnose()["retention rules views"];
  EXPECT_EQ(check.result(), v1::Check::WARNING);
  EXPECT_TRUE(absl::StrContains(check.found(), "no rule")) << check.found();
  asked.rules = R"([{"type":"loadForever","tieredReplicants":{}}])";
  check = asked.Diagnose()["retention rules views"];
  EXPECT_EQ(check.result(), v1::Check::WARNING);
  EXPECT_TRUE(absl::StrContains(check.remedy(), "--level visible")) << check.remedy();
}

TEST(Doctor, TellsOfARouterThatPassesNothingOn) {
  Asked asked;
  EXPECT_EQ(asked.Diagnose()["router proxy "].result(), v1::Check::NOT_CHECKED);
  asked.routers = {"http://router:8888"};
  EXPECT_EQ(asked.Diagnose()["router proxy http://router:8888"].result(), v1::Check::OK);
  asked.proxied = false;
  v1::Check check = asked.Diagnose()["router proxy http://router:8888"];
  EXPECT_EQ(check.result(), v1::Check::FAULT);
  EXPECT_TRUE(absl::StrContains(check.remedy(), "managementProxy")) << check.remedy();
  asked.down = true;
  EXPECT_EQ(asked.Diagnose()["router proxy http://router:8888"].result(), v1::Check::WARNING);
}

TEST(Doctor, NamesStreamsThatMayWriteAnyTime) {
  Asked asked;
  EXPECT_EQ(asked.Diagnose()["streams "].result(), v1::Check::OK);
  asked.supervisors =
      absl::StrCat("[", Supervisor("views", ""), ",",
                   Supervisor("clicks", R"(,"lateMessageRejectionPeriod":"PT1H")"), "]");
  auto checks = asked.Diagnose();
  EXPECT_EQ(checks["stream clicks"].result(), v1::Check::OK);
  EXPECT_EQ(checks["stream views"].result(), v1::Check::WARNING);
  EXPECT_TRUE(absl::StrContains(checks["stream views"].remedy(),
                                "interlockctl streams register views --tail"));
  EXPECT_EQ(checks.count("streams "), 0u);
}

TEST(Doctor, TellsWhatIsCompacted) {
  Asked asked;
  EXPECT_EQ(asked.Diagnose()["compaction views"].found(), "off");
  asked.compaction = R"([{"dataSource":"views","skipOffsetFromLatest":"P1D"}])";
  EXPECT_EQ(asked.Diagnose()["compaction views"].found(), "on, but for the newest P1D");
}

TEST(Doctor, AsksForPermissionsOnlyWhereTheyAreMissing) {
  Asked asked;
  asked.properties_status = 403;
  EXPECT_TRUE(absl::StrContains(asked.Diagnose()["kill duty "].remedy(), "CONFIG READ"));
  asked.down = true;
  for (const auto& [name, check] : asked.Diagnose()) {
    EXPECT_FALSE(absl::StrContains(check.remedy(), "READ")) << name << ": " << check.remedy();
  }
}

}  // namespace
}  // namespace interlock::server
