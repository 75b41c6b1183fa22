// May a stream write these instants?
#include "lib/guard/check_append.h"

#include "gmock/gmock.h"
#include "tests/lib/guard/guard_site.h"

namespace interlock::guard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

AppendQuestion Ask(const std::vector<std::string>& instants) {
  AppendQuestion question;
  question.datasource = "views";
  for (const auto& instant : instants) question.instants.push_back(At(instant));
  return question;
}

AppendAnswer Answered(GuardSite& site, const AppendQuestion& question) {
  const auto answer = CheckAppend(site.store(), question, site.options);
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.ok() ? *answer : AppendAnswer();
}

TEST(CheckAppend, NobodyHoldsItSoItMay) {
  GuardSite site;
  const AppendAnswer answer = Answered(site, Ask({"2026-07-16T13:00Z", "2026-07-16T14:00Z"}));
  EXPECT_EQ(answer.decision, Decision::kAllow);
  EXPECT_THAT(answer.each, IsEmpty());
}

TEST(CheckAppend, Case042AnEventForTimeThatIsBeingReplacedIsHeldByOneClock) {
  GuardSite site;
  auto lease = site.Reserve("2026-07-16T13:00Z/2026-07-16T14:00Z");
  ASSERT_TRUE(lease.ok()) << lease.status();
  const AppendAnswer answer =
      Answered(site, Ask({"2026-07-16T12:59:59.999Z", "2026-07-16T13:00Z",
                          "2026-07-16T13:59:59.999Z", "2026-07-16T14:00Z"}));
  EXPECT_EQ(answer.decision, Decision::kHold);
  EXPECT_THAT(answer.each,
              ElementsAre(Decision::kAllow, Decision::kHold, Decision::kHold, Decision::kAllow));
  ASSERT_THAT(answer.blockers, SizeIs(1));
  EXPECT_EQ(answer.blockers[0].holder, "backfill");
  EXPECT_GT(answer.retry_after, absl::ZeroDuration());
  EXPECT_EQ(answer.token, lease->reservation.token);
}

TEST(CheckAppend, Case043TheAnswerSaysUntilWhenItHolds) {
  GuardSite site;
  const AppendAnswer answer = Answered(site, Ask({"2026-07-16T13:00Z"}));
  EXPECT_EQ(answer.valid_for, site.options.append_valid_for);
  EXPECT_EQ(answer.valid_until, site.store().Now() + answer.valid_for);
}

TEST(CheckAppend, AnotherAppendIsInNobodysWay) {
  GuardSite site;
  ASSERT_TRUE(site.Reserve("2026-07-16T13:00Z/2026-07-16T14:00Z", lease::Mode::kAppend).ok());
  EXPECT_EQ(Answered(site, Ask({"2026-07-16T13:00Z"})).decision, Decision::kAllow);
}

TEST(CheckAppend, Case105ALeaseThatIsShownMustBeOnesOwn) {
  GuardSite site;
  auto lease = site.Reserve("2026-07-16T13:00Z/2026-07-16T14:00Z", lease::Mode::kAppend);
  ASSERT_TRUE(lease.ok()) << lease.status();
  AppendQuestion question = Ask({"2026-07-16T13:00Z"});
  question.reservation_id = lease->reservation.id;
  question.token = lease->reservation.token;
  EXPECT_EQ(Answered(site, question).decision, Decision::kAllow);
  question.token += 1;
  EXPECT_EQ(ReasonOf(CheckAppend(site.store(), question, site.options).status()), "STALE_TOKEN");
}

TEST(CheckAppend, ManyHeldStretchesBetweenTwoInstantsAreLookedAtOneByOne) {
  GuardSite site;
  AppendQuestion question = Ask({"2020-01-01", "2026-07-16T13:00Z"});
  lease::ReserveRequest request;
  request.datasource = "views";
  request.holder = "backfill";
  for (int i = 0; i < 999; ++i) {
    const Instant start = At("2021-01-01") + absl::Hours(2 * i);
    request.intervals.push_back(Interval::Between(start, start + absl::Hours(1)));
  }
  for (int more = 0; more < 2; ++more) {
    ASSERT_TRUE(site.store()
                    .Write([&](store::Transaction& tx) {
                      return lease::Reserve(tx, request, GuardSite::Ada()).status();
                    })
                    .ok());
    for (Interval& interval : request.intervals) {
      interval = Interval::Between(interval.start() + absl::Hours(20'000),
                                   interval.end() + absl::Hours(20'000));
    }
  }
  EXPECT_EQ(Answered(site, question).decision, Decision::kAllow);
  question.instants.push_back(At("2021-01-01T00:30Z"));
  EXPECT_EQ(Answered(site, question).decision, Decision::kHold);
}

TEST(CheckAppend, TooManyInstantsAreRefused) {
  GuardSite site;
  AppendQuestion question = Ask({});
  question.instants.resize(kMostInstants + 1);
  EXPECT_EQ(ReasonOf(CheckAppend(site.store(), question, site.options).status()), "LIMIT_EXCEEDED");
}

}  // namespace
}  // namespace interlock::guard
