// What a plan says of Druid's own doings: rules, compaction, locks, running tasks.
#include "lib/drop/duties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/drop/observe.h"
#include "lib/drop/running_tasks.h"
#include "tests/lib/drop/drop_site.h"

namespace interlock::drop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const char kHour13[] = "2026-07-16T13:00Z/2026-07-16T14:00Z";

class DropDutiesTest : public ::testing::Test {
 protected:
  DropDutiesTest() { site_.Load(13, 14, 1); }

  std::string NoteOf(const std::string& reason) {
    const auto plan = site_.drops().MakePlan(site_.Request(kHour13));
    EXPECT_TRUE(plan.ok()) << plan.status();
    if (!plan.ok()) return "";
    for (const Note& note : plan->notes) {
      if (note.reason == reason) return note.text;
    }
    return "";
  }
  void Answer(const std::string& path, const std::string& body) {
    const auto fault = site_.druid().AddFault(
        absl::StrCat(R"({"match":{"path":")", path, R"("},"kind":"status","times":0,)",
                     R"("status":200,"body":")", body, R"("})"));
    ASSERT_TRUE(fault.ok()) << fault.status();
  }

  DropSite site_;
};

TEST_F(DropDutiesTest, OfARuleThatDropsTheSameAreSaid) {
  EXPECT_EQ(NoteOf("RETENTION_RULE"), "");
  Answer("/druid/coordinator/v1/rules/clicks",
         R"([{\"type\":\"loadByPeriod\",\"period\":\"P1D\"},{\"type\":\"dropForever\"}])");
  EXPECT_THAT(NoteOf("RETENTION_RULE"), HasSubstr("dropForever"));
}

TEST_F(DropDutiesTest, ARuleThatIsNoneCannotBeRead) {
  Answer("/druid/coordinator/v1/rules/clicks", R"({})");
  EXPECT_THAT(NoteOf("RULES_UNKNOWN"), HasSubstr("rules"));
}

// The mission's advice: never compact what will be dropped.
TEST_F(DropDutiesTest, OfCompactionThatWouldRewriteItFirstIsSaid) {
  EXPECT_EQ(NoteOf("COMPACTION_FIRST"), "");
  EXPECT_EQ(NoteOf("COMPACTION_UNKNOWN"), "");
  Answer("/druid/coordinator/v1/config/compaction",
         R"({\"compactionConfigs\":[{\"dataSource\":\"orders\"},)"
         R"({\"dataSource\":\"clicks\",\"skipOffsetFromLatest\":\"P1D\"}]})");
  EXPECT_THAT(NoteOf("COMPACTION_FIRST"), HasSubstr("P1D"));
  EXPECT_THAT(NoteOf("COMPACTION_FIRST"), HasSubstr("never compact what will be dropped"));
}

TEST_F(DropDutiesTest, OfALockThereIsSaid) {
  site_.Start("here", 13);  // it runs as long as the clock stands still
  EXPECT_THAT(NoteOf(kLocked), HasSubstr("here"));
}

TEST(MayCacheSegments, From34OnOrWhereTheVersionIsNotTold) {
  EXPECT_FALSE(MayCacheSegments("25.0.0"));
  EXPECT_FALSE(MayCacheSegments("33.0.0"));
  EXPECT_TRUE(MayCacheSegments("34.0.0"));
  EXPECT_TRUE(MayCacheSegments("37.0.0"));
  EXPECT_TRUE(MayCacheSegments(""));
}

TEST(RunningTasks, NameTheirTimeAnywhereInTheirPayload) {
  EXPECT_THAT(IntervalsIn(R"({"interval":"2026-07-16/2026-07-17"})"),
              ElementsAre(Of("2026-07-16/2026-07-17")));
  EXPECT_THAT(IntervalsIn(R"({"spec":{"granularitySpec":{"intervals":["2026-07-16T13/PT1H"]},)"
                          R"("path":"a/b","url":"http://x/y"}})"),
              ElementsAre(Of("2026-07-16T13:00Z/2026-07-16T14:00Z")));
  EXPECT_THAT(IntervalsIn(R"({"type":"noop"})"), IsEmpty());
  EXPECT_THAT(IntervalsIn("garbage"), IsEmpty());
}

}  // namespace
}  // namespace interlock::drop
