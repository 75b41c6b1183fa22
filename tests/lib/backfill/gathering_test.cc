// When changes of a derived table's sources are run, and what is recomputed then.
#include "lib/backfill/gathering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

namespace interlock::backfill {

void PrintTo(const GatherStep& step, std::ostream* out) {
  *out << static_cast<int>(step.kind) << " until " << step.until.ToString();
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = GatherStep::Kind;

const Instant kNoon = *Instant::Parse("2026-07-16T12:00:00Z");
constexpr absl::Duration kMinute = absl::Minutes(1);

Interval Of(const std::string& text) { return *Interval::Parse(text); }
SourceChange ChangedAt(Instant at) { return {"orders", Of("2026-07-05/P1D"), at}; }

struct Row {
  const char* what;
  std::vector<SourceChange> changes;
  bool at_work, run_open;
  absl::Duration passed;  // since noon
  GatherStep expected;
};

TEST(Gathering, ChangesAreRunOnceTheFirstIsOldEnoughAndNothingBeforeThemIsAtWork) {
  const auto one = ChangedAt(kNoon);
  const auto later = ChangedAt(kNoon + absl::Seconds(59));
  const absl::Duration patience = kMinute + kLongestWaitForSources;
  const std::vector<Row> rows = {
      {"nothing has changed", {}, false, false, kMinute, {Kind::kNothing, {}}},
      {"nothing has changed, and all is busy", {}, true, true, kMinute, {Kind::kNothing, {}}},
      {"just changed", {one}, false, false, {}, {Kind::kWait, kNoon + kMinute}},
      {"a moment too early",
       {one},
       false,
       false,
       kMinute - absl::Milliseconds(1),
       {Kind::kWait, kNoon + kMinute}},
      {"old enough", {one}, false, false, kMinute, {Kind::kRun, {}}},
      {"what came later goes along, and puts nothing off",
       {later, one},
       false,
       false,
       kMinute,
       {Kind::kRun, {}}},
      {"a source is being recomputed",
       {one},
       true,
       false,
       kMinute,
       {Kind::kWait, kNoon + kMinute + kDerivedLook}},
      {"a source that never ends is not waited for for ever",
       {one},
       true,
       false,
       patience,
       {Kind::kRun, {}}},
      {"one run at a time",
       {one},
       false,
       true,
       kMinute,
       {Kind::kWait, kNoon + kMinute + kDerivedLook}},
      {"however long it takes",
       {one},
       false,
       true,
       patience,
       {Kind::kWait, kNoon + patience + kDerivedLook}},
  };
  for (const Row& row : rows) {
    Gathered gathered{kNoon + row.passed, kMinute, row.changes, row.at_work, row.run_open};
    EXPECT_EQ(NextGather(gathered), row.expected) << row.what;
  }
}

TEST(Gathering, AffectedIsEachSourcesShareOnce) {
  const Granularity month = *Granularity::FromName("MONTH");
  Source orders;
  orders.datasource = "orders";
  orders.mapping = Source::Mapping::kCovering;
  Source rates = orders;
  rates.datasource = "rates";
  rates.reads = Source::Reads::kCorrected;
  rates.corrections_datasource = "rates__corrections";
  const std::vector<SourceChange> changes = {{"orders", Of("2026-07-05/P1D"), kNoon},
                                             {"orders", Of("2026-07-09/P1D"), kNoon},
                                             {"rates__corrections", Of("2026-05-31/P1D"), kNoon},
                                             {"rivers", Of("2026-01-01/P1D"), kNoon}};
  EXPECT_THAT(Affected({orders, rates}, changes, month, Instant::kMin),
              ElementsAre(Of("2026-05-01/P1M"), Of("2026-07-01/P1M")));
  EXPECT_THAT(Affected({orders}, {}, month, Instant::kMin), IsEmpty());
}

TEST(Gathering, WholePartitionsThatTouchASealGoBesideIt) {
  const Granularity day = *Granularity::FromName("DAY");
  const auto split = SplitAtSeals({Of("2026-07-01/2026-07-08")},
                                  {Of("2026-07-02T06:00/2026-07-04"), Of("2026-08-01/P1D")}, day);
  EXPECT_THAT(split.sealed, ElementsAre(Of("2026-07-02/2026-07-04")));
  EXPECT_THAT(split.plain, ElementsAre(Of("2026-07-01/P1D"), Of("2026-07-04/2026-07-08")));
}

}  // namespace
}  // namespace interlock::backfill
