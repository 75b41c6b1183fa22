// What an ingestion reads, writes, buries and reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/lib/simulator/simulated_druid.h"

namespace interlock::simulator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr char kTombstone[] = R"({"type":"tombstone","partitionNum":0,"partitions":0})";

std::string Numbered(int partition, int core) {
  return absl::StrCat(R"({"type":"numbered","partitionNum":)", partition, R"(,"partitions":)", core,
                      "}");
}

std::string SevenPages() {
  std::string lines;
  for (int i = 0; i < 7; ++i) lines += Line(13, i, absl::StrCat("p", i), 1);
  return lines;
}

TEST(Ingestion, RollsUpByMinuteAndDimensions) {
  SimulatedDruid druid;
  const std::string lines = Line(13, 1, "a", 1) + Line(13, 1, "a", 2) + Line(13, 2, "a", 4);
  ASSERT_EQ(druid.Run({.lines = lines}), "SUCCESS");
  druid.Pass(1'000);
  EXPECT_EQ(druid.Count(), 2);
  EXPECT_EQ(druid.Sum("count"), 3);
  EXPECT_EQ(druid.Sum("n"), 7);
}

TEST(Ingestion, CountsWhatItThrowsAwayAndWhatItCannotParse) {
  SimulatedDruid druid;
  const std::string lines = Line(13, 1, "a", 1) + Line(14, 1, "a", 1) + "{bad\n" + "\n" +
                            R"({"ts":"soon"})" + "\n" + R"({"ts":"2026-07-16T13:00Z","n":"zz"})";
  ASSERT_EQ(druid.Run({.lines = lines}), "SUCCESS");
  EXPECT_EQ(druid.Stat("task", "processed"), 1);
  EXPECT_EQ(druid.Stat("task", "processedWithError"), 1);
  EXPECT_EQ(druid.Stat("task", "thrownAway"), 1);
  EXPECT_EQ(druid.Stat("task", "unparseable"), 3);
  EXPECT_EQ(druid.Stat("task", "segmentsPublished"), 1);
}

TEST(Ingestion, FailsWhereTooMuchCannotBeParsed) {
  SimulatedDruid druid;
  EXPECT_EQ(druid.Run({.lines = "{bad\n{bad\n", .tuning = R"(,"maxParseExceptions":1)"}), "FAILED");
  EXPECT_THAT(druid.Error("task"), HasSubstr("Max parse exceptions[1] exceeded"));
  EXPECT_THAT(druid.Used(), IsEmpty());
}

TEST(Ingestion, ReplacingWithNothingBuriesTheHourAndSaysSuccess) {
  SimulatedDruid druid;
  ASSERT_EQ(druid.Run({.id = "load", .lines = Line(13, 1, "a", 1)}), "SUCCESS");
  ASSERT_EQ(druid.Run({.id = "wipe", .lines = Line(9, 1, "a", 1)}), "SUCCESS");
  EXPECT_EQ(druid.Stat("wipe", "segmentsPublished"), 0);
  EXPECT_THAT(druid.Shards(), ElementsAre(Numbered(0, 1), kTombstone));
  druid.Pass(5'000);
  EXPECT_EQ(druid.Count(), 0);
  // A tombstone over a tombstone; none where nothing was.
  ASSERT_EQ(druid.Run({.id = "again", .lines = Line(9, 1, "a", 1)}), "SUCCESS");
  EXPECT_THAT(druid.Used(), SizeIs(3));
  ASSERT_EQ(druid.Run({.id = "none", .intervals = {Hour(20)}, .lines = Line(9, 1, "a", 1)}),
            "SUCCESS");
  EXPECT_THAT(druid.Used(), SizeIs(3));
}

TEST(Ingestion, WithoutDropExistingHoursWithoutRowsStay) {
  SimulatedDruid druid;
  ASSERT_EQ(druid.Run({.id = "load", .lines = Line(13, 1, "a", 1)}), "SUCCESS");
  ASSERT_EQ(druid.Run({.id = "none", .lines = Line(9, 1, "a", 1), .drop = false}), "SUCCESS");
  EXPECT_THAT(druid.Used(), SizeIs(1));
}

TEST(Ingestion, ReplacingHoursOfADayBuriesOnlyThose) {
  SimulatedDruid druid;
  ASSERT_EQ(druid.Run({.id = "day",
                       .intervals = {"2026-07-16/2026-07-17"},
                       .lines = Line(3, 1, "a", 1) + Line(13, 1, "a", 2) + Line(14, 1, "a", 4),
                       .segment_granularity = R"("DAY")"}),
            "SUCCESS");
  ASSERT_EQ(druid.Run({.id = "hours",
                       .intervals = {"2026-07-16T13/2026-07-16T15"},
                       .lines = Line(13, 1, "a", 8)}),
            "SUCCESS");
  EXPECT_THAT(druid.Shards(), UnorderedElementsAre(Numbered(0, 1), Numbered(0, 1), kTombstone));
  druid.Pass(5'000);
  EXPECT_EQ(druid.Sum("n"), 9);
}

TEST(Ingestion, AnUnalignedIntervalIsWidenedAndTheRestOfTheHourIsLost) {
  SimulatedDruid druid;
  ASSERT_EQ(druid.Run({.id = "load", .lines = Line(13, 1, "a", 1)}), "SUCCESS");
  ASSERT_EQ(druid.Run({.id = "half",
                       .intervals = {"2026-07-16T13:30Z/2026-07-16T14:00Z"},
                       .lines = Line(13, 40, "a", 2)}),
            "SUCCESS");
  druid.Pass(5'000);
  EXPECT_EQ(druid.Sum("n"), 2);
}

TEST(Ingestion, OneLockAndVersionForHoursThatTouchAnotherForTheNext) {
  SimulatedDruid druid;
  ASSERT_EQ(druid.Run({.intervals = {Hour(13), Hour(14), Hour(16)},
                       .lines = Line(13, 1, "a", 1) + Line(14, 1, "a", 1) + Line(16, 1, "a", 1)}),
            "SUCCESS");
  const std::vector<std::string> used = druid.Used();
  ASSERT_THAT(used, SizeIs(3));
  const auto version = [](const std::string& id) { return id.substr(id.rfind('_')); };
  EXPECT_EQ(version(used[0]), version(used[1]));
  EXPECT_NE(version(used[1]), version(used[2]));
}

TEST(Ingestion, AppendsJoinTheVersionThatIsThere) {
  SimulatedDruid druid;
  ASSERT_EQ(druid.Run({.id = "load", .lines = Line(13, 1, "a", 1)}), "SUCCESS");
  for (const char* id : {"append1", "append2"}) {
    ASSERT_EQ(druid.Run({.id = id, .lines = Line(13, 1, "a", 1), .append = true, .drop = false}),
              "SUCCESS");
  }
  EXPECT_THAT(druid.Shards(), ElementsAre(Numbered(0, 1), Numbered(1, 1), Numbered(2, 1)));
  druid.Pass(1'000);
  EXPECT_EQ(druid.Sum("count"), 3);
  EXPECT_EQ(druid.Count(), 3);
}

TEST(Ingestion, TheFirstAppendMakesAVersionWithoutACore) {
  SimulatedDruid druid;
  ASSERT_EQ(druid.Run({.lines = Line(13, 1, "a", 1), .append = true, .drop = false}), "SUCCESS");
  EXPECT_THAT(druid.Shards(), ElementsAre(Numbered(0, 0)));
}

TEST(Ingestion, AppendsGoIntoFinerChunksAroundWhatIsThereAndNotIntoCoarserOnes) {
  SimulatedDruid druid;
  ASSERT_EQ(druid.Run({.id = "load", .lines = Line(13, 1, "a", 1)}), "SUCCESS");
  ASSERT_EQ(druid.Run({.id = "day",
                       .intervals = {"2026-07-16/2026-07-17"},
                       .lines = Line(13, 1, "a", 1) + Line(14, 1, "a", 1),
                       .append = true,
                       .drop = false,
                       .segment_granularity = R"("DAY")"}),
            "SUCCESS");
  EXPECT_THAT(druid.Shards(), ElementsAre(Numbered(0, 1), Numbered(1, 1), Numbered(0, 0)));

  SimulatedDruid other;
  ASSERT_EQ(other.Run({.id = "day",
                       .intervals = {"2026-07-16/2026-07-17"},
                       .lines = Line(13, 1, "a", 1),
                       .segment_granularity = R"("DAY")"}),
            "SUCCESS");
  EXPECT_EQ(other.Run({.id = "hour", .lines = Line(13, 1, "a", 1), .append = true, .drop = false}),
            "FAILED");
  EXPECT_THAT(other.Error("hour"), HasSubstr("Failed to add a row with timestamp"));
}

TEST(Ingestion, DynamicPartitionsAreCutByRows) {
  SimulatedDruid druid;
  ASSERT_EQ(druid.Run({.lines = SevenPages(),
                       .tuning = R"(,"partitionsSpec":{"type":"dynamic","maxRowsPerSegment":2})"}),
            "SUCCESS");
  EXPECT_THAT(druid.Shards(),
              ElementsAre(Numbered(0, 4), Numbered(1, 4), Numbered(2, 4), Numbered(3, 4)));
  druid.Pass(1'000);
  EXPECT_EQ(druid.Sum("count"), 7);
}

TEST(Ingestion, HashedPartitionsNumberTheBucketsThatHaveRows) {
  SimulatedDruid druid;
  ASSERT_EQ(druid.Run({.lines = SevenPages(),
                       .tuning = R"(,"forceGuaranteedRollup":true,)"
                                 R"("partitionsSpec":{"type":"hashed","numShards":3})"}),
            "SUCCESS");
  const std::vector<std::string> shards = druid.Shards();
  ASSERT_THAT(shards, SizeIs(3));
  EXPECT_THAT(shards[0],
              HasSubstr(R"("partitionNum":0,"partitions":3,"bucketId":2,"numBuckets":3)"));
  druid.Pass(1'000);
  EXPECT_EQ(druid.Sum("count"), 7);
}

TEST(Ingestion, RangesOverInlineInputFail) {
  SimulatedDruid druid;
  EXPECT_EQ(
      druid.Run({.lines = SevenPages(),
                 .tuning = R"(,"forceGuaranteedRollup":true,"partitionsSpec":{"type":"range",)"
                           R"("partitionDimensions":["page"],"targetRowsPerSegment":2})"}),
      "FAILED");
  EXPECT_THAT(druid.Error("task"), HasSubstr("DimensionRangePartitionsSpec] is not supported"));
}

class LocalFiles : public testing::Test {
 protected:
  LocalFiles() : folder_(testing::TempDir() + "simulator_local_files_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~LocalFiles() override { std::filesystem::remove_all(folder_); }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
  }
  std::string Source(const std::string& filter) const {
    return absl::StrCat(R"({"type":"local","baseDir":")", folder_, R"(","filter":")", filter,
                        R"("})");
  }
  const std::string folder_;
};

TEST_F(LocalFiles, RangesCutSortedKeysEvenlyAndKeepEqualOnesTogether) {
  std::string lines;
  for (int i = 0; i < 20; ++i) lines += Line(13, i, absl::StrCat("p", i % 5), 1);
  Write("f.json", lines);
  SimulatedDruid druid;
  ASSERT_EQ(
      druid.Run({.source = Source("*.json"),
                 .tuning = R"(,"forceGuaranteedRollup":true,"partitionsSpec":{"type":"range",)"
                           R"("partitionDimensions":["page"],"targetRowsPerSegment":8})"}),
      "SUCCESS");
  const std::string end = R"(,"dimension":"page","partitionNum":)";
  EXPECT_THAT(
      druid.Shards(),
      ElementsAre(
          R"({"type":"single","start":null,"end":"p1")" + end + R"(0,"numCorePartitions":3})",
          R"({"type":"single","start":"p1","end":"p3")" + end + R"(1,"numCorePartitions":3})",
          R"({"type":"single","start":"p3","end":null)" + end + R"(2,"numCorePartitions":3})"));
  EXPECT_EQ(druid.Stat("task", "processed"), 20);
}

TEST_F(LocalFiles, ReadsWhatTheFilterNamesAndSaysSuccessOfNothing) {
  Write("a.json", Line(13, 1, "a", 1));
  Write("b.json", Line(13, 1, "b", 2));
  Write("c.txt", Line(13, 1, "c", 4));
  SimulatedDruid druid;
  ASSERT_EQ(druid.Run({.source = Source("*.json")}), "SUCCESS");
  druid.Pass(1'000);
  EXPECT_EQ(druid.Sum("n"), 3);
  EXPECT_EQ(druid.Run({.id = "none", .source = Source("z*")}), "SUCCESS");
  druid.Pass(5'000);
  EXPECT_EQ(druid.Sum("n"), -1);
}

TEST(Ingestion, ReadsCsv) {
  SimulatedDruid druid;
  ASSERT_EQ(druid.Run({.lines = "ts,page,n\n2026-07-16T13:00:00Z,\"a,\"\"b\",3\n"
                                "2026-07-16T13:00:00Z,c\n",
                       .format = R"({"type":"csv","findColumnsFromHeader":true})"}),
            "SUCCESS");
  EXPECT_EQ(druid.Stat("task", "processed"), 2);
  druid.Pass(1'000);
  EXPECT_EQ(druid.Sum("n"), 3);
}

TEST(Ingestion, CutsDaysOfANamedZone) {
  SimulatedDruid druid;
  ASSERT_EQ(druid.Run({.intervals = {"2026-07-16T04:00Z/2026-07-17T04:00Z"},
                       .lines = Line(5, 0, "a", 1) + Line(3, 0, "b", 2),
                       .segment_granularity =
                           R"({"type":"period","period":"P1D","timeZone":"America/New_York"})"}),
            "SUCCESS");
  ASSERT_THAT(druid.Used(), SizeIs(1));
  EXPECT_THAT(druid.Used()[0], HasSubstr("2026-07-16T04:00:00.000Z_2026-07-17T04:00:00.000Z"));
  EXPECT_EQ(druid.Stat("task", "thrownAway"), 1);
}

std::string DruidSource() {
  return absl::StrCat(R"({"type":"druid","dataSource":"clicks","interval":")", Hour(13), R"("})");
}

TEST(Ingestion, ADruidSourceReadsWhatIsVisibleByItsOwnTimeColumn) {
  SimulatedDruid druid;
  druid.Run({.id = "old", .lines = Line(13, 1, "a", 100)});
  druid.Run({.id = "load", .lines = Line(13, 1, "a", 1) + Line(13, 1, "b", 2)});
  ASSERT_EQ(druid.Run({.id = "again",
                       .source = DruidSource(),
                       .timestamp = R"({"column":"__time","format":"millis"})"}),
            "SUCCESS");
  EXPECT_EQ(druid.Stat("again", "processed"), 2);
  EXPECT_EQ(druid.Stat("again", "segmentsRead"), 1);
  druid.Pass(5'000);
  EXPECT_EQ(druid.Sum("n"), 3);
}

TEST(Ingestion, ADruidSourceWithTheRawTimestampParsesNothingAndWipesTheHour) {
  SimulatedDruid druid;
  druid.Run({.id = "load", .lines = Line(13, 1, "a", 1)});
  ASSERT_EQ(druid.Run({.id = "again", .source = DruidSource()}), "SUCCESS");
  EXPECT_EQ(druid.Stat("again", "unparseable"), 1);
  EXPECT_THAT(druid.Shards(), ElementsAre(Numbered(0, 1), kTombstone));
}

// The texts are Druid's own, as a real 33.0.0 gave them.
TEST(Ingestion, RefusesFaultySpecsInDruidsWords) {
  const struct {
    Ingestion spec;
    const char* says;
  } faulty[] = {
      {{.append = true}, "Cannot simultaneously replace and append to existing segments"},
      {{.intervals = {}}, "GranularitySpec's intervals cannot be empty when using replace."},
      {{.intervals = {"x"}}, "Invalid interval[x]: [Format requires a '/' separator: x]"},
      {{.intervals = {"2026-07-17/2026-07-16"}},
       "The end instant must be greater than the start instant"},
      {{.lines = "", .source = R"({"type":"inline","data":""})"}, "problem: empty data"},
      {{.source = R"({"type":"s3","uris":[]})"}, "Could not resolve type id 's3'"},
      {{.format = R"({"type":"parquet"})"}, "Could not resolve type id 'parquet'"},
      {{.segment_granularity = R"("HOURS")"}, "No enum constant org.apache.druid"},
      {{.id = "x/y"}, "Value [x/y] cannot contain '/'."},
      {{.append = true, .drop = false, .tuning = R"(,"forceGuaranteedRollup":true)"},
       "Perfect rollup cannot be guaranteed when appending"},
      {{.tuning = R"(,"forceGuaranteedRollup":true,"partitionsSpec":{"type":"dynamic"})"},
       "DynamicPartitionsSpec cannot be used for perfect rollup"},
      {{.tuning = R"(,"partitionsSpec":{"type":"hashed"})"},
       "DynamicPartitionsSpec must be used for best-effort rollup"},
      {{.dimensions = R"(["a","a"])"}, "Duplicate column entries found : [a]"},
      {{.dimensions = R"(["n"])"}, "Cannot specify a column more than once: [n]"},
      {{.dimensions = R"(["__time"])"}, "Type must be 'long'."},
      {{.context = R"("abc")"}, "no String-argument constructor"},
      {{.context = R"({"useConcurrentLocks":true})"}, "The simulator does not know locks"},
  };
  SimulatedDruid druid;
  for (const auto& faulty : faulty) {
    Ingestion spec = faulty.spec;
    if (spec.source.empty() && spec.lines.empty()) spec.lines = Line(13, 1, "a", 1);
    const Reply reply = druid.Submit(spec.Json());
    EXPECT_EQ(reply.status, 400) << faulty.says;
    EXPECT_THAT(reply.body, HasSubstr(faulty.says));
  }
  EXPECT_EQ(druid.Get("/druid/indexer/v1/tasks").body, "[]");
}

}  // namespace
}  // namespace interlock::simulator
