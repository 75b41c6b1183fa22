// What became of the neighbours of what was proven.
#include "lib/backfill/next_door.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/backfill/backfill_site.h"

namespace interlock::backfill {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Cause = verify::NeighbourChange::Cause;

class NextDoorTest : public testing::Test {
 protected:
  NextDoorTest() {
    site_.Load(12, 4);
    site_.Load(15, 4);
    id_ = site_.Submit(site_.FilesSpec(13, 15, 3));
    EXPECT_EQ(NameOf(site_.RunUntilOver(id_).backfill.phase), "DONE");
    // Druid tells two versions by their milliseconds, we two moments by two seconds.
    site_.Pass(absl::Seconds(10));
  }
  NextDoor Look(int from, int to) {
    auto door = LookNextDoor(site_.store(), site_.cluster(), id_,
                             Interval::Between(Hour(from).start(), Hour(to).start()));
    EXPECT_TRUE(door.ok()) << door.status();
    return door.ok() ? *std::move(door) : NextDoor();
  }

  BackfillSite site_;
  std::string id_;
};

TEST_F(NextDoorTest, NothingHasChangedRightAfterTheProof) {
  const NextDoor door = Look(13, 15);
  EXPECT_EQ(door.why_not, "");
  EXPECT_THAT(door.changes.changes, IsEmpty());
  EXPECT_THAT(door.changes.findings, IsEmpty());
}

TEST_F(NextDoorTest, SomebodyElsesWriteIsUnexplained) {
  const std::string before = site_.Version(15);
  site_.Load(15, 7);
  const NextDoor door = Look(13, 15);
  ASSERT_THAT(door.changes.changes, SizeIs(1));
  EXPECT_EQ(door.changes.changes[0].cause, Cause::kUnexplained);
  EXPECT_EQ(door.changes.changes[0].interval, Hour(15));
  EXPECT_EQ(door.changes.changes[0].version_before, before);
  EXPECT_EQ(door.changes.changes[0].version_after, site_.Version(15));
  ASSERT_THAT(door.changes.findings, SizeIs(1));
  EXPECT_EQ(door.changes.findings[0].verdict, verify::Verdict::kForeignWrite);
}

TEST_F(NextDoorTest, AnotherBackfillsWriteIsItsOwn) {
  const std::string other = site_.Submit(BackfillSite::InlineSpec(15, 16, 5));
  EXPECT_EQ(NameOf(site_.RunUntilOver(other).backfill.phase), "DONE");
  const NextDoor door = Look(13, 15);
  ASSERT_THAT(door.changes.changes, SizeIs(1));
  EXPECT_EQ(door.changes.changes[0].cause, Cause::kOursIntended);
  EXPECT_THAT(door.changes.changes[0].attributed_to, HasSubstr(other));
  EXPECT_THAT(door.changes.findings, IsEmpty());
}

TEST_F(NextDoorTest, TheBackfillsOwnOtherHoursAreNoSurprise) {
  // Of the hour 13 alone the hour 14 is next door; it was written after it.
  EXPECT_THAT(Look(13, 14).changes.findings, IsEmpty());
}

TEST_F(NextDoorTest, WithoutAProofThereNothingIsSaid) {
  EXPECT_THAT(Look(20, 21).why_not, HasSubstr("no proof"));
}

}  // namespace
}  // namespace interlock::backfill
