// Kill tasks: what they take, what bounds them, what they report.
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"

namespace interlock::druid {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class KillConformance : public DruidAtHand {
 protected:
  std::string Load(int hour) {
    BatchTask task;
    task.id = TaskId(absl::StrCat("load", ++loads_));
    task.datasource = datasource();
    task.interval = Hour(hour);
    task.events = {{hour, "a", 1}};
    EXPECT_EQ(Run(task.Json()).state, TaskState::kSuccess);
    std::string newest;
    for (const Segment& segment : Used(Hour(hour))) newest = std::max(newest, segment.id);
    return newest;
  }
  void MarkUnused(const std::vector<std::string>& ids) {
    if (!can().overlord_marks) WaitForLoad(Hours(0, 24));
    const auto marked = cluster().MarkUnused(datasource(), ids);
    ASSERT_TRUE(marked.done()) << marked.text();
  }
  std::string KillJson(const std::string& what, const Interval& interval,
                       const std::string& bounds = "") {
    return absl::StrCat(R"({"type":"kill","id":")", TaskId(what), R"(","dataSource":")",
                        datasource(), R"(","interval":")", interval.ToString(), "\"", bounds, "}");
  }
  // How many it says it killed, -1 where it says nothing (up to 27).
  int64_t Kill(const std::string& what, const Interval& interval, const std::string& bounds = "") {
    const TaskStatus status = Run(KillJson(what, interval, bounds));
    EXPECT_EQ(status.state, TaskState::kSuccess) << status.error;
    const auto report = cluster().GetTaskReport(TaskId(what));
    return report.done() ? report.value().segments_killed.value_or(-1) : -1;
  }
  std::vector<std::string> UnusedIds() {
    std::vector<std::string> ids;
    for (const UnusedSegment& row : Unused(Hours(0, 24))) ids.push_back(row.segment.id);
    return ids;
  }
  bool Bounded() const { return can().kill_bounded; }

  int loads_ = 0;
};

// Where a segment's file is, of a local deep storage.
std::string PathOf(const std::string& load_spec) {
  const std::string key = "\"path\":\"";
  const size_t begin = load_spec.find(key);
  if (begin == std::string::npos) return "";
  const size_t end = load_spec.find('"', begin + key.size());
  return load_spec.substr(begin + key.size(), end - begin - key.size());
}

TEST_F(KillConformance, KillsRowsOfMetadataAndFiles) {
  const std::string id = Load(13);
  const std::string path = PathOf(Used(Hour(13)).at(0).load_spec);
  ASSERT_TRUE(std::filesystem::exists(path)) << path;
  MarkUnused({id});
  const int64_t killed = Kill("kill", Hour(13));
  if (major() >= 28) {
    EXPECT_EQ(killed, 1);
  }
  EXPECT_FALSE(std::filesystem::exists(path)) << path;
  if (can().unused_segments_list) {
    EXPECT_THAT(UnusedIds(), IsEmpty());
  }
}

TEST_F(KillConformance, LeavesUsedSegmentsAndWhatLiesOutside) {
  const std::string inside = Load(13);
  const std::string used = Load(13);
  const std::string outside = Load(14);
  MarkUnused({inside, outside});
  Kill("kill", Hour(13));
  ASSERT_THAT(Used(Hours(0, 24)), SizeIs(1));
  EXPECT_EQ(Used(Hours(0, 24))[0].id, used);
  if (can().unused_segments_list) {
    EXPECT_THAT(UnusedIds(), testing::ElementsAre(outside));
  }
}

TEST_F(KillConformance, NothingKilledIsASuccess) {
  EXPECT_EQ(Run(KillJson("kill", Hour(13))).state, TaskState::kSuccess);
}

TEST_F(KillConformance, KillsOnlyTheVersionsItIsGiven) {
  if (!Bounded()) return;
  const std::string first = Load(13);
  const std::string version = Used(Hour(13)).at(0).version;
  const std::string second = Load(13);
  MarkUnused({first, second});
  EXPECT_EQ(Kill("none", Hour(13), R"(,"versions":["nope"])"), 0);
  EXPECT_EQ(Kill("empty", Hour(13), R"(,"versions":[])"), 0);
  EXPECT_EQ(Kill("one", Hour(13), absl::StrCat(R"(,"versions":[")", version, R"("])")), 1);
  EXPECT_THAT(UnusedIds(), testing::ElementsAre(second));
}

TEST_F(KillConformance, TheDateThatBoundsAKillIsInclusive) {
  if (!Bounded()) return;
  const std::string first = Load(13);
  const std::string second = Load(14);
  MarkUnused({first});
  const Instant date = *Unused(Hour(13)).at(0).used_status_last_updated;
  // A mark by id dates anew, so a later date is a question of asking again.
  do {
    MarkUnused({second});
  } while (*Unused(Hour(14)).at(0).used_status_last_updated == date);
  const auto bound = [](Instant instant) {
    return absl::StrCat(R"(,"maxUsedStatusLastUpdatedTime":")", instant.ToString(), "\"");
  };
  const Instant before = Instant::FromMillis(date.millis() - 1);
  EXPECT_EQ(Kill("early", Hours(0, 24), bound(before)), 0);
  EXPECT_EQ(Kill("at", Hours(0, 24), bound(date)), 1);
  EXPECT_THAT(UnusedIds(), testing::ElementsAre(second));
}

TEST_F(KillConformance, ALimitIsKept) {
  if (!Bounded()) return;
  MarkUnused({Load(13), Load(14), Load(15)});
  EXPECT_EQ(Kill("one", Hours(0, 24), R"(,"limit":1,"batchSize":1)"), 1);
  EXPECT_THAT(UnusedIds(), SizeIs(2));
}

TEST_F(KillConformance, WhatItUnderstoodStandsInItsPayload) {
  Submit(KillJson("kill", Hour(20), R"(,"versions":["v"],"limit":7)"));
  const auto payload = cluster().GetTaskPayload(TaskId("kill"));
  ASSERT_TRUE(payload.done()) << payload.text();
  EXPECT_EQ(absl::StrContains(payload.value().json, R"("versions":["v"])"), Bounded());
  WaitForEnd(TaskId("kill"));
}

TEST_F(KillConformance, RefusesBoundsThatAreNone) {
  if (!Bounded()) return;
  for (const char* bounds : {R"(,"limit":0)", R"(,"limit":-1)", R"(,"batchSize":0)",
                             R"(,"maxUsedStatusLastUpdatedTime":"soon")"}) {
    const auto answer = cluster().SubmitTask(KillJson("bad", Hour(13), bounds));
    EXPECT_EQ(answer.cause(), Cause::kInvalid) << bounds << answer.text();
  }
}

TEST_F(KillConformance, TombstonesCountLikeOthers) {
  if (!Bounded()) return;
  const std::string rows = Load(13);
  BatchTask wipe;
  wipe.id = TaskId("wipe");
  wipe.datasource = datasource();
  wipe.events = {{10, "elsewhere", 1}};
  ASSERT_EQ(Run(wipe.Json()).state, TaskState::kSuccess);
  std::vector<std::string> ids;
  for (const Segment& segment : Used(Hour(13))) ids.push_back(segment.id);
  ASSERT_THAT(ids, SizeIs(2));
  MarkUnused(ids);
  EXPECT_EQ(Kill("kill", Hour(13)), 2);
}

}  // namespace
}  // namespace interlock::druid
