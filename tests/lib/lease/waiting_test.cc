#include "lib/lease/waiting.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "lib/lease/tails.h"
#include "tests/lib/lease/lease_fixture.h"

namespace interlock::lease {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::Duration kTick = absl::Milliseconds(1);

class WaitingTest : public LeaseTest {
 protected:
  static ReserveRequest Patient(const std::string& holder, std::vector<Interval> intervals) {
    ReserveRequest request = Request(holder, std::move(intervals));
    request.wait = absl::Minutes(5);
    return request;
  }
  Waiting Place(const ReserveRequest& request) {
    const auto grant = Reserve(request);
    EXPECT_TRUE(grant.ok() && grant->waiting.has_value()) << grant.status();
    return grant.ok() && grant->waiting ? *grant->waiting : Waiting();
  }
  absl::StatusOr<Grant> Again(const ReserveRequest& request, const Waiting& place) {
    return In<Grant>(
        [&](store::Transaction& tx) { return WaitOn(tx, request, place, caller_, {}); });
  }
  std::vector<Reservation> Line(const std::string& holder = "") {
    std::vector<Reservation> line;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto listed = ListWaiters(tx, "wiki", std::nullopt, holder, 100);
                      if (listed.ok()) line = *listed;
                      return listed.status();
                    })
                    .ok());
    return line;
  }
};

TEST_F(WaitingTest, NobodyWaitsWhoDidNotAskFor) {
  Granted("a", {Hour(1)});
  EXPECT_EQ(ReasonOf(Reserve("b", {Hour(1)}).status()), "HELD");
  EXPECT_THAT(Line(), IsEmpty());
}

TEST_F(WaitingTest, WhatIsFreeIsGrantedAtOnceHoweverLongOneWouldWait) {
  const auto grant = Reserve(Patient("a", {Hour(1)}));
  ASSERT_TRUE(grant.ok());
  EXPECT_FALSE(grant->waiting.has_value());
  EXPECT_EQ(grant->reservation.state, State::kActive);
}

TEST_F(WaitingTest, AWaiterIsGrantedOnceTheHolderIsGone) {
  const Reservation held = Granted("a", {Hour(1)});
  const ReserveRequest request = Patient("b", {Hours(0, 3)});
  const Waiting place = Place(request);
  EXPECT_EQ(place.until, store_->Now() + absl::Minutes(5));
  EXPECT_EQ(place.look, held.deadline);
  EXPECT_EQ(ReasonOf(place.why), "HELD");
  auto grant = Again(request, place);
  ASSERT_TRUE(grant.ok() && grant->waiting);
  ASSERT_TRUE(Release(held).ok());
  grant = Again(request, place);
  ASSERT_TRUE(grant.ok()) << grant.status();
  EXPECT_FALSE(grant->waiting.has_value());
  EXPECT_THAT(grant->reservation.intervals, ElementsAre(Hours(0, 3)));
  EXPECT_GT(grant->reservation.token, held.token);
  EXPECT_EQ(grant->reservation.deadline, store_->Now() + absl::Minutes(10));
  EXPECT_THAT(Line(), IsEmpty());
}

TEST_F(WaitingTest, AWideRequestIsNotStarvedBySmallOnes) {
  const Reservation held = Granted("small", {Hour(1)});
  const ReserveRequest wide = Patient("wide", {Hours(0, 6)});
  const Waiting place = Place(wide);
  const auto refused = Reserve("small", {Hour(4)});
  EXPECT_EQ(ReasonOf(refused.status()), "BEHIND_WAITER");
  EXPECT_EQ(MetadataOf(refused.status()).at("holder"), "wide");
  EXPECT_EQ(MetadataOf(refused.status()).at("reservation"), place.id);
  // What is disjoint passes, and so does what would have shared with it anyway.
  EXPECT_TRUE(Reserve("small", {Hour(7)}).ok());
  ASSERT_TRUE(Release(held).ok());
  EXPECT_EQ(ReasonOf(Reserve("small", {Hour(1)}).status()), "BEHIND_WAITER");
  EXPECT_FALSE(Again(wide, place)->waiting.has_value());
}

TEST_F(WaitingTest, WaitersAreGrantedInOrderOfArrival) {
  const Reservation held = Granted("a", {Hour(1)});
  const ReserveRequest first = Patient("b", {Hour(1)});
  const ReserveRequest second = Patient("c", {Hours(1, 3)});
  const ReserveRequest third = Patient("d", {Hour(2)});
  const Waiting place_b = Place(first);
  const Waiting place_c = Place(second);
  const Waiting place_d = Place(third);
  std::vector<std::string> who;
  for (const Reservation& waiter : Line()) {
    who.push_back(absl::StrCat(waiter.holder, waiter.position));
    EXPECT_EQ(waiter.state, State::kWaiting);
  }
  // d queues behind c alone: b has nothing of what d wants.
  EXPECT_THAT(who, ElementsAre("b1", "c2", "d2"));
  ASSERT_TRUE(Release(held).ok());
  EXPECT_TRUE(Again(third, place_d)->waiting.has_value());
  EXPECT_TRUE(Again(second, place_c)->waiting.has_value());
  const auto granted = Again(first, place_b);
  ASSERT_FALSE(granted->waiting.has_value());
  ASSERT_TRUE(Release(granted->reservation).ok());
  EXPECT_EQ(ReasonOf(Again(third, place_d)->waiting->why), "BEHIND_WAITER");
  EXPECT_FALSE(Again(second, place_c)->waiting.has_value());
}

TEST_F(WaitingTest, AppendsQueueBehindAReplaceAndNotBehindEachOther) {
  ReserveRequest append = Request("s1", {Hour(1)});
  append.mode = Mode::kAppend;
  Granted(append);
  const ReserveRequest replace = Patient("batch", {Hour(1)});
  Place(replace);
  append.holder = "s2";
  EXPECT_EQ(ReasonOf(Reserve(append).status()), "BEHIND_WAITER");
  append.wait = absl::Minutes(1);
  Place(append);
  append.holder = "s3";
  Place(append);
  EXPECT_EQ(Line("s3").front().position, 2);
}

TEST_F(WaitingTest, TheWaitEndsAtItsDeadlineWithWhatStoodInTheWay) {
  Granted("a", {Hour(1)});
  const ReserveRequest request = Patient("b", {Hour(1)});
  const Waiting place = Place(request);
  clock_.Advance(absl::Minutes(5) - kTick);
  ASSERT_FALSE(Again(request, place)->waiting->over);
  clock_.Advance(kTick);
  const auto over = Again(request, place);
  ASSERT_TRUE(over.ok() && over->waiting);
  EXPECT_TRUE(over->waiting->over);
  EXPECT_EQ(ReasonOf(over->waiting->why), "HELD");
  EXPECT_THAT(Line(), IsEmpty());
  EXPECT_EQ(ReasonOf(Again(request, place).status()), "WAIT_ENDED");
}

TEST_F(WaitingTest, WhatIsThereToStayIsNotWaitedFor) {
  Tail tail;
  tail.datasource = "wiki";
  tail.stream = "kafka";
  tail.source = "DECLARED";
  tail.bound = Hour(1).start();
  ASSERT_TRUE(Write([&](store::Transaction& tx) { return SetTail(tx, tail); }).ok());
  EXPECT_EQ(ReasonOf(Reserve(Patient("b", {Hour(1)})).status()), "TAIL");
}

// Nor where it comes while one waits: who asks anew would be refused at once, too.
TEST_F(WaitingTest, WhatComesToStayEndsTheWait) {
  Granted("a", {Hour(1)});
  const ReserveRequest request = Patient("b", {Hours(1, 3)});
  const Waiting place = Place(request);
  Tail tail;
  tail.datasource = "wiki";
  tail.stream = "kafka";
  tail.source = "DECLARED";
  tail.bound = Hour(2).start();
  ASSERT_TRUE(Write([&](store::Transaction& tx) { return SetTail(tx, tail); }).ok());
  const auto refused = Again(request, place);
  ASSERT_TRUE(refused.ok() && refused->waiting) << refused.status();
  EXPECT_TRUE(refused->waiting->over);
  EXPECT_EQ(ReasonOf(refused->waiting->why), "TAIL");
  EXPECT_THAT(Line(), IsEmpty());
}

TEST_F(WaitingTest, WhoeverEndsAWaitIsNamedToTheOneThatWaited) {
  Granted("a", {Hour(1)});
  const ReserveRequest request = Patient("b", {Hour(1)});
  const Waiting place = Place(request);
  Reservation handle;
  handle.id = place.id;
  ASSERT_TRUE(ForceRelease(handle).ok());
  const absl::Status told = Again(request, place).status();
  EXPECT_EQ(ReasonOf(told), "WAIT_ENDED");
  EXPECT_THAT(std::string(told.message()), ::testing::HasSubstr("tester ended the wait: because"));
  EXPECT_EQ(MetadataOf(told)["ended_by"], "tester");
}

TEST_F(WaitingTest, ACallerThatGoesAwayLeavesTheLine) {
  Granted("a", {Hour(1)});
  const Waiting place = Place(Patient("b", {Hours(1, 3)}));
  EXPECT_EQ(ReasonOf(Reserve("c", {Hour(2)}).status()), "BEHIND_WAITER");
  ASSERT_TRUE(Write([&](store::Transaction& tx) { return GiveUp(tx, place); }).ok());
  EXPECT_THAT(Line(), IsEmpty());
  EXPECT_TRUE(Reserve("c", {Hour(2)}).ok());
  // Twice is no error.
  EXPECT_TRUE(Write([&](store::Transaction& tx) { return GiveUp(tx, place); }).ok());
}

TEST_F(WaitingTest, TheSameRequestIdTakesItsPlaceAgain) {
  Granted("a", {Hour(1)});
  ReserveRequest request = Patient("b", {Hours(1, 3)});
  request.request_id = "run-1";
  const Waiting first = Place(request);
  Place(Patient("c", {Hour(1)}));
  clock_.Advance(absl::Seconds(5));
  const Waiting second = Place(request);
  EXPECT_EQ(second.id, first.id);
  EXPECT_EQ(Line("b").front().position, 1);
  EXPECT_EQ(ReasonOf(Again(request, first).status()), "WAIT_TAKEN_OVER");
  // The earlier call's end does not take the place of the later one.
  ASSERT_TRUE(Write([&](store::Transaction& tx) { return GiveUp(tx, first); }).ok());
  EXPECT_TRUE(Again(request, second)->waiting.has_value());
  request.intervals = {Hour(1)};
  EXPECT_EQ(ReasonOf(Reserve(request).status()), "REQUEST_ID_REUSED");
}

TEST_F(WaitingTest, AnIdThatWasGrantedWhileItWaitedGetsThatGrant) {
  const Reservation held = Granted("a", {Hour(1)});
  ReserveRequest request = Patient("b", {Hour(1)});
  request.request_id = "run-1";
  const Waiting place = Place(request);
  ASSERT_TRUE(Release(held).ok());
  const auto granted = Again(request, place);
  ASSERT_TRUE(granted.ok() && !granted->waiting);
  const auto repeated = Reserve(request);
  ASSERT_TRUE(repeated.ok()) << repeated.status();
  EXPECT_TRUE(repeated->repeated);
  EXPECT_EQ(repeated->reservation.id, granted->reservation.id);
}

TEST_F(WaitingTest, APlaceIsShownAndEndedLikeAReservation) {
  Granted("a", {Hour(1)});
  const Waiting place = Place(Patient("b", {Hour(1)}));
  Reservation handle;
  handle.id = place.id;
  EXPECT_EQ(Get(handle).state, State::kWaiting);
  EXPECT_EQ(Get(handle).deadline, place.until);
  ASSERT_TRUE(ForceRelease(handle).ok());
  EXPECT_THAT(Line(), IsEmpty());
  EXPECT_EQ(ReasonOf(In<Reservation>([&](store::Transaction& tx) {
                       return lease::Get(tx, place.id);
                     }).status()),
            "UNKNOWN_RESERVATION");
}

// A waiter whose own process died must not hold the line: it is passed over once its
// heartbeat is old, and cleared away.
TEST_F(WaitingTest, Case113AWaiterThatDiedIsPassedOver) {
  Granted("a", {Hour(1)});
  Place(Patient("dead", {Hours(1, 3)}));
  clock_.Advance(kWaiterAlive - kTick);
  EXPECT_EQ(ReasonOf(Reserve("c", {Hour(2)}).status()), "BEHIND_WAITER");
  clock_.Advance(kTick);
  EXPECT_TRUE(Reserve("c", {Hour(2)}).ok());
  EXPECT_THAT(Line(), IsEmpty());
  clock_.Advance(kWaiterAlive);
  const auto swept = In<int64_t>([](store::Transaction& tx) { return SweepWaiters(tx); });
  ASSERT_TRUE(swept.ok());
  EXPECT_EQ(*swept, 1);
}

// Nothing waits unless asked to: no yes without a token, and the earlier call keeps its place.
TEST_F(WaitingTest, TheSameRequestThatDoesNotWaitIsRefusedAndTakesNoPlace) {
  ASSERT_TRUE(Reserve(Request("ada", {Hour(1)})).ok());
  ReserveRequest request = Patient("bob", {Hour(1)});
  request.request_id = "again";
  const Waiting place = Place(request);
  ReserveRequest impatient = request;
  impatient.wait = absl::ZeroDuration();
  EXPECT_EQ(ReasonOf(Reserve(impatient).status()), "HELD");
  const auto still = Again(request, place);
  ASSERT_TRUE(still.ok()) << still.status();
  EXPECT_TRUE(still->waiting.has_value());
}

// What a limit refuses is refused: it does not stand in others' way meanwhile.
TEST_F(WaitingTest, OneThatALimitRefusesLeavesTheLine) {
  Limits limits;
  limits.live_per_holder = 2;
  const Reservation held = Granted("a", {Hour(1)});
  const ReserveRequest request = Patient("b", {Hours(1, 3)});
  const Waiting place = Place(request);
  Granted("b", {Hour(7)});
  const auto refused = In<Grant>(
      [&](store::Transaction& tx) { return WaitOn(tx, request, place, caller_, limits); });
  ASSERT_TRUE(refused.ok() && refused->waiting) << refused.status();
  EXPECT_TRUE(refused->waiting->over);
  EXPECT_EQ(ReasonOf(refused->waiting->why), "LIMIT_EXCEEDED");
  EXPECT_THAT(Line(), IsEmpty());
  EXPECT_TRUE(Reserve("c", {Hour(2)}).ok()) << "nobody is before it any more";
  EXPECT_EQ(ReasonOf(Again(request, place).status()), "WAIT_ENDED");
}

TEST_F(WaitingTest, SoDoesOneThatTakesItsPlaceAgain) {
  Limits limits;
  limits.live_per_holder = 2;
  Granted("a", {Hour(1)});
  ReserveRequest request = Patient("b", {Hour(1)});
  request.request_id = "run-1";
  Place(request);
  Granted("b", {Hour(7)});
  const auto refused = Reserve(request, limits);
  ASSERT_TRUE(refused.ok() && refused->waiting) << refused.status();
  EXPECT_TRUE(refused->waiting->over);
  EXPECT_THAT(Line(), IsEmpty());
}

TEST_F(WaitingTest, APlaceIsNoLeaseAndSaysSo) {
  Granted("a", {Hour(1)});
  const Waiting place = Place(Patient("b", {Hour(1)}));
  Reservation handle;
  handle.id = place.id;
  EXPECT_EQ(ReasonOf(Renew(handle).status()), "STILL_WAITING");
  EXPECT_EQ(ReasonOf(Check(handle, Hour(1))), "STILL_WAITING");
  const auto forced = ForceRelease(handle);
  ASSERT_TRUE(forced.ok()) << forced.status();
  EXPECT_EQ(forced->state, State::kForced);
  EXPECT_EQ(forced->forced_by, "tester");
  EXPECT_EQ(forced->force_reason, "because");
  EXPECT_EQ(ReasonOf(Renew(handle).status()), "UNKNOWN_RESERVATION");
}

}  // namespace
}  // namespace interlock::lease
