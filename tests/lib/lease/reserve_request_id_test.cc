#include "gmock/gmock.h"
#include "tests/lib/lease/lease_fixture.h"

namespace interlock::lease {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

using ReserveRequestId = LeaseTest;

TEST_F(ReserveRequestId, GivesTheSameAnswerToTheSameRequest) {
  Granted("a", {Hour(3)});
  ReserveRequest request = Request("b", {Hours(2, 6)});
  request.request_id = "run-1";
  request.skip_held = true;
  const auto first = Reserve(request);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = Reserve(request);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(second->repeated);
  EXPECT_EQ(second->reservation.id, first->reservation.id);
  EXPECT_EQ(second->reservation.token, first->reservation.token);
  EXPECT_THAT(second->reservation.intervals, ElementsAre(Hour(2), Hours(4, 6)));
  ASSERT_THAT(second->skipped, SizeIs(1));
  EXPECT_EQ(second->skipped[0].interval, Hour(3));
  EXPECT_EQ(second->skipped[0].holder, "a");
  // Another holder's run-1 is another request.
  request.holder = "c";
  EXPECT_EQ(ReasonOf(Reserve(request).status()), "HELD");
}

TEST_F(ReserveRequestId, RefusesARequestIdWithAnotherBodyAndSaysWhatDiffers) {
  ReserveRequest request = Request("b", {Hour(2)});
  request.request_id = "run-1";
  Granted(request);
  request.intervals = {Hour(4)};
  request.ttl = absl::Minutes(20);
  const auto refused = Reserve(request);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(refused.status()), "REQUEST_ID_REUSED");
  const std::string differs = MetadataOf(refused.status()).at("differs");
  EXPECT_EQ(differs, "intervals was '" + Hour(2).ToString() + "', is '" + Hour(4).ToString() +
                         "'; ttl was '10m', is '20m'");
}

TEST_F(ReserveRequestId, ARequestIdNeverGrantsTwiceWithinADayOfItsEnd) {
  ReserveRequest request = Request("b", {Hour(2)});
  request.request_id = "run-1";
  const Reservation first = Granted(request);
  ASSERT_TRUE(Release(first).ok());
  EXPECT_EQ(ReasonOf(Reserve(request).status()), "RELEASED");
  clock_.Advance(Limits().request_id_kept);
  EXPECT_EQ(ReasonOf(Reserve(request).status()), "RELEASED");
  clock_.Advance(absl::Milliseconds(1));
  const auto again = Reserve(request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_GT(again->reservation.token, first.token);
  EXPECT_FALSE(again->repeated);
}

TEST_F(ReserveRequestId, APlanAnswersARequestIdAsAGrantWould) {
  const auto plan = [&](const ReserveRequest& request) {
    return In<Grant>([&](store::Transaction& tx) { return Plan(tx, request, {}); });
  };
  ReserveRequest request = Request("b", {Hour(2)});
  request.request_id = "run-1";
  EXPECT_TRUE(plan(request)->reservation.id.empty());
  const Reservation first = Granted(request);
  EXPECT_EQ(plan(request)->reservation.id, first.id);
  EXPECT_TRUE(plan(request)->repeated);
  ReserveRequest other = request;
  other.intervals = {Hour(3)};
  EXPECT_EQ(ReasonOf(plan(other).status()), "REQUEST_ID_REUSED");
  ASSERT_TRUE(Release(first).ok());
  EXPECT_EQ(ReasonOf(plan(request).status()), "RELEASED");
  clock_.Advance(absl::Hours(25));
  EXPECT_TRUE(plan(request).ok());
  EXPECT_TRUE(plan(request)->reservation.id.empty());
}

}  // namespace
}  // namespace interlock::lease
