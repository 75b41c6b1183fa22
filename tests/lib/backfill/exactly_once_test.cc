// Crashes, stalls and lost replies: one task per unit and attempt, and no second version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/lease/reservations.h"
#include "lib/time/status_reason.h"
#include "tests/lib/backfill/backfill_site.h"

namespace interlock::backfill {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Runner, Case065TwoBackfillsOfOnePartitionInOneMillisecondHaveTasksOfTheirOwn) {
  BackfillSite site;
  const std::string spec = BackfillSite::InlineSpec(13, 14, 8);
  const std::string first = site.Submit(spec);
  site.RunUntilOver(first);
  BackfillRequest again;
  again.spec = spec;
  again.reprocess = Reprocess::kAll;
  const auto second = site.backfills().Submit(again, site.Caller());
  site.RunUntilOver(second->backfill.id);
  const auto tasks = site.OurTasks();
  ASSERT_THAT(tasks, SizeIs(2));
  EXPECT_NE(tasks[0], tasks[1]);
  // Attempts are numbered per datasource and unit, over all backfills.
  EXPECT_EQ(site.backfills().ListAttempts(first, 0)->at(0).number, 1);
  EXPECT_EQ(site.backfills().ListAttempts(second->backfill.id, 0)->at(0).number, 2);
}

TEST(Runner, Case067ThreeTimeoutsMakeOneTask) {
  BackfillSite site;
  int lost = 0;
  site.transport().SpoilBy([&](int64_t, const druid::HttpRequest& request) {
    const bool submit =
        request.method == "POST" && request.body.find("index_parallel") != std::string::npos;
    if (!submit || lost == 3) return Spoil::kNot;
    ++lost;
    return Spoil::kLate;  // each of them arrives in the end
  });
  const Backfills::Detail over =
      site.RunUntilOver(site.Submit(BackfillSite::InlineSpec(13, 14, 8)));
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE") << over.backfill.message;
  EXPECT_EQ(lost, 3);
  EXPECT_THAT(site.OurTasks(), SizeIs(1));
}

// Druid leaves unknown ids out of the statuses: that alone is never believed.
TEST(Runner, ATaskThatIsLeftOutOfTheStatusesIsNotTakenForGone) {
  BackfillSite site;
  ASSERT_TRUE(site.simulator()
                  .AddFault(R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},
                                "kind":"stuck_task"})")
                  .ok());
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  site.RunUntilOver(id, absl::Seconds(1));
  site.transport().SpoilBy([](int64_t, const druid::HttpRequest& request) {
    if (request.url.find("/taskStatus") != std::string::npos) return Spoil::kEmpty;
    return request.url.find("/status") != std::string::npos ? Spoil::kServerError : Spoil::kNot;
  });
  site.RunUntilOver(id, absl::Seconds(10));
  EXPECT_EQ(NameOf(site.Partitions(id)[0].state), "RUNNING");
}

TEST(Runner, Case072AShutdownIsOnlyAskedAndTheTaskPolledUntilItIsOver) {
  BackfillSite site;
  ASSERT_TRUE(site.simulator()
                  .AddFault(R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},
                                "kind":"stuck_task"})")
                  .ok());
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
  site.RunUntilOver(id, absl::Seconds(1));
  bool asked = false;
  site.transport().SpoilBy([&](int64_t, const druid::HttpRequest& request) {
    const bool shutdown = request.url.find("/shutdown") != std::string::npos;
    if (!shutdown || asked) return Spoil::kNot;
    asked = true;
    return Spoil::kLostBefore;
  });
  ASSERT_TRUE(site.backfills().Cancel(id, site.Caller()).ok());
  site.RunUntilOver(id, absl::Seconds(10));
  EXPECT_TRUE(asked);
  EXPECT_EQ(NameOf(site.Partitions(id)[0].state),
            "RUNNING");  // it lives: nothing is taken for granted
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "CANCELLED");
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
  const auto held = site.Held(Hour(13));
  ASSERT_THAT(held, SizeIs(1));
  EXPECT_FALSE(held[0].orphaned);
}

void AfterTheIntent(BackfillSite& site, const std::string& id, std::function<void()> then) {
  site.runners_clock().Before([&site, id, then] {
    const auto attempts = site.backfills().ListAttempts(id, 0);
    if (!attempts.ok() || attempts->empty()) return;
    site.runners_clock().Before(nullptr);
    then();
  });
}

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

}  // namespace
}  // namespace interlock::backfill
