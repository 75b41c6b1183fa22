// A backfill of two hours with exchange 1 with Druid spoiled, then 2, then 3 … until a run
// has fewer. Each time: it ends DONE, with one task per unit and attempt, one copy of the
// rows, and its neighbours as they were.
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"
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

TEST_P(BackfillWalk, EndsDoneWithOneTaskPerUnitAndOneCopyOfTheRows) {
  const Walk& walk = GetParam();
  for (int64_t first = 1;; ++first) {
    SCOPED_TRACE(absl::StrCat("spoiled from exchange ", first));
    BackfillSite site;
    for (int hour = 12; hour < 16; ++hour) site.Load(hour, 3);
    const std::string before = site.Version(12);
    const std::string after = site.Version(15);
    const std::string id = site.Submit(site.FilesSpec(13, 15, kRows));
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
                                         Walk{"LostBeforeForLong", Spoil::kLostBefore, 12},
                                         Walk{"LostAfterForLong", Spoil::kLostAfter, 12},
                                         Walk{"LateForLong", Spoil::kLate, 12}),
                         [](const testing::TestParamInfo<Walk>& info) { return info.param.name; });

}  // namespace
}  // namespace interlock::backfill
