#include "lib/lease/tails.h"

#include "gmock/gmock.h"
#include "lib/lease/obstacle.h"
#include "tests/lib/lease/lease_fixture.h"

namespace interlock::lease {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TailsTest : public LeaseTest {
 protected:
  void Set(std::optional<Instant> bound, std::optional<absl::Duration> offset) {
    Tail tail;
    tail.datasource = "wiki";
    tail.stream = "wiki-kafka";
    tail.bound = bound;
    tail.offset = offset;
    tail.source = "DECLARED";
    ASSERT_TRUE(Write([&](store::Transaction& tx) { return SetTail(tx, tail); }).ok());
  }
};

TEST_F(TailsTest, ARequestThatReachesIntoATailIsRefusedWithTheBoundary) {
  Set(Hour(5).start(), std::nullopt);
  const auto refused = Reserve("a", {Hours(3, 8)});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReasonOf(refused.status()), "TAIL");
  const Metadata details = MetadataOf(refused.status());
  EXPECT_EQ(details.at("boundary"), Hour(5).start().ToString());
  EXPECT_EQ(details.at("would_do"), Hours(3, 5).ToString());
  EXPECT_EQ(details.at("holder"), "wiki-kafka");
  EXPECT_TRUE(Reserve("a", {Hours(3, 5)}).ok());
}

TEST_F(TailsTest, WithACalendarTheLargestIntervalThatWouldDoIsInWholePartitions) {
  Set(Hour(30).start(), std::nullopt);
  ReserveRequest request = Request("a", {Hours(0, 48)});
  request.partitions = Granularity::FromName("DAY").value();
  EXPECT_EQ(MetadataOf(Reserve(request).status()).at("would_do"), Hours(0, 24).ToString());
  request.skip_held = true;
  const auto grant = Reserve(request);
  ASSERT_TRUE(grant.ok()) << grant.status();
  EXPECT_THAT(grant->reservation.intervals, ElementsAre(Hours(0, 24)));
  ASSERT_THAT(grant->skipped, SizeIs(1));
  EXPECT_EQ(grant->skipped[0].by, HeldBy::kTail);
}

TEST_F(TailsTest, AnOffsetMovesWithTheStoresClock) {
  const Instant now = store_->Now();
  Set(std::nullopt, absl::Hours(2));
  const Interval asked = Interval::Between(now - absl::Hours(3), now - absl::Hours(1));
  EXPECT_EQ(ReasonOf(Reserve("a", {asked}).status()), "TAIL");
  clock_.Advance(absl::Hours(1));
  EXPECT_TRUE(Reserve("a", {asked}).ok());
}

TEST_F(TailsTest, AnUnboundedTailRefusesEverythingUnlessAccepted) {
  Set(std::nullopt, std::nullopt);
  ReserveRequest request = Request("a", {Hour(1)});
  const auto refused = Reserve(request);
  EXPECT_EQ(ReasonOf(refused.status()), "UNBOUNDED_TAIL");
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("interlockctl streams register wiki --stream wiki-kafka --tail P2D"));
  request.tails = Tails::kAcceptUnbounded;
  EXPECT_TRUE(Reserve(request).ok());
  Set(Hour(0).start(), std::nullopt);
  request.intervals = {Hour(2)};
  EXPECT_EQ(ReasonOf(Reserve(request).status()), "TAIL");
  request.tails = Tails::kAccept;
  EXPECT_TRUE(Reserve(request).ok());
}

TEST_F(TailsTest, AppendsShareWithAStreamAndALiveLeaseIsNotRevoked) {
  const Reservation before = Granted("a", {Hour(6)});
  Set(Hour(5).start(), std::nullopt);
  EXPECT_EQ(Get(before).state, State::kActive);
  EXPECT_TRUE(Renew(before).ok());
  ReserveRequest append = Request("s", {Hour(7)});
  append.mode = Mode::kAppend;
  EXPECT_TRUE(Reserve(append).ok());
}

TEST_F(TailsTest, ATailIsListedUntilItsStreamIsGone) {
  Set(Hour(5).start(), std::nullopt);
  const auto list = [this] {
    return In<std::vector<Tail>>([](store::Transaction& tx) { return ListTails(tx, "wiki"); });
  };
  ASSERT_THAT(*list(), SizeIs(1));
  EXPECT_EQ(list()->front().observed, store_->Now());
  EXPECT_EQ(list()->front().source, "DECLARED");
  const auto others = In<std::vector<Held>>(
      [](store::Transaction& tx) { return FindOthers(tx, "wiki", {Hours(0, 9)}, {}); });
  ASSERT_THAT(*others, SizeIs(1));
  EXPECT_EQ(others->front().interval, Hours(5, 9));
  const auto remove = [this] {
    return In<bool>([](store::Transaction& tx) { return RemoveTail(tx, "wiki", "wiki-kafka"); });
  };
  EXPECT_TRUE(*remove());
  EXPECT_FALSE(*remove());
  EXPECT_THAT(*list(), IsEmpty());
  EXPECT_TRUE(Reserve("a", {Hour(6)}).ok());
}

TEST_F(TailsTest, WhatOtherModulesBarIsRefusedInTheGrantsTransaction) {
  Limits limits;
  limits.obstacles = std::make_shared<const Obstacles>(std::vector<Obstacle>{
      [](store::Transaction& tx, const std::string& datasource, Mode mode,
         const std::vector<Interval>& asked) -> absl::StatusOr<std::vector<Held>> {
        EXPECT_TRUE(tx.Query("SELECT 1 FROM lease_datasource", {}).ok());
        EXPECT_EQ(datasource, "wiki");
        EXPECT_EQ(mode, Mode::kReplace);
        Held seal;
        seal.by = HeldBy::kSeal;
        seal.interval = Hour(2);
        seal.until = Instant::kMax;
        seal.reason = "SEALED";
        seal.link = "seals/s1";
        seal.message = "sealed for the July report";
        if (asked.front().Overlaps(Hour(2))) return std::vector<Held>{seal};
        return std::vector<Held>();
      }});
  const auto refused = Reserve(Request("a", {Hours(1, 4)}), limits);
  EXPECT_EQ(ReasonOf(refused.status()), "SEALED");
  EXPECT_EQ(MetadataOf(refused.status()).at("link"), "seals/s1");
  EXPECT_EQ(RetryAfterOf(refused.status()), std::nullopt);
  ReserveRequest skip = Request("a", {Hours(1, 4)});
  skip.skip_held = true;
  const auto grant = Reserve(skip, limits);
  ASSERT_TRUE(grant.ok()) << grant.status();
  EXPECT_THAT(grant->reservation.intervals, ElementsAre(Hour(1), Hour(3)));
}

}  // namespace
}  // namespace interlock::lease
