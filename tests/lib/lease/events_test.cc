#include "lib/lease/events.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "lib/lease/waiting.h"
#include "tests/lib/lease/lease_fixture.h"

namespace interlock::lease {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EventsTest : public LeaseTest {
 protected:
  absl::StatusOr<Told> Since(int64_t revision, std::optional<Interval> overlapping = {}) {
    return In<Told>(
        [&](store::Transaction& tx) { return EventsAfter(tx, "wiki", revision, overlapping); });
  }
  std::vector<std::string> Names(const absl::StatusOr<Told>& told) {
    EXPECT_TRUE(told.ok()) << told.status();
    std::vector<std::string> names;
    for (const Event& event : told->events) {
      names.push_back(absl::StrCat(NameOf(event.kind), " ", NameOf(event.reservation.state)));
    }
    return names;
  }
  int64_t Revision() {
    return In<int64_t>([](store::Transaction& tx) { return RevisionOf(tx, "wiki"); }).value();
  }
  void NoteAll() {
    ASSERT_TRUE(Write([](store::Transaction& tx) { return NoteExpiries(tx).status(); }).ok());
  }
};

TEST_F(EventsTest, TellsWhatHappenedInOrder) {
  const Reservation granted = Granted("a", {Hours(0, 3)});
  ASSERT_TRUE(Renew(granted, absl::Minutes(20)).ok());
  ASSERT_TRUE(GiveBack(granted, {Hour(0)}).ok());
  ASSERT_TRUE(Release(granted).ok());
  const auto told = Since(0);
  EXPECT_THAT(Names(told), ElementsAre("GRANTED ACTIVE", "RENEWED ACTIVE", "RELEASED ACTIVE",
                                       "RELEASED RELEASED"));
  // Each as it was then, not as it is now.
  EXPECT_THAT(told->events[0].reservation.intervals, ElementsAre(Hours(0, 3)));
  EXPECT_EQ(told->events[0].reservation.deadline, granted.deadline);
  EXPECT_EQ(told->events[1].reservation.deadline, store_->Now() + absl::Minutes(20));
  EXPECT_THAT(told->events[2].reservation.intervals, ElementsAre(Hours(1, 3)));
  EXPECT_THAT(told->events[2].reservation.released, ElementsAre(Hour(0)));
  EXPECT_EQ(told->revision, Revision());
  EXPECT_EQ(Get(granted).revision, Revision());
}

TEST_F(EventsTest, ResumesWithoutAGap) {
  Granted("a", {Hour(0)});
  const int64_t revision = Revision();
  Granted("b", {Hour(1)});
  const auto told = Since(revision);
  ASSERT_THAT(told->events, SizeIs(1));
  EXPECT_EQ(told->events[0].reservation.holder, "b");
  EXPECT_THAT(Since(told->revision)->events, IsEmpty());
  EXPECT_EQ(Since(told->revision)->revision, told->revision);
}

TEST_F(EventsTest, TellsOnlyOfWhatOverlapsWhereAsked) {
  Granted("a", {Hour(0)});
  Granted("b", {Hour(5)});
  EXPECT_THAT(Since(0, Hours(4, 6))->events, SizeIs(1));
}

TEST_F(EventsTest, AnExpiryIsToldWithItsDeadlineWhoeverNotesIt) {
  const Reservation first = Granted("a", {Hour(0)});
  const Reservation second = Granted("a", {Hour(1)});
  const int64_t revision = Revision();
  clock_.Advance(absl::Minutes(30));
  Granted("b", {Hour(0)});
  NoteAll();
  NoteAll();
  const auto told = Since(revision);
  EXPECT_THAT(Names(told), ElementsAre("EXPIRED EXPIRED", "GRANTED ACTIVE", "EXPIRED EXPIRED"));
  EXPECT_EQ(told->events[0].at, first.deadline);
  EXPECT_EQ(told->events[2].reservation.id, second.id);
  EXPECT_EQ(told->events[2].at, second.deadline);
}

TEST_F(EventsTest, AnOrphanIsToldOfAndItsSettling) {
  const Reservation granted = Granted("a", {Hour(0)});
  ASSERT_TRUE(Pin(granted, "w1", Hour(0)).ok());
  const int64_t revision = Revision();
  ASSERT_TRUE(ForceRelease(granted).ok());
  ASSERT_TRUE(Unpin("w1").ok());
  EXPECT_THAT(Names(Since(revision)), ElementsAre("ORPHANED ORPHANED", "SETTLED FORCED"));
}

TEST_F(EventsTest, WaitingIsToldOf) {
  Granted("a", {Hour(0)});
  const int64_t revision = Revision();
  ReserveRequest request = Request("b", {Hour(0)});
  request.wait = absl::Minutes(1);
  const auto grant = Reserve(request);
  ASSERT_TRUE(Write([&](store::Transaction& tx) { return GiveUp(tx, *grant->waiting); }).ok());
  const auto told = Since(revision);
  EXPECT_THAT(Names(told), ElementsAre("WAITING WAITING", "GAVE_UP WAITING"));
  EXPECT_EQ(told->events[1].reservation.holder, "b");
  EXPECT_THAT(told->events[1].reservation.intervals, ElementsAre(Hour(0)));
}

TEST_F(EventsTest, TheLogIsBoundedAndWhoComesTooLateIsTold) {
  Granted("a", {Hour(0)});
  const int64_t early = Revision();
  Granted("b", {Hour(1)});
  clock_.Advance(absl::Hours(2));
  const Reservation late = Granted("c", {Hour(2)});
  ASSERT_TRUE(Write([](store::Transaction& tx) {
                return TrimEvents(tx, tx.now() - absl::Hours(1), 0).status();
              }).ok());
  EXPECT_EQ(ReasonOf(Since(early).status()), "REVISION_TOO_OLD");
  const int64_t kept = Revision() - 1;
  EXPECT_THAT(Names(Since(kept)), ElementsAre("GRANTED ACTIVE"));
  // The newest stays, however old: its number must not come again.
  clock_.Advance(absl::Hours(2));
  ASSERT_TRUE(Write([](store::Transaction& tx) {
                return TrimEvents(tx, tx.now() - absl::Hours(1), 0).status();
              }).ok());
  EXPECT_EQ(Revision(), Get(late).revision);
}

TEST_F(EventsTest, OneReaderCanFollowAllDatasources) {
  Granted("a", {Hour(0)});
  ReserveRequest other = Request("b", {Hour(0)});
  other.datasource = "clicks";
  Granted(other);
  std::map<std::string, int64_t> known;
  const auto read = [&](int64_t after) {
    return In<Told>([&](store::Transaction& tx) { return EventsOfAllAfter(tx, after, known); });
  };
  EXPECT_THAT(read(0)->events, SizeIs(2));
  EXPECT_THAT(read(0)->events, IsEmpty());
  clock_.Advance(kSettling + absl::Seconds(1));
  EXPECT_EQ(read(0)->revision,
            In<int64_t>([](store::Transaction& tx) { return NewestRevision(tx); }).value());
}

TEST_F(EventsTest, ARevisionThatHasNotComeIsRefused) {
  EXPECT_EQ(ReasonOf(Since(1).status()), "REVISION_UNKNOWN") << "of a datasource that is not known";
  EXPECT_TRUE(Since(0).ok());
  Granted("a", {Hour(0)});
  EXPECT_TRUE(Since(Revision()).ok());
  const auto refused = Since(Revision() + 1);
  EXPECT_EQ(ReasonOf(refused.status()), "REVISION_UNKNOWN");
  EXPECT_EQ(MetadataOf(refused.status()).at("newest"), absl::StrCat(Revision()));
}

}  // namespace
}  // namespace interlock::lease
