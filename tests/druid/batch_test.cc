// What batch tasks do to segments and rows.
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/druid/timeline.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"

namespace interlock::druid {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class BatchConformance : public DruidAtHand {
 protected:
  // Loads hour 13 with these events, or appends them.
  BatchTask Batch(const std::string& what, std::vector<Event> events) {
    BatchTask task;
    task.id = TaskId(what);
    task.datasource = datasource();
    task.events = std::move(events);
    return task;
  }
  void Succeeds(const BatchTask& task) {
    const TaskStatus status = Run(task.Json());
    ASSERT_EQ(status.state, TaskState::kSuccess) << status.error;
  }
  TaskReport Report(const std::string& id) {
    const auto report = cluster().GetTaskReport(id);
    EXPECT_TRUE(report.done()) << report.text();
    return report.done() ? report.value() : TaskReport();
  }
};

TEST_F(BatchConformance, ALoadShowsOneVersionAndItsRows) {
  Succeeds(Batch("one", {{13, "a", 1}, {13, "b", 2}}));
  // The database knows at once; lists that are polled may not.
  const std::vector<Segment> used = Used(Hour(13));
  ASSERT_THAT(used, SizeIs(1));
  EXPECT_EQ(used[0].interval, Hour(13));
  EXPECT_EQ(used[0].shard.type, "numbered");
  EXPECT_EQ(used[0].shard.partition_num, 0);
  EXPECT_EQ(used[0].shard.core_partitions, 1);
  EXPECT_THAT(used[0].metrics, ElementsAre("count", "n"));
  EXPECT_GT(used[0].size_bytes, 0);
  EXPECT_FALSE(used[0].compacted);
  EXPECT_THAT(used[0].load_spec, testing::HasSubstr("\"type\":"));
  EXPECT_EQ(used[0].id, absl::StrCat(datasource(), "_", Hour(13).start().ToString(), "_",
                                     Hour(13).end().ToString(), "_", used[0].version));
  ExpectRows(Hour(13), 2);
  const auto sums = cluster().SumRows(datasource(), {Hour(13), Hour(14)}, {"n", "count"});
  ASSERT_TRUE(sums.done()) << sums.text();
  EXPECT_EQ(sums.value()[0].rows, 2);
  EXPECT_EQ(sums.value()[0].sums.at("n"), 3);
  EXPECT_EQ(sums.value()[1].rows, 0);
  EXPECT_EQ(sums.value()[1].sums.at("n"), 0);
}

// A sum over a column that is not there is 0 and no error: only the columns tell.
TEST_F(BatchConformance, ColumnsHaveTypesAndASumOverNoneOfThemIsZero) {
  Succeeds(Batch("one", {{13, "a", 1}, {13, "b", 2}}));
  ExpectRows(Hour(13), 2);
  const auto columns = cluster().ListColumns(datasource(), Hour(13));
  ASSERT_TRUE(columns.done()) << columns.text();
  EXPECT_EQ(columns.value().types.at("n"), "LONG");
  EXPECT_TRUE(columns.value().AddsUp("count"));
  EXPECT_FALSE(columns.value().Has("cuont"));
  int of_text = 0;
  for (const auto& [name, type] : columns.value().types) of_text += type == "STRING" ? 1 : 0;
  EXPECT_GT(of_text, 0) << "the dimension";
  const auto sums = cluster().SumRows(datasource(), {Hour(13)}, {"cuont"});
  ASSERT_TRUE(sums.done()) << sums.text();
  EXPECT_EQ(sums.value()[0].sums.at("cuont"), 0);
  const auto nothing = cluster().ListColumns(datasource(), Hour(20));
  ASSERT_TRUE(nothing.done()) << nothing.text();
  EXPECT_TRUE(nothing.value().types.empty());
}

TEST_F(BatchConformance, AReportCountsRowsAndSegments) {
  Succeeds(Batch("one", {{13, "a", 1}, {13, "b", 2}, {15, "outside", 1}}));
  const TaskReport report = Report(TaskId("one"));
  EXPECT_TRUE(report.has_row_stats);
  EXPECT_EQ(report.processed, 2);
  EXPECT_EQ(report.thrown_away, 1);
  EXPECT_EQ(report.unparseable, 0);
  if (major() >= 32) {
    EXPECT_EQ(report.segments_published, 1);
  }
}

TEST_F(BatchConformance, TheVersionLiesWithinTheTasksLife) {
  BatchTask task = Batch("one", {{13, "a", 1}});
  Succeeds(task);
  const TaskStatus status = WaitForEnd(task.id);
  const Instant version = *Instant::Parse(Used(Hour(13)).at(0).version);
  EXPECT_GE(version, *status.created);
  EXPECT_LE(version, *status.created + absl::Milliseconds(status.duration_ms) + absl::Seconds(30));
}

TEST_F(BatchConformance, AppendingTwiceDoublesRowsWithinOneVersion) {
  BatchTask first = Batch("one", {{13, "a", 1}, {13, "b", 2}});
  first.append = true;
  first.drop = false;
  BatchTask again = first;
  again.id = TaskId("two");
  Succeeds(first);
  Succeeds(again);
  const std::vector<Segment> used = Used(Hour(13));
  ASSERT_THAT(used, SizeIs(2));
  EXPECT_EQ(used[0].version, used[1].version);
  EXPECT_NE(used[0].shard.partition_num, used[1].shard.partition_num);
  EXPECT_TRUE(used[0].appended());
  EXPECT_TRUE(used[1].appended());
  ExpectRows(Hour(13), 4);
}

TEST_F(BatchConformance, AnAppendToALoadStandsBeyondItsCore) {
  Succeeds(Batch("one", {{13, "a", 1}}));
  BatchTask more = Batch("two", {{13, "b", 1}});
  more.append = true;
  more.drop = false;
  Succeeds(more);
  const Timeline timeline = Timeline::Of(Used(Hour(13)));
  const std::vector<Slice> slices = timeline.Visible(Hour(13));
  ASSERT_THAT(slices, SizeIs(1));
  ASSERT_THAT(slices[0].segments, SizeIs(2));
  EXPECT_FALSE(slices[0].segments[0]->appended());
  EXPECT_TRUE(slices[0].segments[1]->appended());
  EXPECT_EQ(slices[0].segments[1]->shard.partition_num, 1);
  ExpectRows(Hour(13), 2);
}

TEST_F(BatchConformance, AReplaceHidesTheOldVersionWhichStaysUsed) {
  Succeeds(Batch("one", {{13, "a", 1}, {13, "b", 2}}));
  const std::string old_version = Used(Hour(13)).at(0).version;
  ExpectRows(Hour(13), 2);
  Succeeds(Batch("two", {{13, "c", 1}, {13, "d", 2}, {13, "e", 3}}));
  const std::vector<Segment> used = Used(Hour(13));
  ASSERT_THAT(used, SizeIs(2));
  const Timeline timeline = Timeline::Of(used);
  const std::vector<Slice> slices = timeline.Visible(Hour(13));
  ASSERT_THAT(slices, SizeIs(1));
  EXPECT_GT(slices[0].version, old_version);
  ASSERT_THAT(timeline.Hidden(), SizeIs(1));
  EXPECT_EQ(timeline.Hidden()[0].version, old_version);
  ExpectRows(Hour(13), 3);
}

TEST_F(BatchConformance, SuccessWithNothingPublishedWipesTheHour) {
  Succeeds(Batch("one", {{10, "a", 1}}));  // outside: nothing anywhere yet
  BatchTask load = Batch("two", {{13, "a", 1}});
  Succeeds(load);
  ExpectRows(Hour(13), 1);
  Succeeds(Batch("three", {{10, "elsewhere", 1}}));
  if (major() >= 32) {
    EXPECT_EQ(Report(TaskId("three")).segments_published, 0);
  }
  EXPECT_EQ(Report(TaskId("three")).processed, 0);
  const Timeline timeline = Timeline::Of(Used(Hour(13)));
  const std::vector<Slice> slices = timeline.Visible(Hour(13));
  ASSERT_THAT(slices, SizeIs(1));
  EXPECT_TRUE(slices[0].tombstone());
  EXPECT_THAT(slices[0].segments[0]->load_spec, testing::HasSubstr("tombstone"));
  EXPECT_EQ(slices[0].segments[0]->size_bytes, 1);
  ExpectRows(Hour(13), 0);
  WaitForLoad(Hour(13));
  EXPECT_TRUE(cluster().GetLoadStatus(datasource(), Hour(13), true).value().any_used);
}

TEST_F(BatchConformance, AnHourThatNeverHadRowsGetsNoTombstone) {
  Succeeds(Batch("one", {{10, "elsewhere", 1}}));
  EXPECT_THAT(Used(Hours(0, 24)), IsEmpty());
}

TEST_F(BatchConformance, HoursWithoutInputGetTombstonesWhereTheyHadRows) {
  BatchTask load = Batch("one", {{12, "a", 1}, {13, "a", 1}, {14, "a", 1}});
  load.interval = Hours(12, 15);
  Succeeds(load);
  BatchTask again = Batch("two", {{13, "b", 1}});
  again.interval = Hours(12, 15);
  Succeeds(again);
  const Timeline timeline = Timeline::Of(Used(Hours(12, 15)));
  const std::vector<Slice> slices = timeline.Visible(Hours(12, 15));
  ASSERT_THAT(slices, SizeIs(3));
  EXPECT_TRUE(slices[0].tombstone());
  EXPECT_FALSE(slices[1].tombstone());
  EXPECT_TRUE(slices[2].tombstone());
}

TEST_F(BatchConformance, ReplacingWithoutDroppingLeavesHoursWithoutInputAlone) {
  Succeeds(Batch("one", {{13, "a", 1}}));
  BatchTask nothing = Batch("two", {{10, "elsewhere", 1}});
  nothing.drop = false;
  Succeeds(nothing);
  EXPECT_THAT(Used(Hour(13)), SizeIs(1));
  ExpectRows(Hour(13), 1);
}

TEST_F(BatchConformance, RowsAppendedToATombstoneAreSeen) {
  Succeeds(Batch("one", {{13, "a", 1}}));
  Succeeds(Batch("two", {{10, "elsewhere", 1}}));
  BatchTask append = Batch("three", {{13, "b", 1}});
  append.append = true;
  append.drop = false;
  Succeeds(append);
  const Timeline timeline = Timeline::Of(Used(Hour(13)));
  const std::vector<Slice> slices = timeline.Visible(Hour(13));
  ASSERT_THAT(slices, SizeIs(1));
  EXPECT_THAT(slices[0].segments, SizeIs(2));
  EXPECT_FALSE(slices[0].tombstone());
  ExpectRows(Hour(13), 1);
}

TEST_F(BatchConformance, HashedPartitionsAreACore) {
  BatchTask task = Batch("one", {});
  for (int i = 0; i < 20; ++i) task.events.push_back({13, absl::StrCat("page", i), 1});
  task.partitions = R"({"type":"hashed","numShards":2})";
  Succeeds(task);
  const Timeline timeline = Timeline::Of(Used(Hour(13)));
  const std::vector<Slice> slices = timeline.Visible(Hour(13));
  ASSERT_THAT(slices, SizeIs(1));
  ASSERT_THAT(slices[0].segments, SizeIs(2));
  for (const Segment* segment : slices[0].segments) {
    EXPECT_EQ(segment->shard.type, "hashed");
    EXPECT_EQ(segment->shard.core_partitions, 2);
    EXPECT_FALSE(segment->appended());
  }
  ExpectRows(Hour(13), 20);
}

TEST_F(BatchConformance, RangePartitionsAreACoreAndTheirSubTasksCarryTheParentsGroup) {
  // Ranges need an input that can be split: two files.
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / datasource();
  std::filesystem::create_directories(folder);
  for (const int half : {0, 1}) {
    std::vector<Event> events;
    for (int i = 0; i < 20; ++i) events.push_back({13, absl::StrCat("p", half, i), 1});
    std::ofstream(folder / absl::StrCat(half, ".json")) << EventLines(events) << "\n";
  }
  BatchTask task = Batch("one", {});
  task.input_source =
      absl::StrCat(R"({"type":"local","baseDir":")", folder.string(), R"(","filter":"*.json"})");
  task.partitions = R"({"type":"range","partitionDimensions":["page"],"targetRowsPerSegment":10})";
  Submit(task.Json());
  bool saw_sub_task = false;
  WaitUntil("it has ended", [&] {
    const auto live = cluster().ListLiveTasks(datasource());
    for (const TaskStatus& one : live.done() ? live.value() : std::vector<TaskStatus>()) {
      if (one.id == task.id) continue;
      saw_sub_task = true;
      EXPECT_EQ(one.group_id, task.id);
      EXPECT_FALSE(one.top_level());
    }
    return cluster().GetTaskStatus(task.id).value().terminal();
  });
  EXPECT_EQ(WaitForEnd(task.id).state, TaskState::kSuccess);
  EXPECT_TRUE(saw_sub_task);
  const std::vector<Segment> used = Used(Hour(13));
  ASSERT_GT(used.size(), 1u);
  for (const Segment& segment : used) {
    EXPECT_EQ(segment.shard.type, "single");
    EXPECT_TRUE(segment.shard.known);
    EXPECT_EQ(segment.shard.core_partitions, static_cast<int32_t>(used.size()));
  }
  EXPECT_THAT(VisibleVersions(Hour(13)), SizeIs(1));
  ExpectRows(Hour(13), 40);
  std::filesystem::remove_all(folder);
}

TEST_F(BatchConformance, RangesOverInputThatCantBeSplitFail) {
  BatchTask task = Batch("one", {{13, "a", 1}});
  task.partitions = R"({"type":"range","partitionDimensions":["page"],"targetRowsPerSegment":10})";
  const TaskStatus status = Run(task.Json());
  EXPECT_EQ(status.state, TaskState::kFailed);
  EXPECT_THAT(Used(Hour(13)), IsEmpty());
}

}  // namespace
}  // namespace interlock::druid
