// Derived jobs: what comes from a table that changed is recomputed, whole, once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "lib/backfill/derived_worker.h"
#include "lib/backfill/jobs.h"
#include "lib/lease/reservations.h"
#include "lib/time/status_reason.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Mapping = Source::Mapping;

constexpr char kIntervals[] = "/spec/dataSchema/granularitySpec/intervals";
constexpr absl::Duration kGather = absl::Seconds(10);

Interval HoursOf(int from, int to) { return *Interval::Of(Hour(from).start(), Hour(to).start()); }

// A re-index of `source`, in rows of one `granularity` each.
std::string Derived(const std::string& target, const std::string& source,
                    const std::string& granularity, bool running_total) {
  const std::string time = running_total ? R"({"column":"at","missingValue":"{start}"})"
                                         : R"({"column":"__time","format":"millis"})";
  return absl::StrCat(
      R"({"type":"index_parallel","spec":{"dataSchema":{"dataSource":")", target,
      R"(","timestampSpec":)", time, R"(,"dimensionsSpec":{"dimensions":["page"]},)",
      R"("metricsSpec":[{"type":"longSum","name":"events","fieldName":"events"}],)",
      R"("granularitySpec":{"type":"uniform","segmentGranularity":")", granularity,
      R"(","queryGranularity":")", granularity,
      R"(","rollup":true,"intervals":["{start}/{end}"]}},)",
      R"("ioConfig":{"type":"index_parallel","inputSource":{"type":"druid","dataSource":")", source,
      R"(","interval":"{start}/{end}"},"appendToExisting":false,"dropExisting":true},)",
      R"("tuningConfig":{"type":"index_parallel"}}})");
}

class DerivedTest : public testing::Test {
 protected:
  DerivedTest() { Open(); }

  void Open() {
    DerivedWorker::World world{
        site_.store(), site_.cluster(), site_.backfills(),
        [this](store::Transaction&, const std::string& datasource,
               const Interval& interval) -> absl::StatusOr<std::vector<Interval>> {
          std::vector<Interval> found;
          for (const Interval& one : sealed_[datasource]) {
            if (one.Overlaps(interval)) found.push_back(one);
          }
          return found;
        },
        [this](const BackfillRequest& request,
               const audit::Caller& caller) -> absl::StatusOr<Backfills::Submitted> {
          corrections_.insert(corrections_.end(), request.intervals.begin(),
                              request.intervals.end());
          BackfillRequest beside = request;
          beside.job.clear();
          beside.spec = Derived("totals__corrections", "clicks", "HOUR", true);
          beside.sources = {From("clicks", Mapping::kFromStart)};
          return site_.backfills().Submit(beside, caller);
        }};
    worker_ = std::make_unique<DerivedWorker>(std::move(world), kGather);
  }

  Source From(const std::string& datasource, Mapping mapping) {
    Source source;
    source.datasource = datasource;
    source.mapping = mapping;
    if (mapping == Mapping::kFromStart) source.origin = Hour(12).start();
    return source;
  }
  absl::StatusOr<Jobs::Put> Put(const std::string& name, const std::string& spec,
                                std::vector<Source> sources) {
    Jobs::PutRequest request;
    request.job.name = name;
    request.job.work = spec;
    request.job.sources = std::move(sources);
    return Jobs(site_.store(), site_.cluster()).PutJob(request, site_.Caller());
  }
  // Raw clicks, recomputed from files.
  std::string Clicks(int from, int to, int rows) {
    BackfillRequest request;
    request.spec = Edited(site_.FilesSpec(from, to, rows), {{kIntervals, R"(["{start}/{end}"])"}});
    request.intervals = {HoursOf(from, to)};
    request.reprocess = Reprocess::kAll;
    const auto submitted = site_.backfills().Submit(request, site_.Caller());
    EXPECT_TRUE(submitted.ok()) << submitted.status();
    return submitted.ok() ? submitted->backfill.id : "";
  }
  void PutTotals() {
    const auto put = Put("totals", Derived("totals", "clicks", "HOUR", true),
                         {From("clicks", Mapping::kFromStart)});
    ASSERT_TRUE(put.ok()) << put.status();
  }

  bool StepDerived() {
    auto claims = work::ClaimDue(site_.store(), site_.clock(), {"test", absl::Seconds(60)},
                                 {kDerivedWorkKind}, 1);
    EXPECT_TRUE(claims.ok()) << claims.status();
    if (!claims.ok() || claims->empty()) return false;
    work::Claim& claim = claims->front();
    const auto outcome = worker_->Step(claim);
    last_ = outcome.status();
    absl::Status status = site_.store().Write([&](store::Transaction& tx) -> absl::Status {
      if (!outcome.ok()) return work::Retry(tx, claim, tx.now() + absl::Seconds(1));
      if (outcome->kind == work::Outcome::Kind::kFinished) return work::Finish(tx, claim);
      return work::Reschedule(tx, claim, outcome->due);
    });
    EXPECT_TRUE(status.ok()) << status;
    return true;
  }
  // Steps and lets time pass.
  void Run(absl::Duration longest) {
    for (const Instant end = site_.clock().Now() + longest; site_.clock().Now() < end;) {
      while (StepDerived() || site_.StepOnce()) {
      }
      site_.Pass(absl::Milliseconds(200));
    }
  }
  // Long enough for whatever is due to be over.
  void Settle() { Run(absl::Minutes(1)); }

  // Of the derived jobs' own backfills, oldest first: job, intervals, phase.
  std::vector<std::string> Runs(const std::string& datasource) {
    Backfills::Filter filter;
    filter.datasource = datasource;
    filter.requested_by = "interlock";
    const auto page = site_.backfills().List(filter, 0, "");
    EXPECT_TRUE(page.ok()) << page.status();
    std::vector<std::string> runs;
    for (const Backfills::Detail& one : page->backfills) {
      runs.insert(runs.begin(), absl::StrCat(NameOf(one.backfill.phase), " ",
                                             IntervalsToText(one.backfill.intervals)));
    }
    return runs;
  }
  int64_t Events(const std::string& datasource, const Interval& interval) {
    const auto sums = site_.cluster().SumRows(datasource, {interval}, {"events"});
    EXPECT_TRUE(sums.done()) << sums.text();
    const auto found = sums.value()[0].sums.find("events");
    return found == sums.value()[0].sums.end() ? 0 : static_cast<int64_t>(found->second);
  }
  std::vector<int64_t> Totals(int from, int to) {
    std::vector<int64_t> totals;
    for (int hour = from; hour < to; ++hour) totals.push_back(Events("totals", Hour(hour)));
    return totals;
  }
  static std::string Done(int from, int to) {
    return absl::StrCat("DONE ", IntervalsToText({HoursOf(from, to)}));
  }

  BackfillSite site_;
  std::map<std::string, std::vector<Interval>> sealed_;
  std::vector<Interval> corrections_;
  absl::Status last_;
  std::unique_ptr<DerivedWorker> worker_;
};

TEST_F(DerivedTest, ARunningTotalIsRecomputedFromTheChangeOnAndOnceForAllThatChanged) {
  PutTotals();
  Clicks(12, 16, 3);
  Settle();
  EXPECT_THAT(Runs("totals"), ElementsAre(Done(12, 16)));
  EXPECT_THAT(Totals(12, 16), ElementsAre(3, 6, 9, 12));
  // Two hours change, within the time of gathering.
  Clicks(14, 15, 7);
  Run(absl::Seconds(3));
  Clicks(13, 14, 5);
  Settle();
  EXPECT_THAT(Runs("totals"), ElementsAre(Done(12, 16), Done(13, 16)));
  EXPECT_THAT(Totals(12, 16), ElementsAre(3, 8, 15, 18));
  // And back again, in another order.
  Clicks(13, 14, 3);
  Settle();
  Clicks(14, 15, 3);
  Settle();
  EXPECT_THAT(Totals(12, 16), ElementsAre(3, 6, 9, 12));
  EXPECT_THAT(Runs("totals"), SizeIs(4));
}

// druidforum.org, idempotent delta ingestion: what is added to is added twice by a retry.
TEST_F(DerivedTest, Case003AnHourThatIsRerunTwiceIsInTheTotalOnce) {
  PutTotals();
  Clicks(12, 14, 3);
  Settle();
  Clicks(12, 13, 3);
  Settle();
  Clicks(12, 13, 3);
  Settle();
  EXPECT_THAT(Totals(12, 14), ElementsAre(3, 6));
}

TEST_F(DerivedTest, ANewLastPartitionIsAddedAndNothingBeforeItTouched) {
  PutTotals();
  Clicks(12, 14, 3);
  Settle();
  Clicks(14, 15, 4);
  Settle();
  EXPECT_THAT(Runs("totals"), ElementsAre(Done(12, 14), Done(14, 15)));
  EXPECT_THAT(Totals(12, 15), ElementsAre(3, 6, 10));
}

TEST_F(DerivedTest, ARollUpIsRecomputedInWholePartitionsOfItsOwnCalendar) {
  ASSERT_TRUE(
      Put("days", Derived("days", "clicks", "DAY", false), {From("clicks", Mapping::kCovering)})
          .ok());
  Clicks(12, 15, 3);
  Settle();
  const Interval day = *Interval::Parse("2026-07-16/P1D");
  EXPECT_THAT(Runs("days"), ElementsAre(absl::StrCat("DONE ", IntervalsToText({day}))));
  EXPECT_EQ(Events("days", day), 9);
  Clicks(13, 14, 5);
  Settle();
  EXPECT_EQ(Events("days", day), 11);
}

// What comes from a derived table, and from its source, waits for the derived one.
TEST_F(DerivedTest, WhatIsDerivedTwiceOverRunsOnceAndLast) {
  PutTotals();
  ASSERT_TRUE(Put("report", Derived("report", "totals", "DAY", false),
                  {From("totals", Mapping::kCovering), From("clicks", Mapping::kCovering)})
                  .ok());
  Clicks(12, 14, 3);
  Run(absl::Minutes(2));
  const Interval day = *Interval::Parse("2026-07-16/P1D");
  EXPECT_THAT(Runs("totals"), SizeIs(1));
  EXPECT_THAT(Runs("report"), ElementsAre(absl::StrCat("DONE ", IntervalsToText({day}))));
  EXPECT_EQ(Events("report", day), 3 + 6);
}

TEST_F(DerivedTest, ASourceThatChangesUnderARunMakesItNotAppliedAndRunAgain) {
  PutTotals();
  Clicks(12, 13, 3);
  bool changed = false;
  site_.transport().Before([&](const druid::HttpRequest& request) {
    // As its task is posted, somebody else writes the source.
    const bool ours = request.body.find("\"dataSource\":\"totals\"") != std::string::npos;
    if (changed || !ours || request.method != "POST") return;
    changed = true;
    site_.Load(12, 9);
  });
  Settle();
  ASSERT_TRUE(changed);
  ASSERT_THAT(Runs("totals"), ElementsAre(Done(12, 13)));
  Backfills::Filter filter;
  filter.datasource = "totals";
  const std::string id = site_.backfills().List(filter, 0, "")->backfills[0].backfill.id;
  const auto attempts = site_.backfills().ListAttempts(id, 0);
  ASSERT_TRUE(attempts.ok());
  ASSERT_THAT(*attempts, SizeIs(2));
  ASSERT_THAT(attempts->at(0).before.reads, SizeIs(1));
  ASSERT_THAT(attempts->at(1).before.reads, SizeIs(1));
  EXPECT_THAT(attempts->at(0).before.reads[0].ids, SizeIs(1));
  EXPECT_NE(attempts->at(0).before.reads[0].digest, attempts->at(1).before.reads[0].digest);
  EXPECT_THAT(Totals(12, 13), ElementsAre(9));
}

TEST_F(DerivedTest, ASealedPartGoesBesideItAndTheRestIsRecomputed) {
  PutTotals();
  Clicks(12, 16, 3);
  Settle();
  sealed_["totals"] = {HoursOf(13, 15)};
  Clicks(12, 13, 5);
  Settle();
  EXPECT_THAT(corrections_, ElementsAre(HoursOf(13, 15)));
  EXPECT_THAT(Totals(12, 16), ElementsAre(5, 6, 9, 14));
  EXPECT_EQ(Events("totals__corrections", Hour(13)), 8);
  EXPECT_EQ(Events("totals__corrections", Hour(14)), 11);
  EXPECT_THAT(Runs("totals__corrections"), ElementsAre(Done(13, 15)));
}

TEST_F(DerivedTest, WhatIsHeldIsTriedAgainAndASubmitThatWasCutShortIsNotDoneTwice) {
  PutTotals();
  lease::ReserveRequest hold;
  hold.datasource = "totals";
  hold.holder = "bob";
  hold.intervals = {Hour(12)};
  hold.ttl = absl::Minutes(1);
  ASSERT_TRUE(site_.store()
                  .Write([&](store::Transaction& tx) {
                    return lease::Reserve(tx, hold, site_.Caller(), {}).status();
                  })
                  .ok());
  Clicks(12, 13, 3);
  Run(absl::Seconds(40));
  EXPECT_EQ(ReasonOf(last_), "HELD");
  EXPECT_THAT(Runs("totals"), IsEmpty());
  // The process dies right after it has submitted: it does not know of it any more.
  for (int i = 0; i < 1000 && Runs("totals").empty(); ++i) {
    site_.Pass(absl::Milliseconds(200));
    while (StepDerived()) {
    }
  }
  ASSERT_THAT(Runs("totals"), SizeIs(1));
  ASSERT_TRUE(site_.store()
                  .Write([](store::Transaction& tx) {
                    return tx.Execute("UPDATE derived_run SET backfill_id = ''", {}).status();
                  })
                  .ok());
  site_.Restart();
  Open();
  Settle();
  EXPECT_THAT(Runs("totals"), ElementsAre(Done(12, 13)));
  EXPECT_THAT(Totals(12, 13), ElementsAre(3));
}

TEST_F(DerivedTest, ARunThatFailedLeavesItsChangesToTheNextOne) {
  PutTotals();
  Clicks(12, 13, 3);
  Run(absl::Seconds(8));
  // Whatever it posts is refused for good.
  site_.transport().SpoilBy([](int64_t, const druid::HttpRequest& request) {
    const bool ours = request.body.find("\"dataSource\":\"totals\"") != std::string::npos;
    return ours ? Spoil::kUnreachable : Spoil::kNot;
  });
  Run(absl::Seconds(20));
  ASSERT_THAT(Runs("totals"), SizeIs(1));
  Backfills::Filter filter;
  filter.datasource = "totals";
  const std::string id = site_.backfills().List(filter, 0, "")->backfills[0].backfill.id;
  ASSERT_TRUE(site_.backfills().Cancel(id, site_.Caller()).ok());
  site_.transport().SpoilBy(nullptr);
  Settle();
  EXPECT_THAT(Runs("totals"), SizeIs(1)) << "it is not run again by itself";
  Clicks(13, 14, 4);
  Settle();
  ASSERT_THAT(Runs("totals"), SizeIs(2));
  EXPECT_EQ(Runs("totals")[1], Done(12, 14));
  EXPECT_THAT(Totals(12, 14), ElementsAre(3, 7));
}

TEST_F(DerivedTest, ARollbackOfTheSourceIsAChangeToo) {
  PutTotals();
  Clicks(12, 13, 3);
  Settle();
  const std::string id = Clicks(12, 13, 8);
  Settle();
  EXPECT_THAT(Totals(12, 13), ElementsAre(8));
  const auto reply = site_.backfills().Rollback(id, {}, site_.Caller());
  ASSERT_TRUE(reply.ok()) << reply.status();
  Settle();
  EXPECT_THAT(Totals(12, 13), ElementsAre(3));
}

TEST_F(DerivedTest, CyclesAreRefusedAndDependentsTold) {
  PutTotals();
  ASSERT_TRUE(
      Put("days", Derived("days", "totals", "DAY", false), {From("totals", Mapping::kCovering)})
          .ok());
  const auto cycle =
      Put("clicks", Derived("clicks", "days", "HOUR", false), {From("days", Mapping::kSame)});
  EXPECT_EQ(ReasonOf(cycle.status()), "CYCLE");
  EXPECT_EQ(MetadataOf(cycle.status())["way"], "clicks ← days ← totals ← clicks");
  Jobs jobs(site_.store(), site_.cluster());
  EXPECT_THAT(jobs.GetJob({"totals", 0})->dependents, ElementsAre("days"));
  EXPECT_EQ(jobs.GetJob({"totals", 0})->job.sources,
            (std::vector<Source>{From("clicks", Mapping::kFromStart)}));
  // A version that comes from elsewhere ends what the one before depended on.
  ASSERT_TRUE(
      Put("days", Derived("days", "clicks", "DAY", false), {From("clicks", Mapping::kCovering)})
          .ok());
  EXPECT_THAT(jobs.GetJob({"totals", 0})->dependents, IsEmpty());
}

}  // namespace
}  // namespace interlock::backfill
