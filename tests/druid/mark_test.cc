// Used and unused, by id: what changes, what is counted, what is dated.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"

namespace interlock::druid {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class MarkConformance : public DruidAtHand {
 protected:
  // Loads hour 13 once more, with this many rows; the id of the new segment.
  std::string Load(int rows) {
    BatchTask task;
    task.id = TaskId(absl::StrCat("load", ++loads_));
    task.datasource = datasource();
    for (int i = 0; i < rows; ++i) task.events.push_back({13, absl::StrCat("p", i), 1});
    EXPECT_EQ(Run(task.Json()).state, TaskState::kSuccess);
    std::string newest;
    for (const Segment& segment : Used(Hour(13))) newest = std::max(newest, segment.id);
    return newest;
  }
  // Up to 31 the coordinator marks only what it serves.
  void WaitUntilMarkable(int64_t rows) {
    if (!can().overlord_marks) ExpectRows(Hour(13), rows);
  }
  int64_t MarkedUnused(const std::vector<std::string>& ids) {
    const auto marked = cluster().MarkUnused(datasource(), ids);
    EXPECT_TRUE(marked.done()) << marked.text();
    return marked.done() ? marked.value().changed : -1;
  }
  std::string MarkUrl(const std::string& what) {
    const std::string path = absl::StrCat("/datasources/", datasource(), "/", what);
    return can().overlord_marks ? Overlord(path) : Coordinator(path);
  }
  static std::string IdsJson(const std::string& id) {
    return absl::StrCat(R"({"segmentIds":[")", id, R"("]})");
  }
  static std::string IntervalJson(const Interval& interval) {
    return absl::StrCat(R"({"interval":")", interval.ToString(), R"("})");
  }
  bool OverlordAnswers500() const { return major() == 32 || major() == 33; }

  int loads_ = 0;
};

TEST_F(MarkConformance, MarkingUnusedTakesRowsAwayAndMarkingUsedBringsThemBack) {
  const std::string id = Load(2);
  ExpectRows(Hour(13), 2);
  EXPECT_EQ(MarkedUnused({id}), 1);
  EXPECT_THAT(Used(Hour(13)), IsEmpty());
  ExpectRows(Hour(13), 0);
  if (!can().overlord_marks) return;  // of what is not served it marks nothing
  const auto used = cluster().MarkUsed(datasource(), {id});
  ASSERT_TRUE(used.done()) << used.text();
  EXPECT_EQ(used.value().changed, 1);
  EXPECT_THAT(UsedNow(Hour(13)), SizeIs(1));
  ExpectRows(Hour(13), 2);
  EXPECT_EQ(cluster().MarkUsed(datasource(), {id}).value().changed, 0);
}

TEST_F(MarkConformance, OldVersionsMarkNothingOfWhatIsNotServed) {
  if (can().overlord_marks) {
    EXPECT_EQ(cluster().MarkUnused(datasource(), {"x"}).value().changed, 0);
  } else {
    EXPECT_EQ(cluster().MarkUnused(datasource(), {"x"}).cause(), Cause::kInvalid);
  }
}

TEST_F(MarkConformance, AnUnusedSegmentIsListedWithItsDates) {
  const std::string id = Load(1);
  WaitUntilMarkable(1);
  const std::string load_spec = Used(Hour(13)).at(0).load_spec;
  MarkedUnused({id});
  if (!can().unused_segments_list) {
    EXPECT_EQ(cluster().ListUnusedSegments(datasource(), Hour(13)).cause(), Cause::kUnsupported);
    return;
  }
  const std::vector<UnusedSegment> unused = Unused(Hour(13));
  ASSERT_THAT(unused, SizeIs(1));
  EXPECT_EQ(unused[0].segment.id, id);
  EXPECT_EQ(unused[0].segment.interval, Hour(13));
  EXPECT_EQ(unused[0].segment.load_spec, load_spec);
  EXPECT_EQ(unused[0].segment.shard.core_partitions, 1);
  ASSERT_TRUE(unused[0].created.has_value());
  ASSERT_TRUE(unused[0].used_status_last_updated.has_value());
  EXPECT_GT(*unused[0].used_status_last_updated, *unused[0].created);
  EXPECT_THAT(Unused(Hour(14)), IsEmpty());
  EXPECT_THAT(Unused(Hours(0, 24)), SizeIs(1));
}

TEST_F(MarkConformance, MarkingAgainByIdDatesAnewAndByIntervalDoesNot) {
  if (!can().unused_segments_list) return;
  const std::string id = Load(1);
  MarkedUnused({id});
  const Instant first = *Unused(Hour(13)).at(0).used_status_last_updated;
  const HttpReply by_interval = Raw("POST", MarkUrl("markUnused"), IntervalJson(Hour(13)));
  EXPECT_EQ(by_interval.status, 200);
  EXPECT_THAT(by_interval.body, HasSubstr("\"numChangedSegments\":0"));
  EXPECT_EQ(*Unused(Hour(13)).at(0).used_status_last_updated, first);
  EXPECT_EQ(MarkedUnused({id}), 1);
  EXPECT_GT(*Unused(Hour(13)).at(0).used_status_last_updated, first);
}

TEST_F(MarkConformance, UnknownIdsAreNothingToMarkUnusedAndAnErrorToMarkUsed) {
  const std::string id = Load(1);
  WaitUntilMarkable(1);
  const std::string other = id + "_7";
  for (const std::string& unknown : {std::string("nope"), other}) {
    EXPECT_EQ(MarkedUnused({unknown}), 0);
    const auto used = cluster().MarkUsed(datasource(), {unknown});
    EXPECT_FALSE(used.done()) << used.text();
    if (!can().overlord_marks) continue;
    EXPECT_EQ(used.cause(), Cause::kInvalid) << used.text();
    EXPECT_THAT(used.text(), HasSubstr(unknown == other ? "Could not find segment IDs"
                                                        : "Could not parse segment IDs"));
  }
  EXPECT_THAT(Used(Hour(13)), SizeIs(1));
}

TEST_F(MarkConformance, Case056ExactlyOneOfIntervalAndIdsIsWanted) {
  for (const char* body : {"{}", R"({"segmentIds":[]})",
                           R"({"interval":"2026-07-16/2026-07-17","segmentIds":["a"]})"}) {
    const HttpReply reply = Raw("POST", MarkUrl("markUnused"), body);
    EXPECT_EQ(reply.status, 400) << body << reply.body;
    EXPECT_THAT(reply.body, HasSubstr("Invalid request payload")) << body;
  }
}

TEST_F(MarkConformance, Case056AnEmptyListOfIdsCountsForNone) {
  if (!can().overlord_marks) return;
  const HttpReply reply =
      Raw("POST", MarkUrl("markUnused"), R"({"interval":"2026-07-16/2026-07-17","segmentIds":[]})");
  EXPECT_EQ(reply.status, 200) << reply.body;
}

TEST_F(MarkConformance, OnlySegmentsWhollyInsideAnIntervalAreMarked) {
  Load(1);
  WaitUntilMarkable(1);
  const Interval part = *Interval::Parse("2026-07-16T13:00:00Z/2026-07-16T13:30:00Z");
  const HttpReply partly = Raw("POST", MarkUrl("markUnused"), IntervalJson(part));
  EXPECT_EQ(partly.status, 200);
  EXPECT_THAT(partly.body, HasSubstr("\"numChangedSegments\":0"));
  // 37 says so too, and then forgets the segment: its lists have it neither used nor
  // unused. A reason more to mark by ids.
  if (major() >= 37) return;
  EXPECT_THAT(Used(Hour(13)), SizeIs(1));
  EXPECT_EQ(Raw("POST", MarkUrl("markUnused"), IntervalJson(Hours(0, 24))).status, 200);
  EXPECT_THAT(Used(Hour(13)), IsEmpty());
}

TEST_F(MarkConformance, WithoutAcceptAMarkMayBeMadeAndAnswer500) {
  if (!OverlordAnswers500()) return;
  const std::string id = Load(1);
  MarkedUnused({id});
  const HttpReply reply = Raw("POST", MarkUrl("markUsed"), IdsJson(id), "*/*");
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.body, "");
  EXPECT_THAT(Used(Hour(13)), SizeIs(1));
}

TEST_F(MarkConformance, ThroughTheCoordinatorAMarkMayBeMadeAndAnswer500) {
  if (!OverlordAnswers500()) return;
  const std::string id = Load(1);
  MarkedUnused({id});
  const HttpReply reply = Raw(
      "POST", Coordinator(absl::StrCat("/datasources/", datasource(), "/markUsed")), IdsJson(id));
  EXPECT_EQ(reply.status, 500);
  EXPECT_THAT(Used(Hour(13)), SizeIs(1));
}

TEST_F(MarkConformance, AHiddenSegmentIsRevivedByItselfAndNotByMarkUsed) {
  const std::string oldest = Load(1);
  const std::string middle = Load(2);
  const std::string newest = Load(3);
  WaitUntilMarkable(3);
  ASSERT_THAT(Used(Hour(13)), SizeIs(3));
  EXPECT_EQ(MarkedUnused({middle}), 1);
  ASSERT_THAT(Used(Hour(13)), SizeIs(2));
  // It would not be seen, so markUsed leaves it.
  const auto marked = cluster().MarkUsed(datasource(), {middle});
  ASSERT_TRUE(marked.done()) << marked.text();
  EXPECT_EQ(marked.value().changed, 0);
  EXPECT_THAT(Used(Hour(13)), SizeIs(2));

  const auto revived = cluster().ReviveSegment(datasource(), middle);
  ASSERT_TRUE(revived.done()) << revived.text();
  EXPECT_EQ(revived.value().changed, 1);
  EXPECT_THAT(UsedNow(Hour(13)), SizeIs(3));
  ExpectRows(Hour(13), 3);
  MarkedUnused({newest});
  ExpectRows(Hour(13), 2);
}

TEST_F(MarkConformance, NothingElseChangesWhenOneIdIsMarked) {
  const std::string oldest = Load(1);
  const std::string newest = Load(2);
  WaitUntilMarkable(2);
  EXPECT_EQ(MarkedUnused({oldest}), 1);
  const std::vector<Segment> used = Used(Hour(13));
  ASSERT_THAT(used, SizeIs(1));
  EXPECT_EQ(used[0].id, newest);
}

}  // namespace
}  // namespace interlock::druid
