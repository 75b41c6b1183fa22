#include "gmock/gmock.h"
#include "lib/lease/counts.h"
#include "tests/lib/lease/lease_fixture.h"

namespace interlock::lease {
namespace {

using ::testing::ElementsAre;

using Lifecycle = LeaseTest;

constexpr absl::Duration kTick = absl::Milliseconds(1);

TEST_F(Lifecycle, RenewingMovesTheDeadline) {
  const Reservation granted = Granted("a", {Hour(1)});
  clock_.Advance(absl::Minutes(9));
  const auto renewed = Renew(granted);
  ASSERT_TRUE(renewed.ok()) << renewed.status();
  EXPECT_EQ(renewed->deadline, store_->Now() + absl::Minutes(10));
  EXPECT_EQ(renewed->token, granted.token);
  clock_.Advance(absl::Minutes(9));
  EXPECT_EQ(Get(granted).state, State::kActive);
  EXPECT_EQ(ReasonOf(Reserve("b", {Hour(1)}).status()), "HELD");
}

TEST_F(Lifecycle, ReleasedTimeIsFreeAtOnceAndReleasingTwiceIsNoError) {
  const Reservation granted = Granted("a", {Hour(1)});
  const auto released = Release(granted);
  ASSERT_TRUE(released.ok()) << released.status();
  EXPECT_EQ(released->state, State::kReleased);
  EXPECT_EQ(released->ended, store_->Now());
  EXPECT_THAT(released->intervals, ElementsAre(Hour(1)));
  EXPECT_TRUE(Reserve("b", {Hour(1)}).ok());
  EXPECT_TRUE(Release(granted).ok());
  EXPECT_EQ(ReasonOf(Renew(granted).status()), "SUPERSEDED");
}

TEST_F(Lifecycle, TellsApartHowAReservationEnded) {
  const Reservation expired = Granted("a", {Hour(1)});
  clock_.Advance(absl::Minutes(10));
  const Reservation released = Granted("a", {Hour(2)});
  ASSERT_TRUE(Release(released).ok());
  const Reservation forced = Granted("a", {Hour(3)});
  ASSERT_TRUE(ForceRelease(forced).ok());
  EXPECT_EQ(ReasonOf(Renew(expired).status()), "EXPIRED");
  EXPECT_EQ(ReasonOf(Renew(released).status()), "RELEASED");
  EXPECT_EQ(ReasonOf(Renew(forced).status()), "FORCED");
  EXPECT_EQ(ReasonOf(Release(expired).status()), "EXPIRED");
  EXPECT_EQ(ReasonOf(Release(forced).status()), "FORCED");
  EXPECT_EQ(ReasonOf(ForceRelease(expired).status()), "EXPIRED");
  Reservation unknown = expired;
  unknown.id = "r99-1";
  unknown.token = 1;
  EXPECT_EQ(Renew(unknown).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReasonOf(Renew(unknown).status()), "UNKNOWN_RESERVATION");
  unknown.id = "no such form";
  EXPECT_EQ(ReasonOf(Renew(unknown).status()), "UNKNOWN_RESERVATION");
  Reservation stale = Granted("a", {Hour(4)});
  stale.token -= 1;
  EXPECT_EQ(ReasonOf(Renew(stale).status()), "STALE_TOKEN");
  EXPECT_EQ(ReasonOf(Release(stale).status()), "STALE_TOKEN");
}

TEST_F(Lifecycle, ForceReleaseNeedsAReasonAndFreesTheTime) {
  const Reservation granted = Granted("a", {Hour(1)});
  caller_.reason = "";
  EXPECT_EQ(ReasonOf(ForceRelease(granted).status()), "REASON_REQUIRED");
  EXPECT_EQ(Get(granted).state, State::kActive);
  caller_.reason = "its machine burnt down";
  ASSERT_TRUE(ForceRelease(granted).ok());
  EXPECT_EQ(Get(granted).state, State::kForced);
  EXPECT_EQ(Audit()[0].event.method, "ForceReleaseReservation");
  EXPECT_EQ(Audit()[0].event.caller.reason, "its machine burnt down");
  EXPECT_TRUE(Reserve("b", {Hour(1)}).ok());
}

TEST_F(Lifecycle, GivesBackPartByPart) {
  const Reservation granted = Granted("a", {Hours(0, 6)});
  auto left = GiveBack(granted, {Hours(2, 3)});
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_THAT(left->intervals, ElementsAre(Hours(0, 2), Hours(3, 6)));
  EXPECT_THAT(left->released, ElementsAre(Hours(2, 3)));
  EXPECT_EQ(left->state, State::kActive);
  EXPECT_TRUE(Reserve("b", {Hour(2)}).ok());
  EXPECT_FALSE(Reserve("c", {Hour(3)}).ok());
  EXPECT_EQ(ReasonOf(GiveBack(granted, {Hours(5, 7)}).status()), "OUTSIDE_RESERVATION");
  left = GiveBack(granted, {Hours(0, 2), Hours(3, 5)});
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_THAT(left->intervals, ElementsAre(Hours(5, 6)));
  left = GiveBack(granted, {Hours(5, 6)});
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_EQ(left->state, State::kReleased);
  EXPECT_THAT(left->intervals, ElementsAre(Hours(0, 6)));
  EXPECT_TRUE(Reserve("c", {Hours(3, 6)}).ok());
}

// The answer was lost, and the call comes again: nothing is given back twice, and nothing failed.
TEST_F(Lifecycle, ThePartThatWasGivenBackIsGivenBackAgainWithoutAnError) {
  const Reservation granted = Granted("a", {Hours(0, 6)});
  ASSERT_TRUE(GiveBack(granted, {Hour(2)}).ok());
  Granted("b", {Hour(2)});
  const size_t events = Audit().size();
  const auto again = GiveBack(granted, {Hour(2)});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT(again->released, ElementsAre(Hour(2)));
  EXPECT_EQ(Audit().size(), events);
  const auto more = GiveBack(granted, {Hours(1, 4)});
  ASSERT_TRUE(more.ok()) << more.status();
  EXPECT_THAT(more->intervals, ElementsAre(Hour(0), Hours(4, 6)));
  ASSERT_TRUE(GiveBack(granted, {Hour(0), Hours(4, 6)}).ok());
  const auto last = GiveBack(granted, {Hours(4, 6)});
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(last->state, State::kReleased);
  EXPECT_EQ(ReasonOf(GiveBack(granted, {Hours(5, 7)}).status()), "SUPERSEDED");
}

TEST_F(Lifecycle, CheckTokenWantsTheTokenTheDatasourceAndTheTime) {
  Reservation granted = Granted("a", {Hours(2, 4), Hours(4, 6)});
  EXPECT_TRUE(Check(granted, Hours(3, 5)).ok());
  EXPECT_EQ(ReasonOf(Check(granted, Hours(5, 7))), "OUTSIDE_RESERVATION");
  EXPECT_EQ(ReasonOf(Check(granted, Hours(3, 3))), "OUTSIDE_RESERVATION");
  Reservation elsewhere = granted;
  elsewhere.datasource = "clicks";
  EXPECT_EQ(ReasonOf(Check(elsewhere, Hours(3, 5))), "OUTSIDE_RESERVATION");
  ASSERT_TRUE(GiveBack(granted, {Hour(3)}).ok());
  EXPECT_EQ(ReasonOf(Check(granted, Hours(3, 5))), "OUTSIDE_RESERVATION");
  EXPECT_TRUE(Check(granted, Hours(4, 6)).ok());
  Reservation stale = granted;
  stale.token += 1;
  EXPECT_EQ(ReasonOf(Check(stale, Hours(4, 6))), "STALE_TOKEN");
  clock_.Advance(absl::Minutes(10) - kTick);
  EXPECT_TRUE(Check(granted, Hours(4, 6)).ok());
  clock_.Advance(kTick);
  EXPECT_EQ(ReasonOf(Check(granted, Hours(4, 6))), "EXPIRED");
}

TEST_F(Lifecycle, SweepingRemovesWhatEndedLongAgoAndKeepsItsRequestIdForADay) {
  ReserveRequest request = Request("a", {Hour(1)});
  request.request_id = "run-1";
  const Reservation old = Granted(request);
  clock_.Advance(absl::Hours(1));
  const Reservation young = Granted("b", {Hour(2)});
  const auto sweep = [&] {
    auto swept = In<Swept>([&](store::Transaction& tx) { return Sweep(tx, tx.now(), ""); });
    EXPECT_TRUE(swept.ok()) << swept.status();
    return swept->removed;
  };
  EXPECT_EQ(sweep(), 0);
  EXPECT_EQ(ReasonOf(Reserve(request).status()), "EXPIRED");
  clock_.Advance(absl::Hours(24) - absl::Minutes(50) + kTick);
  EXPECT_EQ(sweep(), 1);
  EXPECT_EQ(Get(young).state, State::kExpired);
  const auto gone = In<Reservation>([&](store::Transaction& tx) { return lease::Get(tx, old.id); });
  EXPECT_EQ(ReasonOf(gone.status()), "UNKNOWN_RESERVATION");
  EXPECT_TRUE(Reserve(request).ok());
}

TEST_F(Lifecycle, EveryChangeLeavesAnEventWithWhatWasAndWhatIs) {
  const Reservation granted = Granted("a", {Hours(0, 2)});
  ASSERT_TRUE(Renew(granted).ok());
  ASSERT_TRUE(GiveBack(granted, {Hour(0)}).ok());
  ASSERT_TRUE(Release(granted).ok());
  std::vector<std::string> methods;
  for (const auto& event : Audit()) {
    methods.push_back(event.event.method);
    EXPECT_EQ(event.event.subject, granted.id);
    EXPECT_EQ(event.event.before.empty(), event.event.method == "ReserveInterval");
    EXPECT_FALSE(event.event.after.empty());
  }
  EXPECT_THAT(methods, ElementsAre("ReleaseReservation", "ReleaseIntervals", "RenewReservation",
                                   "ReserveInterval"));
}

// Nobody calls for an expiry: who sees it first writes it down, and nobody does again.
TEST_F(Lifecycle, AnExpiryLeavesOneEventWhoeverSeesItFirst) {
  const auto expiries = [&] {
    std::vector<audit::Event> found;
    for (const auto& event : Audit()) {
      if (event.event.method == "worker.expire") found.push_back(event.event);
    }
    return found;
  };
  const Reservation first = Granted("a", {Hours(0, 2)});
  const Reservation second = Granted("b", {Hours(2, 3)});
  clock_.Advance(absl::Minutes(10));
  EXPECT_TRUE(expiries().empty()) << "nobody has looked";
  Granted("c", {Hour(1)});  // in the place of the first
  ASSERT_EQ(expiries().size(), 1u);
  const audit::Event event = expiries()[0];
  EXPECT_EQ(event.subject, first.id);
  EXPECT_EQ(event.datasource, "wiki");
  EXPECT_EQ(event.caller.identity, "interlock");
  EXPECT_EQ(event.result, "EXPIRED");
  EXPECT_NE(event.before.find(R"("holder":"a")"), std::string::npos) << event.before;
  EXPECT_NE(event.before.find(Hours(0, 2).ToString()), std::string::npos) << event.before;
  EXPECT_NE(event.after.find(first.deadline.ToString()), std::string::npos) << event.after;
  const auto note = [](store::Transaction& tx) { return NoteExpiries(tx).status(); };
  ASSERT_TRUE(Write(note).ok());
  ASSERT_EQ(expiries().size(), 2u);
  EXPECT_EQ(expiries()[0].subject, second.id);
  ASSERT_TRUE(Write(note).ok());
  ASSERT_TRUE(Write([](store::Transaction& tx) { return Sweep(tx, tx.now(), "").status(); }).ok());
  EXPECT_EQ(expiries().size(), 2u);
}

// redisson: a watchdog that did not get the CPU lost its lock mid-work, and nobody saw it coming.
TEST_F(Lifecycle, Case118ALeaseThatIsNotRenewedInTimeIsCountedBeforeItEnds) {
  const auto near = [&] {
    int64_t count = 0;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto counts = CountNearExpiry(tx);
                      if (counts.ok() && !counts->empty()) count = counts->front().count;
                      return counts.status();
                    })
                    .ok());
    return count;
  };
  const Reservation renewed = Granted("a", {Hour(0)});
  Granted("b", {Hour(1)});
  for (int thirds = 0; thirds < 2; ++thirds) {
    clock_.Advance(absl::Seconds(200));
    ASSERT_TRUE(Renew(renewed).ok());
    EXPECT_EQ(near(), 0);
  }
  clock_.Advance(absl::Seconds(50) + absl::Milliseconds(1));
  EXPECT_EQ(near(), 1) << "less than a quarter is left of one of them";
  clock_.Advance(absl::Seconds(150));
  EXPECT_EQ(near(), 0) << "it has ended";
}

TEST_F(Lifecycle, AnExpiryOverUnsettledWorkIsAnOrphans) {
  const Reservation granted = Granted("a", {Hour(0)});
  ASSERT_TRUE(Pin(granted, "w1", Hour(0)).ok());
  clock_.Advance(absl::Minutes(10));
  ASSERT_TRUE(Write([](store::Transaction& tx) { return NoteExpiries(tx).status(); }).ok());
  EXPECT_EQ(Audit()[0].event.method, "worker.expire");
  EXPECT_EQ(Audit()[0].event.result, "ORPHANED");
  ASSERT_TRUE(Unpin("w1").ok());
  EXPECT_EQ(Audit()[0].event.method, "worker.expire") << "its settling ends it no second time";
}

TEST_F(Lifecycle, OnlyWhoReservedItActsOnItFromOutside) {
  const Reservation granted = Granted("a", {Hour(1)});
  const auto check = [&](const std::string& identity) {
    return store_->Read(
        [&](store::Transaction& tx) { return CheckHolder(tx, granted.id, identity); });
  };
  EXPECT_TRUE(check("tester").ok());
  const absl::Status other = check("somebody");
  EXPECT_EQ(other.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(ReasonOf(other), "NOT_THE_HOLDER");
}

TEST_F(Lifecycle, ForcedWorkIsNamedUntilItIsSettledAndAnOrphanCanBeForced) {
  const Reservation granted = Granted("a", {Hours(1, 3)});
  ASSERT_TRUE(Pin(granted, "task-1", Hour(1)).ok());
  const auto forced = [this] {
    return In<std::vector<ForcedWork>>([](store::Transaction& tx) { return ListForcedWork(tx); });
  };
  clock_.Advance(absl::Minutes(10));
  EXPECT_EQ(Get(granted).state, State::kOrphaned);
  EXPECT_TRUE(forced()->empty());
  ASSERT_TRUE(ForceRelease(granted).ok());
  EXPECT_EQ(Get(granted).state, State::kOrphaned);
  EXPECT_EQ(ReasonOf(Reserve("b", {Hour(1)}).status()), "HELD");
  ASSERT_EQ(forced()->size(), 1U);
  EXPECT_EQ(forced()->front().work_id, "task-1");
  EXPECT_EQ(forced()->front().by, "tester");
  // The same call again is the same call; another is told that it is done.
  EXPECT_TRUE(ForceRelease(granted).ok());
  caller_.reason = "another";
  EXPECT_EQ(ReasonOf(ForceRelease(granted).status()), "FORCED");
  ASSERT_TRUE(Unpin("task-1").ok());
  EXPECT_TRUE(forced()->empty());
  EXPECT_EQ(Get(granted).state, State::kForced);
}

TEST_F(Lifecycle, ARequestsTextsHaveBounds) {
  ReserveRequest request = Request("a", {Hour(1)});
  request.request_id = std::string(129, 'x');
  EXPECT_EQ(ReasonOf(Reserve(request).status()), "REQUEST_ID_INVALID");
  request.request_id = "caf\xc3\xa9";
  EXPECT_EQ(ReasonOf(Reserve(request).status()), "REQUEST_ID_INVALID");
  request.request_id = "";
  request.purpose = std::string(257, 'x');
  request.labels["x"] = std::string(257, 'x');
  const absl::Status refused = Reserve(request).status();
  EXPECT_EQ(ReasonOf(refused), "INVALID_RESERVATION");
  EXPECT_EQ(FaultsOf(refused).size(), 2U);
}

}  // namespace
}  // namespace interlock::lease
