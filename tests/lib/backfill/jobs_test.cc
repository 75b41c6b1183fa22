// Jobs: versions that never change, and the same job run by schedule and by backfill.
#include "lib/backfill/jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/backfill/sql_work.h"
#include "lib/time/status_reason.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kIntervals[] = "/spec/dataSchema/granularitySpec/intervals";

class JobsTest : public testing::Test {
 protected:
  Jobs::PutRequest Nightly(const std::string& spec) {
    Jobs::PutRequest request;
    request.job.name = "nightly";
    request.job.work = spec;
    return request;
  }
  // Hours of files, to be run over any interval.
  std::string Open(int rows_an_hour) {
    return Edited(site_.FilesSpec(0, 24, rows_an_hour), {{kIntervals, R"(["{start}/{end}"])"}});
  }
  absl::StatusOr<Jobs::Put> Put(const Jobs::PutRequest& request, const std::string& id = "") {
    return jobs_.PutJob(request, site_.Caller(id));
  }
  std::string Run(const std::string& job, int from, int to, const std::string& id = "",
                  bool skip_held = false) {
    BackfillRequest request;
    request.job = job;
    request.intervals = {*Interval::Of(Hour(from).start(), Hour(to).start())};
    request.skip_held = skip_held;
    const auto submitted = site_.backfills().Submit(request, site_.Caller(id));
    EXPECT_TRUE(submitted.ok()) << submitted.status();
    return submitted.ok() ? submitted->backfill.id : "";
  }

  BackfillSite site_;
  Jobs jobs_{site_.store(), site_.cluster()};
};

TEST_F(JobsTest, AreStoredInVersionsAndAnEqualOneIsNoNewOne) {
  const auto first = Put(Nightly(Open(3)));
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->job.version, 1);
  EXPECT_EQ(first->job.datasource, "clicks");
  EXPECT_EQ(first->job.granularity_json, "\"HOUR\"");
  const auto same = Put(Nightly(Open(3)));
  ASSERT_TRUE(same.ok());
  EXPECT_TRUE(same->unchanged);
  EXPECT_EQ(same->job.version, 1);
  const std::string other = Edited(Open(3), {{"/spec/dataSchema/metricsSpec/1", ""}});
  EXPECT_EQ(Put(Nightly(other))->job.version, 2);
  EXPECT_EQ(jobs_.GetJob({"nightly", 1})->job.work, first->job.work);
  EXPECT_EQ(jobs_.GetJob({"nightly", 0})->job.version, 2);
  EXPECT_EQ(ReasonOf(jobs_.GetJob({"nightly", 3}).status()), "UNKNOWN_JOB");
}

TEST_F(JobsTest, ArePutOnlyOverTheVersionThatTheCallerHasSeen) {
  Jobs::PutRequest request = Nightly(Open(3));
  request.expect_version = 1;
  EXPECT_EQ(ReasonOf(Put(request).status()), "VERSION_MOVED");
  request.expect_version = 0;
  EXPECT_TRUE(Put(request).ok());
  EXPECT_EQ(Put(request).status().code(), absl::StatusCode::kAborted);
}

TEST_F(JobsTest, ValidateOnlyStoresNothing) {
  Jobs::PutRequest request = Nightly(Open(3));
  request.validate_only = true;
  EXPECT_EQ(Put(request)->job.version, 1);
  EXPECT_EQ(ReasonOf(jobs_.GetJob({"nightly", 0}).status()), "UNKNOWN_JOB");
}

TEST_F(JobsTest, TheSameRequestAgainPutsNothingAndAnotherUnderItsIdIsRefused) {
  EXPECT_EQ(Put(Nightly(Open(3)), "r1")->job.version, 1);
  EXPECT_EQ(Put(Nightly(Open(3)), "r1")->job.version, 1);
  Jobs::PutRequest other = Nightly(Open(3));
  other.job.labels = {{"team", "billing"}};
  EXPECT_EQ(ReasonOf(Put(other, "r1").status()), "REQUEST_ID_REUSED");
}

TEST_F(JobsTest, AFaultySpecIsRefusedWithEveryFault) {
  const auto refused = Put(Nightly(SpecFile("append.json")));
  EXPECT_EQ(ReasonOf(refused.status()), "SPEC_INVALID");
  EXPECT_THAT(FaultsOf(refused.status()), SizeIs(3));
  Jobs::PutRequest unnamed = Nightly(Open(3));
  unnamed.job.name = "a job";
  EXPECT_EQ(ReasonOf(Put(unnamed).status()), "INVALID_NAME");
}

TEST_F(JobsTest, APathThatLeavesItsUnitIsRefused) {
  const auto with_path = [&](const std::string& folder) {
    return Put(Nightly(Edited(
        Open(3), {{"/spec/ioConfig/inputSource/baseDir", absl::StrCat("\"", folder, "\"")}})));
  };
  for (const char* folder :
       {"/lake/2026-07-15/h={start:%H}", "/lake/{end:%Y-%m-%d}", "/lake/{start:%Y/%m/%d}/{end:%H}",
        "/lake/year=2026/month=07/day=15/h={start:%H}"}) {
    const auto refused = with_path(folder);
    EXPECT_EQ(ReasonOf(refused.status()), "PATH_OUTSIDE_UNIT") << folder;
    ASSERT_THAT(FaultsOf(refused.status()), SizeIs(1)) << folder;
    EXPECT_EQ(FaultsOf(refused.status())[0].pointer, "/spec/ioConfig/inputSource/baseDir");
  }
  for (const char* folder : {"/lake/v20240101/dt={start:%Y-%m-%d}/h={start:%H}",
                             "/lake/{start:%Y/%m/%d}", "/lake/{start:%Y%m%d%H}-{end:%Y%m%d%H}"}) {
    EXPECT_TRUE(with_path(folder).ok()) << folder;
  }
}

TEST_F(JobsTest, AreListedByNameInPages) {
  for (const char* name : {"b", "a", "c"}) {
    Jobs::PutRequest request = Nightly(Open(3));
    request.job.name = name;
    ASSERT_TRUE(Put(request).ok());
    request.job.labels = {{"again", "yes"}};
    ASSERT_TRUE(Put(request).ok());
  }
  std::string all, newest, token;
  do {
    const auto page = jobs_.ListJobs("", true, 2, token);
    ASSERT_TRUE(page.ok());
    for (const Job& job : page->jobs) absl::StrAppend(&all, job.name, job.version, " ");
    token = page->next;
  } while (!token.empty());
  do {
    const auto page = jobs_.ListJobs("clicks", false, 2, token);
    ASSERT_TRUE(page.ok());
    for (const Job& job : page->jobs) absl::StrAppend(&newest, job.name, job.version, " ");
    token = page->next;
  } while (!token.empty());
  EXPECT_EQ(all, "a2 a1 b2 b1 c2 c1 ");
  EXPECT_EQ(newest, "a2 b2 c2 ");
  EXPECT_THAT(jobs_.ListJobs("views", false, 0, "")->jobs, IsEmpty());
  EXPECT_EQ(ReasonOf(jobs_.ListJobs("", false, 0, "a@x").status()), "BAD_PAGE_TOKEN");
}

TEST_F(JobsTest, ABackfillNamesTheVersionThatItRanAndKeepsIt) {
  ASSERT_TRUE(Put(Nightly(Open(3))).ok());
  const std::string id = Run("nightly", 13, 15, "r1");
  Jobs::PutRequest next = Nightly(Open(3));
  next.job.labels = {{"changed", "yes"}};
  ASSERT_TRUE(Put(next).ok());
  // The same request means what it meant.
  EXPECT_EQ(Run("nightly", 13, 15, "r1"), id);
  const Backfills::Detail done = site_.RunUntilOver(id);
  EXPECT_EQ(NameOf(done.backfill.phase), "DONE") << done.backfill.message;
  EXPECT_EQ(done.backfill.job, "nightly");
  EXPECT_EQ(done.backfill.job_version, 1);
  EXPECT_EQ(done.backfill.purpose, "nightly");
  EXPECT_EQ(site_.Rows(13), 3);
  Backfills::Filter filter;
  filter.job = "nightly";
  EXPECT_THAT(site_.backfills().List(filter, 0, "")->backfills, SizeIs(1));
  filter.job = "weekly";
  EXPECT_THAT(site_.backfills().List(filter, 0, "")->backfills, IsEmpty());
  BackfillRequest unknown;
  unknown.job = "weekly@2";
  EXPECT_EQ(ReasonOf(site_.backfills().Submit(unknown, site_.Caller()).status()), "UNKNOWN_JOB");
}

TEST_F(JobsTest, TheRegularRunAndABackfillOfItDoEachPartitionOnce) {
  ASSERT_TRUE(Put(Nightly(Open(3))).ok());
  const std::string regular = Run("nightly", 14, 15, "regular");
  const std::string backfill = Run("nightly", 12, 16, "backfill", /*skip_held=*/true);
  EXPECT_NE(regular, backfill);
  EXPECT_EQ(NameOf(site_.RunUntilOver(regular).backfill.phase), "DONE");
  EXPECT_EQ(NameOf(site_.RunUntilOver(backfill).backfill.phase), "DONE");
  EXPECT_THAT(site_.OurTasks(), SizeIs(4));
  for (int hour = 12; hour < 16; ++hour) EXPECT_EQ(site_.Rows(hour), 3);
  const auto partitions = site_.Partitions(backfill);
  ASSERT_THAT(partitions, SizeIs(4));
  EXPECT_EQ(NameOf(partitions[2].state), "SKIPPED");
  EXPECT_THAT(partitions[2].message, HasSubstr("held by ada for nightly"));
}

TEST_F(JobsTest, ExpectWhatTheirVersionSaysUnlessTheRequestDoes) {
  Jobs::PutRequest put = Nightly(Open(3));
  put.job.expect.min_rows = 4;
  ASSERT_TRUE(Put(put).ok());
  EXPECT_EQ(NameOf(site_.RunUntilOver(Run("nightly", 13, 14)).backfill.phase), "NEEDS_ATTENTION");
  BackfillRequest request;
  request.job = "nightly@1";
  request.intervals = {Hour(15)};
  request.min_rows = 2;
  const auto submitted = site_.backfills().Submit(request, site_.Caller());
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  EXPECT_EQ(NameOf(site_.RunUntilOver(submitted->backfill.id).backfill.phase), "DONE");
}

// A query's task takes its locks from its context, as any other: told before Druid is asked.
TEST_F(JobsTest, AQuerysContextIsHeldToWhatATasksIs) {
  for (const std::string& member :
       {std::string(R"("useConcurrentLocks":true)"), std::string(R"("taskLockType":"APPEND")"),
        std::string(R"("forceTimeChunkLock":false)"), std::string(R"("priority":100)"),
        std::string(R"("interlock":{})"), std::string(R"("maxNumTasks":2,"maxNumTasks":3)")}) {
    BackfillRequest request;
    request.sql = true;
    request.spec = ToJson(SqlWork{"REPLACE INTO t {start} {end}", absl::StrCat("{", member, "}")});
    request.intervals = {Hour(13)};
    const auto refused = site_.backfills().MakePlan(request).status();
    ASSERT_THAT(FaultsOf(refused), SizeIs(1)) << member;
    EXPECT_THAT(FaultsOf(refused)[0].pointer, testing::StartsWith("/sql/context/")) << member;
  }
}

}  // namespace
}  // namespace interlock::backfill
