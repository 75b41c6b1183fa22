// Rows that come to an interval after it was proven.
#include "lib/guard/late_rows.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/lib/guard/guard_site.h"

namespace interlock::guard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr char kVersion[] = "2026-11-29T15:42:08.847Z";
constexpr char kNewer[] = "2026-11-29T16:00:00.000Z";

druid::Segment Segment(const std::string& id, const std::string& version, const std::string& file) {
  druid::Segment segment;
  segment.id = id;
  segment.interval = Of("2026-07-16T13:00Z/2026-07-16T14:00Z");
  segment.version = version;
  segment.load_spec = file;
  return segment;
}

Proven OfHour() {
  Proven proven;
  proven.datasource = "views";
  proven.interval = Of("2026-07-16T13:00Z/2026-07-16T14:00Z");
  proven.version = kVersion;
  proven.segments = {"batch"};
  proven.backfill_id = "b1";
  return proven;
}

// They get the backfill's own version, with a partition beyond its own.
TEST(LateRows, ASegmentOfTheProvenVersionThatWasNotProvenIsLate) {
  const LateRows late =
      FindLateRows(OfHour(), {Segment("batch", kVersion, "f1"), Segment("late", kVersion, "f2")});
  EXPECT_THAT(late.segments, ElementsAre("late"));
  EXPECT_THAT(late.upgraded, IsEmpty());
}

// Concurrent locks: the stream's segment exists twice, under its own version and the
// backfill's, with one file.
TEST(LateRows, AFileThatIsAlsoAnotherVersionsWasUpgraded) {
  const LateRows late =
      FindLateRows(OfHour(), {Segment("batch", kVersion, "f1"), Segment("up", kVersion, "f2"),
                              Segment("own", "1970-01-01T00:00:00.000Z", "f2")});
  EXPECT_THAT(late.segments, ElementsAre("up"));
  EXPECT_THAT(late.upgraded, ElementsAre("up"));
}

TEST(LateRows, WhatWasProvenAndWhatIsHiddenIsNot) {
  EXPECT_THAT(FindLateRows(OfHour(), {Segment("batch", kVersion, "f1"),
                                      Segment("old", "2026-01-01T00:00:00.000Z", "f0")})
                  .segments,
              IsEmpty());
}

std::string Json(const std::string& id, int partition, const std::string& file,
                 const std::string& version = kVersion) {
  return absl::StrCat(
      R"({"dataSource":"views","interval":"2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z",)",
      R"("version":")", version, R"(","loadSpec":{"type":"local","path":")", file,
      R"("},"dimensions":"","metrics":"","shardSpec":{"type":"numbered","partitionNum":)",
      partition, R"(,"partitions":1},"binaryVersion":9,"size":1,"identifier":")", id, "\"}");
}

class LateRowsWatched : public testing::Test {
 protected:
  void SetUp() override {
    site.options.late_rows_every = absl::Seconds(5);
    site.Restart();
    site.druid().supervisors["views"] = {"views", "v", "", false, true};
    site.druid().tasks["t"] = {"views", "v", "index_kafka_views", "", 0, ""};
    site.druid().segments = "[" + Json("batch", 0, "f1") + "]";
    site.Look();
    Watch(OfHour());
    site.Look();
    ASSERT_THAT(site.Findings("FOREIGN_WRITE"), IsEmpty());
  }
  void Watch(Proven proven) {
    proven.at = site.store().Now();
    ASSERT_TRUE(
        site.store()
            .Write([&](store::Transaction& tx) { return WatchProven(tx, proven, site.options); })
            .ok());
  }
  GuardSite site;
};

TEST_F(LateRowsWatched, AreFoundAndNamedWithTheStream) {
  site.druid().segments = "[" + Json("batch", 0, "f1") + "," + Json("late", 1, "f2") + "]";
  site.Look();
  const auto found = site.Findings("FOREIGN_WRITE");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].stream, "views");
  EXPECT_EQ(found[0].backfill_id, "b1");
  EXPECT_EQ(found[0].amount, 1);
}

TEST_F(LateRowsWatched, AreNamedThoughTheStreamIsGoneByThen) {
  site.druid().tasks["t"].ended = "SUCCESS";
  site.Look();
  site.druid().supervisors.clear();
  site.Look();
  site.Look();
  ASSERT_THAT(site.All(), IsEmpty());
  site.druid().segments = "[" + Json("batch", 0, "f1") + "," + Json("late", 1, "f2") + "]";
  site.Look();
  const auto found = site.Findings("FOREIGN_WRITE");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].stream, "views");
}

TEST_F(LateRowsWatched, UpgradedOnesCountTwiceForCertain) {
  site.druid().segments = "[" + Json("batch", 0, "f1") + "," + Json("up", 1, "f2") + "," +
                          Json("own", 0, "f2", "1970-01-01T00:00:00.000Z") + "]";
  site.Look();
  const auto found = site.Findings("DUPLICATE_ROWS");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].message, HasSubstr("twice"));
}

// A coordinator that has been up for a while marks what is hidden unused within seconds.
TEST_F(LateRowsWatched, UpgradedOnesAreToldThoughTheirTwinIsUnusedByNow) {
  site.druid().segments = "[" + Json("batch", 0, "f1") + "," + Json("up", 1, "f2") + "]";
  site.druid().unused = absl::StrCat(
      R"([{"dataSegment":)", Json("own", 0, "f2", "1970-01-01T00:00:00.000Z"),
      R"(,"createdDate":"2026-07-16T13:20:00.000Z",)",
      R"("usedStatusLastUpdatedDate":"2026-07-16T13:30:00.000Z",)", R"("used":false}])");
  site.Look();
  EXPECT_THAT(site.Findings("DUPLICATE_ROWS"), SizeIs(1));
  EXPECT_THAT(site.Findings("FOREIGN_WRITE"), IsEmpty());
}

// A killed indexer frees the stream's lock; the batch runs, and the stream reads again.
TEST_F(LateRowsWatched, AfterALostTaskRowsMayCountTwice) {
  site.druid().tasks["t"].ended = "FAILED";
  site.druid().segments = "[" + Json("batch", 0, "f1") + "," + Json("late", 1, "f2") + "]";
  site.Look();
  const auto found = site.Findings("DUPLICATE_ROWS");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].message, HasSubstr("lost"));
}

TEST_F(LateRowsWatched, AnotherBackfillOfTheHourSettlesIt) {
  site.druid().segments = "[" + Json("batch", 0, "f1") + "," + Json("late", 1, "f2") + "]";
  site.Look();
  ASSERT_THAT(site.Findings("FOREIGN_WRITE"), SizeIs(1));
  site.druid().segments = "[" + Json("newer", 0, "f3", kNewer) + "]";
  site.Look();
  EXPECT_THAT(site.Findings("FOREIGN_WRITE"), IsEmpty());
}

// Its proof comes before the next look does, and takes the earlier one's place.
TEST_F(LateRowsWatched, TheNextProofOfTheHourSettlesIt) {
  site.druid().segments = "[" + Json("batch", 0, "f1") + "," + Json("late", 1, "f2") + "]";
  site.Look();
  ASSERT_THAT(site.Findings("FOREIGN_WRITE"), SizeIs(1));
  site.druid().segments = "[" + Json("newer", 0, "f3", kNewer) + "]";
  Proven newer = OfHour();
  newer.version = kNewer;
  newer.segments = {"newer"};
  Watch(newer);
  site.Look();
  EXPECT_THAT(site.Findings("FOREIGN_WRITE"), IsEmpty());
}

TEST_F(LateRowsWatched, WhatWasFoundIsWatchedUntilItIsMended) {
  site.druid().segments = "[" + Json("batch", 0, "f1") + "," + Json("late", 1, "f2") + "]";
  site.Look();
  site.clock().Advance(2 * site.options.late_rows_for);
  site.Look();
  ASSERT_THAT(site.Findings("FOREIGN_WRITE"), SizeIs(1));
  site.druid().segments = "[" + Json("newer", 0, "f3", kNewer) + "]";
  site.clock().Advance(2 * site.options.late_rows_every);
  site.Look();
  EXPECT_THAT(site.Findings("FOREIGN_WRITE"), IsEmpty());
}

}  // namespace
}  // namespace interlock::guard
