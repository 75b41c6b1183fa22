#include "client/cpp/lease_timer.h"

#include <chrono>

#include "gtest/gtest.h"

namespace interlock::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(LeaseTimer, CountsFromWhenTheCallWasSent) {
  const LeaseTimer timer(seconds(100), seconds(60), seconds(60), seconds(5));
  EXPECT_EQ(timer.deadline(), seconds(160));
  EXPECT_EQ(timer.stop(), seconds(155));
  EXPECT_EQ(timer.next_renewal(), seconds(120));
}

TEST(LeaseTimer, GivesAtMostAThirdOfTheLeaseToStoppingEarly) {
  const LeaseTimer timer(seconds(0), seconds(6), seconds(6), seconds(11));
  EXPECT_EQ(timer.stop(), seconds(4));
  EXPECT_LT(timer.next_renewal(), timer.stop());
}

TEST(LeaseTimer, ARenewalMovesAllThree) {
  LeaseTimer timer(seconds(0), seconds(60), seconds(60), seconds(5));
  timer.Renewed(seconds(20), seconds(60));
  EXPECT_EQ(timer.deadline(), seconds(80));
  EXPECT_EQ(timer.stop(), seconds(75));
  EXPECT_EQ(timer.next_renewal(), seconds(40));
}

TEST(LeaseTimer, AFailedRenewalIsTriedAgainSoonAndMovesNoDeadline) {
  LeaseTimer timer(seconds(0), seconds(60), seconds(60), seconds(5));
  timer.Failed(seconds(20));
  EXPECT_EQ(timer.next_renewal(), seconds(23));
  EXPECT_EQ(timer.deadline(), seconds(60));
}

TEST(LeaseTimer, TriesNeitherTooOftenNorTooSeldom) {
  LeaseTimer blink(milliseconds(0), milliseconds(90), milliseconds(90), milliseconds(10));
  blink.Failed(milliseconds(30));
  EXPECT_EQ(blink.next_renewal(), milliseconds(80));
  LeaseTimer day(seconds(0), std::chrono::hours(24), std::chrono::hours(24), seconds(5));
  day.Failed(seconds(0));
  EXPECT_EQ(day.next_renewal(), seconds(5));
}

}  // namespace
}  // namespace interlock::client
