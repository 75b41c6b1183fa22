// Rows of the field's cases that concern submitting and planning, each by its number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "absl/strings/match.h"
#include "lib/backfill/json_members.h"
#include "lib/backfill/units.h"
#include "rapidjson/pointer.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/backfill/faulty_specs.h"

namespace interlock::backfill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kSegments = kGranularity + "/segmentGranularity";
const std::string kAsked = kGranularity + "/intervals";

SpecCheck Over(const std::string& segments, const std::string& interval) {
  return CheckSpec(GoodSpecWith({{kSegments, segments}, {kAsked, "[\"" + interval + "\"]"}}), {});
}

// Without intervals Druid would append to the hour that is there.
TEST(SpecCases, Case001ASpecWithoutIntervalsIsRefused) {
  const SpecCheck check = CheckSpec(GoodSpecWith({{kAsked, ""}}), {});
  EXPECT_FALSE(check.spec);
  EXPECT_THAT(FaultPointers(check), testing::Contains(kAsked));
}

// All of time by days: told by arithmetic, before anything is made of it.
TEST(SpecCases, Case023MorePartitionsThanMayBeAreCountedAndNotMade) {
  const SpecCheck check =
      Over("\"DAY\"", "-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z");
  EXPECT_FALSE(check.spec);
  ASSERT_FALSE(check.faults.empty());
  EXPECT_THAT(check.faults[0].found, HasSubstr("more than 10000 partitions"));
}

TEST(SpecCases, Case025AllIsRefusedOverAnIntervalThatIsNotItsOnePartition) {
  EXPECT_FALSE(Over("\"ALL\"", "2026-07-16/2026-07-17").spec);
}

// Weeks stick out of February on both sides: what would be locked is shown, and not done.
TEST(SpecCases, Case026WeeksOverAMonthAreRefusedWithTheIntervalTheyWouldCover) {
  const SpecCheck check = Over("\"WEEK\"", "2015-02-01/2015-03-01");
  EXPECT_FALSE(check.spec);
  ASSERT_EQ(check.faults.size(), 1u) << Faults(check);
  EXPECT_THAT(check.faults[0].would_do,
              HasSubstr("2015-01-26T00:00:00.000Z/2015-03-02T00:00:00.000Z"));
}

TEST(SpecCases, Case030DaysOfAZoneBeginWhereThatZonesDaysDo) {
  const std::string days = R"({"type":"period","period":"P1D","timeZone":"America/New_York"})";
  EXPECT_TRUE(Over(days, "2020-06-01T04:00Z/2020-06-02T04:00Z").spec);
  const SpecCheck check = Over(days, "2020-06-01/2020-06-02");
  ASSERT_EQ(check.faults.size(), 1u) << Faults(check);
  EXPECT_THAT(check.faults[0].would_do,
              HasSubstr("2020-05-31T04:00:00.000Z/2020-06-02T04:00:00.000Z"));
}

TEST(SpecCases, Case044SegmentLocksAreRefusedForAReplace) {
  const SpecCheck check =
      CheckSpec(GoodSpecWith({{"/context", R"({"forceTimeChunkLock":false})"}}), {});
  EXPECT_THAT(FaultPointers(check), ElementsAre("/context/forceTimeChunkLock"));
}

// Whole partitions are done, or none of it.
TEST(SpecCases, Case130APartOfAPartitionIsNoBackfill) {
  EXPECT_FALSE(Over("\"HOUR\"", "2026-07-16T13:30:00Z/2026-07-16T14:00:00Z").spec);
}

// One interval drives what is locked, replaced and read.
TEST(UnitCases, Case139WhatIsReadAndWhatIsReplacedAreTheSameInterval) {
  const SpecCheck check = CheckSpec(SpecFile("reindex-druid.json"), {});
  ASSERT_TRUE(check.spec) << Faults(check);
  const auto cut = CutIntoUnits(*check.spec);
  ASSERT_TRUE(cut.ok());
  for (const Unit& unit : cut->units) {
    rapidjson::Document task;
    task.Parse(RenderTask(check.spec->json, unit, {"il-1", "bf-1", 1, "n"}));
    const auto* read = rapidjson::Pointer("/spec/ioConfig/inputSource/interval").Get(task);
    const auto* replaced =
        rapidjson::Pointer("/spec/dataSchema/granularitySpec/intervals/0").Get(task);
    ASSERT_NE(read, nullptr);
    ASSERT_NE(replaced, nullptr);
    EXPECT_STREQ(read->GetString(), replaced->GetString());
    EXPECT_EQ(unit.hull().ToString(), replaced->GetString());
  }
}

// The second run of the job finds what the first has done, and starts nothing.
TEST(RunCases, Case003TheEffectIsLookedAtBeforeAnythingIsSubmittedAgain) {
  BackfillSite site;
  const std::string spec = BackfillSite::InlineSpec(13, 14, 8);
  site.RunUntilOver(site.Submit(spec, "r1"));
  const std::string version = site.Version(13);
  site.RunUntilOver(site.Submit(spec, "r2"));
  EXPECT_EQ(site.Version(13), version);
  EXPECT_EQ(site.OurTasks().size(), 1u);
}

// What appends is given the partition numbers that a partial cleanup has left, and their ids
// are taken. A backfill never appends: it writes a version of its own.
TEST(RunCases, Case007APartialCleanupIsInNoReplacesWay) {
  BackfillSite site;
  site.Load(13, 5);
  const std::string before = site.Version(13);
  const auto used = site.cluster().ListUsedSegments("clicks", {Hour(13)});
  ASSERT_TRUE(site.cluster().MarkUnused("clicks", {used.value()[0].id}).done());
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_EQ(site.Partitions(id)[0].attempts, 1);
  EXPECT_NE(site.Version(13), before);
  EXPECT_EQ(site.Rows(13), 8);
  const SpecCheck append =
      CheckSpec(GoodSpecWith({{"/spec/ioConfig/appendToExisting", "true"}}), {});
  EXPECT_THAT(FaultPointers(append), testing::Contains("/spec/ioConfig/appendToExisting"));
}

TEST(RunCases, Case132NothingButTheListedPartitionsIsTouched) {
  BackfillSite site;
  for (int hour = 10; hour < 18; ++hour) site.Load(hour, 3);
  std::map<int, std::string> before;
  for (int hour = 10; hour < 18; ++hour) before[hour] = site.Version(hour);
  site.RunUntilOver(site.Submit(site.FilesSpec(13, 15, 5)));
  for (int hour = 10; hour < 18; ++hour) {
    const bool listed = hour == 13 || hour == 14;
    EXPECT_EQ(site.Version(hour) != before[hour], listed) << hour;
  }
}

// The intent stands in the store before the call: a process that dies between the two
// posts the same task, not another.
TEST(RunCases, Case136AProcessThatDiesBetweenIntentAndReplyMakesOneTask) {
  BackfillSite site;
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  bool lost = false;
  site.transport().SpoilBy([&](int64_t, const druid::HttpRequest& request) {
    const bool post = request.method == "POST" && absl::EndsWith(request.url, "/indexer/v1/task");
    if (!post || lost) return Spoil::kNot;
    lost = true;
    return Spoil::kLostAfter;
  });
  while (!lost && site.StepOnce()) {
  }
  ASSERT_TRUE(lost);
  site.Restart();
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_EQ(site.OurTasks().size(), 1u);
}

}  // namespace
}  // namespace interlock::backfill
