#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/druid/cluster.h"
#include "lib/druid/observation.h"
#include "tests/lib/druid/cluster_fixture.h"

namespace interlock::druid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(Cluster, SumsRowsWithoutCaches) {
  Fixture f(Reply(
      200, R"([{"timestamp":"2026-07-16T13:00:00.000Z","result":{"rows":2,"m0":7.0,"m1":null}}])"));
  const auto sums = f.cluster.SumRows("d", {kHour}, {"n", "we\"ird"});
  ASSERT_TRUE(sums.done()) << sums.text();
  EXPECT_EQ(sums.value()[0].rows, 2);
  EXPECT_EQ(sums.value()[0].sums.at("n"), 7.0);
  EXPECT_EQ(sums.value()[0].sums.at("we\"ird"), 0.0);
  const std::string& body = f.transport->requests[0].body;
  EXPECT_THAT(body, HasSubstr(R"("useCache":false,"populateCache":false)"));
  EXPECT_THAT(body, HasSubstr(R"("fieldName":"we\"ird")"));
  EXPECT_THAT(body,
              HasSubstr(R"("intervals":["2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z"])"));
}

TEST(Cluster, Case022ADatasourceWithoutRowsHasNone) {
  const auto sums = Fixture(Reply(200, "[]")).cluster.SumRows("d", {kHour}, {"n"});
  ASSERT_TRUE(sums.done());
  EXPECT_EQ(sums.value()[0].rows, 0);
  EXPECT_EQ(sums.value()[0].sums.at("n"), 0.0);
}

TEST(Cluster, ASumThatIsNoNumberIsNonsense) {
  for (const char* body : {R"([{"result":{"rows":1,"m0":"NaN"}}])", R"([{"result":7}])", "[{},{}]",
                           R"({"error":"x"})", R"([{}])"}) {
    EXPECT_EQ(Fixture(Reply(200, body)).cluster.SumRows("d", {kHour}, {"n"}).cause(),
              Cause::kGarbled)
        << body;
  }
}

TEST(Cluster, WhatAClusterOffersIsAskedOnceAndChangesNothing) {
  Fixture f(Options(Access::kObserve), [](const HttpRequest& r) {
    if (absl::EndsWith(r.url, "/status")) return Reply(200, R"({"version":"33.0.0"})");
    if (absl::EndsWith(r.url, "/unusedSegments")) return Reply(200, "[]");
    return Reply(absl::EndsWith(r.url, "/markUnused") ? 405 : 400, "", "");
  });
  const auto found = f.cluster.GetCapabilities();
  ASSERT_TRUE(found.done()) << found.text();
  EXPECT_EQ(found.value().version, "33.0.0");
  EXPECT_TRUE(found.value().overlord_marks);
  EXPECT_TRUE(found.value().unused_segments_list);
  EXPECT_TRUE(found.value().active_locks);
  EXPECT_TRUE(found.value().locked_intervals_v2);
  EXPECT_TRUE(found.value().kill_bounded);
  const size_t asked = f.transport->requests.size();
  f.cluster.GetCapabilities();
  EXPECT_EQ(f.transport->requests.size(), asked);
  for (const HttpRequest& request : f.transport->requests) {
    EXPECT_FALSE(absl::StrContains(request.url, "markUnused") && request.method != "GET");
  }
}

TEST(Cluster, An404DecidesThatAPathIsNotThere) {
  Fixture f([](const HttpRequest& r) {
    if (absl::EndsWith(r.url, "/status")) return Reply(200, R"({"version":"25.0.0"})");
    return Reply(404, "", "");
  });
  const auto found = f.cluster.GetCapabilities();
  ASSERT_TRUE(found.done()) << found.text();
  EXPECT_FALSE(found.value().overlord_marks || found.value().unused_segments_list ||
               found.value().active_locks || found.value().locked_intervals_v2 ||
               found.value().kill_bounded);
}

// Druid 30 added the last of a kill's bounds and no path to know it by.
TEST(Cluster, ADruid30IsKnownByItsWordAndNoOtherVersionIs) {
  std::string version;
  const auto bounded = [&](const std::string& said) {
    version = said;
    Fixture f([&](const HttpRequest& r) {
      if (absl::EndsWith(r.url, "/status")) {
        return Reply(200, absl::StrCat(R"({"version":")", version, R"("})"));
      }
      if (absl::EndsWith(r.url, "/unusedSegments")) return Reply(200, "[]");
      return Reply(404, "", "");
    });
    return f.cluster.GetCapabilities().value().kill_bounded;
  };
  EXPECT_TRUE(bounded("30.0.0"));
  EXPECT_TRUE(bounded("30.0.1-SNAPSHOT"));
  EXPECT_FALSE(bounded("29.0.1"));
  EXPECT_FALSE(bounded("2024.01.0-vendor")) << "numbered otherwise";
  EXPECT_FALSE(bounded(""));
}

TEST(Cluster, WhatCantBeToldIsNotRemembered) {
  int status = 403;
  Fixture f([&](const HttpRequest&) { return Reply(status, "[]"); });
  EXPECT_EQ(f.cluster.GetCapabilities().cause(), Cause::kUnauthorized);
  status = 200;
  EXPECT_TRUE(f.cluster.GetCapabilities().done());
}

TEST(Cluster, WhatWasAwayIsAskedAgainSinceItMayBeAnOlderVersion) {
  bool away = false;
  bool old = false;
  Fixture f([&](const HttpRequest&) {
    if (away) return NotConnected();
    return old ? Reply(404, "", "") : Reply(200, "[]");
  });
  EXPECT_TRUE(f.cluster.GetCapabilities().value().kill_bounded);
  away = true;
  EXPECT_FALSE(f.cluster.ListDatasources().done());
  away = false;
  old = true;
  EXPECT_FALSE(f.cluster.GetCapabilities().value().kill_bounded);
}

TEST(Cluster, ChecksEachAddressOfEachService) {
  ClusterOptions options = Options();
  options.coordinator = {"http://leader:8081", "http://standby:8081"};
  Fixture f(options, [](const HttpRequest& r) {
    if (absl::StrContains(r.url, "broker")) return NotConnected();
    if (absl::EndsWith(r.url, "/health")) return Reply(200, "true");
    const bool standby = absl::StrContains(r.url, "standby");
    return Reply(standby ? 404 : 200, standby ? R"({"leader":false})" : R"({"leader":true})");
  });
  std::vector<std::string> said;
  for (const ServiceHealth& health : f.cluster.CheckServices()) {
    said.push_back(absl::StrCat(health.service, " ", health.address, health.up ? " up" : " down",
                                health.leader ? " leader" : ""));
  }
  EXPECT_THAT(
      said,
      ElementsAre("coordinator http://leader:8081 up leader", "coordinator http://standby:8081 up",
                  "overlord http://overlord:8090 up leader", "broker http://broker:8082 down"));
}

ObserveRequest AskAbout(const std::string& datasource) {
  ObserveRequest request;
  request.datasource = datasource;
  request.interval = kHour;
  request.surroundings = *Interval::Parse("2026-07-16T12:00:00Z/2026-07-16T15:00:00Z");
  request.partitions = {kHour};
  return request;
}

HttpReply ObservedReply(const HttpRequest& r, const std::string& segments) {
  if (absl::StrContains(r.url, "loadstatus")) return Reply(200, R"({"d":0})");
  if (absl::EndsWith(r.url, "/druid/v2")) return Reply(200, R"([{"result":{"rows":5}}])");
  return Reply(200, segments);
}

TEST(Observe, GathersSegmentsLoadAndRows) {
  Fixture f([](const HttpRequest& r) {
    return ObservedReply(r, absl::StrCat("[", SegmentJson("d", "V1"), "]"));
  });
  const auto snapshot = Observe(f.cluster, AskAbout("d"), Instant::FromMillis(7));
  ASSERT_TRUE(snapshot.done()) << snapshot.text();
  EXPECT_THAT(snapshot.value().used, SizeIs(1));
  EXPECT_TRUE(snapshot.value().load.any_used);
  EXPECT_EQ(snapshot.value().rows.at(0).rows, 5);
  EXPECT_EQ(snapshot.value().taken.millis(), 7);
  EXPECT_FALSE(snapshot.value().changed_meanwhile);
}

TEST(Observe, ReadsAgainWhatChangedMeanwhileAndSaysWhereItStillDoes) {
  int lists = 0;
  bool restless = true;
  Fixture f([&](const HttpRequest& r) {
    if (!absl::EndsWith(r.url, "segments?full")) return ObservedReply(r, "");
    ++lists;
    const int version = restless ? lists : std::max(lists, 2);
    return Reply(200,
                 absl::StrCat("[", SegmentJson("d", absl::StrCat("V", std::min(version, 9))), "]"));
  });
  EXPECT_TRUE(Observe(f.cluster, AskAbout("d"), Instant()).value().changed_meanwhile);
  EXPECT_EQ(lists, 4);
  restless = false;
  lists = 10;
  EXPECT_FALSE(Observe(f.cluster, AskAbout("d"), Instant()).value().changed_meanwhile);
}

TEST(Observe, SaysWhatCouldNotBeRead) {
  Fixture f([](const HttpRequest& r) {
    return absl::StrContains(r.url, "loadstatus") ? Reply(503, "") : ObservedReply(r, "[]");
  });
  EXPECT_EQ(Observe(f.cluster, AskAbout("d"), Instant()).cause(), Cause::kNoLeader);
}

}  // namespace
}  // namespace interlock::druid
