// Holds lib/time to what Joda-Time and Druid answered (joda/README.md), row by row.
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "lib/time/granularity.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"
#include "lib/time/period.h"
#include "lib/time/reason.h"
#include "lib/time/zoned.h"

namespace interlock {
namespace {

using Row = std::vector<std::string>;

constexpr char kRefused[] = "!";
constexpr char kOutsideEternity[] = "~";

std::vector<Row> Rows(const std::string& file) {
  std::ifstream in(absl::StrCat(INTERLOCK_JODA_ANSWERS, "/", file));
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) rows.push_back(absl::StrSplit(line, '\t'));
  EXPECT_GT(rows.size(), 100u) << file;
  return rows;
}

int64_t Number(const std::string& text) {
  int64_t number = 0;
  EXPECT_TRUE(absl::SimpleAtoi(text, &number)) << text;
  return number;
}

Instant At(const std::string& millis) { return Instant::FromMillis(Number(millis)); }

Granularity GranularityOf(const std::string& period, const std::string& zone,
                          const std::string& origin) {
  const auto from = origin == "-" ? std::nullopt : std::optional<Instant>(At(origin));
  const auto granularity = Granularity::OfPeriod(Period::Parse(period).value(), zone, from);
  EXPECT_TRUE(granularity.ok()) << granularity.status();
  return granularity.value();
}

TEST(JodaAnswers, InstantsAreReadAndRefusedAsByDruid) {
  for (const Row& row : Rows("instants.tsv")) {
    const auto instant = Instant::Parse(row[0]);
    if (row[1] == kRefused) {
      EXPECT_EQ(ReasonOf(instant.status()), "INSTANT_MALFORMED") << row[0];
    } else if (row[1] == kOutsideEternity) {
      EXPECT_EQ(ReasonOf(instant.status()), "INSTANT_OUTSIDE_ETERNITY") << row[0];
    } else {
      ASSERT_TRUE(instant.ok()) << row[0] << ": " << instant.status();
      EXPECT_EQ(instant->millis(), Number(row[1])) << row[0];
    }
  }
}

TEST(JodaAnswers, InstantsArePrintedAsByDruidAndReadBack) {
  for (const Row& row : Rows("printed.tsv")) {
    EXPECT_EQ(At(row[0]).ToString(), row[1]);
    EXPECT_EQ(Instant::Parse(row[1]).value(), At(row[0])) << row[1];
  }
}

TEST(JodaAnswers, PeriodsAreReadPrintedAndRefusedAsByDruid) {
  for (const Row& row : Rows("periods.tsv")) {
    const auto period = Period::Parse(row[0]);
    if (row[1] == kRefused) {
      EXPECT_EQ(ReasonOf(period.status()), "PERIOD_MALFORMED") << row[0];
    } else {
      ASSERT_TRUE(period.ok()) << period.status();
      EXPECT_EQ(period->ToString(), row[1]) << row[0];
    }
  }
}

TEST(JodaAnswers, PeriodsAreAddedAsByDruid) {
  for (const Row& row : Rows("sums.tsv")) {
    const Period period = Period::Parse(row[0]).value();
    const Instant sum = period.AddTo(At(row[2]), LoadZone(row[1]).value(), Number(row[3]));
    EXPECT_EQ(sum, At(row[4])) << At(row[2]) << " + " << row[3] << " x " << row[0] << " in "
                               << row[1];
  }
}

TEST(JodaAnswers, IntervalsAreReadAndRefusedAsByDruid) {
  for (const Row& row : Rows("intervals.tsv")) {
    const auto interval = Interval::Parse(row[0]);
    if (row[1] == kRefused) {
      EXPECT_EQ(interval.status().code(), absl::StatusCode::kInvalidArgument) << row[0];
    } else if (row[1] == kOutsideEternity) {
      EXPECT_EQ(ReasonOf(interval.status()), "INSTANT_OUTSIDE_ETERNITY") << row[0];
    } else {
      ASSERT_TRUE(interval.ok()) << row[0] << ": " << interval.status();
      EXPECT_EQ(*interval, Interval::Of(At(row[1]), At(row[2])).value()) << row[0];
    }
  }
}

TEST(JodaAnswers, BucketsAreDruidsWhereDruidsAreACalendar) {
  int refused_without_need = 0;
  for (const Row& row : Rows("buckets.tsv")) {
    const Granularity granularity = GranularityOf(row[0], row[1], row[2]);
    const Instant at = At(row[3]);
    const Interval bucket = granularity.Bucket(at);
    const bool calendar = row[6] == "=";
    if (!calendar) {
      EXPECT_FALSE(granularity.DruidAgrees(bucket)) << granularity << " at " << at;
      continue;
    }
    // An origin in a gap, or in a local time that happens twice, can be harmless by luck.
    if (!granularity.DruidAgrees(bucket)) {
      ++refused_without_need;
      EXPECT_TRUE(granularity.origin().has_value()) << granularity << " at " << at;
    }
    EXPECT_EQ(at.millis() - bucket.start().millis(), Number(row[4])) << granularity << " at " << at;
    EXPECT_EQ(bucket.millis(), Number(row[5])) << granularity << " at " << at;
  }
  EXPECT_LE(refused_without_need, 5);
}

// Whatever Druid does: case 34.
TEST(JodaAnswers, BucketsCutTimeWithoutGapOrOverlap) {
  for (const Row& row : Rows("buckets.tsv")) {
    const Granularity granularity = GranularityOf(row[0], row[1], row[2]);
    const Instant at = At(row[3]);
    const Interval bucket = granularity.Bucket(at);
    const auto where = [&] { return absl::StrCat(granularity.ToString(), " at ", at.ToString()); };
    EXPECT_TRUE(bucket.Contains(at)) << where();
    EXPECT_EQ(granularity.Bucket(bucket.start()), bucket) << where();
    EXPECT_EQ(granularity.Bucket(bucket.end() - absl::Milliseconds(1)), bucket) << where();
    EXPECT_EQ(granularity.Bucket(bucket.end()).start(), bucket.end()) << where();
    EXPECT_EQ(granularity.Bucket(bucket.start() - absl::Milliseconds(1)).end(), bucket.start())
        << where();
  }
}

TEST(JodaAnswers, PartitionsAreAsManyAsDruidWalksThrough) {
  int refused_without_need = 0;
  for (const Row& row : Rows("counts.tsv")) {
    const Granularity granularity = GranularityOf(row[0], row[1], row[2]);
    const Interval interval = Interval::Of(At(row[3]), At(row[4])).value();
    const int64_t count = Number(row[5]);
    EXPECT_EQ(granularity.Count(interval, count).value(), count) << granularity << interval;
    EXPECT_EQ(ReasonOf(granularity.Count(interval, count - 1).status()), "TOO_MANY_PARTITIONS");
    const Interval wide = Interval::Of(At(row[6]), At(row[7])).value();
    EXPECT_EQ(granularity.Widen(interval), wide) << granularity << interval;
    const auto partitions = granularity.Partitions(wide, count);
    if (ReasonOf(partitions.status()) == "GRANULARITY_UNSUPPORTED") {
      ++refused_without_need;
      EXPECT_TRUE(granularity.origin().has_value()) << granularity << interval;
      continue;
    }
    ASSERT_TRUE(partitions.ok()) << partitions.status();
    EXPECT_EQ(static_cast<int64_t>(partitions->size()), count) << granularity << interval;
    EXPECT_EQ(partitions->back().end(), wide.end());
  }
  EXPECT_LE(refused_without_need, 5);
}

}  // namespace
}  // namespace interlock
