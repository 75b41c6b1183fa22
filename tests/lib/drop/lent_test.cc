// Drops that act under a reservation of their caller's: it is honoured through the whole of
// a drop, and never in its own way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/drop/drop_site.h"

namespace interlock::drop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const char kHour13[] = "2026-07-16T13:00Z/2026-07-16T14:00Z";

class LentDropTest : public ::testing::Test {
 protected:
  LentDropTest() {
    site_.Load(12, 15, 1);
    lender_ = Reserve(kHour13);
  }

  lease::Reservation Reserve(const std::string& interval) {
    lease::Reservation reserved;
    Write([&](store::Transaction& tx) {
      lease::ReserveRequest request;
      request.datasource = kClicks;
      request.intervals = {Of(interval)};
      request.holder = "ada";
      request.ttl = absl::Hours(24);
      auto grant = lease::Reserve(tx, request, DropSite::Ada());
      if (grant.ok()) reserved = grant->reservation;
      return grant.status();
    });
    return reserved;
  }
  void Write(const store::Store::Body& body) {
    const absl::Status status = site_.store().Write(body);
    EXPECT_TRUE(status.ok()) << status;
  }
  void ReleaseLender() {
    Write([&](store::Transaction& tx) {
      return lease::Release(tx, lender_.id, lender_.token, DropSite::Ada()).status();
    });
  }
  void ForceRelease(const std::string& id) {
    Write([&](store::Transaction& tx) {
      return lease::ForceRelease(tx, id, {"root", "", "the wrong day"}).status();
    });
  }
  lease::Reservation Lender() {
    lease::Reservation now;
    EXPECT_TRUE(site_.store()
                    .Read([&](store::Transaction& tx) {
                      auto found = lease::Get(tx, lender_.id);
                      if (found.ok()) now = *found;
                      return found.status();
                    })
                    .ok());
    return now;
  }
  std::vector<lease::Held> Held() {
    std::vector<lease::Held> found;
    EXPECT_TRUE(site_.store()
                    .Read([&](store::Transaction& tx) {
                      auto now = lease::FindHeld(tx, kClicks, lease::Mode::kReplace, {Of(kHour13)});
                      if (now.ok()) found = *now;
                      return now.status();
                    })
                    .ok());
    return found;
  }
  Drop Lent(absl::Duration window) {
    DropRequest request = site_.Request(kHour13);
    request.window = window;
    request.reservation_id = lender_.id;
    request.token = lender_.token;
    return site_.Submitted(request);
  }

  DropSite site_;
  lease::Reservation lender_;
};

TEST_F(LentDropTest, IsKilledUnderTheLendersReservationAndNeverWaitsForIt) {
  const Drop drop = Lent(absl::Hours(2));
  site_.after_step = [&] {
    const Drop now = site_.Now(drop.id);
    EXPECT_NE(now.hold, kHeld) << now.message;
    EXPECT_EQ(now.reservation_id, lender_.id);
    if (!Holds(now.state)) return;
    EXPECT_THAT(Lender().links, ElementsAre("drops/" + drop.id));
  };
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled, absl::Hours(3)));
  EXPECT_EQ(Lender().state, lease::State::kActive) << "it stays its owner's";
  EXPECT_THAT(Lender().pins, IsEmpty());
  EXPECT_THAT(Lender().links, IsEmpty());
}

TEST_F(LentDropTest, IsRestoredUnderIt) {
  const Drop drop = Lent(absl::Hours(2));
  ASSERT_TRUE(site_.RunTo(drop.id, State::kMarked));
  ASSERT_TRUE(site_.drops().Restore(drop.id, site_.Ada()).ok());
  EXPECT_THAT(Lender().links, ElementsAre("drops/" + drop.id));
  ASSERT_TRUE(site_.RunTo(drop.id, State::kRestored, absl::Hours(1)));
  EXPECT_EQ(Lender().state, lease::State::kActive);
  EXPECT_THAT(Lender().links, IsEmpty());
}

TEST_F(LentDropTest, GoesOnUnderWhatALenderThatGoesHandsOver) {
  const Drop drop = Lent(absl::Hours(2));
  ASSERT_TRUE(site_.DoOneDue());
  ASSERT_EQ(site_.Now(drop.id).state, State::kMarking);
  ReleaseLender();
  EXPECT_TRUE(Lender().handed_over);
  EXPECT_THAT(Held(), SizeIs(1)) << "the mark is under way";
  ASSERT_TRUE(site_.RunTo(drop.id, State::kMarked));
  EXPECT_EQ(Lender().state, lease::State::kReleased);
  EXPECT_THAT(Held(), IsEmpty()) << "nobody holds it while the window runs";
  // Its kill has a reservation of its own.
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled, absl::Hours(3)));
  EXPECT_NE(site_.Now(drop.id).reservation_id, lender_.id);
  EXPECT_THAT(Held(), IsEmpty());
}

TEST_F(LentDropTest, ALendersReservationThatNoLongerServesIsInTheWayLikeAnybodys) {
  const Drop drop = Lent(absl::Hours(2));
  ASSERT_TRUE(site_.RunTo(drop.id, State::kMarked));
  // The lender has given half of it away, and holds the rest.
  Write([&](store::Transaction& tx) {
    return lease::ReleaseIntervals(tx, lender_.id, lender_.token,
                                   {Of("2026-07-16T13:00Z/2026-07-16T13:30Z")}, DropSite::Ada())
        .status();
  });
  ASSERT_TRUE(site_.RunUntil(drop.id, [](const Drop& now) { return now.hold == kHeld; }));
  EXPECT_THAT(site_.Now(drop.id).message, HasSubstr("ada"));
  ReleaseLender();
  ASSERT_TRUE(site_.RunTo(drop.id, State::kKilled));
}

// --- An admin who ends the reservation ---------------------------------------------------

TEST_F(LentDropTest, TakenByForceWhileMarkingMarksNoMoreAndTakesNothingAnew) {
  const Drop drop = Lent(absl::Hours(2));
  ASSERT_TRUE(site_.DoOneDue());
  ForceRelease(lender_.id);
  EXPECT_THAT(Held(), SizeIs(1)) << "blocked until the call is proven to be over";
  ASSERT_TRUE(site_.RunTo(drop.id, State::kCancelled));
  EXPECT_EQ(site_.Now(drop.id).hold, kForced);
  EXPECT_THAT(site_.Now(drop.id).message, HasSubstr("root ended reservation"));
  EXPECT_THAT(Held(), IsEmpty());
  ASSERT_TRUE(site_.drops().Restore(drop.id, site_.Ada()).ok());
  ASSERT_TRUE(site_.RunTo(drop.id, State::kRestored));
  EXPECT_THAT(site_.UsedIds(), SizeIs(3));
}

TEST_F(LentDropTest, TakenByForceWhileKillingShutsTheTaskDownAndFollowsItToItsEnd) {
  ReleaseLender();
  const Drop drop = site_.Submitted(site_.Request(kHour13));
  ASSERT_TRUE(
      site_.RunUntil(drop.id, [](const Drop& now) { return now.state == State::kChecking; }));
  // No slot is free, so the task waits.
  for (int i = 0; i < 3; ++i) {
    const auto noop =
        site_.cluster().SubmitTask(druid::NoopTask(absl::StrCat("busy-", i), 60 * 60'000));
    ASSERT_TRUE(noop.done()) << noop.text();
  }
  bool taken = false;
  site_.after_step = [&] {
    const Drop now = site_.Now(drop.id);
    const auto detail = site_.drops().GetDetail(drop.id);
    if (taken || detail->kills.empty()) return;
    if (detail->kills.back().post != Kill::Post::kPosted) return;
    taken = true;
    ForceRelease(now.reservation_id);
    EXPECT_THAT(Held(), SizeIs(1)) << "blocked until the task is proven to be over";
  };
  ASSERT_TRUE(site_.RunTo(drop.id, State::kCancelled, absl::Hours(24 * 30)));
  ASSERT_TRUE(taken);
  const auto detail = site_.drops().GetDetail(drop.id);
  ASSERT_THAT(detail->kills, SizeIs(1));
  EXPECT_TRUE(detail->kills[0].shutdown_asked);
  EXPECT_EQ(detail->kills[0].failure, "CANCELLED");
  EXPECT_EQ(detail->drop.hold, kForced);
  EXPECT_THAT(Held(), IsEmpty());
  EXPECT_THAT(site_.UnusedIds(), SizeIs(1)) << "nothing was killed";
}

TEST_F(LentDropTest, TakenByForceWhileRestoringEndsItAndItCanBeRestoredAgain) {
  const Drop drop = Lent(absl::Hours(2));
  ASSERT_TRUE(site_.RunTo(drop.id, State::kMarked));
  ASSERT_TRUE(site_.drops().Restore(drop.id, site_.Ada("r1")).ok());
  ForceRelease(lender_.id);
  ASSERT_TRUE(site_.RunTo(drop.id, State::kFailed));
  EXPECT_EQ(site_.Now(drop.id).hold, kForced);
  ASSERT_TRUE(site_.drops().Restore(drop.id, site_.Ada("r2")).ok());
  ASSERT_TRUE(site_.RunTo(drop.id, State::kRestored));
}

}  // namespace
}  // namespace interlock::drop
