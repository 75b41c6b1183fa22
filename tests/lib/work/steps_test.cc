#include "lib/work/steps.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/time/fake_clock.h"
#include "lib/time/reason.h"
#include "tests/lib/store/databases/test_database.h"

namespace interlock::work {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StepsTest : public ::testing::Test {
 protected:
  StepsTest() : store_(store::OpenChosenStore({WorkSchema()}, clock_)) {}

  void Schedule(const std::string& key, Instant due, const std::string& kind = "k") {
    EXPECT_TRUE(
        Write([&](store::Transaction& tx) { return work::Schedule(tx, kind, key, due); }).ok());
  }
  absl::Status Write(const store::Store::Body& body) { return store_->Write(body); }
  std::vector<Claim> Claims(int64_t most = 10, const std::string& owner = "me") {
    auto claims = ClaimDue(*store_, clock_, {owner, absl::Seconds(60)}, {"k", "other"}, most);
    EXPECT_TRUE(claims.ok()) << claims.status();
    return *claims;
  }
  Claim OnlyClaim() {
    std::vector<Claim> claims = Claims();
    EXPECT_THAT(claims, SizeIs(1));
    return claims.empty() ? Claim() : claims[0];
  }
  absl::Status Finish(const Claim& claim) {
    return Write([&](store::Transaction& tx) { return work::Finish(tx, claim); });
  }
  absl::Status Reschedule(const Claim& claim, Instant due) {
    return Write([&](store::Transaction& tx) { return work::Reschedule(tx, claim, due); });
  }
  std::optional<Instant> Next() {
    std::optional<Instant> next;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto due = NextDue(tx, {"k", "other"});
                      if (due.ok()) next = *due;
                      return due.status();
                    })
                    .ok());
    return next;
  }
  static std::vector<std::string> Keys(const std::vector<Claim>& claims) {
    std::vector<std::string> keys;
    for (const Claim& claim : claims) keys.push_back(claim.key);
    return keys;
  }
  Instant now() { return store_->Now(); }

  FakeClock clock_;
  std::unique_ptr<store::Store> store_;
};

TEST_F(StepsTest, ClaimsWhatIsDueTheLongestDueFirst) {
  Schedule("later", now() + absl::Seconds(1));
  Schedule("second", now() - absl::Seconds(1), "other");
  Schedule("first", now() - absl::Seconds(5));
  Schedule("third", now());
  EXPECT_THAT(Keys(Claims(2)), ElementsAre("first", "second"));
  EXPECT_THAT(Keys(Claims()), ElementsAre("third"));
  EXPECT_THAT(Claims(), IsEmpty());
  EXPECT_EQ(Next(), now() + absl::Seconds(1));
}

TEST_F(StepsTest, AClaimIsOnesOwnUntilItEndsAndThenAnothers) {
  Schedule("a", now());
  const Claim mine = OnlyClaim();
  EXPECT_EQ(mine.Remaining(clock_), absl::Seconds(60));
  clock_.Advance(absl::Seconds(60) - absl::Milliseconds(1));
  EXPECT_EQ(mine.Remaining(clock_), absl::Milliseconds(1));
  EXPECT_THAT(Claims(), IsEmpty());
  clock_.Advance(absl::Milliseconds(1));
  const Claim others = OnlyClaim();
  EXPECT_LT(mine.Remaining(clock_), absl::Milliseconds(1));
  EXPECT_GT(others.number, mine.number);
  // What the stalled one says afterwards is refused, and undone.
  EXPECT_EQ(ReasonOf(Finish(mine)), "CLAIM_LOST");
  EXPECT_EQ(ReasonOf(Reschedule(mine, now())), "CLAIM_LOST");
  EXPECT_EQ(ReasonOf(Write([&](store::Transaction& tx) { return CheckClaim(tx, mine); })),
            "CLAIM_LOST");
  EXPECT_TRUE(Write([&](store::Transaction& tx) { return CheckClaim(tx, others); }).ok());
  EXPECT_TRUE(Finish(others).ok());
  EXPECT_EQ(Next(), std::nullopt);
}

TEST_F(StepsTest, AWallClockStepLengthensNoClaim) {
  Schedule("a", now());
  const Claim mine = OnlyClaim();
  clock_.StepWall(-absl::Hours(5));
  clock_.Advance(absl::Seconds(59));
  EXPECT_EQ(mine.Remaining(clock_), absl::Seconds(1));
  clock_.Advance(absl::Seconds(1));
  EXPECT_THAT(Claims(), SizeIs(1));
}

TEST_F(StepsTest, ExtendingKeepsIt) {
  Schedule("a", now());
  Claim mine = OnlyClaim();
  clock_.Advance(absl::Seconds(50));
  ASSERT_TRUE(Extend(*store_, clock_, mine, absl::Seconds(60)).ok());
  EXPECT_EQ(mine.Remaining(clock_), absl::Seconds(60));
  clock_.Advance(absl::Seconds(59));
  EXPECT_THAT(Claims(), IsEmpty());
  clock_.Advance(absl::Seconds(1));
  EXPECT_THAT(Claims(), SizeIs(1));
  EXPECT_EQ(ReasonOf(Extend(*store_, clock_, mine, absl::Seconds(60))), "CLAIM_LOST");
}

TEST_F(StepsTest, ComesAgainWhenItWasRescheduled) {
  Schedule("a", now());
  ASSERT_TRUE(Reschedule(OnlyClaim(), now() + absl::Seconds(7)).ok());
  EXPECT_EQ(Next(), now() + absl::Seconds(7));
  EXPECT_THAT(Claims(), IsEmpty());
  clock_.Advance(absl::Seconds(7));
  EXPECT_EQ(OnlyClaim().attempts, 0);
}

TEST_F(StepsTest, CountsFailuresInARow) {
  Schedule("a", now());
  for (int attempts = 0; attempts < 3; ++attempts) {
    const Claim claim = OnlyClaim();
    EXPECT_EQ(claim.attempts, attempts);
    ASSERT_TRUE(Write([&](store::Transaction& tx) { return Retry(tx, claim, tx.now()); }).ok());
  }
  ASSERT_TRUE(Reschedule(OnlyClaim(), now()).ok());
  EXPECT_EQ(OnlyClaim().attempts, 0);
}

TEST_F(StepsTest, SchedulingAgainBringsItForwardNeverBack) {
  Schedule("a", now() + absl::Seconds(10));
  Schedule("a", now() + absl::Seconds(5));
  Schedule("a", now() + absl::Seconds(20));
  EXPECT_EQ(Next(), now() + absl::Seconds(5));
}

// A call that comes while the step is being done must have it done once more.
TEST_F(StepsTest, AWishDuringAClaimIsNotLost) {
  Schedule("a", now());
  const Claim first = OnlyClaim();
  Schedule("a", now() + absl::Seconds(3));
  Schedule("a", now() + absl::Seconds(9));
  ASSERT_TRUE(Finish(first).ok());
  EXPECT_EQ(Next(), now() + absl::Seconds(3));
  clock_.Advance(absl::Seconds(3));
  const Claim second = OnlyClaim();
  Schedule("a", now());
  ASSERT_TRUE(Reschedule(second, now() + absl::Hours(1)).ok());
  EXPECT_EQ(Next(), now());
  // A wish that the next claim has served is over with it.
  const Claim third = OnlyClaim();
  Schedule("a", now());
  clock_.Advance(absl::Seconds(60));
  const Claim fourth = OnlyClaim();
  EXPECT_NE(fourth.number, third.number);
  ASSERT_TRUE(Finish(fourth).ok());
  EXPECT_EQ(Next(), std::nullopt);
}

TEST_F(StepsTest, UnscheduledIsGoneAlsoForItsWorker) {
  Schedule("a", now());
  const Claim claim = OnlyClaim();
  ASSERT_TRUE(Write([&](store::Transaction& tx) { return Unschedule(tx, "k", "a"); }).ok());
  EXPECT_EQ(ReasonOf(Finish(claim)), "CLAIM_LOST");
  // Made anew it is another step: the old claim has no say.
  Schedule("a", now());
  EXPECT_EQ(ReasonOf(Finish(claim)), "CLAIM_LOST");
  const Claim anew = OnlyClaim();
  EXPECT_EQ(ReasonOf(Finish(claim)), "CLAIM_LOST");
  EXPECT_TRUE(Finish(anew).ok());
}

TEST_F(StepsTest, ForgettingClaimsMakesTheirStepsDueAtOnce) {
  Schedule("a", now());
  const Claim dead = OnlyClaim();
  ASSERT_TRUE(Write([](store::Transaction& tx) { return ForgetClaims(tx); }).ok());
  EXPECT_EQ(ReasonOf(Finish(dead)), "CLAIM_LOST");
  EXPECT_TRUE(Finish(OnlyClaim()).ok());
}

}  // namespace
}  // namespace interlock::work
