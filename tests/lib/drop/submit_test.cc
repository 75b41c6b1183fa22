// What is refused before anything is marked, and what a repeated call does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/drop/drop_site.h"

namespace interlock::drop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const char kHour13[] = "2026-07-16T13:00Z/2026-07-16T14:00Z";
const char kDay[] = "2026-07-16/2026-07-17";

class SubmitDropTest : public ::testing::Test {
 protected:
  SubmitDropTest() { site_.Load(12, 15, 1); }

  std::string Refusal(const DropRequest& request, absl::StatusCode code,
                      const audit::Caller& caller = DropSite::Ada()) {
    const auto submitted = site_.drops().Submit(request, caller);
    EXPECT_EQ(submitted.status().code(), code) << submitted.status();
    message_ = std::string(submitted.status().message());
    blockers_ = BlockersOf(submitted.status());
    EXPECT_THAT(Drops(), IsEmpty()) << "nothing is stored";
    return ReasonOf(submitted.status());
  }
  std::vector<Drop> Drops() {
    const auto page = site_.drops().List({}, 0, "");
    EXPECT_TRUE(page.ok()) << page.status();
    return page->drops;
  }

  DropSite site_;
  std::string message_;
  std::vector<Blocker> blockers_;
};

TEST_F(SubmitDropTest, RefusesWhatBreaksARuleOfTheRequest) {
  const auto invalid = absl::StatusCode::kInvalidArgument;
  DropRequest request = site_.Request(kHour13);
  EXPECT_EQ(Refusal(request, invalid, site_.Ada("", "")), "REASON_REQUIRED");
  EXPECT_EQ(Refusal(request, invalid, site_.Ada(std::string(200, 'x'))), "REQUEST_ID_INVALID");
  request.window = absl::Minutes(59);
  EXPECT_EQ(Refusal(request, invalid), "WINDOW_TOO_SHORT");
  request.window = absl::Hours(24 * 366);
  EXPECT_EQ(Refusal(request, invalid), "WINDOW_TOO_LONG");
  request = site_.Request(kHour13);
  request.floor = absl::Hours(24 * 14) - absl::Milliseconds(1);
  EXPECT_EQ(Refusal(request, invalid), "FLOOR_TOO_LOW");
  request = site_.Request(kHour13);
  request.intervals = {Of("2026-07-16/2026-07-16")};
  EXPECT_EQ(Refusal(request, invalid), "INTERVAL_EMPTY");
  request = site_.Request(kHour13);
  request.datasource = "a/b";
  EXPECT_EQ(Refusal(request, invalid), "DRUID_NAME_INVALID");
}

// Case 51: a kill over 1000/3000 waited for ever for the locks of streams.
TEST_F(SubmitDropTest, Case051RefusesAnIntervalThatNoDropCanMean) {
  EXPECT_EQ(Refusal(site_.Request("1000-01-01/3000-01-01"), absl::StatusCode::kOutOfRange),
            "TOO_MANY_PARTITIONS");
  // One that is not too long but reaches beyond the floor is told where that lies.
  EXPECT_EQ(Refusal(site_.Request("2026-01-01/2027-01-01"), absl::StatusCode::kFailedPrecondition),
            "YOUNGER_THAN_FLOOR");
  EXPECT_THAT(message_, HasSubstr("2026-01-01T00:00:00.000Z/2026-08-06T12:00:0"));
}

TEST_F(SubmitDropTest, RefusesDataYoungerThanTheFloorAndOneThatWasRaised) {
  DropRequest request = site_.Request(kHour13);
  request.floor = absl::Hours(24 * 36);
  EXPECT_EQ(Refusal(request, absl::StatusCode::kFailedPrecondition), "YOUNGER_THAN_FLOOR");
  site_.options().datasource_floors = {{"other*", absl::Hours(1)}, {"cl*s", absl::Hours(24 * 36)}};
  site_.Restart();
  EXPECT_EQ(Refusal(site_.Request(kHour13), absl::StatusCode::kFailedPrecondition),
            "YOUNGER_THAN_FLOOR");
}

// Case 50: Druid compares bounds as text, so no kill of its finds what lies beyond four digits.
TEST_F(SubmitDropTest, Case050RefusesYearsThatNoKillReaches) {
  for (const char* beyond : {"0001-01-01/19940-01-01", "-0044-03-15/-0044-03-16"}) {
    const absl::StatusOr<Interval> interval = Interval::Parse(beyond);
    ASSERT_TRUE(interval.ok()) << beyond << ": " << interval.status();
    DropRequest request = site_.Request("2026-07-16/2026-07-17");
    request.intervals = {*interval};
    EXPECT_EQ(ReasonOf(site_.drops().Submit(request, site_.Ada()).status()), "NOT_KILLABLE");
  }
}

TEST_F(SubmitDropTest, RefusesWhereNothingIs) {
  EXPECT_EQ(Refusal(site_.Request("2026-07-15/2026-07-16"), absl::StatusCode::kFailedPrecondition),
            "NOTHING_TO_DROP");
}

// Case 46: "+08:00" is normalised, and then cuts what is there.
TEST_F(SubmitDropTest, Case046RefusesAnIntervalThatCutsSegmentsAndShowsThem) {
  DropRequest request = site_.Request("2026-07-16T20:30+08:00/2026-07-16T21:30+08:00");
  EXPECT_EQ(Refusal(request, absl::StatusCode::kInvalidArgument), "MISALIGNED");
  EXPECT_THAT(message_, HasSubstr("2026-07-16T12:00:00.000Z/2026-07-16T13:00:00.000Z"));
  EXPECT_THAT(message_, HasSubstr("2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z"));
  EXPECT_THAT(blockers_, SizeIs(2));
  // Consent does not help where nothing lies inside.
  request.accept_partial_cover = true;
  EXPECT_EQ(Refusal(request, absl::StatusCode::kInvalidArgument), "MISALIGNED");
}

// Case 58: only what lies wholly inside goes, and only with consent to leave the rest.
TEST_F(SubmitDropTest, Case058LeavesCutSegmentsWhereTheyAreWithConsent) {
  DropRequest request = site_.Request("2026-07-16T12:30Z/2026-07-16T14:00Z");
  EXPECT_EQ(Refusal(request, absl::StatusCode::kInvalidArgument), "MISALIGNED");
  request.accept_partial_cover = true;
  const auto plan = site_.drops().MakePlan(request);
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_THAT(plan->stays(), SizeIs(1));
  EXPECT_EQ(plan->stays()[0].interval, Of("2026-07-16T12:00Z/2026-07-16T13:00Z"));
  const Drop drop = site_.Submitted(request);
  EXPECT_EQ(drop.segment_count, 1);
  site_.RunTo(drop.id, State::kMarked);
  EXPECT_THAT(site_.UnusedIds(), SizeIs(1));
  site_.RunTo(drop.id, State::kKilled);
  EXPECT_THAT(site_.UsedIds(), SizeIs(2));
}

// Case 127: a drop is no step of a replacement. What is being written is held by its
// writer, and the plan says that a hole would be left.
TEST_F(SubmitDropTest, Case127RefusesWhileABackfillHoldsTheTimeAndNamesIt) {
  const auto held = site_.store().Write([&](store::Transaction& tx) {
    lease::ReserveRequest reserve;
    reserve.datasource = kClicks;
    reserve.intervals = {Of("2026-07-16T13:00Z/2026-07-16T15:00Z")};
    reserve.holder = "airflow";
    reserve.purpose = "backfill b7";
    return lease::Reserve(tx, reserve, DropSite::Ada()).status();
  });
  ASSERT_TRUE(held.ok()) << held;
  const auto plan = site_.drops().MakePlan(site_.Request(kHour13));
  ASSERT_TRUE(plan.ok());
  ASSERT_THAT(plan->blockers, SizeIs(1));
  EXPECT_EQ(plan->blockers[0].reason, "HELD");
  EXPECT_THAT(plan->blockers[0].text, HasSubstr("airflow"));
  EXPECT_THAT(plan->leaves_empty, ElementsAre(Of(kHour13)));
  EXPECT_EQ(Refusal(site_.Request(kHour13), absl::StatusCode::kFailedPrecondition), "HELD");
  ASSERT_THAT(blockers_, Not(IsEmpty()));
  EXPECT_THAT(blockers_[0].description, HasSubstr("airflow"));
  EXPECT_THAT(site_.UnusedIds(), IsEmpty());
}

TEST_F(SubmitDropTest, ActsUnderTheCallersOwnReservation) {
  lease::Reservation lent;
  ASSERT_TRUE(site_.store()
                  .Write([&](store::Transaction& tx) {
                    lease::ReserveRequest reserve;
                    reserve.datasource = kClicks;
                    reserve.intervals = {Of(kDay)};
                    reserve.holder = "ada";
                    auto grant = lease::Reserve(tx, reserve, DropSite::Ada());
                    if (grant.ok()) lent = grant->reservation;
                    return grant.status();
                  })
                  .ok());
  DropRequest request = site_.Request(kHour13);
  request.reservation_id = lent.id;
  request.token = lent.token + 1;
  EXPECT_EQ(Refusal(request, absl::StatusCode::kFailedPrecondition), "STALE_TOKEN");
  request.token = lent.token;
  EXPECT_EQ(Refusal(request, absl::StatusCode::kPermissionDenied, {"bob", "", "GDPR"}),
            "NOT_THE_HOLDER");
  const Drop drop = site_.Submitted(request);
  EXPECT_TRUE(drop.lent);
  ASSERT_TRUE(site_.RunTo(drop.id, State::kMarked));
  ASSERT_TRUE(site_.store()
                  .Read([&](store::Transaction& tx) {
                    const auto still = lease::Get(tx, lent.id);
                    EXPECT_TRUE(still.ok());
                    EXPECT_EQ(still->state, lease::State::kActive) << "it stays its owner's";
                    EXPECT_THAT(still->pins, IsEmpty());
                    EXPECT_THAT(still->links, IsEmpty()) << "not lent while the window runs";
                    return absl::OkStatus();
                  })
                  .ok());
}

// Case 128: planned at one time, carried out at another, and the world changed between.
TEST_F(SubmitDropTest, Case128RefusesAPlanThatIsStale) {
  const auto plan = site_.drops().MakePlan(site_.Request(kHour13));
  ASSERT_TRUE(plan.ok());
  site_.Load(13, 14, 5);
  DropRequest request = site_.Request(kHour13);
  request.plan_revision = plan->digest();
  EXPECT_EQ(Refusal(request, absl::StatusCode::kAborted), "PLAN_STALE");
  request.plan_revision = site_.drops().MakePlan(site_.Request(kHour13))->digest();
  EXPECT_EQ(site_.Submitted(request).segment_count, 2);
}

TEST_F(SubmitDropTest, PlansWithoutChangingAnythingAndSubmitsNothingUnderObserve) {
  site_.options().observe_only = true;
  site_.Restart();
  const auto writes = site_.Sent("/druid/").size();
  const auto plan = site_.drops().MakePlan(site_.Request(kHour13));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->visible_count(), 1);
  EXPECT_EQ(plan->row_count(), 1);
  EXPECT_EQ(plan->sums->front().sums.at("n"), 14);
  EXPECT_EQ(Refusal(site_.Request(kHour13), absl::StatusCode::kFailedPrecondition), "OBSERVE_ONLY");
  EXPECT_EQ(site_.Sent("/druid/").size(), writes);
}

TEST_F(SubmitDropTest, TheSameRequestAgainAttachesAndAnotherWithItsIdIsRefused) {
  const auto first = site_.drops().Submit(site_.Request(kHour13), site_.Ada("r1"));
  ASSERT_TRUE(first.ok());
  const auto again = site_.drops().Submit(site_.Request(kHour13), site_.Ada("r1"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->attached);
  EXPECT_EQ(again->drop.id, first->drop.id);
  const auto other = site_.drops().Submit(site_.Request(kDay), site_.Ada("r1"));
  EXPECT_EQ(ReasonOf(other.status()), "REQUEST_ID_REUSED");
  EXPECT_THAT(Drops(), SizeIs(1));
  // Of another caller the same id is another request.
  const audit::Caller bob{"bob", "r1", "mine"};
  EXPECT_EQ(ReasonOf(site_.drops().Submit(site_.Request(kHour13), bob).status()), "HELD");
}

TEST_F(SubmitDropTest, SaysThatDruidCouldNotBeAsked) {
  ASSERT_TRUE(site_.druid()
                  .AddFault(R"({"match":{"path":"*/segments"},"kind":"status","status":500})")
                  .ok());
  EXPECT_EQ(Refusal(site_.Request(kHour13), absl::StatusCode::kUnavailable), "DRUID_UNAVAILABLE");
}

TEST_F(SubmitDropTest, IsListedByPagesNewestFirstAndWatchedByChange) {
  const Drop first = site_.Submitted(site_.Request("2026-07-16T12:00Z/2026-07-16T13:00Z"));
  const Drop second = site_.Submitted(site_.Request(kHour13));
  const auto page = site_.drops().List({}, 1, "");
  ASSERT_TRUE(page.ok());
  ASSERT_THAT(page->drops, SizeIs(1));
  EXPECT_EQ(page->drops[0].id, second.id);
  const auto next = site_.drops().List({}, 1, page->next);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->drops[0].id, first.id);
  EXPECT_EQ(ReasonOf(site_.drops().List({}, 1, "x").status()), "BAD_PAGE_TOKEN");
  Filter filter;
  filter.datasource = kClicks;
  filter.overlapping = Of(kHour13);
  EXPECT_THAT(site_.drops().List(filter, 0, "")->drops, SizeIs(1));
  filter.states = {State::kKilled};
  EXPECT_THAT(site_.drops().List(filter, 0, "")->drops, IsEmpty());

  const auto changes = site_.drops().Changes(first.change, 10);
  ASSERT_TRUE(changes.ok());
  ASSERT_THAT(*changes, SizeIs(1));
  EXPECT_EQ(changes->front().id, second.id);
}

TEST_F(SubmitDropTest, RefusesAKillDutyInsideTheWindowUnlessItIsAccepted) {
  const std::string properties = R"({\"druid.coordinator.kill.on\":\"true\",)"
                                 R"(\"druid.coordinator.kill.bufferPeriod\":\"PT1H\",)"
                                 R"(\"druid.coordinator.kill.ignoreDurationToRetain\":\"true\"})";
  const auto fault = site_.druid().AddFault(
      absl::StrCat(R"({"match":{"path":"/status/properties"},"kind":"status","times":0,)",
                   R"("status":200,"body":")", properties, "\"}"));
  ASSERT_TRUE(fault.ok()) << fault.status();
  DropRequest request = site_.Request(kHour13);
  EXPECT_EQ(Refusal(request, absl::StatusCode::kFailedPrecondition), "KILL_DUTY_INSIDE_WINDOW");
  request.accept_kill_duty = true;
  const Drop drop = site_.Submitted(request);
  const bool noted = std::any_of(drop.notes.begin(), drop.notes.end(), [](const Note& note) {
    return note.reason == "KILL_DUTY_INSIDE_WINDOW";
  });
  EXPECT_TRUE(noted);
}

TEST_F(SubmitDropTest, SaysThatTheKillDutyCannotBeRead) {
  ASSERT_TRUE(site_.druid()
                  .AddFault(R"({"match":{"path":"/status/properties"},"kind":"status","times":0,
                      "status":403})")
                  .ok());
  const auto plan = site_.drops().MakePlan(site_.Request(kHour13));
  ASSERT_TRUE(plan.ok());
  const bool told = std::any_of(plan->notes.begin(), plan->notes.end(), [](const Note& note) {
    return note.reason == "KILL_DUTY_UNKNOWN";
  });
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace interlock::drop
