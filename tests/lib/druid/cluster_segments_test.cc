#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/druid/cluster.h"
#include "tests/lib/druid/cluster_fixture.h"

namespace interlock::druid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Cluster, UsedSegmentsAreReadFromTheDatabaseNotFromThePolledList) {
  Fixture f(
      Reply(200, absl::StrCat("[", SegmentJson("d", "V1"), ",", SegmentJson("d", "V2"), "]")));
  const auto segments = f.cluster.ListUsedSegments("d", {kHour});
  ASSERT_TRUE(segments.done()) << segments.text();
  EXPECT_THAT(segments.value(), SizeIs(2));
  EXPECT_EQ(f.transport->requests[0].method, "POST");
  EXPECT_THAT(f.transport->requests[0].url, testing::EndsWith("/datasources/d/segments?full"));
  EXPECT_EQ(f.transport->requests[0].body,
            R"(["2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z"])");
}

TEST(Cluster, ARepeatedListStartsFromNothing) {
  int calls = 0;
  Fixture f([&](const HttpRequest&) {
    const std::string list = absl::StrCat("[", SegmentJson("d", "V1"), "]");
    if (++calls > 1) return Reply(200, list);
    HttpReply reply = Lost();
    return reply;
  });
  EXPECT_THAT(f.cluster.ListUsedSegments("d", {kHour}).value(), SizeIs(1));
}

TEST(Cluster, NonsenseInAListOfSegmentsIsUnknownWithTheReason) {
  for (const char* body : {"[{}]", "[", "{}", "<html>", "", "[]]"}) {
    Fixture f(Reply(200, body));
    const auto answer = f.cluster.ListUsedSegments("d", {kHour});
    EXPECT_EQ(answer.cause(), Cause::kGarbled) << body;
    EXPECT_THAT(f.transport->requests, SizeIs(1));
  }
  Fixture f(Reply(200, R"([{"dataSource":"d","version":"v"}])"));
  EXPECT_THAT(f.cluster.ListUsedSegments("d", {kHour}).text(), HasSubstr("without interval"));
}

TEST(Cluster, SegmentsOfAnotherDatasourceAreNonsense) {
  Fixture f(Reply(200, absl::StrCat("[", SegmentJson("other", "V1"), "]")));
  const auto answer = f.cluster.ListUsedSegments("d", {kHour});
  EXPECT_EQ(answer.cause(), Cause::kGarbled);
  EXPECT_THAT(answer.text(), HasSubstr("another datasource"));
}

TEST(Cluster, NoIntervalsAreNoQuestion) {
  Fixture f(Reply(500, ""));
  EXPECT_TRUE(f.cluster.ListUsedSegments("d", {}).done());
  EXPECT_THAT(f.transport->requests, IsEmpty());
}

TEST(Cluster, UnusedSegmentsAreReadPageByPage) {
  Fixture f([](const HttpRequest& r) {
    const bool first = !absl::StrContains(r.url, "lastSegmentId");
    std::vector<std::string> rows;
    for (int i = 0; i < (first ? 1000 : 3); ++i) {
      const std::string id = absl::StrCat(first ? "a" : "b", 1000 + i);
      rows.push_back(absl::StrCat(R"({"dataSegment":)", SegmentJson("d", "V1", id),
                                  R"(,"usedStatusLastUpdatedDate":"2026-11-29T15:54:30.229Z"})"));
    }
    return Reply(200, absl::StrCat("[", absl::StrJoin(rows, ","), "]"));
  });
  f.transport->piece_bytes = 4096;
  const auto unused = f.cluster.ListUnusedSegments("d", kHour);
  ASSERT_TRUE(unused.done()) << unused.text();
  EXPECT_THAT(unused.value(), SizeIs(1003));
  EXPECT_THAT(f.transport->Asked()[1], HasSubstr("lastSegmentId=a1999"));
}

TEST(Cluster, PagesThatDoNotGoOnEnd) {
  std::vector<std::string> rows(
      1000, absl::StrCat(R"({"dataSegment":)", SegmentJson("d", "V1", "same"), "}"));
  Fixture f(Reply(200, absl::StrCat("[", absl::StrJoin(rows, ","), "]")));
  f.transport->piece_bytes = 4096;
  EXPECT_EQ(f.cluster.ListUnusedSegments("d", kHour).cause(), Cause::kGarbled);
  EXPECT_THAT(f.transport->requests, SizeIs(2));
}

TEST(Cluster, UnusedSegmentsCantBeListedBefore29) {
  EXPECT_EQ(Fixture(Reply(404, "", "")).cluster.ListUnusedSegments("d", kHour).cause(),
            Cause::kUnsupported);
}

TEST(Cluster, Case085LoadStatusIsAskedWithAndWithoutRefresh) {
  Fixture f(Reply(200, R"({"d":3})"));
  EXPECT_EQ(f.cluster.GetLoadStatus("d", kHour, true).value().unavailable_segments, 3);
  f.cluster.GetLoadStatus("d", kHour, false);
  EXPECT_THAT(f.transport->Asked()[0], HasSubstr("forceMetadataRefresh=true&interval=2026"));
  EXPECT_THAT(f.transport->Asked()[0], HasSubstr("&simple"));
  EXPECT_THAT(f.transport->Asked()[1], HasSubstr("forceMetadataRefresh=false"));
}

TEST(Cluster, Case085NoUsedSegmentsAreToldInTwoWays) {
  for (const HttpReply& reply :
       {Reply(204, ""),
        Reply(200, "No used segment found for the given datasource and interval")}) {
    const auto status = Fixture(reply).cluster.GetLoadStatus("d", kHour, true);
    ASSERT_TRUE(status.done()) << status.text();
    EXPECT_FALSE(status.value().any_used);
  }
  for (const char* body : {"", "No", "{}", R"({"other":0})", R"({"d":100.5})"}) {
    EXPECT_EQ(Fixture(Reply(200, body)).cluster.GetLoadStatus("d", kHour, true).cause(),
              Cause::kGarbled)
        << body;
  }
}

TEST(Cluster, Case056MarksGoByIdsAloneAndNeverWithoutAny) {
  Fixture f(Reply(200, R"({"numChangedSegments":2,"segmentStateChanged":true})"));
  EXPECT_EQ(f.cluster.MarkUnused("d", {"a", "b"}).value().changed, 2);
  EXPECT_EQ(f.transport->requests[0].body, R"({"segmentIds":["a","b"]})");
  EXPECT_EQ(f.cluster.MarkUnused("d", {}).cause(), Cause::kInvalid);
  EXPECT_EQ(f.cluster.MarkUsed("d", {}).cause(), Cause::kInvalid);
  EXPECT_THAT(f.transport->requests, SizeIs(1));
}

TEST(Cluster, MarksGoToTheCoordinatorWhereTheOverlordHasNone) {
  Fixture f([](const HttpRequest& r) {
    if (absl::StrContains(r.url, "indexer")) return Reply(404, "", "");
    return Reply(200, absl::EndsWith(r.url, "/markUnused") ? R"({"numChangedSegments":4})"
                                                           : R"({"segmentStateChanged":true})");
  });
  EXPECT_EQ(f.cluster.MarkUnused("d", {"a"}).value().changed, 4);
  EXPECT_EQ(f.cluster.ReviveSegment("d", "d_2026_x:1").value().changed, 1);
  EXPECT_THAT(
      f.transport->Asked(),
      ElementsAre("POST http://overlord:8090/druid/indexer/v1/datasources/d/markUnused",
                  "POST http://coordinator:8081/druid/coordinator/v1/datasources/d/markUnused",
                  "POST http://coordinator:8081/druid/coordinator/v1/datasources/d/segments/"
                  "d_2026_x%3A1"));
}

TEST(Cluster, AMarkThatOldVersionsSkipIsRefused) {
  Fixture f([](const HttpRequest& r) {
    return absl::StrContains(r.url, "indexer") ? Reply(404, "", "") : Reply(204, "");
  });
  EXPECT_EQ(f.cluster.MarkUnused("d", {"a"}).cause(), Cause::kInvalid);
}

TEST(Cluster, AMarkAnsweredWith500MayHaveBeenMade) {
  Fixture f(Reply(500, R"({"error":"Unknown server error","message":"no body"})"));
  EXPECT_EQ(f.cluster.MarkUsed("d", {"a"}).cause(), Cause::kServerError);
  EXPECT_THAT(f.transport->requests, SizeIs(1));
}

TEST(Cluster, AMarkThatSaysNothingIsNonsense) {
  EXPECT_EQ(Fixture(Reply(200, "{}")).cluster.MarkUsed("d", {"a"}).cause(), Cause::kGarbled);
  EXPECT_EQ(Fixture(Reply(200, "")).cluster.MarkUsed("d", {"a"}).cause(), Cause::kGarbled);
}

}  // namespace
}  // namespace interlock::druid
