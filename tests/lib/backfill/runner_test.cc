#include "lib/backfill/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/lease/obstacle.h"
#include "lib/lease/reservations.h"
#include "lib/time/status_reason.h"
#include "tests/lib/backfill/backfill_site.h"

namespace interlock::backfill {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Runner, ReplacesAnHourAndProvesIt) {
  BackfillSite site;
  site.Load(12, 3);
  site.Load(13, 5);
  site.Load(14, 3);
  const std::string before = site.Version(12);
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  const Backfills::Detail done = site.RunUntilOver(id);
  EXPECT_EQ(NameOf(done.backfill.phase), "DONE") << done.backfill.message;
  EXPECT_EQ(site.Rows(13), 8);
  EXPECT_EQ(site.Version(12), before);
  EXPECT_THAT(site.OurTasks(), SizeIs(1));
  const auto partitions = site.Partitions(id);
  ASSERT_THAT(partitions, SizeIs(1));
  EXPECT_EQ(NameOf(partitions[0].state), "DONE");
  ASSERT_TRUE(partitions[0].proof);
  EXPECT_EQ(partitions[0].proof->version, site.Version(13));
  EXPECT_EQ(partitions[0].proof->rows, 8);
  ASSERT_TRUE(partitions[0].proof->task_rows);
  EXPECT_EQ(partitions[0].proof->task_rows->segments_published, 1);
  EXPECT_EQ(partitions[0].proof->neighbours_before, partitions[0].proof->neighbours_after);
  // Its time is free again.
  EXPECT_THAT(site.Held(Hour(13)), IsEmpty());
}

TEST(Runner, MakesOneTaskForEachUnitAndNeverMoreAtOnceThanAllowed) {
  BackfillSite site;
  const std::string spec = site.FilesSpec(0, 12, 4);
  const std::string id = site.Submit(spec);
  int64_t most = 0;
  site.transport().Before([&](const druid::HttpRequest&) {
    OpenCounts open;
    EXPECT_TRUE(site.store()
                    .Read([&](store::Transaction& tx) {
                      open = *CountOpen(tx, id, "clicks");
                      return absl::OkStatus();
                    })
                    .ok());
    most = std::max(most, open.backfill);
  });
  const Backfills::Detail done = site.RunUntilOver(id);
  EXPECT_EQ(NameOf(done.backfill.phase), "DONE") << done.backfill.message;
  EXPECT_THAT(site.OurTasks(), SizeIs(12));
  EXPECT_EQ(most, 2);
  for (int hour = 0; hour < 12; ++hour) EXPECT_EQ(site.Rows(hour), 4) << hour;
}

TEST(Runner, Case135TheSameRequestAgainStartsNoTask) {
  BackfillSite site;
  const std::string spec = BackfillSite::InlineSpec(13, 14, 8);
  const std::string id = site.Submit(spec, "r1");
  EXPECT_EQ(site.Submit(spec, "r1"), id);  // while it is not over
  site.RunUntilOver(id);
  BackfillRequest request;
  request.spec = spec;
  const auto again = site.backfills().Submit(request, site.Caller("r1"));
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->attached);
  EXPECT_EQ(again->backfill.id, id);
  site.RunUntilOver(id);
  EXPECT_THAT(site.OurTasks(), SizeIs(1));
  // Another body under the same id is refused.
  request.spec = BackfillSite::InlineSpec(14, 15, 8);
  EXPECT_EQ(ReasonOf(site.backfills().Submit(request, site.Caller("r1")).status()),
            "REQUEST_ID_REUSED");
}

TEST(Runner, AnotherIdOverWorkThatRunsAttachesToIt) {
  BackfillSite site;
  const std::string spec = BackfillSite::InlineSpec(13, 14, 8);
  const std::string id = site.Submit(spec, "r1");
  EXPECT_EQ(site.Submit(spec, "r2"), id);
}

TEST(Runner, DoneWorkIsSkippedUnlessAllOfItIsAskedFor) {
  BackfillSite site;
  const std::string spec = BackfillSite::InlineSpec(13, 14, 8);
  site.RunUntilOver(site.Submit(spec, "r1"));
  const std::string second = site.Submit(spec, "r2");
  const Backfills::Detail skipped = site.RunUntilOver(second);
  EXPECT_EQ(NameOf(skipped.backfill.phase), "DONE");
  EXPECT_EQ(site.Partitions(second)[0].reason, "ALREADY_DONE");
  EXPECT_THAT(site.OurTasks(), SizeIs(1));

  BackfillRequest all;
  all.spec = spec;
  all.reprocess = Reprocess::kAll;
  const auto third = site.backfills().Submit(all, site.Caller("r3"));
  ASSERT_TRUE(third.ok());
  site.RunUntilOver(third->backfill.id);
  EXPECT_THAT(site.OurTasks(), SizeIs(2));
  EXPECT_EQ(site.Rows(13), 8);
}

TEST(Runner, WorkThatWasDoneAndIsNoLongerLiveRunsAgain) {
  BackfillSite site;
  const std::string spec = BackfillSite::InlineSpec(13, 14, 8);
  site.RunUntilOver(site.Submit(spec, "r1"));
  site.RunUntilOver(site.Submit(BackfillSite::InlineSpec(13, 14, 9), "r2"));
  EXPECT_EQ(site.Rows(13), 9);
  site.RunUntilOver(site.Submit(spec, "r3"));
  EXPECT_EQ(site.Rows(13), 8);
}

TEST(Runner, ChangedInputRunsAgainWithItsOwnTask) {
  BackfillSite site;
  site.RunUntilOver(site.Submit(site.FilesSpec(13, 14, 4)));
  BackfillRequest again;
  again.spec = site.FilesSpec(13, 14, 6);  // the same spec over other files
  again.reprocess = Reprocess::kAll;
  const auto submitted = site.backfills().Submit(again, site.Caller());
  ASSERT_TRUE(submitted.ok());
  site.RunUntilOver(submitted->backfill.id);
  EXPECT_EQ(site.Rows(13), 6);
  EXPECT_THAT(site.OurTasks(), SizeIs(2));
}

TEST(Runner, Case020SuccessWithoutRowsOverRowsIsSuspect) {
  BackfillSite site;
  site.Load(13, 5);
  // Rows of another hour: Druid says SUCCESS and wipes this one.
  const Backfills::Detail over = site.RunUntilOver(site.Submit(BackfillSite::WipingSpec(13)));
  EXPECT_EQ(NameOf(over.backfill.phase), "NEEDS_ATTENTION") << over.backfill.message;
  EXPECT_EQ(site.Partitions(over.backfill.id)[0].reason, "ZERO_ROWS");
  // A person can take it as it is, with a reason.
  EXPECT_EQ(
      ReasonOf(site.backfills().Accept(over.backfill.id, {Hour(13)}, {"ada", "", ""}).status()),
      "REASON_REQUIRED");
  const auto accepted = site.backfills().Accept(over.backfill.id, {Hour(13)}, site.Caller());
  ASSERT_TRUE(accepted.ok()) << accepted.status();
  EXPECT_EQ(NameOf(accepted->phase), "DONE");
}

TEST(Runner, ATaskThatSaysFailedAndHasPublishedIsDone) {
  BackfillSite site;
  site.Load(13, 5);
  ASSERT_TRUE(site.simulator()
                  .AddFault(R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},
                                "kind":"failed_but_published"})")
                  .ok());
  const Backfills::Detail over =
      site.RunUntilOver(site.Submit(BackfillSite::InlineSpec(13, 14, 8)));
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE") << over.backfill.message;
  EXPECT_EQ(site.Rows(13), 8);
  EXPECT_THAT(site.OurTasks(), SizeIs(1));
}

TEST(Runner, ATaskThatFailsIsTriedAgainUpToThreeTimes) {
  BackfillSite site;
  site.Load(13, 5);
  ASSERT_TRUE(site.simulator()
                  .AddFault(R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},
                                "kind":"failed_task","times":2})")
                  .ok());
  const Backfills::Detail over =
      site.RunUntilOver(site.Submit(BackfillSite::InlineSpec(13, 14, 8)));
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE") << over.backfill.message;
  EXPECT_THAT(site.OurTasks(), SizeIs(3));
  EXPECT_EQ(site.Rows(13), 8);
}

TEST(Runner, ThatFailsThreeTimesIsFailedAndCanBeRetried) {
  BackfillSite site;
  ASSERT_TRUE(site.simulator()
                  .AddFault(R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},
                                "kind":"failed_task","times":3})")
                  .ok());
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "FAILED");
  EXPECT_THAT(site.Held(Hour(13)), IsEmpty());
  const auto retried = site.backfills().Retry(id, {}, {}, site.Caller());
  ASSERT_TRUE(retried.ok()) << retried.status();
  EXPECT_EQ(retried->units, 1);
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_THAT(site.OurTasks(), SizeIs(4));
}

TEST(Runner, SuccessThatPublishedNothingIsNotAppliedAndTriedAgain) {
  BackfillSite site;
  site.Load(13, 5);
  ASSERT_TRUE(site.simulator()
                  .AddFault(R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},
                                "kind":"success_but_nothing"})")
                  .ok());
  const Backfills::Detail over =
      site.RunUntilOver(site.Submit(BackfillSite::InlineSpec(13, 14, 8)));
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE") << over.backfill.message;
  EXPECT_THAT(site.OurTasks(), SizeIs(2));
}

TEST(Runner, WaitsForAStreamsLockAndSaysSo) {
  BackfillSite site;
  site.simulator().Ask("POST", "/simulator/locks",
                       R"({"group":"index_kafka_clicks","datasource":"clicks","interval":")" +
                           Hour(13).ToString() + R"(","priority":75,"type":"EXCLUSIVE"})");
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  site.RunUntilOver(id, absl::Seconds(5));
  const auto waiting = site.Partitions(id);
  EXPECT_EQ(NameOf(waiting[0].state), "RESERVED");
  EXPECT_EQ(waiting[0].reason, "STREAM_HOLDS_LOCK");
  EXPECT_THAT(waiting[0].message, HasSubstr("index_kafka_clicks"));
  EXPECT_THAT(site.OurTasks(), IsEmpty());
  site.simulator().Ask("DELETE", "/simulator/locks/index_kafka_clicks");
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
}

TEST(Runner, ASecondHolderIsRefusedAndToldWhoHoldsIt) {
  BackfillSite site;
  site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  BackfillRequest request;
  request.spec = BackfillSite::InlineSpec(13, 15, 9);
  const auto refused = site.backfills().Submit(request, {"bob", "", ""});
  EXPECT_EQ(ReasonOf(refused.status()), "HELD");
  ASSERT_THAT(BlockersOf(refused.status()), SizeIs(1));
  EXPECT_THAT(BlockersOf(refused.status())[0].description, HasSubstr("ada"));
  // Nothing was stored.
  EXPECT_THAT(site.backfills().List({}, 0, "")->backfills, SizeIs(1));
}

// An unseal that ends while units wait for their turn: nothing more is posted, and the time
// that they had is free, for the seal to be whole again.
TEST(Runner, WhatIsBarredAgainIsNotPostedAndItsTimeIsLeft) {
  bool sealed = false;
  Options options = BackfillSite::SiteOptions();
  options.max_parallel = 1;
  options.lease_limits.obstacles = std::make_shared<lease::Obstacles>(std::vector<lease::Obstacle>{
      [&sealed](store::Transaction&, const std::string&, lease::Mode,
                const std::vector<Interval>& asked) -> absl::StatusOr<std::vector<lease::Held>> {
        lease::Held held;
        held.by = lease::HeldBy::kSeal;
        held.interval = Hour(14);
        held.reason = "SEALED";
        held.message = "seal s1 of bob";
        held.until = Instant::kMax;
        const bool reaches = std::any_of(
            asked.begin(), asked.end(), [](const Interval& one) { return one.Overlaps(Hour(14)); });
        return sealed && reaches ? std::vector<lease::Held>{held} : std::vector<lease::Held>();
      }});
  BackfillSite site(options);
  const std::string id = site.Submit(site.FilesSpec(13, 15, 4));
  site.StepOnce();
  ASSERT_THAT(site.OurTasks(), SizeIs(1));
  sealed = true;
  site.RunUntilOver(id, absl::Seconds(30));
  EXPECT_THAT(site.OurTasks(), SizeIs(1));
  const auto partitions = site.Partitions(id);
  EXPECT_EQ(NameOf(partitions[0].state), "DONE");
  EXPECT_EQ(NameOf(partitions[1].state), "PENDING");
  EXPECT_EQ(partitions[1].reason, "SEALED");
  EXPECT_THAT(site.Held(Hour(14)), IsEmpty());
  sealed = false;
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
}

TEST(Runner, WhatOthersHoldIsSkippedWhereThatIsAskedFor) {
  BackfillSite site;
  site.Submit(site.FilesSpec(13, 14, 4));
  BackfillRequest request;
  request.spec = site.FilesSpec(12, 15, 4);
  request.skip_held = true;
  const auto submitted = site.backfills().Submit(request, {"bob", "", ""});
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  const Backfills::Detail over = site.RunUntilOver(submitted->backfill.id);
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE");
  const auto partitions = site.Partitions(submitted->backfill.id);
  EXPECT_EQ(NameOf(partitions[0].state), "DONE");
  EXPECT_EQ(NameOf(partitions[1].state), "SKIPPED");
  EXPECT_EQ(partitions[1].reason, "HELD");
  EXPECT_EQ(NameOf(partitions[2].state), "DONE");
}

TEST(Runner, CancelShutsTheTaskDownAndProvesWhatItLeft) {
  BackfillSite site;
  site.Load(13, 5);
  ASSERT_TRUE(site.simulator()
                  .AddFault(R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},
                                "kind":"stuck_task"})")
                  .ok());
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  site.RunUntilOver(id, absl::Seconds(2));
  EXPECT_EQ(NameOf(site.Partitions(id)[0].state), "RUNNING");
  ASSERT_TRUE(site.backfills().Cancel(id, site.Caller()).ok());
  const Backfills::Detail over = site.RunUntilOver(id);
  EXPECT_EQ(NameOf(over.backfill.phase), "CANCELLED") << over.backfill.message;
  EXPECT_EQ(site.Rows(13), 5);
  EXPECT_THAT(site.Held(Hour(13)), IsEmpty());
}

TEST(Runner, Case078ATaskThatRunsTooLongIsShutDownAndTriedAgain) {
  BackfillSite site;
  site.Load(13, 5);
  ASSERT_TRUE(site.simulator()
                  .AddFault(R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},
                                "kind":"stuck_task"})")
                  .ok());
  BackfillRequest request;
  request.spec = BackfillSite::InlineSpec(13, 14, 8);
  request.run_deadline = absl::Seconds(20);
  request.waiting_deadline = absl::Hours(1);  // it does not wait, it runs
  const auto submitted = site.backfills().Submit(request, site.Caller());
  const Instant start = site.clock().Now();
  const Backfills::Detail over = site.RunUntilOver(submitted->backfill.id);
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE") << over.backfill.message;
  EXPECT_LT(site.clock().Now() - start, absl::Minutes(2));
  const auto attempts = site.backfills().ListAttempts(over.backfill.id, 0);
  ASSERT_THAT(*attempts, SizeIs(2));
  EXPECT_TRUE((*attempts)[0].running);
  EXPECT_EQ((*attempts)[0].druid_status, "FAILED");
  EXPECT_EQ(site.Rows(13), 8);
}

TEST(Runner, ATaskThatWaitsTooLongForALockIsShutDown) {
  BackfillSite site;
  site.transport().Before([&](const druid::HttpRequest& request) {
    if (request.body.find("index_parallel") == std::string::npos) return;
    site.transport().Before(nullptr);  // a stream comes between the look and the task
    site.simulator().Ask("POST", "/simulator/locks",
                         R"({"group":"index_kafka_clicks","datasource":"clicks","interval":")" +
                             Hour(13).ToString() + R"(","priority":75,"type":"EXCLUSIVE"})");
  });
  BackfillRequest request;
  request.spec = BackfillSite::InlineSpec(13, 14, 8);
  request.waiting_deadline = absl::Seconds(20);
  const std::string id = site.backfills().Submit(request, site.Caller())->backfill.id;
  site.RunUntilOver(id, absl::Seconds(15));
  EXPECT_EQ(NameOf(site.Partitions(id)[0].state), "RUNNING");
  EXPECT_EQ(site.Partitions(id)[0].reason, "WAITING_FOR_SLOT_OR_LOCK");
  site.RunUntilOver(id, absl::Seconds(15));
  EXPECT_EQ(NameOf(site.Partitions(id)[0].state), "RESERVED");
  EXPECT_EQ(site.Partitions(id)[0].reason, "STREAM_HOLDS_LOCK");
  EXPECT_EQ(site.backfills().ListAttempts(id, 0)->at(0).druid_status, "FAILED");
}

TEST(Runner, PauseStartsNothingNewAndResumeGoesOn) {
  BackfillSite site;
  const std::string id = site.Submit(site.FilesSpec(0, 6, 3));
  site.StepOnce();
  ASSERT_TRUE(site.backfills().Pause(id, site.Caller()).ok());
  const Backfills::Detail paused = site.RunUntilOver(id, absl::Seconds(20));
  EXPECT_EQ(NameOf(paused.backfill.phase), "PAUSED");
  EXPECT_THAT(site.OurTasks(), SizeIs(2));
  ASSERT_TRUE(site.backfills().Resume(id, site.Caller()).ok());
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
}

// Calls `then` once, when the intent of the backfill's task is stored and nothing was sent.
// Issue 3: stopped between intent and POST until the lease is over.
TEST(Runner, ReindexesItselfByTheSumsOfWhatItRead) {
  BackfillSite site;
  site.Load(13, 5);
  const std::string spec = R"({"type":"index_parallel","spec":{"dataSchema":{"dataSource":"clicks",
      "timestampSpec":{"column":"__time","format":"millis"},"dimensionsSpec":{"dimensions":["page"]},
      "metricsSpec":[{"type":"longSum","name":"events","fieldName":"events"},
                     {"type":"longSum","name":"n","fieldName":"n"}],
      "granularitySpec":{"segmentGranularity":"HOUR","queryGranularity":"HOUR",
        "intervals":["2026-07-16T13:00:00Z/2026-07-16T14:00:00Z"]}},
    "ioConfig":{"type":"index_parallel","inputSource":{"type":"druid","dataSource":"clicks",
        "interval":"2026-07-16T13:00:00Z/2026-07-16T14:00:00Z"},"dropExisting":true}}})";
  const Backfills::Detail over = site.RunUntilOver(site.Submit(spec));
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE") << over.backfill.message;
  EXPECT_EQ(site.Rows(13), 5);
  EXPECT_EQ(site.Partitions(over.backfill.id)[0].proof->row_rule, "SOURCE_SUMS");
}

}  // namespace
}  // namespace interlock::backfill
