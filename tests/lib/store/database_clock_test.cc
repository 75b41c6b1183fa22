#include "lib/store/database_clock.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/time/fake_clock.h"

namespace interlock::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The database's clock is the fake one's wall clock; each server has a monotonic one.
class DatabaseClockTest : public ::testing::Test {
 protected:
  DatabaseClock Server() {
    return DatabaseClock(clock_, [this](absl::Duration by) { jumps_.push_back(by); });
  }
  DatabaseTime Look() const {
    DatabaseTime look;
    look.database = clock_.Now();
    look.correction_ms = correction_ms_;
    look.corrections = corrections_;
    look.decided = decided_;
    look.before = look.after = clock_.Monotonic();
    return look;
  }
  // As a server's batch does: corrects a jump before it decides.
  Instant Decide(DatabaseClock& server) {
    DatabaseClock::Judged judged = server.Judge(Look());
    if (judged.jump != absl::ZeroDuration()) {
      correction_ms_ -= absl::ToInt64Milliseconds(judged.jump);
      ++corrections_;
      server.Corrected(judged.jump);
      judged = server.Judge(Look());
      EXPECT_EQ(judged.jump, absl::ZeroDuration());
    }
    return decided_ = judged.now;
  }

  FakeClock clock_;
  int64_t correction_ms_ = 0;
  int64_t corrections_ = 0;
  Instant decided_ = Instant::FromMillis(0);
  std::vector<absl::Duration> jumps_;
};

TEST_F(DatabaseClockTest, IsTheDatabasesClock) {
  DatabaseClock server = Server();
  EXPECT_EQ(Decide(server), clock_.Now());
  clock_.Advance(absl::Hours(5));
  EXPECT_EQ(server.Now(), clock_.Now());
  EXPECT_EQ(Decide(server), clock_.Now());
  EXPECT_THAT(jumps_, IsEmpty());
}

TEST_F(DatabaseClockTest, AStepEitherWayMovesNothingAndIsReportedOnce) {
  DatabaseClock server = Server();
  const Instant start = Decide(server);
  clock_.StepWall(absl::Hours(1));
  clock_.Advance(absl::Seconds(3));
  EXPECT_EQ(Decide(server), start + absl::Seconds(3));
  clock_.StepWall(-absl::Hours(7));
  clock_.Advance(absl::Seconds(3));
  EXPECT_EQ(Decide(server), start + absl::Seconds(6));
  EXPECT_EQ(Decide(server), start + absl::Seconds(6));
  EXPECT_THAT(jumps_, ElementsAre(absl::Hours(1), -absl::Hours(7)));
  EXPECT_EQ(server.jumps(), 2);
}

TEST_F(DatabaseClockTest, AStepIsCorrectedByTheFirstThatSeesIt) {
  DatabaseClock one = Server();
  DatabaseClock other = Server();
  const Instant start = Decide(one);
  Decide(other);
  clock_.StepWall(absl::Hours(1));
  EXPECT_EQ(Decide(one), start);
  EXPECT_EQ(Decide(other), start);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(Decide(other), start + absl::Seconds(1));
  EXPECT_EQ(Decide(one), start + absl::Seconds(1));
  EXPECT_THAT(jumps_, ElementsAre(absl::Hours(1)));
}

TEST_F(DatabaseClockTest, AServerThatStartsTakesTheCorrectedTime) {
  DatabaseClock one = Server();
  const Instant start = Decide(one);
  clock_.StepWall(-absl::Hours(2));
  Decide(one);
  DatabaseClock late = Server();
  EXPECT_EQ(Decide(late), start);
  EXPECT_EQ(jumps_.size(), 1u);
}

// All servers were away when the clock was set back, or the standby's is behind.
TEST_F(DatabaseClockTest, NeverGoesBelowWhatWasDecided) {
  DatabaseClock one = Server();
  const Instant last = Decide(one);
  clock_.StepWall(-absl::Hours(2));
  DatabaseClock next = Server();
  EXPECT_EQ(Decide(next), last);
  clock_.Advance(absl::Seconds(4));
  EXPECT_EQ(Decide(next), last + absl::Seconds(4));
  EXPECT_THAT(jumps_, ElementsAre(-absl::Hours(2)));
}

TEST_F(DatabaseClockTest, ALittleBehindStandsStillUntilItIsThere) {
  DatabaseClock one = Server();
  const Instant last = Decide(one);
  clock_.StepWall(-absl::Milliseconds(400));
  DatabaseClock next = Server();
  EXPECT_EQ(Decide(next), last);
  EXPECT_EQ(Decide(one), last);
  clock_.Advance(absl::Milliseconds(500));
  EXPECT_EQ(Decide(next), last + absl::Milliseconds(100));
  EXPECT_THAT(jumps_, IsEmpty());
}

TEST_F(DatabaseClockTest, FollowsDrift) {
  DatabaseClock server = Server();
  const Instant start = Decide(server);
  for (int i = 0; i < 100; ++i) {
    clock_.Advance(absl::Seconds(1));
    clock_.StepWall(absl::Milliseconds(100));
    Decide(server);
  }
  EXPECT_EQ(Decide(server), start + absl::Seconds(110));
  EXPECT_THAT(jumps_, IsEmpty());
}

// A server that was stopped between asking and reading the answer has seen no jump.
TEST_F(DatabaseClockTest, AnAnswerThatTookLongIsNoJump) {
  DatabaseClock server = Server();
  Decide(server);
  DatabaseTime look = Look();
  clock_.Advance(absl::Minutes(10));
  look.after = clock_.Monotonic();
  EXPECT_EQ(server.Judge(look).jump, absl::ZeroDuration());
  EXPECT_EQ(Decide(server), clock_.Now());
}

}  // namespace
}  // namespace interlock::store
