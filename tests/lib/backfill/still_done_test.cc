// Equal work that is done is left alone only while nothing stands beside it: what was appended
// later has the same version, and its rows count too.
#include "lib/backfill/still_done.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "lib/backfill/history.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/verify/made_segments.h"

namespace interlock::backfill {
namespace {

// A re-run as schedulers send it past us: the same rows once more, under the same version.
void AppendByHand(BackfillSite& site, int hour, int rows) {
  const std::string spec = absl::StrReplaceAll(
      BackfillSite::InlineSpec(hour, hour + 1, rows),
      {{R"("appendToExisting":false,"dropExisting":true)",
        R"("appendToExisting":true,"dropExisting":false)"},
       {R"({"type":"index_parallel","spec")", R"({"type":"index_parallel","id":"again","spec")"}});
  ASSERT_TRUE(site.cluster().SubmitTask(spec).done());
  for (int i = 0; i < 30; ++i) site.Pass(absl::Milliseconds(100));
}

PlannedPartition::Action Planned(BackfillSite& site, const std::string& spec) {
  BackfillRequest request;
  request.spec = spec;
  const auto plan = site.backfills().MakePlan(request);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan->partitions.front().action;
}

TEST(StillDone, WorkThatWasAppendedToSinceRunsAgainAndHoldsOneCopy) {
  BackfillSite site;
  const std::string spec = BackfillSite::InlineSpec(13, 14, 8);
  site.RunUntilOver(site.Submit(spec, "r1"));
  EXPECT_EQ(Planned(site, spec), PlannedPartition::Action::kSkipDone);
  const std::string version = site.Version(13);
  AppendByHand(site, 13, 8);
  ASSERT_EQ(site.Rows(13), 16);
  ASSERT_EQ(site.Version(13), version);

  EXPECT_EQ(Planned(site, spec), PlannedPartition::Action::kRun);
  const std::string again = site.Submit(spec, "r2");
  EXPECT_EQ(NameOf(site.RunUntilOver(again).backfill.phase), "DONE");
  EXPECT_EQ(site.Rows(13), 8);
  EXPECT_EQ(NameOf(site.Partitions(again)[0].state), "DONE");
}

TEST(StillDone, WhatLacksASegmentIsNotWhatWasProven) {
  constexpr char kHour[] = "2026-07-16T13:00:00Z/2026-07-16T14:00:00Z";
  const druid::Segment core = verify::Numbered(kHour, "v1", 0, 1);
  const druid::Segment appended = verify::Numbered(kHour, "v1", 1, 1);
  const ProvenBefore before{{"digest", "v1", "backfill"}, {core.id, appended.id}, 8};
  const auto shows = [&](std::vector<druid::Segment> there) {
    return StillShows(before, druid::Timeline::Of(std::move(there)), verify::Of(kHour));
  };
  EXPECT_TRUE(shows({core, appended}));
  EXPECT_FALSE(shows({core}));
  EXPECT_FALSE(shows({core, appended, verify::Numbered(kHour, "v1", 2, 1)}));
}

TEST(StillDone, TheSameHoldsWhereTheProofIsKeptNoLonger) {
  BackfillSite site;
  const std::string spec = BackfillSite::InlineSpec(13, 14, 8);
  site.RunUntilOver(site.Submit(spec, "r1"));
  const absl::Status forgotten = site.store().Write(
      [](store::Transaction& tx) { return ForgetOldest(tx, Instant::kMax).status(); });
  ASSERT_TRUE(forgotten.ok()) << forgotten;
  EXPECT_EQ(Planned(site, spec), PlannedPartition::Action::kSkipDone);
  AppendByHand(site, 13, 8);
  EXPECT_EQ(Planned(site, spec), PlannedPartition::Action::kRun);
}

}  // namespace
}  // namespace interlock::backfill
