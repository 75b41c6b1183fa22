// As many partitions as a backfill may have: what it asks of Druid in one pass, and what it
// reads of the store, does not grow with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {
namespace {

constexpr int kParallel = 16;

Options Wide() {
  Options options = BackfillSite::SiteOptions();
  options.max_parallel = options.max_per_datasource = options.max_in_all = kParallel;
  return options;
}

// 10,000 hours, one unit each; all but one day's have no input.
std::string TenThousandHours(BackfillSite& site) {
  return Edited(site.FilesSpec(0, 24, 2), {{"/spec/dataSchema/granularitySpec/intervals",
                                            R"(["2026-07-16T00:00:00Z/PT10000H"])"}});
}

class Counted {
 public:
  explicit Counted(BackfillSite& site) {
    site.transport().Before([this](const druid::HttpRequest& request) {
      ++all;
      if (absl::StrContains(request.url, "/taskStatus")) ++batched;
      if (absl::EndsWith(request.url, "/status")) ++single;
    });
  }
  int all = 0, batched = 0, single = 0;
};

TEST(Scale, OneRequestAPassAsksForAllTasksHoweverManyRun) {
  BackfillSite site(Wide());
  const std::string id = site.Submit(TenThousandHours(site));
  ASSERT_FALSE(id.empty());
  Counted counted(site);
  int most_running = 0, passes = 0;
  for (int tick = 0; tick < 20; ++tick) {
    counted.batched = counted.single = 0;
    const auto before = site.backfills().Get(id)->counts;
    while (site.StepOnce()) {
      // One batched request, whatever runs; one for a task that was not seen to run yet, and
      // one for each that has ended, for the times of its life.
      EXPECT_LE(counted.batched, 1);
      counted.batched = 0;
      ++passes;
    }
    const auto running = before.find(State::kRunning);
    if (running != before.end()) {
      most_running = std::max(most_running, static_cast<int>(running->second));
    }
    site.Pass(absl::Milliseconds(100));
  }
  EXPECT_GT(most_running, 4);
  EXPECT_GT(passes, 5);
  const auto counts = site.backfills().Get(id)->counts;
  int64_t partitions = 0;
  for (const auto& [state, count] : counts) partitions += count;
  EXPECT_EQ(partitions, 10'000);
  EXPECT_TRUE(counts.count(State::kDone) + counts.count(State::kEmpty) > 0);
}

// A pass that begins nothing costs the same with 10,000 partitions ahead as with 24.
TEST(Scale, APassAsksAsMuchForManyPartitionsAsForFew) {
  std::map<int64_t, int> asked;
  for (const bool many : {false, true}) {
    BackfillSite site(Wide());
    const std::string spec = many ? TenThousandHours(site) : site.FilesSpec(0, 24, 2);
    BackfillRequest request;
    request.spec = spec;
    request.max_parallel = 2;
    const auto submitted = site.backfills().Submit(request, site.Caller());
    ASSERT_TRUE(submitted.ok()) << submitted.status();
    Counted counted(site);
    site.StepOnce();
    asked[many ? 1 : 0] = counted.all;
  }
  EXPECT_EQ(asked[0], asked[1]);
}

TEST(Scale, ARestartGoesOnWhereItWasAndSendsNothingAgain) {
  BackfillSite site(Wide());
  const std::string id = site.Submit(TenThousandHours(site));
  for (int tick = 0; tick < 10; ++tick) {
    while (site.StepOnce()) {
    }
    site.Pass(absl::Milliseconds(100));
  }
  const auto tasks = site.OurTasks();
  const size_t posts = site.transport().posts().size();
  EXPECT_EQ(tasks.size(), posts);
  site.Restart();
  Counted counted(site);
  site.StepOnce();
  EXPECT_EQ(counted.batched, 1);
  const auto again = site.OurTasks();
  EXPECT_EQ(again.size(), site.transport().posts().size());
  for (const std::string& task : tasks) {
    EXPECT_EQ(std::count(again.begin(), again.end(), task), 1) << task;
  }
}

}  // namespace
}  // namespace interlock::backfill
