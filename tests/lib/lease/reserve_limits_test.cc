#include "gmock/gmock.h"
#include "lib/lease/live_counts.h"
#include "tests/lib/lease/lease_fixture.h"

namespace interlock::lease {
namespace {

using ::testing::HasSubstr;

using ReserveLimits = LeaseTest;

TEST_F(ReserveLimits, AFaultOfALimitIsSaidOnceWithTheNameThatSetsIt) {
  ReserveRequest request = Request("a", {Hour(1)});
  request.ttl = absl::Hours(25);
  const absl::Status refused = Reserve(request).status();
  EXPECT_EQ(std::string(refused.message()),
            "/ttl: it is 1d1h; at most 1d, which is limits.max_ttl of this server");
  const Fault fault = FaultsOf(refused).front();
  EXPECT_EQ(absl::StrCat(fault.pointer, ": ", fault.found, "; ", fault.would_do),
            std::string(refused.message()));
}

TEST_F(ReserveLimits, NamesTheLimitThatWasReached) {
  Limits limits;
  limits.intervals_per_call = 2;
  limits.longest_interval = absl::Hours(4);
  const auto limit_of = [&](const ReserveRequest& request) {
    const auto refused = Reserve(request, limits);
    EXPECT_EQ(ReasonOf(refused.status()), "LIMIT_EXCEEDED") << refused.status();
    return MetadataOf(refused.status())["limit"];
  };
  EXPECT_EQ(limit_of(Request("a", {Hour(1), Hour(3), Hour(5)})), "max_intervals_per_call");
  EXPECT_EQ(limit_of(Request("a", {Hours(1, 6)})), "max_interval");
  ReserveRequest request = Request("a", {Hour(1)});
  request.ttl = absl::Milliseconds(999);
  EXPECT_EQ(limit_of(request), "min_ttl");
  request.ttl = absl::Hours(25);
  EXPECT_EQ(limit_of(request), "max_ttl");
  request.ttl = absl::Minutes(1);
  request.wait = absl::Hours(2);
  EXPECT_EQ(limit_of(request), "max_wait");
}

TEST_F(ReserveLimits, APlanIsRefusedByTheLimitThatWouldRefuseTheGrant) {
  Limits limits;
  limits.live_per_holder = 1;
  caller_.identity = "a";
  ReserveRequest request = Request("a", {Hour(1)});
  request.ttl = absl::Minutes(1);
  ASSERT_TRUE(Reserve(request, limits).ok());
  const auto room = [&](const std::string& identity) {
    return store_->Read([&](store::Transaction& tx) {
      return CheckRoom(tx, Request("a", {Hour(2)}), identity, limits);
    });
  };
  EXPECT_EQ(MetadataOf(room("a"))["limit"], "max_reservations_per_holder");
  EXPECT_TRUE(room("b").ok());
  clock_.Advance(absl::Minutes(1));
  EXPECT_TRUE(room("a").ok()) << "it has expired";
}

TEST_F(ReserveLimits, LimitsLiveReservationsPerHolderAndPerDatasource) {
  Limits limits;
  limits.live_per_holder = 2;
  limits.live_per_datasource = 3;
  caller_.identity = "a";
  EXPECT_TRUE(Reserve(Request("a", {Hour(1)}), limits).ok());
  const auto second = Reserve(Request("a", {Hour(2)}), limits);
  EXPECT_TRUE(second.ok());
  const auto third = Reserve(Request("a", {Hour(3)}), limits);
  EXPECT_EQ(third.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(MetadataOf(third.status())["limit"], "max_reservations_per_holder");
  EXPECT_THAT(std::string(third.status().message()),
              HasSubstr("a in wiki has 2 live reservations already, which is "
                        "limits.max_reservations_per_holder"));
  caller_.identity = "b";
  EXPECT_TRUE(Reserve(Request("b", {Hour(3)}), limits).ok());
  EXPECT_EQ(MetadataOf(Reserve(Request("b", {Hour(4)}), limits).status())["limit"],
            "max_reservations_per_datasource");
  // What is released or has expired does not count.
  EXPECT_TRUE(Release(second->reservation).ok());
  caller_.identity = "a";
  EXPECT_TRUE(Reserve(Request("a", {Hour(4)}), limits).ok());
  clock_.Advance(absl::Minutes(10));
  EXPECT_TRUE(Reserve(Request("a", {Hour(5)}), limits).ok());
}

TEST_F(ReserveLimits, ANameBelowOnesOwnEvadesNoLimit) {
  Limits limits;
  limits.live_per_holder = 2;
  caller_.identity = "a";
  const auto first = Reserve(Request("a/one", {Hour(1)}), limits);
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(Reserve(Request("a/two", {Hour(2)}), limits).ok());
  EXPECT_EQ(ReasonOf(Reserve(Request("a/three", {Hour(3)}), limits).status()), "LIMIT_EXCEEDED");
  ASSERT_TRUE(Release(first->reservation).ok());
  EXPECT_TRUE(Reserve(Request("a/three", {Hour(3)}), limits).ok());
  // Each datasource is counted by itself.
  ReserveRequest elsewhere = Request("a", {Hour(1)});
  elsewhere.datasource = "clicks";
  EXPECT_TRUE(Reserve(elsewhere, limits).ok());
}

}  // namespace
}  // namespace interlock::lease
