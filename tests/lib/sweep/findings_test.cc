#include "lib/sweep/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/store/sqlite.h"
#include "lib/sweep/paced_transport.h"
#include "lib/sweep/pages.h"
#include "lib/time/fake_clock.h"
#include "lib/time/reason.h"
#include "tests/lib/druid/canned_transport.h"

namespace interlock::sweep {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Interval Hour(int hour) {
  const Instant day = *Instant::Parse("2026-07-16");
  return Interval::Between(day + absl::Hours(hour), day + absl::Hours(hour + 1));
}

Observed Wrong(int hour, const std::string& verdict = "DOUBLE_VERSION") {
  Observed observed;
  observed.verdict = verdict;
  observed.interval = Hour(hour);
  observed.reason = verdict;
  return observed;
}

class FindingsTest : public ::testing::Test {
 protected:
  FindingsTest() : store_(*store::OpenTemporarySqlite({SweepSchema()}, clock_)) {}

  Recorded Keep(const Scope& scope, const std::vector<Observed>& observed) {
    Recorded recorded;
    EXPECT_TRUE(store_
                    ->Write([&](store::Transaction& tx) {
                      auto kept = Record(tx, scope, observed);
                      if (kept.ok()) recorded = *kept;
                      return kept.status();
                    })
                    .ok());
    return recorded;
  }
  Listed All(const Filter& filter, int64_t size, const std::string& token = "") {
    Listed listed;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto found = List(tx, filter, size, token);
                      if (found.ok()) listed = *found;
                      return found.status();
                    })
                    .ok());
    return listed;
  }
  static Scope Of(const Interval& interval) {
    Scope scope;
    scope.datasource = "clicks";
    scope.looked_at = interval;
    return scope;
  }

  FakeClock clock_;
  std::unique_ptr<store::Store> store_;
};

TEST_F(FindingsTest, ALookClosesWhatItLookedAtAndNoMore) {
  Keep(Of(Interval::Eternity()), {Wrong(10), Wrong(12)});
  EXPECT_THAT(Keep(Of(Hour(10)), {}).closed, SizeIs(1));
  EXPECT_THAT(All({}, 10).findings, SizeIs(1));
}

// The sweeper judges a day's chunk below its hours as one, a caller's look hour by hour.
TEST_F(FindingsTest, WhatTwoLooksCutOtherwiseIsOneFinding) {
  const Interval day = *Interval::Parse("2026-07-16/P1D");
  Observed whole = Wrong(0);
  whole.interval = day;
  whole.segments = {"the day's"};
  Keep(Of(day), {whole});
  std::vector<Observed> by_hour;
  for (int hour = 0; hour < 24; ++hour) {
    by_hour.push_back(Wrong(hour));
    by_hour.back().segments = {"the day's"};
  }
  clock_.Advance(absl::Minutes(1));
  const Recorded seen = Keep(Of(day), by_hour);
  EXPECT_THAT(seen.opened, IsEmpty());
  EXPECT_THAT(seen.closed, IsEmpty());
  const auto open = All({}, 100).findings;
  ASSERT_THAT(open, SizeIs(1));
  EXPECT_GT(open[0].seen, open[0].opened) << "seen again";
  // Another fault of that verdict in the same hour is another finding.
  by_hour[3].segments = {"the hour's"};
  EXPECT_THAT(Keep(Of(Hour(3)), {by_hour[3]}).opened, SizeIs(1));
  EXPECT_THAT(Keep(Of(day), {}).closed, SizeIs(2));
}

TEST_F(FindingsTest, WhatCouldNotBeToldStaysOpen) {
  Keep(Of(Hour(10)), {Wrong(10)});
  Scope scope = Of(Hour(10));
  scope.untold = {Hour(10)};
  EXPECT_THAT(Keep(scope, {}).closed, IsEmpty());
  EXPECT_THAT(All({}, 10).findings, SizeIs(1));
}

TEST_F(FindingsTest, WhatWasCountedIsClosedByACountOrByAChange) {
  Observed counted = Wrong(10, "DUPLICATE_ROWS");
  counted.reason = "MORE_THAN_EXPECTED";
  counted.digest = "before";
  Keep(Of(Hour(10)), {counted});
  Scope same = Of(Hour(10));
  same.digest_of = [](const Interval&) { return "before"; };
  EXPECT_THAT(Keep(same, {}).closed, IsEmpty()) << "metadata alone can't refute a count";
  Scope changed = same;
  changed.digest_of = [](const Interval&) { return "after"; };
  EXPECT_THAT(Keep(changed, {}).closed, SizeIs(1));
  Keep(Of(Hour(10)), {counted});
  same.compared = {Hour(10)};
  EXPECT_THAT(Keep(same, {}).closed, SizeIs(1));
}

TEST_F(FindingsTest, PagesGoOnWhereTheOneBeforeEnded) {
  Keep(Of(Interval::Eternity()), {Wrong(1), Wrong(2), Wrong(3), Wrong(4)});
  Keep(Of(Hour(2)), {});
  Filter both;
  both.closed = true;
  const Listed first = All(both, 3);
  ASSERT_THAT(first.findings, SizeIs(3));
  for (const Finding& finding : first.findings) EXPECT_TRUE(finding.open);
  const Listed second = All(both, 3, first.next);
  ASSERT_THAT(second.findings, SizeIs(1));
  EXPECT_FALSE(second.findings[0].open);
  EXPECT_EQ(second.next, "");
  EXPECT_EQ(first.findings[0].observed.interval, Hour(4)) << "newest first";
}

TEST_F(FindingsTest, ATokenOfAnotherListIsRefused) {
  const auto status =
      store_->Read([&](store::Transaction& tx) { return List(tx, {}, 3, "abc").status(); });
  EXPECT_EQ(ReasonOf(status), "BAD_PAGE_TOKEN");
}

TEST(PagesOf, WhatOverlapsIsOnePartitionAndAPageHasABound) {
  druid::IntervalContents contents;
  contents[Interval::Between(Hour(0).start(), Hour(23).end())] = {1, 7};  // a day
  contents[Hour(3)] = {2, 5};
  for (int day = 1; day <= 4; ++day) {
    const Instant start = Hour(0).start() + absl::Hours(24 * day);
    contents[Interval::Between(start, start + absl::Hours(24))] = {10, 1};
  }
  const auto pages = PagesOf(contents, 25);
  ASSERT_THAT(pages, SizeIs(2));
  EXPECT_THAT(pages[0].partitions, SizeIs(3));
  EXPECT_EQ(pages[0].content.segments, 23);
  EXPECT_EQ(pages[0].partitions[0].end(), Hour(23).end());
  EXPECT_THAT(pages[1].partitions, SizeIs(2));
  EXPECT_THAT(PagesOf(contents, 1), SizeIs(5)) << "one partition is never cut";
  EXPECT_THAT(PagesOf({}, 1), IsEmpty());
}

TEST(PacedTransport, RequestsKeepTheirDistance) {
  const SystemClock clock;
  auto inner = std::make_shared<druid::CannedTransport>(
      [](const druid::HttpRequest&) { return druid::Reply(200, "{}"); });
  PacedTransport paced(inner, clock, 200);
  const auto begun = clock.Monotonic();
  for (int i = 0; i < 11; ++i) paced.Send({});
  EXPECT_GE(clock.Monotonic() - begun, std::chrono::milliseconds(50));
  EXPECT_THAT(inner->requests, SizeIs(11));
  paced.Stop();
  EXPECT_EQ(paced.Send({}).exchange, druid::HttpReply::Exchange::kNotConnected);
  EXPECT_THAT(inner->requests, SizeIs(11));
}

}  // namespace
}  // namespace interlock::sweep
