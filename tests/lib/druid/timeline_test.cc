#include "lib/druid/timeline.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace interlock::druid {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Interval Time(const std::string& text) { return *Interval::Parse(text); }

Interval Hours(int from, int to) {
  return *Interval::Of(Instant::FromMillis(int64_t{from} * 3'600'000),
                       Instant::FromMillis(int64_t{to} * 3'600'000));
}

const Interval kAll = Hours(-1'000'000, 1'000'000);

Segment Make(const Interval& interval, const std::string& version, const ShardSpec& shard) {
  Segment segment;
  segment.datasource = "d";
  segment.interval = interval;
  segment.version = version;
  segment.shard = shard;
  segment.id = absl::StrCat("d_", interval.ToString(), "_", version, "_", shard.partition_num);
  return segment;
}

Segment Numbered(const Interval& interval, const std::string& version, int number, int core) {
  return Make(interval, version, {"numbered", number, core, true});
}

Segment Tombstone(const Interval& interval, const std::string& version) {
  return Make(interval, version, {"tombstone", 0, 0, true});
}

// "13-14 V2 x2": hours, version, segments; "?" where it can't be told.
std::vector<std::string> Seen(const Timeline& timeline, const Interval& asked = kAll) {
  std::vector<std::string> seen;
  for (const Slice& slice : timeline.Visible(asked)) {
    seen.push_back(absl::StrCat(slice.interval.start().millis() / 3'600'000, "-",
                                slice.interval.end().millis() / 3'600'000, " ", slice.version, " x",
                                slice.segments.size(), slice.has_unknown_shards ? "?" : ""));
  }
  return seen;
}

std::vector<std::string> HiddenIds(const Timeline& timeline) {
  std::vector<std::string> ids;
  for (const Segment& segment : timeline.Hidden()) {
    ids.push_back(absl::StrCat(segment.version, "/", segment.shard.partition_num));
  }
  return ids;
}

TEST(Timeline, TheHighestVersionIsSeenAndNoOther) {
  const Timeline timeline =
      Timeline::Of({Numbered(Hours(13, 14), "V1", 0, 1), Numbered(Hours(13, 14), "V2", 0, 1)});
  EXPECT_THAT(Seen(timeline), ElementsAre("13-14 V2 x1"));
  EXPECT_THAT(HiddenIds(timeline), ElementsAre("V1/0"));
}

TEST(Timeline, VersionsAreComparedAsText) {
  EXPECT_THAT(
      Seen(Timeline::Of({Numbered(Hours(0, 1), "9", 0, 1), Numbered(Hours(0, 1), "10", 0, 1)})),
      ElementsAre("0-1 9 x1"));
}

TEST(Timeline, Case011AnIncompleteCoreDoesNotHideWhatItReplaces) {
  std::vector<Segment> segments;
  for (int i = 0; i < 5; ++i) segments.push_back(Numbered(Hours(0, 1), "V1", i, 5));
  for (const int i : {0, 2}) segments.push_back(Numbered(Hours(0, 1), "V2", i, 3));
  const Timeline timeline = Timeline::Of(segments);
  EXPECT_THAT(Seen(timeline), ElementsAre("0-1 V1 x5"));
  EXPECT_THAT(HiddenIds(timeline), IsEmpty());
  const std::vector<Generation> incomplete = timeline.Incomplete();
  ASSERT_EQ(incomplete.size(), 1u);
  EXPECT_EQ(incomplete[0].version, "V2");
  EXPECT_EQ(incomplete[0].segments.size(), 2u);
}

TEST(Timeline, Case011FewerPartitionsHideMoreOfThemOnceTheyAreAllThere) {
  std::vector<Segment> segments;
  for (int i = 37; i < 100; ++i) segments.push_back(Numbered(Hours(0, 1), "V1", i, 100));
  for (int i = 0; i < 37; ++i) segments.push_back(Numbered(Hours(0, 1), "V2", i, 37));
  const Timeline timeline = Timeline::Of(segments);
  EXPECT_THAT(Seen(timeline), ElementsAre("0-1 V2 x37"));
  EXPECT_EQ(timeline.Hidden().size(), 63u);
}

TEST(Timeline, Case012WithoutACoreTheFirstPartitionShows) {
  // Queries see what is there of it; that all of it is loaded must be asked elsewhere.
  const Timeline timeline =
      Timeline::Of({Numbered(Hours(0, 1), "V1", 0, 1), Numbered(Hours(0, 1), "V2", 2, 0)});
  EXPECT_THAT(Seen(timeline), ElementsAre("0-1 V2 x1"));
  EXPECT_TRUE(timeline.Visible(kAll)[0].segments[0]->appended());
}

TEST(Timeline, AppendedPartitionsStandWithTheirVersion) {
  const Timeline timeline =
      Timeline::Of({Numbered(Hours(0, 1), "V1", 0, 1), Numbered(Hours(0, 1), "V1", 1, 1),
                    Numbered(Hours(0, 1), "V1", 5, 1)});
  EXPECT_THAT(Seen(timeline), ElementsAre("0-1 V1 x3"));
  EXPECT_THAT(timeline.Incomplete(), IsEmpty());
}

TEST(Timeline, AppendedPartitionsDoNotStandInForAMissingCore) {
  const Timeline timeline =
      Timeline::Of({Numbered(Hours(0, 1), "V2", 0, 2), Numbered(Hours(0, 1), "V2", 2, 2),
                    Numbered(Hours(0, 1), "V1", 0, 1)});
  EXPECT_THAT(Seen(timeline), ElementsAre("0-1 V1 x1"));
}

TEST(Timeline, APartlyCoveredVersionIsSeenInTheRest) {
  const Timeline timeline =
      Timeline::Of({Numbered(Hours(0, 24), "V1", 0, 1), Numbered(Hours(13, 14), "V2", 0, 1),
                    Numbered(Hours(14, 15), "V2", 0, 1)});
  EXPECT_THAT(Seen(timeline),
              ElementsAre("0-13 V1 x1", "13-14 V2 x1", "14-15 V2 x1", "15-24 V1 x1"));
  EXPECT_THAT(HiddenIds(timeline), IsEmpty());
}

TEST(Timeline, ALowerVersionFillsTheGapsOfHigherOnes) {
  const Timeline timeline =
      Timeline::Of({Numbered(Hours(0, 1), "V2", 0, 1), Numbered(Hours(2, 3), "V3", 0, 1),
                    Numbered(Hours(0, 4), "V1", 0, 1)});
  EXPECT_THAT(Seen(timeline), ElementsAre("0-1 V2 x1", "1-2 V1 x1", "2-3 V3 x1", "3-4 V1 x1"));
}

TEST(Timeline, SeveralHigherVersionsHideALongOneTogether) {
  const Timeline timeline =
      Timeline::Of({Numbered(Hours(0, 3), "V1", 0, 1), Numbered(Hours(0, 1), "V2", 0, 1),
                    Numbered(Hours(1, 2), "V4", 0, 1), Numbered(Hours(2, 3), "V3", 0, 1)});
  EXPECT_THAT(HiddenIds(timeline), ElementsAre("V1/0"));
}

TEST(Timeline, ATombstoneIsSeenAndHidesRows) {
  const Timeline timeline =
      Timeline::Of({Numbered(Hours(10, 11), "V1", 0, 1), Tombstone(Hours(10, 11), "V2")});
  EXPECT_THAT(Seen(timeline), ElementsAre("10-11 V2 x1"));
  EXPECT_TRUE(timeline.Visible(kAll)[0].tombstone());
  EXPECT_THAT(HiddenIds(timeline), ElementsAre("V1/0"));
}

TEST(Timeline, RowsAppendedToATombstoneShowBesideIt) {
  const Timeline timeline =
      Timeline::Of({Tombstone(Hours(10, 11), "V1"), Numbered(Hours(10, 11), "V1", 1, 0)});
  EXPECT_THAT(Seen(timeline), ElementsAre("10-11 V1 x2"));
  EXPECT_FALSE(timeline.Visible(kAll)[0].tombstone());
}

TEST(Timeline, SegmentsOfBeforeNumberedShardsCount) {
  const Timeline timeline = Timeline::Of({Make(Hours(0, 1), "V1", {"none", 0, 1, true}),
                                          Make(Hours(1, 2), "V1", {"linear", 3, 0, true}),
                                          Make(Hours(2, 3), "V1", {"range", 1, 2, true})});
  EXPECT_THAT(Seen(timeline), ElementsAre("0-1 V1 x1", "1-2 V1 x1"));
}

TEST(Timeline, NothingIsConcludedFromAShardSpecThatNobodyKnows) {
  const Timeline timeline = Timeline::Of(
      {Numbered(Hours(0, 1), "V1", 0, 1), Make(Hours(0, 1), "V2", {"some_day", 0, 0, false})});
  EXPECT_THAT(Seen(timeline), ElementsAre("0-1 V2 x1?"));
  EXPECT_FALSE(timeline.Visible(kAll)[0].complete);
  EXPECT_THAT(HiddenIds(timeline), IsEmpty());
  EXPECT_THAT(timeline.Incomplete(), IsEmpty());
}

TEST(Timeline, WhatLiesUnderAKnownVersionIsHiddenWhateverItIs) {
  const Timeline timeline = Timeline::Of(
      {Make(Hours(0, 1), "V1", {"some_day", 0, 0, false}), Numbered(Hours(0, 1), "V2", 0, 1)});
  EXPECT_THAT(Seen(timeline), ElementsAre("0-1 V2 x1"));
  EXPECT_THAT(HiddenIds(timeline), ElementsAre("V1/0"));
}

TEST(Timeline, TwoChunksOfOneVersionThatOverlapCantBeTold) {
  const Timeline timeline =
      Timeline::Of({Numbered(Hours(0, 2), "V1", 0, 1), Numbered(Hours(1, 3), "V1", 0, 1)});
  EXPECT_THAT(Seen(timeline), ElementsAre("0-1 V1 x1", "1-2 V1 x1?", "2-3 V1 x1"));
}

TEST(Timeline, AnIdThatIsListedTwiceCountsOnce) {
  const Segment segment = Numbered(Hours(0, 1), "V1", 0, 1);
  EXPECT_THAT(Seen(Timeline::Of({segment, segment})), ElementsAre("0-1 V1 x1"));
}

TEST(Timeline, SlicesAreCutToWhatWasAsked) {
  const Timeline timeline =
      Timeline::Of({Numbered(Hours(0, 24), "V1", 0, 1), Numbered(Hours(30, 31), "V1", 0, 1)});
  EXPECT_THAT(Seen(timeline, Hours(5, 7)), ElementsAre("5-7 V1 x1"));
  EXPECT_THAT(Seen(timeline, Hours(23, 31)), ElementsAre("23-24 V1 x1", "30-31 V1 x1"));
  EXPECT_THAT(Seen(timeline, Hours(24, 30)), IsEmpty());
  EXPECT_EQ(timeline.Visible(Hours(5, 7))[0].chunk, Hours(0, 24));
  EXPECT_THAT(Seen(Timeline::Of({})), IsEmpty());
}

TEST(Timeline, TimesAreThoseOfTheSegments) {
  const Interval hour = Time("2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z");
  const Timeline timeline = Timeline::Of({Numbered(hour, "V1", 0, 1)});
  EXPECT_EQ(timeline.Visible(hour)[0].interval, hour);
}

// The rule again, slowly, for one hour: of the chunks over it whose core is there, the
// one with the highest version.
std::string SlowlySeen(const std::vector<Segment>& segments, int hour) {
  std::map<std::pair<Interval, std::string>, std::set<int>> chunks;
  std::map<std::pair<Interval, std::string>, int> core;
  for (const Segment& segment : segments) {
    if (!segment.interval.Overlaps(Hours(hour, hour + 1))) continue;
    chunks[{segment.interval, segment.version}].insert(segment.shard.partition_num);
    core[{segment.interval, segment.version}] = segment.shard.core_partitions;
  }
  std::string best;
  for (const auto& [key, numbers] : chunks) {
    bool whole = true;
    for (int i = 0; i < core[key]; ++i) whole = whole && numbers.count(i) != 0;
    if (whole) best = std::max(best, key.second);
  }
  return best;
}

TEST(Timeline, AgreesWithTheRuleOnRandomSegments) {
  const unsigned seed = 20261129;
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  std::mt19937 random(seed);
  const auto pick = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most));
  };
  for (int round = 0; round < 400; ++round) {
    std::vector<Segment> segments;
    const int generations = 1 + pick(8);
    for (int generation = 0; generation < generations; ++generation) {
      const int from = pick(10);
      const Interval interval = Hours(from, from + 1 + pick(6));
      const int core = pick(4);
      // A version of its own for each: Druid knows no overlap within one.
      for (int number = 0; number < core + 2; ++number) {
        if (pick(4) == 0) continue;
        segments.push_back(Numbered(interval, absl::StrCat("V", generation), number, core));
      }
    }
    std::shuffle(segments.begin(), segments.end(), random);
    const Timeline timeline = Timeline::Of(segments);
    std::set<std::string> seen_versions;
    for (int hour = 0; hour < 16; ++hour) {
      const std::vector<Slice> slices = timeline.Visible(Hours(hour, hour + 1));
      ASSERT_LE(slices.size(), 1u);
      EXPECT_EQ(slices.empty() ? "" : slices[0].version, SlowlySeen(segments, hour)) << hour;
      for (const Slice& slice : slices) seen_versions.insert(slice.version);
    }
    for (const Segment& segment : timeline.Hidden()) {
      EXPECT_EQ(seen_versions.count(segment.version), 0u) << segment.id;
    }
  }
}

}  // namespace
}  // namespace interlock::druid
