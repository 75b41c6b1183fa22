// What people do with a backfill, and what it tells them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/audit/audit.h"
#include "lib/lease/reservations.h"
#include "lib/time/status_reason.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

BackfillRequest RequestFor(const std::string& spec) {
  BackfillRequest request;
  request.spec = spec;
  return request;
}

std::string ReasonOfSubmit(BackfillSite& site, const BackfillRequest& request) {
  return ReasonOf(site.backfills().Submit(request, site.Caller()).status());
}

TEST(Backfills, AFaultySpecIsRefusedWithEveryFaultAndNothingIsStored) {
  BackfillSite site;
  const auto refused = site.backfills().Submit(RequestFor(SpecFile("append.json")), site.Caller());
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(refused.status()), "SPEC_INVALID");
  EXPECT_THAT(FaultsOf(refused.status()), SizeIs(3));
  EXPECT_THAT(site.backfills().List({}, 0, "")->backfills, IsEmpty());
  EXPECT_EQ(site.transport().exchanges(), 0);
}

TEST(Backfills, WithObserveNothingIsSubmitted) {
  Options options = BackfillSite::SiteOptions();
  options.manage = false;
  BackfillSite site(options);
  EXPECT_EQ(ReasonOfSubmit(site, RequestFor(BackfillSite::InlineSpec(13, 14, 3))), "OBSERVE_ONLY");
}

TEST(Backfills, AnExpectationThatCantBeCheckedIsRefused) {
  BackfillSite site;
  BackfillRequest request = RequestFor(
      Edited(BackfillSite::InlineSpec(13, 14, 3), {{"/spec/dataSchema/metricsSpec/0", ""}}));
  request.expected_rows = 3;
  EXPECT_EQ(ReasonOfSubmit(site, request), "EXPECTATION_NOT_CHECKABLE");
  request.count_metric = "n";  // the caller says what counts
  EXPECT_EQ(ReasonOfSubmit(site, request), "");
}

TEST(Backfills, OtherRowsThanExpectedNeedAttention) {
  BackfillSite site;
  BackfillRequest request = RequestFor(BackfillSite::InlineSpec(13, 14, 3));
  request.expected_rows = 4;
  const auto submitted = site.backfills().Submit(request, site.Caller());
  const Backfills::Detail over = site.RunUntilOver(submitted->backfill.id);
  EXPECT_EQ(NameOf(over.backfill.phase), "NEEDS_ATTENTION");
  EXPECT_EQ(over.backfill.reason, "ROWS_DIFFER");
  EXPECT_EQ(over.totals.rows, 3);
}

TEST(Backfills, FewerRowsThanAskedForAreSuspect) {
  BackfillSite site;
  BackfillRequest request = RequestFor(BackfillSite::InlineSpec(13, 14, 3));
  request.min_rows = 4;
  const auto submitted = site.backfills().Submit(request, site.Caller());
  const Backfills::Detail over = site.RunUntilOver(submitted->backfill.id);
  EXPECT_EQ(NameOf(over.backfill.phase), "NEEDS_ATTENTION");
  EXPECT_THAT(over.counts, Contains(std::pair<const State, int64_t>(State::kSuspect, 1)));
}

TEST(Backfills, AllOfItRunsAgainUnderTheSameIdWhereThatIsAskedFor) {
  BackfillSite site;
  BackfillRequest request = RequestFor(site.FilesSpec(13, 15, 3));
  const auto first = site.backfills().Submit(request, site.Caller("r"));
  site.RunUntilOver(first->backfill.id);
  request.reprocess = Reprocess::kAll;
  const auto again = site.backfills().Submit(request, site.Caller("r"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->attached);
  EXPECT_EQ(NameOf(site.RunUntilOver(again->backfill.id).backfill.phase), "DONE");
  EXPECT_THAT(site.OurTasks(), SizeIs(4));
}

TEST(Backfills, WhatFailedRunsAgainByReprocessFailed) {
  BackfillSite site;
  ASSERT_TRUE(site.simulator()
                  .AddFault(R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},
                                "kind":"failed_task","times":3})")
                  .ok());
  BackfillRequest request = RequestFor(BackfillSite::InlineSpec(13, 14, 3));
  const auto first = site.backfills().Submit(request, site.Caller("r1"));
  EXPECT_EQ(NameOf(site.RunUntilOver(first->backfill.id).backfill.phase), "FAILED");
  request.reprocess = Reprocess::kFailed;
  const auto again = site.backfills().Submit(request, site.Caller("r2"));
  EXPECT_EQ(again->backfill.id, first->backfill.id);
  EXPECT_EQ(NameOf(site.RunUntilOver(first->backfill.id).backfill.phase), "DONE");
}

TEST(Backfills, AnAttemptCanBeAbandonedByAPersonWithAReason) {
  BackfillSite site;
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 3));
  site.transport().SpoilBy([](int64_t, const druid::HttpRequest&) { return Spoil::kNot; });
  site.StepOnce();
  const std::string task = site.backfills().ListAttempts(id, 0)->at(0).task_id;
  EXPECT_EQ(ReasonOf(site.backfills().Abandon(id, task, {"eve", "", ""}).status()),
            "REASON_REQUIRED");
  EXPECT_EQ(ReasonOf(site.backfills().Abandon(id, "il-none", site.Caller()).status()),
            "UNKNOWN_ATTEMPT");
  ASSERT_TRUE(site.backfills().Abandon(id, task, site.Caller()).ok());
  EXPECT_EQ(ReasonOf(site.backfills().Abandon(id, task, site.Caller()).status()),
            "ATTEMPT_SETTLED");
  EXPECT_EQ(NameOf(site.backfills().ListAttempts(id, 0)->at(0).state), "ABANDONED");
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
}

TEST(Backfills, WhatIsOverCanNeitherBePausedNorCancelled) {
  BackfillSite site;
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 3));
  EXPECT_EQ(ReasonOf(site.backfills().Resume(id, site.Caller()).status()), "NOT_PAUSED");
  site.RunUntilOver(id);
  EXPECT_EQ(ReasonOf(site.backfills().Pause(id, site.Caller()).status()), "ALREADY_OVER");
  EXPECT_EQ(ReasonOf(site.backfills().Cancel(id, site.Caller()).status()), "ALREADY_OVER");
  EXPECT_EQ(ReasonOf(site.backfills().Retry(id, {}, {}, site.Caller()).status()),
            "NOTHING_TO_RETRY");
  EXPECT_EQ(ReasonOf(site.backfills().Cancel("bf-9", site.Caller()).status()), "UNKNOWN_BACKFILL");
}

TEST(Backfills, ABorrowedReservationIsActedUnderAndLeftToItsOwner) {
  BackfillSite site;
  lease::Grant grant;
  ASSERT_TRUE(site.store()
                  .Write([&](store::Transaction& tx) {
                    lease::ReserveRequest request;
                    request.datasource = "clicks";
                    request.intervals = {Hour(13)};
                    request.holder = "ada";
                    auto granted = lease::Reserve(tx, request, site.Caller());
                    if (granted.ok()) grant = *granted;
                    return granted.status();
                  })
                  .ok());
  BackfillRequest request = RequestFor(BackfillSite::InlineSpec(13, 14, 3));
  EXPECT_EQ(ReasonOfSubmit(site, request), "HELD");
  request.reservation_id = grant.reservation.id;
  request.token = grant.reservation.token + 1;
  EXPECT_EQ(ReasonOfSubmit(site, request), "STALE_TOKEN");
  request.token = grant.reservation.token;
  const auto submitted = site.backfills().Submit(request, site.Caller());
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  EXPECT_EQ(NameOf(site.RunUntilOver(submitted->backfill.id).backfill.phase), "DONE");
  ASSERT_TRUE(site.store()
                  .Read([&](store::Transaction& tx) {
                    auto now = lease::Get(tx, grant.reservation.id);
                    EXPECT_EQ(now->state, lease::State::kActive);
                    EXPECT_THAT(now->pins, IsEmpty());
                    return now.status();
                  })
                  .ok());
}

TEST(Backfills, NewsTellEachChangeOnceAndResume) {
  BackfillSite site;
  const std::string id = site.Submit(site.FilesSpec(13, 16, 3));
  auto news = site.backfills().NewsSince(id, 0);
  ASSERT_TRUE(news.ok());
  EXPECT_THAT(news->partitions, SizeIs(3));
  const int64_t rung = site.backfills().changes().count();
  EXPECT_THAT(site.backfills().NewsSince(id, news->revision)->partitions, IsEmpty());
  std::map<int64_t, std::string> last;
  while (!IsOver(news->detail.backfill.phase)) {
    site.StepOnce();
    site.Pass(absl::Milliseconds(100));
    news = site.backfills().NewsSince(id, news->revision);
    ASSERT_TRUE(news.ok());
    for (const StoredPartition& partition : news->partitions) {
      last[partition.unit] = std::string(NameOf(partition.state));
    }
  }
  EXPECT_THAT(last, ElementsAre(std::pair<const int64_t, std::string>(0, "DONE"),
                                std::pair<const int64_t, std::string>(1, "DONE"),
                                std::pair<const int64_t, std::string>(2, "DONE")));
  EXPECT_GT(site.backfills().changes().Wait(rung, std::chrono::seconds(0)), rung);
}

TEST(Backfills, AreListedNewestFirstInPages) {
  BackfillSite site;
  for (int hour = 0; hour < 5; ++hour) site.Submit(BackfillSite::InlineSpec(hour, hour + 1, 1));
  const auto first = site.backfills().List({}, 2, "");
  ASSERT_TRUE(first.ok());
  ASSERT_THAT(first->backfills, SizeIs(2));
  EXPECT_EQ(first->backfills[0].backfill.id, "bf-5");
  const auto second = site.backfills().List({}, 2, first->next);
  EXPECT_EQ(second->backfills[0].backfill.id, "bf-3");
  Backfills::Filter filter;
  filter.overlapping = Hour(1);
  EXPECT_THAT(site.backfills().List(filter, 0, "")->backfills, SizeIs(1));
  filter = {};
  filter.phases = {Phase::kDone};
  EXPECT_THAT(site.backfills().List(filter, 0, "")->backfills, IsEmpty());
  EXPECT_EQ(ReasonOf(site.backfills().List({}, 0, "x").status()), "BAD_PAGE_TOKEN");
}

TEST(Backfills, PartitionsComeInPagesByTime) {
  BackfillSite site;
  const std::string id = site.Submit(site.FilesSpec(0, 5, 1));
  const auto first = site.backfills().ListPartitions(id, {}, 3, "");
  ASSERT_THAT(first->partitions, SizeIs(3));
  const auto rest = site.backfills().ListPartitions(id, {}, 3, first->next);
  ASSERT_THAT(rest->partitions, SizeIs(2));
  EXPECT_EQ(rest->partitions[0].partition, Hour(3));
  EXPECT_EQ(rest->next, "");
}

TEST(Backfills, EveryRequestLeavesAnAuditEvent) {
  BackfillSite site;
  const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 3), "r");
  site.Submit(BackfillSite::InlineSpec(13, 14, 3), "r");
  ASSERT_TRUE(site.backfills().Cancel(id, site.Caller()).ok());
  std::vector<std::string> told;
  ASSERT_TRUE(site.store()
                  .Read([&](store::Transaction& tx) {
                    audit::Filter filter;
                    filter.subject = id;
                    filter.method = "*Backfill";  // of callers: what moves by itself tells too
                    auto events = audit::List(tx, filter, {});
                    for (const auto& event : events->events) {
                      told.push_back(event.event.method + " " + event.event.result);
                    }
                    return events.status();
                  })
                  .ok());
  EXPECT_THAT(told,
              ElementsAre("CancelBackfill OK", "SubmitBackfill ATTACHED", "SubmitBackfill OK"));
}

TEST(Plan, SaysWhatWouldBeReplacedAndWhatIsInTheWay) {
  BackfillSite site;
  site.Load(13, 5);
  site.simulator().Ask("POST", "/simulator/locks",
                       R"({"group":"index_kafka_clicks","datasource":"clicks","interval":")" +
                           Hour(14).ToString() + R"(","priority":75,"type":"EXCLUSIVE"})");
  site.Submit(BackfillSite::InlineSpec(15, 16, 3));
  const auto plan = site.backfills().MakePlan(RequestFor(site.FilesSpec(13, 16, 3)));
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_THAT(plan->partitions, SizeIs(3));
  EXPECT_THAT(plan->units, SizeIs(3));
  EXPECT_THAT(plan->units[0].reads, HasSubstr("h=13"));
  EXPECT_EQ(plan->partitions[0].action, PlannedPartition::Action::kRun);
  EXPECT_EQ(plan->partitions[0].generation(), site.Version(13));
  EXPECT_EQ(plan->partitions[1].action, PlannedPartition::Action::kBlocked);
  EXPECT_EQ(plan->partitions[1].obstacles[0].reason, "DRUID_LOCK");
  EXPECT_EQ(plan->partitions[2].action, PlannedPartition::Action::kBlocked);
  EXPECT_EQ(plan->partitions[2].obstacles[0].reason, "HELD");
  EXPECT_THAT(site.OurTasks(), IsEmpty());
}

TEST(Plan, ChangesItsRevisionWithTheWorld) {
  BackfillSite site;
  const BackfillRequest request = RequestFor(BackfillSite::InlineSpec(13, 14, 3));
  const std::string first = site.backfills().MakePlan(request)->revision;
  EXPECT_EQ(site.backfills().MakePlan(request)->revision, first);
  site.Load(13, 5);
  EXPECT_NE(site.backfills().MakePlan(request)->revision, first);
}

TEST(Plan, OfADruidThatDoesNotAnswerSaysSo) {
  BackfillSite site;
  site.transport().SpoilBy([](int64_t, const druid::HttpRequest&) { return Spoil::kUnreachable; });
  const auto plan = site.backfills().MakePlan(RequestFor(BackfillSite::InlineSpec(13, 14, 3)));
  ASSERT_TRUE(plan.ok());
  EXPECT_THAT(plan->notices, Contains(HasSubstr("DRUID_UNAVAILABLE")));
}

TEST(Plan, NamesTheGenerationThatIsReadWhereItReadsItself) {
  BackfillSite site;
  site.Load(13, 5);
  const auto plan = site.backfills().MakePlan(RequestFor(Edited(
      SpecFile("reindex-druid.json"), {{"/spec/dataSchema/dataSource", "\"clicks\""},
                                       {"/spec/ioConfig/inputSource/dataSource", "\"clicks\""},
                                       {"/spec/ioConfig/inputSource/interval", "\"{start}/{end}\""},
                                       {"/spec/dataSchema/granularitySpec/intervals",
                                        R"(["2026-07-16T13:00:00Z/2026-07-16T14:00:00Z"])"}})));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->generation_read, site.Version(13));
}

}  // namespace
}  // namespace interlock::backfill
