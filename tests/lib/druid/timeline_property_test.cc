// The timeline against Druid's own, on random sets of segments: see timeline/README.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lib/druid/segment_reader.h"
#include "lib/druid/timeline.h"

namespace interlock::druid {
namespace {

using Fields = std::vector<std::string>;

const Instant kDay = *Instant::Parse("2026-07-16");

Instant HourOf(const std::string& text) {
  int hour = 0;
  EXPECT_TRUE(absl::SimpleAtoi(text, &hour)) << text;
  return kDay + absl::Hours(hour);
}

std::string Printed(const Interval& interval) {
  const auto hour = [](Instant at) { return absl::ToInt64Hours(at - kDay); };
  return absl::StrCat(hour(interval.start()), "\t", hour(interval.end()));
}

// As Druid's metadata has it: what reads it is part of what is tested.
std::string SegmentJson(const Fields& fields) {
  const Interval interval = Interval::Between(HourOf(fields[1]), HourOf(fields[2]));
  const std::string& type = fields[4];
  const char* core = type == "single" || type == "range" ? "numCorePartitions" : "partitions";
  std::string shard = absl::StrCat(R"({"type":")", type, "\"");
  if (type != "none") absl::StrAppend(&shard, R"(,"partitionNum":)", fields[5]);
  if (type != "none" && type != "linear") absl::StrAppend(&shard, ",\"", core, "\":", fields[6]);
  return absl::StrCat(R"({"dataSource":"events","interval":")", interval.ToString(),
                      R"(","version":")", fields[3], R"(","size":1,"shardSpec":)", shard, "}}");
}

std::vector<Segment> Read(const std::vector<std::string>& segments) {
  std::vector<Segment> read;
  SegmentReader reader(SegmentReader::Shape::kSegments,
                       [&](UnusedSegment& row) { read.push_back(row.segment); });
  reader.Feed(absl::StrCat("[", absl::StrJoin(segments, ","), "]"));
  EXPECT_TRUE(reader.Finish()) << reader.reason();
  return read;
}

std::vector<std::string> Seen(const Timeline& timeline) {
  std::vector<std::string> seen;
  for (const Slice& slice : timeline.Visible(Interval::Between(kDay, kDay + absl::Hours(24)))) {
    const std::string parts =
        absl::StrJoin(slice.segments, ",", [](std::string* out, const Segment* segment) {
          absl::StrAppend(out, segment->shard.partition_num);
        });
    seen.push_back(absl::StrJoin(
        {std::string("seen"), Printed(slice.interval), Printed(slice.chunk), slice.version, parts},
        "\t"));
  }
  return seen;
}

std::string Line(const Segment& segment) {
  return absl::StrCat("hidden\t", Printed(segment.interval), "\t", segment.version, "\t",
                      segment.shard.partition_num);
}

std::set<std::string> Hidden(const Timeline& timeline) {
  std::set<std::string> hidden;
  for (const Segment& segment : timeline.Hidden()) {
    hidden.insert(Line(segment));
  }
  return hidden;
}

// Druid calls a version hidden as well that lacks core partitions where a higher one that
// lacks some, too, lies over it. Nothing that counts hides it: here it stays Incomplete.
void CheckHidden(const Timeline& timeline, const std::set<std::string>& druids) {
  std::set<std::string> incomplete;
  for (const Generation& generation : timeline.Incomplete()) {
    for (const Segment* segment : generation.segments) incomplete.insert(Line(*segment));
  }
  const std::set<std::string> ours = Hidden(timeline);
  for (const std::string& one : ours) EXPECT_TRUE(druids.count(one)) << one;
  for (const std::string& one : druids) {
    EXPECT_TRUE(ours.count(one) || incomplete.count(one)) << one;
  }
}

TEST(TimelineProperty, EqualsDruidsOwnOnRandomSetsOfSegments) {
  std::ifstream file(INTERLOCK_TIMELINES);
  ASSERT_TRUE(file) << INTERLOCK_TIMELINES;
  std::vector<std::string> segments;
  std::vector<std::string> seen;
  std::set<std::string> hidden;
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    const Fields fields = absl::StrSplit(line, '\t');
    if (fields[0] == "segment") segments.push_back(SegmentJson(fields));
    if (fields[0] == "seen") seen.push_back(line);
    if (fields[0] == "hidden") hidden.insert(line);
    if (fields[0] != "end") continue;
    ++cases;
    const Timeline timeline = Timeline::Of(Read(segments));
    EXPECT_EQ(Seen(timeline), seen) << "case " << cases << "\n" << absl::StrJoin(segments, "\n");
    CheckHidden(timeline, hidden);
    if (HasFailure()) {
      ADD_FAILURE() << "case " << cases << "\n" << absl::StrJoin(segments, "\n");
      return;
    }
    segments.clear();
    seen.clear();
    hidden.clear();
  }
  EXPECT_EQ(cases, 1500);
}

}  // namespace
}  // namespace interlock::druid
