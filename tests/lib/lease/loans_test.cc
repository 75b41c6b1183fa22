#include "lib/lease/loans.h"

#include "gmock/gmock.h"
#include "tests/lib/lease/lease_fixture.h"

namespace interlock::lease {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LoansTest : public LeaseTest {
 protected:
  absl::Status LendTo(const Reservation& r, const std::string& link, const Interval& interval) {
    return Write([&](store::Transaction& tx) {
      return Lend(tx, r.id, r.token, r.datasource, {link, caller_.identity}, {interval});
    });
  }
  absl::Status ReturnFrom(const Reservation& r, const std::string& link) {
    return Write([&](store::Transaction& tx) { return Return(tx, r.id, link, caller_); });
  }
};

TEST_F(LoansTest, WhatIsLentIsStillTheHoldersOnceItIsReturned) {
  const Reservation granted = Granted("a", {Hours(0, 4)});
  ASSERT_TRUE(LendTo(granted, "backfills/b1", Hours(0, 2)).ok());
  EXPECT_THAT(Get(granted).links, ElementsAre("backfills/b1"));
  ASSERT_TRUE(ReturnFrom(granted, "backfills/b1").ok());
  EXPECT_EQ(Get(granted).state, State::kActive);
  EXPECT_THAT(Get(granted).links, IsEmpty());
  ASSERT_TRUE(Release(granted).ok());
  EXPECT_EQ(Get(granted).state, State::kReleased);
}

TEST_F(LoansTest, AHolderThatGoesHandsWhatIsLentOverUntilItIsReturned) {
  const Reservation granted = Granted("a", {Hours(0, 4)});
  ASSERT_TRUE(LendTo(granted, "backfills/b1", Hours(0, 2)).ok());
  const auto released = Release(granted);
  ASSERT_TRUE(released.ok()) << released.status();
  EXPECT_EQ(released->state, State::kActive);
  EXPECT_TRUE(released->handed_over);
  EXPECT_THAT(released->intervals, ElementsAre(Hours(0, 2)));
  // What was not lent is free; what was is not, and the borrower keeps it alive.
  EXPECT_TRUE(Reserve("b", {Hours(2, 4)}).ok());
  const auto refused = Reserve("b", {Hour(1)});
  EXPECT_EQ(ReasonOf(refused.status()), "HELD");
  EXPECT_EQ(MetadataOf(refused.status()).at("link"), "backfills/b1");
  EXPECT_TRUE(Renew(granted).ok());
  EXPECT_TRUE(Check(granted, Hour(1)).ok());
  EXPECT_TRUE(Release(granted).ok());
  ASSERT_TRUE(ReturnFrom(granted, "backfills/b1").ok());
  EXPECT_EQ(Get(granted).state, State::kReleased);
  EXPECT_TRUE(Reserve("b", {Hour(1)}).ok());
}

TEST_F(LoansTest, TheLastBorrowerEndsWhatWasHandedOver) {
  const Reservation granted = Granted("a", {Hours(0, 4)});
  ASSERT_TRUE(LendTo(granted, "backfills/b1", Hours(0, 2)).ok());
  ASSERT_TRUE(LendTo(granted, "backfills/b2", Hours(2, 3)).ok());
  ASSERT_TRUE(Release(granted).ok());
  ASSERT_TRUE(ReturnFrom(granted, "backfills/b1").ok());
  EXPECT_EQ(Get(granted).state, State::kActive);
  EXPECT_THAT(Get(granted).intervals, ElementsAre(Hours(2, 3)));
  ASSERT_TRUE(ReturnFrom(granted, "backfills/b2").ok());
  EXPECT_EQ(Get(granted).state, State::kReleased);
}

TEST_F(LoansTest, WhatIsPinnedStaysBlockedWhenItIsReturned) {
  const Reservation granted = Granted("a", {Hours(0, 4)});
  ASSERT_TRUE(LendTo(granted, "backfills/b1", Hours(0, 2)).ok());
  ASSERT_TRUE(Pin(granted, "w1", Hour(0)).ok());
  ASSERT_TRUE(Release(granted).ok());
  ASSERT_TRUE(ReturnFrom(granted, "backfills/b1").ok());
  EXPECT_EQ(Get(granted).state, State::kOrphaned);
  EXPECT_TRUE(Reserve("b", {Hour(1)}).ok());
  EXPECT_EQ(ReasonOf(Reserve("b", {Hour(0)}).status()), "HELD");
  ASSERT_TRUE(Unpin("w1").ok());
  EXPECT_TRUE(Reserve("b", {Hour(0)}).ok());
}

TEST_F(LoansTest, OnlyWhatIsHeldCanBeLentAndReturningNothingIsNoError) {
  const Reservation granted = Granted("a", {Hour(0)});
  EXPECT_EQ(ReasonOf(LendTo(granted, "backfills/b1", Hour(1))), "OUTSIDE_RESERVATION");
  EXPECT_TRUE(ReturnFrom(granted, "backfills/b9").ok());
  EXPECT_EQ(Get(granted).state, State::kActive);
  clock_.Advance(absl::Minutes(10));
  EXPECT_EQ(ReasonOf(LendTo(granted, "backfills/b1", Hour(0))), "EXPIRED");
}

TEST_F(LoansTest, OnlyOnesOwnReservationToReplaceCanBeLent) {
  ReserveRequest append = Request("a", {Hour(0)});
  append.mode = Mode::kAppend;
  EXPECT_EQ(ReasonOf(LendTo(Granted(append), "backfills/b1", Hour(0))), "LENT_APPEND");
  const Reservation granted = Granted("a", {Hour(1)});
  const audit::Caller own = caller_;
  caller_.identity = "mallory";
  EXPECT_EQ(ReasonOf(LendTo(granted, "backfills/b1", Hour(1))), "NOT_THE_HOLDER");
  caller_ = own;
  EXPECT_TRUE(LendTo(granted, "backfills/b1", Hour(1)).ok());
}

TEST_F(LoansTest, WhatIsTakenForABackfillSaysSo) {
  ReserveRequest request = Request("a", {Hour(0)});
  request.link = "backfills/b7";
  Granted(request);
  const auto refused = Reserve("b", {Hour(0)});
  EXPECT_EQ(MetadataOf(refused.status()).at("link"), "backfills/b7");
}

}  // namespace
}  // namespace interlock::lease
