// A site with derived jobs: their worker beside a backfill's, seals that a test says there
// are, and corrections of `totals` beside it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/backfill/derived_worker.h"
#include "lib/backfill/jobs.h"
#include "lib/guard/findings.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {

inline constexpr char kIntervals[] = "/spec/dataSchema/granularitySpec/intervals";
inline constexpr absl::Duration kGather = absl::Seconds(10);

inline Interval HoursOf(int from, int to) {
  return *Interval::Of(Hour(from).start(), Hour(to).start());
}

// A re-index of `source`, in rows of one `granularity` each.
inline std::string Derived(const std::string& target, const std::string& source,
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
          beside.sources = {From("clicks", Source::Mapping::kFromStart)};
          return site_.backfills().Submit(beside, caller);
        }};
    worker_ = std::make_unique<DerivedWorker>(std::move(world), kGather);
  }

  Source From(const std::string& datasource, Source::Mapping mapping) {
    Source source;
    source.datasource = datasource;
    source.mapping = mapping;
    if (mapping == Source::Mapping::kFromStart) source.origin = Hour(12).start();
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
                         {From("clicks", Source::Mapping::kFromStart)});
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
  // What is open of the derived table.
  std::vector<guard::Finding> Stale() {
    std::vector<guard::Finding> found;
    const absl::Status status = site_.store().Read([&](store::Transaction& tx) -> absl::Status {
      auto all = guard::ListFindings(tx, "totals", /*only_open=*/true, 10);
      if (!all.ok()) return all.status();
      found = *std::move(all);
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return found;
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

}  // namespace interlock::backfill
