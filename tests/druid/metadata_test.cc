// Lists of segments, load status, and what else the coordinator tells.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/druid/url.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"

namespace interlock::druid {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class MetadataConformance : public DruidAtHand {
 protected:
  void LoadHour13() {
    BatchTask task;
    task.id = TaskId("load");
    task.datasource = datasource();
    task.events = {{13, "a", 1}};
    ASSERT_EQ(Run(task.Json()).state, TaskState::kSuccess);
  }
  std::string LoadStatusUrl(const std::string& ds, const std::string& query) {
    return Coordinator(absl::StrCat("/datasources/", ds, "/loadstatus", query));
  }
  std::string SegmentsUrl(const std::string& ds) {
    return Coordinator(absl::StrCat("/metadata/datasources/", ds, "/segments?full"));
  }
};

constexpr char kNoneThere[] = "No used segment found for the given datasource and interval";

TEST_F(MetadataConformance, ThePostReadsTheDatabaseAndTheGetASnapshot) {
  LoadHour13();
  // At once, where the polled list may still lack it.
  EXPECT_THAT(Used(Hour(13)), SizeIs(1));
  WaitUntil("the polled list has it", [&] {
    const HttpReply reply = Raw("GET", SegmentsUrl(datasource()));
    return reply.status == 200 && reply.body.find(datasource()) != std::string::npos;
  });
}

TEST_F(MetadataConformance, ListsSegmentsThatOverlap) {
  LoadHour13();
  const Interval part = *Interval::Parse("2026-07-16T13:30:00Z/2026-07-16T13:31:00Z");
  EXPECT_THAT(Used(part), SizeIs(1));
  EXPECT_THAT(Used(Hours(0, 24)), SizeIs(1));
  EXPECT_THAT(Used(Hour(12)), IsEmpty());
  EXPECT_THAT(Used(Hour(14)), IsEmpty());
}

TEST_F(MetadataConformance, NothingOfAnUnknownDatasourceIsAnEmptyList) {
  EXPECT_THAT(Used(Hour(13)), IsEmpty());
  EXPECT_EQ(Raw("GET", SegmentsUrl(datasource())).status, 404);
}

TEST_F(MetadataConformance, ADatasourceWhoseSegmentsAreAllUnusedIsListedWhereThatIsAsked) {
  const auto ever = [&] {
    const auto names = cluster().ListDatasourcesEver();
    EXPECT_TRUE(names.done()) << names.text();
    return names.done() ? names.value() : std::vector<std::string>();
  };
  EXPECT_THAT(ever(), Not(Contains(datasource())));
  LoadHour13();
  EXPECT_THAT(ever(), Contains(datasource()));
  if (!can().overlord_marks) WaitForLoad(Hour(13));  // the coordinator marks what it serves
  ASSERT_TRUE(cluster().MarkUnused(datasource(), {Used(Hour(13))[0].id}).done());
  WaitUntil("it is listed no more", [&] {
    const auto names = cluster().ListDatasources().value();
    return std::find(names.begin(), names.end(), datasource()) == names.end();
  });
  EXPECT_THAT(ever(), Contains(datasource()));
}

TEST_F(MetadataConformance, NoIntervalsAndBadOnesAreErrors) {
  EXPECT_EQ(Raw("POST", SegmentsUrl(datasource()), "[]").status, 500);
  EXPECT_EQ(Raw("POST", SegmentsUrl(datasource()), R"(["x"])").status, 400);
  EXPECT_EQ(Raw("POST", SegmentsUrl(datasource()), R"({"intervals":[]})").status, 400);
}

TEST_F(MetadataConformance, LoadStatusWantsToBeToldWhetherToRefresh) {
  const HttpReply reply = Raw("GET", LoadStatusUrl(datasource(), ""));
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(reply.body, HasSubstr("forceMetadataRefresh must be specified"));
}

TEST_F(MetadataConformance, LoadStatusOfAnUnknownDatasourceIsNoContent) {
  const HttpReply reply = Raw("GET", LoadStatusUrl(datasource(), "?forceMetadataRefresh=true"));
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.body, "");
  const auto status = cluster().GetLoadStatus(datasource(), Hour(13), true);
  ASSERT_TRUE(status.done()) << status.text();
  EXPECT_FALSE(status.value().any_used);
}

TEST_F(MetadataConformance, LoadStatusOfAnEmptyIntervalIsATextThatSaysItIsJson) {
  LoadHour13();
  const std::string query =
      absl::StrCat("?forceMetadataRefresh=true&interval=", EscapeUrl(Hour(20).ToString()));
  const HttpReply reply = Raw("GET", LoadStatusUrl(datasource(), query));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, kNoneThere);
  EXPECT_THAT(reply.content_type, HasSubstr("json"));
  EXPECT_FALSE(cluster().GetLoadStatus(datasource(), Hour(20), true).value().any_used);
  // Without an interval it looks at the last two weeks.
  EXPECT_EQ(Raw("GET", LoadStatusUrl(datasource(), "?forceMetadataRefresh=true")).body, kNoneThere);
}

TEST_F(MetadataConformance, Case085LoadStatusCountsWhatIsLeftToLoad) {
  LoadHour13();
  const auto first = cluster().GetLoadStatus(datasource(), Hour(13), true);
  ASSERT_TRUE(first.done()) << first.text();
  EXPECT_TRUE(first.value().any_used);
  EXPECT_LE(first.value().unavailable_segments, 1);
  WaitUntil("it is loaded", [&] {
    const auto status = cluster().GetLoadStatus(datasource(), Hour(13), false);
    return status.done() && status.value().unavailable_segments == 0;
  });
  const std::string query =
      absl::StrCat("?forceMetadataRefresh=true&interval=", EscapeUrl(Hour(13).ToString()));
  EXPECT_EQ(Raw("GET", LoadStatusUrl(datasource(), query)).body,
            absl::StrCat("{\"", datasource(), "\":100.0}"));
  EXPECT_EQ(Raw("GET", LoadStatusUrl(datasource(), query + "&simple")).body,
            absl::StrCat("{\"", datasource(), "\":0}"));
}

TEST_F(MetadataConformance, DatasourcesAreListed) {
  LoadHour13();
  WaitUntil("it is listed", [&] {
    const auto names = cluster().ListDatasources();
    return names.done() && std::find(names.value().begin(), names.value().end(), datasource()) !=
                               names.value().end();
  });
}

TEST_F(MetadataConformance, RulesEndWithTheDefaults) {
  const auto rules = cluster().GetRules(datasource());
  ASSERT_TRUE(rules.done()) << rules.text();
  EXPECT_THAT(rules.value(), HasSubstr("loadForever"));
}

TEST_F(MetadataConformance, EachServiceIsUpAndOneLeads) {
  const std::vector<ServiceHealth> services = cluster().CheckServices();
  EXPECT_THAT(services, SizeIs(3));
  for (const ServiceHealth& health : services) {
    EXPECT_TRUE(health.up) << health.service << ": " << health.text;
    EXPECT_TRUE(health.leader) << health.service;
  }
}

TEST_F(MetadataConformance, WhatExistsIsFoundByAsking) {
  EXPECT_EQ(can().overlord_marks, major() >= 32);
  EXPECT_EQ(can().unused_segments_list, major() >= 29);
  EXPECT_EQ(can().active_locks, major() >= 31);
  EXPECT_EQ(can().locked_intervals_v2, major() >= 28);
  EXPECT_EQ(can().kill_bounded, major() >= 31);
}

TEST_F(MetadataConformance, APathThatNobodyHasIsABare404) {
  for (const std::string& url :
       {Overlord("/datasources/x/markNothing"), Coordinator("/metadata/datasources/x/nothing")}) {
    const HttpReply reply = Raw("GET", url);
    EXPECT_EQ(reply.status, 404) << url;
    EXPECT_EQ(reply.body, "") << url;
    EXPECT_EQ(reply.content_type, "") << url;
  }
}

TEST_F(MetadataConformance, TheLeaderNamesItselfInPlainText) {
  for (const std::string& url : {Overlord("/leader"), Coordinator("/leader")}) {
    const HttpReply reply = Raw("GET", url);
    EXPECT_EQ(reply.status, 200);
    EXPECT_TRUE(ParseUrl(reply.body).has_value()) << reply.body;
  }
}

TEST_F(MetadataConformance, RepliesCarryADate) {
  EXPECT_TRUE(cluster().GetRules(datasource()).druid_time().has_value());
}

}  // namespace
}  // namespace interlock::druid
