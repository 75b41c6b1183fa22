#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/druid/cluster.h"
#include "lib/time/status_reason.h"
#include "tests/lib/druid/cluster_fixture.h"

namespace interlock::druid {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(Cluster, AsksForJsonAlways) {
  Fixture f(Reply(200, "[]"));
  f.cluster.ListDatasources();
  EXPECT_THAT(f.transport->requests[0].headers, Contains("Accept: application/json"));
}

TEST(Cluster, SendsCredentialsAndKeepsThemOutOfTexts) {
  ClusterOptions options = Options();
  options.basic_user = "interlock";
  options.basic_password = "s3cret";
  Fixture f(options, [](const HttpRequest&) { return Reply(500, "no"); });
  const auto answer = f.cluster.ListDatasources();
  EXPECT_THAT(f.transport->requests[0].headers,
              Contains("Authorization: Basic aW50ZXJsb2NrOnMzY3JldA=="));
  EXPECT_THAT(answer.text(), Not(HasSubstr("s3cret")));
  EXPECT_THAT(answer.text(), Not(HasSubstr("aW50")));
}

TEST(Cluster, UnderObserveNothingThatChangesIsEverSent) {
  Fixture f(Options(Access::kObserve), [](const HttpRequest&) { return Reply(200, "{}"); });
  EXPECT_EQ(f.cluster.SubmitTask(kTask).cause(), Cause::kNotAllowed);
  EXPECT_EQ(f.cluster.ShutdownTask("x").cause(), Cause::kNotAllowed);
  EXPECT_EQ(f.cluster.MarkUsed("d", {"id"}).cause(), Cause::kNotAllowed);
  EXPECT_EQ(f.cluster.MarkUnused("d", {"id"}).cause(), Cause::kNotAllowed);
  EXPECT_EQ(f.cluster.ReviveSegment("d", "id").cause(), Cause::kNotAllowed);
  EXPECT_THAT(f.transport->requests, IsEmpty());
}

TEST(Cluster, UnderObserveEverythingIsRead) {
  Fixture f(Options(Access::kObserve), [](const HttpRequest&) { return Reply(200, "[]"); });
  EXPECT_TRUE(f.cluster.ListUsedSegments("d", {kHour}).done());
  EXPECT_TRUE(f.cluster.SumRows("d", {kHour}, {}).done());
}

TEST(Cluster, ChangesAreSentOnceWhateverComes) {
  for (const HttpReply& reply : {Reply(500, ""), Reply(503, ""), Lost(), NotConnected()}) {
    Fixture f(reply);
    EXPECT_TRUE(f.cluster.SubmitTask(kTask).unknown());
    EXPECT_THAT(f.transport->requests, SizeIs(1));
    EXPECT_TRUE(f.transport->requests[0].once);
  }
}

TEST(Cluster, ReadsAreRepeatedWithPausesBetween) {
  Fixture f(Reply(503, ""));
  EXPECT_EQ(f.cluster.ListDatasources().cause(), Cause::kNoLeader);
  EXPECT_THAT(f.transport->requests, SizeIs(3));
  EXPECT_THAT(f.transport->pauses, SizeIs(2));
  EXPECT_LT(f.transport->pauses[0], std::chrono::milliseconds(400));
  EXPECT_FALSE(f.transport->requests[0].once);
}

TEST(Cluster, ARepeatedReadThatComesThroughIsDone) {
  int calls = 0;
  Fixture f([&](const HttpRequest&) { return ++calls < 3 ? Lost() : Reply(200, R"(["a"])"); });
  EXPECT_THAT(f.cluster.ListDatasources().value(), ElementsAre("a"));
}

TEST(Cluster, AllAttemptsTogetherKeepTheDeadline) {
  ClusterOptions options = Options();
  options.call_deadline = std::chrono::milliseconds(1000);
  Fixture f(options, [](const HttpRequest&) {
    HttpReply reply = Lost();
    reply.took = std::chrono::milliseconds(900);
    return reply;
  });
  f.cluster.ListDatasources();
  // 100 ms are left after the first: no pause and attempt fits in.
  EXPECT_THAT(f.transport->requests, SizeIs(1));
}

TEST(Cluster, RefusalsAndNonsenseAreNotRepeated) {
  for (const HttpReply& reply : {Reply(403, ""), Reply(404, "", ""), Reply(200, "{{{")}) {
    Fixture f(reply);
    EXPECT_FALSE(f.cluster.ListDatasources().done());
    EXPECT_THAT(f.transport->requests, SizeIs(1));
  }
}

TEST(Cluster, TheNextAddressIsTriedWhereNothingWasSentAndThenPreferred) {
  ClusterOptions options = Options();
  options.overlord = {"http://dead:1", "http://alive:1/base/"};
  Fixture f(options, [](const HttpRequest& request) {
    return absl::StrContains(request.url, "dead") ? NotConnected()
                                                  : Reply(200, R"({"task":"il-1"})");
  });
  EXPECT_TRUE(f.cluster.SubmitTask(kTask).done());
  EXPECT_TRUE(f.cluster.SubmitTask(kTask).done());
  EXPECT_THAT(f.transport->Asked(), ElementsAre("POST http://dead:1/druid/indexer/v1/task",
                                                "POST http://alive:1/base/druid/indexer/v1/task",
                                                "POST http://alive:1/base/druid/indexer/v1/task"));
}

TEST(Cluster, AChangeThatMayHaveArrivedGoesNowhereElse) {
  ClusterOptions options = Options();
  options.overlord = {"http://one:1", "http://two:1"};
  Fixture f(options, [](const HttpRequest&) { return Lost(); });
  EXPECT_EQ(f.cluster.SubmitTask(kTask).cause(), Cause::kLost);
  EXPECT_THAT(f.transport->requests, SizeIs(1));
}

TEST(Cluster, EverythingGoesThroughARouterWhereOnlyThatIsKnown) {
  ClusterOptions options;
  options.router = {"http://router:8888/druid-a"};
  Fixture f(options, [](const HttpRequest&) { return Reply(200, "[]"); });
  f.cluster.ListDatasources();
  f.cluster.SumRows("d", {kHour}, {});
  EXPECT_THAT(
      f.transport->Asked(),
      ElementsAre("GET http://router:8888/druid-a/druid/coordinator/v1/metadata/datasources",
                  "POST http://router:8888/druid-a/druid/v2"));
}

TEST(Cluster, NamesAreEscapedInPaths) {
  Fixture f(Reply(200, "[]"));
  f.cluster.GetRules("a b/ä?");
  EXPECT_THAT(f.transport->Asked()[0], HasSubstr("/rules/a%20b%2F%C3%A4%3F?full"));
}

TEST(Cluster, ReportsEachExchangeForMetrics) {
  ClusterOptions options = Options();
  std::vector<std::string> reported;
  options.on_exchange = [&](const std::string& endpoint, const std::string& result, double) {
    reported.push_back(endpoint + " " + result);
  };
  int calls = 0;
  Fixture f(options, [&](const HttpRequest&) {
    return ++calls == 1 ? Reply(200, R"({"task":"il-1"})") : Reply(400, "bad");
  });
  f.cluster.SubmitTask(kTask);
  f.cluster.ShutdownTask("x");
  EXPECT_THAT(reported, ElementsAre("task_submit done", "task_shutdown refused"));
}

TEST(Cluster, CarriesDruidsClock) {
  HttpReply reply = Reply(200, "[]");
  reply.date = "Sun, 29 Nov 2026 17:51:07 GMT";
  Fixture f(reply);
  EXPECT_EQ(f.cluster.ListUsedSegments("d", {kHour}).druid_time()->ToString(),
            "2026-11-29T17:51:07.000Z");
}

HttpReply AtLeader(const HttpRequest& request, const std::string& leader) {
  if (absl::StrContains(request.url, leader)) return Reply(200, R"({"task":"il-1"})");
  const size_t path = request.url.find("/druid/");
  return Redirect(leader + request.url.substr(path));
}

TEST(Cluster, ARedirectToAConfiguredAddressIsFollowedWithAllThatWasSent) {
  ClusterOptions options = Options();
  options.basic_user = "u";
  options.overlord = {"http://standby:8090", "http://Leader:8090"};
  Fixture f(options, [](const HttpRequest& r) { return AtLeader(r, "http://leader:8090"); });
  EXPECT_TRUE(f.cluster.SubmitTask(kTask).done());
  ASSERT_THAT(f.transport->requests, SizeIs(2));
  const HttpRequest& first = f.transport->requests[0];
  const HttpRequest& second = f.transport->requests[1];
  EXPECT_EQ(second.url, "http://leader:8090/druid/indexer/v1/task");
  EXPECT_EQ(second.method, first.method);
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(second.headers, first.headers);
  EXPECT_TRUE(second.once);
}

TEST(Cluster, ARedirectIsFollowedToTheLeaderThatTheClusterNames) {
  Fixture f([](const HttpRequest& r) {
    if (absl::EndsWith(r.url, "/leader")) return Reply(200, "http://leader:8090");
    return AtLeader(r, "http://leader:8090");
  });
  EXPECT_TRUE(f.cluster.SubmitTask(kTask).done());
  EXPECT_TRUE(f.cluster.SubmitTask(kTask).done());
  // Asked once, not for every redirect.
  EXPECT_THAT(f.transport->Asked(), ElementsAre("POST http://overlord:8090/druid/indexer/v1/task",
                                                "GET http://overlord:8090/druid/indexer/v1/leader",
                                                "POST http://leader:8090/druid/indexer/v1/task",
                                                "POST http://overlord:8090/druid/indexer/v1/task",
                                                "POST http://leader:8090/druid/indexer/v1/task"));
}

TEST(Cluster, ARedirectElsewhereIsRefusedWithTheLineThatWouldAllowIt) {
  ClusterOptions options = Options();
  options.basic_user = "u";
  Fixture f(options, [](const HttpRequest& r) {
    if (absl::EndsWith(r.url, "/leader")) return Reply(200, "http://leader:8090");
    return AtLeader(r, "http://evil.example:8090");
  });
  const auto answer = f.cluster.SubmitTask(kTask);
  EXPECT_EQ(answer.cause(), Cause::kNotAllowed);
  EXPECT_THAT(answer.text(), HasSubstr(R"(redirect_patterns: "http://evil.example:8090")"));
  for (const std::string& asked : f.transport->Asked()) EXPECT_THAT(asked, Not(HasSubstr("evil")));
}

TEST(Cluster, ARedirectIsFollowedWhereAPatternMatchesAllOfTheAddress) {
  for (const auto& [pattern, followed] :
       std::map<std::string, bool>{{"http://10.0.0.*:8090", true},
                                   {"HTTP://10.0.0.7:8090", true},
                                   {"http://10.0.0.7:809", false},
                                   {"http://10.0.0", false},
                                   {"http://10.0.0.[0-9]:8090", false},
                                   {"*10.0.0.7:8090", false}}) {
    ClusterOptions options = Options();
    options.redirect_patterns = {pattern};
    Fixture f(options, [](const HttpRequest& r) {
      if (absl::EndsWith(r.url, "/leader")) return Reply(503, "");
      return AtLeader(r, "http://10.0.0.7:8090");
    });
    EXPECT_EQ(f.cluster.SubmitTask(kTask).done(), followed) << pattern;
  }
}

TEST(Cluster, TheLeaderTheClusterNamesDoesNotTakeCredentialsOffTls) {
  ClusterOptions options = Options();
  options.overlord = {"https://overlord:8290"};
  Fixture f(options, [](const HttpRequest& r) {
    if (absl::EndsWith(r.url, "/leader")) return Reply(200, "http://leader:8090");
    return AtLeader(r, "http://leader:8090");
  });
  EXPECT_EQ(f.cluster.SubmitTask(kTask).cause(), Cause::kNotAllowed);
}

TEST(Cluster, AnOverlordThatRedirectsToItselfHasNoLeader) {
  Fixture f([](const HttpRequest& r) { return Redirect(r.url); });
  EXPECT_EQ(f.cluster.SubmitTask(kTask).cause(), Cause::kNoLeader);
  EXPECT_THAT(f.transport->requests, SizeIs(1));
}

TEST(Cluster, RedirectsInACircleEnd) {
  ClusterOptions options = Options();
  options.overlord = {"http://one:1", "http://two:1"};
  Fixture f(options, [](const HttpRequest& r) {
    const bool one = absl::StrContains(r.url, "one");
    return Redirect(one ? "http://two:1/druid/indexer/v1/task"
                        : "http://one:1/druid/indexer/v1/task");
  });
  EXPECT_EQ(f.cluster.SubmitTask(kTask).cause(), Cause::kNoLeader);
  EXPECT_THAT(f.transport->requests, SizeIs(4));
}

TEST(Cluster, ARedirectToNowhereIsUnknown) {
  for (const char* location : {"", "ftp://x/y", "http://u:p@overlord:8090/x", "http://"}) {
    Fixture f([=](const HttpRequest&) { return Redirect(location); });
    EXPECT_TRUE(f.cluster.SubmitTask(kTask).unknown()) << location;
    EXPECT_THAT(f.transport->requests, SizeIs(1));
  }
}

TEST(ClusterOptions, AllFaultsAreToldAtOnceWithoutSecrets) {
  ClusterOptions options = Options();
  EXPECT_TRUE(ValidateClusterOptions(options).ok());
  options.coordinator = {"http://u:s3cret@host", "ftp://x", "http://host:8081/base?x"};
  options.broker.clear();
  options.redirect_patterns = {"("};
  options.basic_user = "a:b";
  const absl::Status status = ValidateClusterOptions(options);
  EXPECT_EQ(ReasonOf(status), "DRUID_OPTIONS_INVALID");
  EXPECT_THAT(FaultsOf(status), SizeIs(6));
  for (const Fault& fault : FaultsOf(status)) EXPECT_THAT(fault.found, Not(HasSubstr("s3cret")));
}

}  // namespace
}  // namespace interlock::druid
