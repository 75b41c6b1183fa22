#include "lib/simulator/timeline.h"

#include <algorithm>
#include <deque>
#include <random>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace interlock::simulator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Instant At(int hour) { return *Instant::Parse("2026-07-16") + absl::Hours(hour); }

Segment Make(int from, int to, const std::string& version, int partition = 0, int core = 1) {
  Segment segment;
  segment.interval = *Interval::Of(At(from), At(to));
  segment.version = version;
  segment.partition = partition;
  segment.core_partitions = core;
  return segment;
}

std::vector<const Segment*> Pointers(const std::deque<Segment>& segments) {
  std::vector<const Segment*> pointers;
  for (const Segment& segment : segments) pointers.push_back(&segment);
  return pointers;
}

// "13-14:v2*1" …: hours, version, how many segments.
std::vector<std::string> Describe(const std::vector<Slice>& slices) {
  std::vector<std::string> texts;
  for (const Slice& slice : slices) {
    const auto hour = [](Instant instant) { return absl::ToInt64Hours(instant - At(0)); };
    texts.push_back(absl::StrCat(hour(slice.interval.start()), "-", hour(slice.interval.end()), ":",
                                 slice.version, "*", slice.segments.size()));
  }
  return texts;
}

std::vector<std::string> Visible(const std::deque<Segment>& segments) {
  return Describe(VisibleSlices(Pointers(segments)));
}

TEST(Timeline, TheHighestVersionHidesTheLower) {
  EXPECT_THAT(Visible({Make(13, 14, "v1"), Make(13, 14, "v2")}), ElementsAre("13-14:v2*1"));
}

TEST(Timeline, ADayStillServesWhatHoursDoNotCover) {
  EXPECT_THAT(Visible({Make(0, 24, "v1"), Make(13, 14, "v2")}),
              ElementsAre("0-13:v1*1", "13-14:v2*1", "14-24:v1*1"));
}

TEST(Timeline, ACoreSetThatIsNotWholeHidesNothing) {
  EXPECT_THAT(Visible({Make(13, 14, "v1"), Make(13, 14, "v2", 0, 2)}), ElementsAre("13-14:v1*1"));
  EXPECT_THAT(Visible({Make(13, 14, "v1"), Make(13, 14, "v2", 0, 2), Make(13, 14, "v2", 1, 2)}),
              ElementsAre("13-14:v2*2"));
}

TEST(Timeline, AppendedPartitionsJoinTheirVersion) {
  EXPECT_THAT(Visible({Make(13, 14, "v1", 0, 1), Make(13, 14, "v1", 1, 1)}),
              ElementsAre("13-14:v1*2"));
  EXPECT_THAT(Visible({Make(13, 14, "v1", 3, 0)}), ElementsAre("13-14:v1*1"));
  // Without its core the rest of a version is not served either.
  EXPECT_THAT(Visible({Make(13, 14, "v1", 1, 1)}), IsEmpty());
}

TEST(Timeline, OvershadowedMeansAllOfItIsCoveredByHigherVersions) {
  const std::deque<Segment> segments = {Make(12, 15, "v1"), Make(12, 13, "v2"), Make(13, 14, "v3")};
  EXPECT_FALSE(Overshadowed(segments[0], VisibleSlices(Pointers(segments))));
  std::deque<Segment> more = segments;
  more.push_back(Make(14, 15, "v2"));
  EXPECT_TRUE(Overshadowed(more[0], VisibleSlices(Pointers(more))));
  EXPECT_FALSE(Overshadowed(more[1], VisibleSlices(Pointers(more))));
}

// The same question hour by hour, in the plainest way.
std::string PlainAnswer(const std::deque<Segment>& segments, int hour) {
  std::string best;
  for (const Segment& segment : segments) {
    if (!segment.interval.Contains(At(hour)) || segment.version <= best) continue;
    std::set<int> there;
    for (const Segment& other : segments) {
      if (other.interval == segment.interval && other.version == segment.version) {
        there.insert(other.partition);
      }
    }
    bool whole = true;
    for (int i = 0; i < segment.core_partitions; ++i) whole = whole && there.count(i) > 0;
    if (whole) best = segment.version;
  }
  return best;
}

TEST(Timeline, AgreesWithThePlainestReadingOfTheRule) {
  const uint32_t seed = 20260716;
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    std::deque<Segment> segments;
    for (int i = 0; i < 8; ++i) {
      const int from = static_cast<int>(random() % 6);
      const int to = from + 1 + static_cast<int>(random() % 3);
      // Versions are unique to an interval, as locks make them.
      const std::string version = absl::StrCat("v", random() % 5, from, to);
      const int core = static_cast<int>((from + to) % 3);
      segments.push_back(Make(from, to, version, static_cast<int>(random() % 3), core));
    }
    const std::vector<Slice> slices = VisibleSlices(Pointers(segments));
    for (int hour = 0; hour < 9; ++hour) {
      std::string seen;
      for (const Slice& slice : slices) {
        if (slice.interval.Contains(At(hour))) seen = slice.version;
      }
      ASSERT_EQ(seen, PlainAnswer(segments, hour)) << "round " << round << " hour " << hour;
    }
  }
}

}  // namespace
}  // namespace interlock::simulator
