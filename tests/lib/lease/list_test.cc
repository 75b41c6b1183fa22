#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/lib/lease/lease_fixture.h"

namespace interlock::lease {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ListReservations : public LeaseTest {
 protected:
  Listed List(const Filter& filter, const Page& page = {}) {
    Listed listed;
    const absl::Status status = store_->Read([&](store::Transaction& tx) {
      auto found = lease::List(tx, filter, page);
      if (found.ok()) listed = *found;
      return found.status();
    });
    EXPECT_TRUE(status.ok()) << status;
    return listed;
  }
  std::vector<std::string> Holders(const Filter& filter, int64_t page_size = 100) {
    std::vector<std::string> holders;
    Page page{page_size, ""};
    do {
      const Listed listed = List(filter, page);
      EXPECT_LE(listed.reservations.size(), page_size);
      for (const Reservation& reservation : listed.reservations) {
        holders.push_back(reservation.holder);
      }
      page.token = listed.next;
    } while (!page.token.empty());
    return holders;
  }
  static Filter Overlapping(const Interval& interval) { return {"wiki", interval, "", {}}; }
};

TEST_F(ListReservations, OfOneDatasourceByStartAndOfAllInTheOrderOfGrants) {
  for (int i = 5; i > 0; --i) Granted(absl::StrCat("h", i), {Hour(i)});
  ReserveRequest other = Request("other", {Hour(1)});
  other.datasource = "clicks";
  Granted(other);
  for (const int64_t page_size : {1, 2, 5, 100}) {
    EXPECT_THAT(Holders({"wiki", {}, "", {}}, page_size),
                ElementsAre("h1", "h2", "h3", "h4", "h5"));
  }
  EXPECT_THAT(Holders({}, 3), ElementsAre("h5", "h4", "h3", "h2", "h1", "other"));
  EXPECT_THAT(Holders({"nothing", {}, "", {}}), IsEmpty());
}

TEST_F(ListReservations, ByHolderAndState) {
  Granted("a", {Hour(1)});
  clock_.Advance(absl::Minutes(10));
  Granted("b", {Hour(2)});
  ASSERT_TRUE(Release(Granted("a", {Hour(3)})).ok());
  const Reservation pinned = Granted("c", {Hour(4)});
  ASSERT_TRUE(Pin(pinned, "w1", Hour(4)).ok());
  ASSERT_TRUE(Release(pinned).ok());
  EXPECT_THAT(Holders({}), ElementsAre("b", "c"));
  EXPECT_THAT(Holders({"", {}, "a", {}}), IsEmpty());
  EXPECT_THAT(Holders({"", {}, "a", {State::kExpired, State::kReleased}}), ElementsAre("a", "a"));
  EXPECT_THAT(Holders({"", {}, "", {State::kOrphaned}}), ElementsAre("c"));
}

TEST_F(ListReservations, ByOverlapInTheOrderOfTime) {
  Granted("c", {Hours(6, 9)});
  Granted("a", {Hours(0, 3)});
  Granted("b", {Hours(4, 5)});
  Granted("d", {Hours(20, 21)});
  ReserveRequest append = Request("s", {Hours(10, 18)});
  append.mode = Mode::kAppend;
  Granted(append);
  for (const int64_t page_size : {1, 2, 100}) {
    EXPECT_THAT(Holders(Overlapping(Hours(2, 21)), page_size),
                ElementsAre("a", "b", "c", "s", "d"));
    EXPECT_THAT(Holders(Overlapping(Hours(7, 8)), page_size), ElementsAre("c"));
    EXPECT_THAT(Holders(Overlapping(Hours(12, 13)), page_size), ElementsAre("s"));
    EXPECT_THAT(Holders(Overlapping(Hours(3, 4)), page_size), IsEmpty());
    EXPECT_THAT(Holders(Overlapping(Hours(9, 10)), page_size), IsEmpty());
  }
}

TEST_F(ListReservations, AReservationOfManyIntervalsOnce) {
  Granted("many", {Hour(1), Hour(3), Hour(5), Hour(7)});
  Granted("one", {Hour(4)});
  for (const int64_t page_size : {1, 100}) {
    EXPECT_THAT(Holders(Overlapping(Hours(2, 8)), page_size), ElementsAre("many", "one"));
  }
  EXPECT_THAT(List(Overlapping(Hours(2, 8))).reservations[0].intervals, SizeIs(4));
}

TEST_F(ListReservations, RefusesWhatItCannotFollow) {
  const auto status_of = [&](const Filter& filter, const Page& page) {
    return store_->Read(
        [&](store::Transaction& tx) { return lease::List(tx, filter, page).status(); });
  };
  EXPECT_EQ(ReasonOf(status_of({"", Hour(1), "", {}}, {})), "INVALID_RESERVATION");
  EXPECT_EQ(ReasonOf(status_of({}, {10, "junk"})), "BAD_PAGE_TOKEN");
}

}  // namespace
}  // namespace interlock::lease
