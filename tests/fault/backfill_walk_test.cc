// A stored job run over two hours with exchange 1 with Druid spoiled, then 2, then 3 … until a
// run has fewer. Each time: it ends DONE, with one task per unit and attempt, one copy of the
// rows, and its neighbours as they were. The same with the process dying at each exchange; and
// the same walks of a rollback, which ends with what was there before.
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "lib/backfill/jobs.h"
#include "tests/lib/backfill/backfill_site.h"

namespace interlock::backfill {
namespace {

constexpr int kRows = 6;

struct Walk {
  const char* name;
  Spoil spoil;
  int64_t in_a_row;  // exchanges that are spoiled
};

// Its name in listings of tests: gtest would print its bytes.
void PrintTo(const Walk& walk, std::ostream* out) { *out << walk.name; }

class BackfillWalk : public testing::TestWithParam<Walk> {};

// Every attempt that was stored is over, and each that reached Druid has a task of its own.
void ExpectOneTaskPerAttempt(BackfillSite& site, const std::string& id) {
  std::set<std::string> reached;
  for (int64_t unit = 0; unit < 2; ++unit) {
    const auto attempts = site.backfills().ListAttempts(id, unit);
    ASSERT_TRUE(attempts.ok()) << attempts.status();
    std::set<int64_t> numbers;
    for (const Attempt& attempt : *attempts) {
      EXPECT_TRUE(numbers.insert(attempt.number).second);
      EXPECT_TRUE(attempt.settled) << NameOf(attempt.state);
      if (attempt.state == AttemptState::kSettled) reached.insert(attempt.task_id);
    }
  }
  const auto tasks = site.OurTasks();
  EXPECT_EQ(std::set<std::string>(tasks.begin(), tasks.end()), reached);
  // A spoiled read is no reason to do the work again.
  EXPECT_EQ(tasks.size(), 2u);
}

void ExpectThePromises(BackfillSite& site, const Backfills::Detail& over, const std::string& before,
                       const std::string& after) {
  EXPECT_EQ(NameOf(over.backfill.phase), "DONE") << over.backfill.message;
  EXPECT_EQ(site.Rows(13), kRows);
  EXPECT_EQ(site.Rows(14), kRows);
  EXPECT_EQ(site.Version(12), before);
  EXPECT_EQ(site.Version(15), after);
  ExpectOneTaskPerAttempt(site, over.backfill.id);
}

// The job `nightly`, over hours 13 and 14.
std::string SubmitJob(BackfillSite& site) {
  Jobs jobs(site.store(), site.cluster());
  Jobs::PutRequest put;
  put.job.name = "nightly";
  put.job.work = site.FilesSpec(13, 15, kRows);
  EXPECT_TRUE(jobs.PutJob(put, site.Caller()).ok());
  BackfillRequest request;
  request.job = "nightly";
  request.expected_rows = 2 * kRows;
  const auto submitted = site.backfills().Submit(request, site.Caller());
  EXPECT_TRUE(submitted.ok()) << submitted.status();
  return submitted.ok() ? submitted->backfill.id : "";
}

TEST_P(BackfillWalk, EndsDoneWithOneTaskPerUnitAndOneCopyOfTheRows) {
  const Walk& walk = GetParam();
  for (int64_t first = 1;; ++first) {
    SCOPED_TRACE(absl::StrCat("spoiled from exchange ", first));
    BackfillSite site;
    for (int hour = 12; hour < 16; ++hour) site.Load(hour, 3);
    const std::string before = site.Version(12);
    const std::string after = site.Version(15);
    const std::string id = SubmitJob(site);
    const int64_t start = site.transport().exchanges();
    int64_t spoiled = 0;
    site.transport().SpoilBy([&](int64_t number, const druid::HttpRequest&) {
      const int64_t n = number - start;
      if (n < first || n >= first + walk.in_a_row) return Spoil::kNot;
      ++spoiled;
      return walk.spoil;
    });
    const Backfills::Detail over = site.RunUntilOver(id);
    site.transport().SpoilBy(nullptr);
    ExpectThePromises(site, over, before, after);
    if (spoiled == 0 || HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, BackfillWalk,
                         testing::Values(Walk{"Unreachable", Spoil::kUnreachable, 1},
                                         Walk{"LostBefore", Spoil::kLostBefore, 1},
                                         Walk{"LostAfter", Spoil::kLostAfter, 1},
                                         Walk{"Late", Spoil::kLate, 1},
                                         Walk{"ServerError", Spoil::kServerError, 1},
                                         Walk{"ErrorAfter", Spoil::kErrorAfter, 1},
                                         Walk{"Garbage", Spoil::kGarbage, 1},
                                         Walk{"Empty", Spoil::kEmpty, 1},
                                         Walk{"LostBeforeForLong", Spoil::kLostBefore, 12},
                                         Walk{"LostAfterForLong", Spoil::kLostAfter, 12},
                                         Walk{"LateForLong", Spoil::kLate, 12}),
                         [](const testing::TestParamInfo<Walk>& info) { return info.param.name; });

// Thrown out of an exchange: nothing of the process but its store outlives it.
struct Death {};

enum class Dies { kBeforeTheCall, kAfterTheCall };

// Runs until it is over, and dies once at exchange `at`. False where it has fewer.
bool DieOnce(BackfillSite& site, const std::string& id, int64_t at, Dies when,
             Backfills::Detail* over) {
  const int64_t start = site.transport().exchanges();
  bool died = false;
  const auto reached = [&site, start, at] { return site.transport().exchanges() - start == at; };
  site.transport().Before([&](const druid::HttpRequest&) {
    if (died || when != Dies::kBeforeTheCall || !reached()) return;
    died = true;
    throw Death();
  });
  site.transport().After([&](const druid::HttpRequest&) {
    if (died || when != Dies::kAfterTheCall || !reached()) return;
    died = true;
    throw Death();
  });
  try {
    *over = site.RunUntilOver(id);
  } catch (const Death&) {
    site.Restart();
    *over = site.RunUntilOver(id);
  }
  site.transport().Before(nullptr);
  site.transport().After(nullptr);
  return died;
}

class DeathWalk : public testing::TestWithParam<Dies> {};

TEST_P(DeathWalk, TheNextProcessEndsItWithOneTaskPerUnitAndOneCopyOfTheRows) {
  for (int64_t at = 1;; ++at) {
    SCOPED_TRACE(absl::StrCat("dies at exchange ", at));
    BackfillSite site;
    for (int hour = 12; hour < 16; ++hour) site.Load(hour, 3);
    const std::string before = site.Version(12);
    const std::string after = site.Version(15);
    const std::string id = SubmitJob(site);
    Backfills::Detail over;
    const bool died = DieOnce(site, id, at, GetParam(), &over);
    ExpectThePromises(site, over, before, after);
    if (!died || HasFailure()) break;
  }
}

TEST_P(DeathWalk, TheNextProcessEndsARollback) {
  for (int64_t at = 1;; ++at) {
    SCOPED_TRACE(absl::StrCat("dies at exchange ", at));
    BackfillSite site;
    for (int hour = 13; hour < 15; ++hour) site.Load(hour, 3);
    const std::string id = SubmitJob(site);
    site.RunUntilOver(id);
    ASSERT_TRUE(site.backfills().Rollback(id, {}, site.Caller()).ok());
    Backfills::Detail over;
    const bool died = DieOnce(site, id, at, GetParam(), &over);
    EXPECT_EQ(NameOf(over.backfill.phase), "ROLLED_BACK") << over.backfill.message;
    EXPECT_EQ(site.Rows(13), 3);
    EXPECT_EQ(site.Rows(14), 3);
    if (!died || HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(When, DeathWalk,
                         testing::Values(Dies::kBeforeTheCall, Dies::kAfterTheCall),
                         [](const testing::TestParamInfo<Dies>& info) {
                           return info.param == Dies::kBeforeTheCall ? "BeforeTheCall"
                                                                     : "AfterTheCall";
                         });

class RollbackWalk : public testing::TestWithParam<Walk> {};

TEST_P(RollbackWalk, EndsWithWhatWasThereBefore) {
  const Walk& walk = GetParam();
  for (int64_t first = 1;; ++first) {
    SCOPED_TRACE(absl::StrCat("spoiled from exchange ", first));
    BackfillSite site;
    for (int hour = 12; hour < 16; ++hour) site.Load(hour, 3);
    const std::vector<std::string> before = {site.Version(12), site.Version(13), site.Version(14),
                                             site.Version(15)};
    const std::string id = SubmitJob(site);
    site.RunUntilOver(id);
    ASSERT_TRUE(site.backfills().Rollback(id, {}, site.Caller()).ok());
    const int64_t start = site.transport().exchanges();
    int64_t spoiled = 0;
    site.transport().SpoilBy([&](int64_t number, const druid::HttpRequest&) {
      const int64_t n = number - start;
      if (n < first || n >= first + walk.in_a_row) return Spoil::kNot;
      ++spoiled;
      return walk.spoil;
    });
    const Backfills::Detail over = site.RunUntilOver(id);
    site.transport().SpoilBy(nullptr);
    EXPECT_EQ(NameOf(over.backfill.phase), "ROLLED_BACK") << over.backfill.message;
    for (int hour = 12; hour < 16; ++hour) {
      EXPECT_EQ(site.Rows(hour), 3);
      EXPECT_EQ(site.Version(hour), before[hour - 12]);
    }
    if (spoiled == 0 || HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, RollbackWalk,
                         testing::Values(Walk{"Unreachable", Spoil::kUnreachable, 1},
                                         Walk{"Late", Spoil::kLate, 1},
                                         Walk{"ErrorAfter", Spoil::kErrorAfter, 1},
                                         Walk{"Empty", Spoil::kEmpty, 1},
                                         Walk{"LostAfterForLong", Spoil::kLostAfter, 8}),
                         [](const testing::TestParamInfo<Walk>& info) { return info.param.name; });

}  // namespace
}  // namespace interlock::backfill
