#include "lib/backfill/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/lease/reservations.h"
#include "lib/time/status_reason.h"
#include "tests/lib/backfill/backfill_site.h"

namespace interlock::backfill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<StoredPartition> PartitionsOf(BackfillSite& site, const std::string& id) {
  auto page = site.backfills().ListPartitions(id, {}, 1000, "");
  EXPECT_TRUE(page.ok()) << page.status();
  return page->partitions;
}

std::vector<lease::Held> HeldIn(BackfillSite& site, const Interval& interval) {
  std::vector<lease::Held> held;
  EXPECT_TRUE(site.store()
                  .Read([&](store::Transaction& tx) {
                    auto found = lease::FindHeld(tx, "clicks", lease::Mode::kReplace, {interval});
                    if (found.ok()) held = *found;
                    return found.status();
                  })
                  .ok());
  return held;
}

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
  const auto partitions = PartitionsOf(site, id);
  ASSERT_THAT(partitions, SizeIs(1));
  EXPECT_EQ(NameOf(partitions[0].state), "DONE");
  ASSERT_TRUE(partitions[0].proof);
  EXPECT_EQ(partitions[0].proof->version, site.Version(13));
  EXPECT_EQ(partitions[0].proof->rows, 8);
  EXPECT_EQ(partitions[0].proof->neighbours_before, partitions[0].proof->neighbours_after);
  // Its time is free again.
  EXPECT_THAT(HeldIn(site, Hour(13)), IsEmpty());
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
  EXPECT_EQ(PartitionsOf(site, second)[0].reason, "ALREADY_DONE");
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
  std::string spec = BackfillSite::InlineSpec(13, 14, 2);
  for (size_t at = 0; (at = spec.find("T13:0", at)) != std::string::npos; ++at) {
    if (spec.compare(at, 7, "T13:00:") != 0 || spec.compare(at + 7, 3, "00Z") == 0) {
      spec.replace(at, 3, "T18");
    }
  }
  const Backfills::Detail over = site.RunUntilOver(site.Submit(spec));
  EXPECT_EQ(NameOf(over.backfill.phase), "NEEDS_ATTENTION") << over.backfill.message;
  EXPECT_EQ(PartitionsOf(site, over.backfill.id)[0].reason, "ZERO_ROWS");
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
  EXPECT_THAT(HeldIn(site, Hour(13)), IsEmpty());
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

TEST(Runner, Case066ALostReplyIsSettledByTheSameId) {
  for (const Spoil spoil : {Spoil::kLostBefore, Spoil::kLostAfter, Spoil::kLate}) {
    BackfillSite site;
    bool spoiled = false;
    site.transport().SpoilBy([&](int64_t, const druid::HttpRequest& request) {
      const bool submit = request.method == "POST" &&
                          request.url.find("/v1/task") != std::string::npos &&
                          request.body.find("index_parallel") != std::string::npos;
      if (!submit || spoiled) return Spoil::kNot;
      spoiled = true;
      return spoil;
    });
    const Backfills::Detail over =
        site.RunUntilOver(site.Submit(BackfillSite::InlineSpec(13, 14, 8)));
    EXPECT_TRUE(spoiled);
    EXPECT_EQ(NameOf(over.backfill.phase), "DONE") << over.backfill.message;
    EXPECT_THAT(site.OurTasks(), SizeIs(1));
    EXPECT_EQ(site.Rows(13), 8);
  }
}

TEST(Runner, ATaskOfAnotherUnderTheIdIsNeverTakenForOurs) {
  BackfillSite site;
  bool taken = false;
  site.transport().Before([&](const druid::HttpRequest& request) {
    if (taken || request.method != "POST" ||
        request.body.find("\"interlock\"") == std::string::npos) {
      return;
    }
    taken = true;
    const size_t at = request.body.find("\"id\":\"il-") + 6;
    const std::string id = request.body.substr(at, request.body.find('"', at) - at);
    site.simulator().Ask("POST", "/druid/indexer/v1/task",
                         R"({"type":"noop","runTime":1,"id":")" + id + "\"}");
  });
  const Backfills::Detail over =
      site.RunUntilOver(site.Submit(BackfillSite::InlineSpec(13, 14, 8)));
  EXPECT_TRUE(taken);
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE") << over.backfill.message;
  EXPECT_THAT(site.OurTasks(), SizeIs(1));  // the second attempt, under another id
  const auto attempts = site.backfills().ListAttempts(over.backfill.id, 0);
  ASSERT_TRUE(attempts.ok());
  ASSERT_THAT(*attempts, SizeIs(2));
  EXPECT_EQ(NameOf((*attempts)[0].state), "NOT_SUBMITTED");
}

TEST(Runner, WaitsForAStreamsLockAndSaysSo) {
  BackfillSite site;
  site.simulator().Ask("POST", "/simulator/locks",
                       R"({"group":"index_kafka_clicks","datasource":"clicks","interval":")" +
                           Hour(13).ToString() + R"(","priority":75,"type":"EXCLUSIVE"})");
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  site.RunUntilOver(id, absl::Seconds(5));
  const auto waiting = PartitionsOf(site, id);
  EXPECT_EQ(NameOf(waiting[0].state), "RESERVED");
  EXPECT_EQ(waiting[0].reason, "DRUID_LOCK");
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
  const auto partitions = PartitionsOf(site, submitted->backfill.id);
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
  EXPECT_EQ(NameOf(PartitionsOf(site, id)[0].state), "RUNNING");
  ASSERT_TRUE(site.backfills().Cancel(id, site.Caller()).ok());
  const Backfills::Detail over = site.RunUntilOver(id);
  EXPECT_EQ(NameOf(over.backfill.phase), "CANCELLED") << over.backfill.message;
  EXPECT_EQ(site.Rows(13), 5);
  EXPECT_THAT(HeldIn(site, Hour(13)), IsEmpty());
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

TEST(Runner, ALeaseIsKeptWhileDruidWorksAndWhileItIsAway) {
  BackfillSite site;
  ASSERT_TRUE(site.simulator()
                  .AddFault(R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},
                                "kind":"stuck_task"})")
                  .ok());
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  site.RunUntilOver(id, absl::Seconds(2));
  site.transport().SpoilBy([](int64_t, const druid::HttpRequest&) { return Spoil::kUnreachable; });
  for (int minute = 0; minute < 40; ++minute) {
    site.StepOnce();
    site.Pass(absl::Seconds(60));
  }
  const auto held = HeldIn(site, Hour(13));
  ASSERT_THAT(held, SizeIs(1));
  EXPECT_FALSE(held[0].orphaned);
}

// Calls `then` once, when the intent of the backfill's task is stored and nothing was sent.
void AfterTheIntent(BackfillSite& site, const std::string& id, std::function<void()> then) {
  site.runners_clock().Before([&site, id, then] {
    const auto attempts = site.backfills().ListAttempts(id, 0);
    if (!attempts.ok() || attempts->empty()) return;
    site.runners_clock().Before(nullptr);
    then();
  });
}

// Issue 3: stopped between intent and POST until the lease is over.
TEST(Runner, StoppedBeforeThePostUntilItsLeaseIsOverItNeverPostsThatAttempt) {
  BackfillSite site;
  site.Load(13, 5);
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  bool stopped = false;
  AfterTheIntent(site, id, [&] {
    stopped = true;
    site.clock().Advance(absl::Minutes(30));
  });
  site.StepOnce();
  EXPECT_TRUE(stopped);
  EXPECT_THAT(site.OurTasks(), IsEmpty());
  // Nobody knows yet that nothing was sent: the time stays blocked.
  BackfillRequest other;
  other.spec = BackfillSite::InlineSpec(13, 14, 9);
  const auto refused = site.backfills().Submit(other, {"bob", "", ""});
  EXPECT_EQ(ReasonOf(refused.status()), "HELD");
  EXPECT_EQ(BlockersOf(refused.status())[0].type, "ORPHANED");

  const Backfills::Detail over = site.RunUntilOver(id);
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE") << over.backfill.message;
  EXPECT_EQ(site.Rows(13), 8);
  EXPECT_THAT(site.OurTasks(), SizeIs(1));
  const auto attempts = site.backfills().ListAttempts(id, 0);
  ASSERT_THAT(*attempts, SizeIs(2));
  EXPECT_EQ(NameOf((*attempts)[0].state), "NOT_SUBMITTED");
}

TEST(Runner, StoppedBeforeThePostWhileAnotherWorkerTakesOverItDoesNotPost) {
  BackfillSite site;
  site.Load(13, 5);
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  AfterTheIntent(site, id, [&] {
    site.clock().Advance(absl::Minutes(2));  // the claim is over, the lease is not
    EXPECT_TRUE(site.StepOnce());
    EXPECT_THAT(site.OurTasks(), SizeIs(1));
  });
  site.StepOnce();
  EXPECT_THAT(site.transport().posts(), SizeIs(2));  // the load's, and the other worker's
  const Backfills::Detail over = site.RunUntilOver(id);
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE") << over.backfill.message;
  EXPECT_THAT(site.OurTasks(), SizeIs(1));
}

TEST(Runner, APostWhoseFateIsUnknownBlocksItsTimeBeyondTheLease) {
  BackfillSite site;
  site.Load(13, 5);
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  site.transport().SpoilBy([](int64_t, const druid::HttpRequest& request) {
    const bool submit =
        request.method == "POST" && request.body.find("\"interlock\"") != std::string::npos;
    return submit ? Spoil::kLate : Spoil::kNot;
  });
  site.StepOnce();
  site.clock().Advance(absl::Minutes(30));  // the process is stopped
  BackfillRequest other;
  other.spec = BackfillSite::InlineSpec(13, 14, 9);
  const auto refused = site.backfills().Submit(other, {"bob", "", ""});
  EXPECT_EQ(ReasonOf(refused.status()), "HELD");
  EXPECT_EQ(BlockersOf(refused.status())[0].type, "ORPHANED");
  site.transport().SpoilBy(nullptr);  // … and goes on
  const Backfills::Detail over = site.RunUntilOver(id);
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE") << over.backfill.message;
  EXPECT_EQ(site.Rows(13), 8);
}

TEST(Runner, DyingAtAnyMomentLosesNothing) {
  // Dies before exchange 1, 2, 3 … with Druid, until a run needs fewer.
  for (int64_t death = 1;; ++death) {
    BackfillSite site;
    site.Load(13, 5);
    const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
    const int64_t start = site.transport().exchanges();
    bool died = false;
    struct Death {};
    site.transport().Before([&](const druid::HttpRequest&) {
      if (died || site.transport().exchanges() - start != death) return;
      died = true;
      throw Death{};
    });
    Backfills::Detail over;
    try {
      over = site.RunUntilOver(id);
    } catch (const Death&) {
      site.Restart();
      over = site.RunUntilOver(id);
    }
    site.transport().Before(nullptr);
    EXPECT_EQ(NameOf(over.backfill.phase), "DONE") << death << ": " << over.backfill.message;
    EXPECT_THAT(site.OurTasks(), SizeIs(1)) << death;
    EXPECT_EQ(site.Rows(13), 8) << death;
    if (!died || testing::Test::HasFailure()) break;
  }
}

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
  EXPECT_EQ(PartitionsOf(site, over.backfill.id)[0].proof->row_rule, "SOURCE_SUMS");
}

}  // namespace
}  // namespace interlock::backfill
