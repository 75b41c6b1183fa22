#include "gmock/gmock.h"
#include "tests/lib/lease/lease_fixture.h"

namespace interlock::lease {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Orphans = LeaseTest;

TEST_F(Orphans, AnExpiredReservationBlocksWhatIsPinnedAndFreesTheRest) {
  const Reservation granted = Granted("a", {Hours(0, 4)});
  ASSERT_TRUE(Pin(granted, "w1", Hour(1)).ok());
  clock_.Advance(absl::Minutes(10));
  EXPECT_EQ(Get(granted).state, State::kOrphaned);
  const auto refused = Reserve("b", {Hours(0, 4)});
  EXPECT_EQ(ReasonOf(refused.status()), "HELD");
  EXPECT_EQ(MetadataOf(refused.status()).at("orphaned"), "true");
  EXPECT_EQ(MetadataOf(refused.status()).at("work"), "w1");
  EXPECT_EQ(MetadataOf(refused.status()).at("interval"), Hour(1).ToString());
  EXPECT_EQ(RetryAfterOf(refused.status()), std::nullopt);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("w1 (backfills/b1)"));
  EXPECT_TRUE(Reserve("b", {Hours(2, 4)}).ok());
  EXPECT_THAT(Get(granted).intervals, ElementsAre(Hour(1)));
  EXPECT_EQ(ReasonOf(Reserve("c", {Hour(1)}).status()), "HELD");
  EXPECT_EQ(ReasonOf(Renew(granted).status()), "SUPERSEDED");
  ASSERT_TRUE(Unpin("w1").ok());
  EXPECT_EQ(Get(granted).state, State::kExpired);
  EXPECT_TRUE(Reserve("c", {Hour(1)}).ok());
}

TEST_F(Orphans, SoDoesAReleasedOneAndAForcedOne) {
  const Reservation released = Granted("a", {Hours(0, 2)});
  const Reservation forced = Granted("a", {Hours(2, 4)});
  ASSERT_TRUE(Pin(released, "w1", Hour(1)).ok());
  ASSERT_TRUE(Pin(forced, "w2", Hour(2)).ok());
  EXPECT_EQ(Release(released)->state, State::kOrphaned);
  EXPECT_EQ(ForceRelease(forced)->state, State::kOrphaned);
  EXPECT_EQ(ReasonOf(Reserve("b", {Hour(1)}).status()), "HELD");
  EXPECT_EQ(ReasonOf(Reserve("b", {Hour(2)}).status()), "HELD");
  EXPECT_TRUE(Reserve("b", {Hour(0)}).ok());
  EXPECT_TRUE(Reserve("b", {Hour(3)}).ok());
  ASSERT_TRUE(Unpin("w1").ok());
  ASSERT_TRUE(Unpin("w2").ok());
  EXPECT_EQ(Get(released).state, State::kReleased);
  EXPECT_EQ(Get(forced).state, State::kForced);
  EXPECT_TRUE(Reserve("b", {Hours(1, 3)}).ok());
}

TEST_F(Orphans, BlocksUntilTheLastOfItsWorkIsSettled) {
  const Reservation granted = Granted("a", {Hours(0, 2)});
  ASSERT_TRUE(Pin(granted, "w1", Hour(0)).ok());
  ASSERT_TRUE(Pin(granted, "w2", Hours(0, 2)).ok());
  ASSERT_TRUE(Release(granted).ok());
  ASSERT_TRUE(Unpin("w2").ok());
  EXPECT_TRUE(Reserve("b", {Hour(1)}).ok());
  EXPECT_EQ(ReasonOf(Reserve("b", {Hour(0)}).status()), "HELD");
  ASSERT_TRUE(Unpin("w1").ok());
  EXPECT_TRUE(Reserve("b", {Hour(0)}).ok());
}

TEST_F(Orphans, UnpinningALiveReservationChangesNothingOfIt) {
  const Reservation granted = Granted("a", {Hours(0, 2)});
  ASSERT_TRUE(Pin(granted, "w1", Hour(0)).ok());
  EXPECT_THAT(Get(granted).pins, SizeIs(1));
  ASSERT_TRUE(Unpin("w1").ok());
  EXPECT_EQ(Get(granted).state, State::kActive);
  EXPECT_THAT(Get(granted).intervals, ElementsAre(Hours(0, 2)));
  EXPECT_EQ(ReasonOf(Reserve("b", {Hour(0)}).status()), "HELD");
  EXPECT_TRUE(Unpin("w1").ok());
}

TEST_F(Orphans, SkippingReportsTheOrphanAndItsWork) {
  const Reservation granted = Granted("a", {Hours(0, 4)});
  ASSERT_TRUE(Pin(granted, "w1", Hour(1)).ok());
  clock_.Advance(absl::Minutes(10));
  ReserveRequest request = Request("b", {Hours(0, 4)});
  request.skip_held = true;
  request.request_id = "run-1";
  for (int i = 0; i < 2; ++i) {
    const auto grant = Reserve(request);
    ASSERT_TRUE(grant.ok()) << grant.status();
    EXPECT_THAT(grant->reservation.intervals, ElementsAre(Hour(0), Hours(2, 4)));
    ASSERT_THAT(grant->skipped, SizeIs(1));
    EXPECT_TRUE(grant->skipped[0].orphaned);
    EXPECT_EQ(grant->skipped[0].work_id, "w1");
    EXPECT_EQ(grant->skipped[0].link, "backfills/b1");
  }
}

TEST_F(Orphans, PinsNeedALiveReservationThatHoldsTheirTime) {
  const Reservation granted = Granted("a", {Hours(0, 2)});
  EXPECT_EQ(ReasonOf(Pin(granted, "w1", Hours(1, 3))), "OUTSIDE_RESERVATION");
  ASSERT_TRUE(Pin(granted, "w1", Hour(1)).ok());
  EXPECT_TRUE(Pin(granted, "w1", Hour(1)).ok());
  EXPECT_EQ(ReasonOf(Pin(granted, "w1", Hour(0))), "WORK_PINNED_ELSEWHERE");
  EXPECT_EQ(ReasonOf(GiveBack(granted, {Hours(0, 2)}).status()), "WORK_UNSETTLED");
  EXPECT_TRUE(GiveBack(granted, {Hour(0)}).ok());
  clock_.Advance(absl::Minutes(10));
  EXPECT_EQ(ReasonOf(Pin(granted, "w2", Hour(1))), "EXPIRED");
}

TEST_F(Orphans, AbandoningNeedsAReasonAndIsAudited) {
  const Reservation granted = Granted("a", {Hours(0, 2)});
  ASSERT_TRUE(Pin(granted, "w1", Hour(1)).ok());
  clock_.Advance(absl::Minutes(10));
  const auto abandon = [&](const std::string& work_id) {
    return Write([&](store::Transaction& tx) { return AbandonWork(tx, work_id, caller_); });
  };
  caller_.reason = "";
  EXPECT_EQ(ReasonOf(abandon("w1")), "REASON_REQUIRED");
  caller_.reason = "checked by hand";
  EXPECT_EQ(ReasonOf(abandon("w9")), "UNKNOWN_WORK");
  ASSERT_TRUE(abandon("w1").ok());
  EXPECT_EQ(Audit()[0].event.method, "AbandonWork");
  EXPECT_EQ(Audit()[0].event.subject, granted.id);
  EXPECT_THAT(Audit()[0].event.before, HasSubstr("w1"));
  EXPECT_TRUE(Reserve("b", {Hours(0, 2)}).ok());
}

TEST_F(Orphans, SweepingLeavesAnOrphanWhereItIs) {
  const Reservation granted = Granted("a", {Hours(0, 2)});
  ASSERT_TRUE(Pin(granted, "w1", Hour(1)).ok());
  clock_.Advance(absl::Hours(24 * 30));
  auto swept = In<Swept>([&](store::Transaction& tx) { return Sweep(tx, tx.now(), ""); });
  ASSERT_TRUE(swept.ok());
  EXPECT_EQ(swept->removed, 0);
  EXPECT_EQ(Get(granted).state, State::kOrphaned);
  EXPECT_EQ(ReasonOf(Reserve("b", {Hour(1)}).status()), "HELD");
}

}  // namespace
}  // namespace interlock::lease
