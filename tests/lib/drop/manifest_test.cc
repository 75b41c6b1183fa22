#include "lib/drop/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/lib/drop/segments.h"

namespace interlock::drop {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const char kHour13[] = "2026-07-16T13:00Z/2026-07-16T14:00Z";
const char kHour14[] = "2026-07-16T14:00Z/2026-07-16T15:00Z";
constexpr absl::Duration kSkew = absl::Seconds(5);

TEST(Manifest, MarksHiddenAndOlderSegmentsFirst) {
  ManifestRow old = MakeRow(MakeSegment(kHour14, "v1"));
  old.hidden = true;
  const ManifestRow v2 = MakeRow(MakeSegment(kHour13, "v2"));
  const ManifestRow v2b = MakeRow(MakeSegment(kHour13, "v2", 1));
  const ManifestRow v3 = MakeRow(MakeSegment(kHour13, "v3"));
  Manifest rows = {v3, v2b, v2, old};
  std::sort(rows.begin(), rows.end(), MarksBefore);
  EXPECT_THAT(rows[0].id, old.id);
  EXPECT_THAT(rows[1].id, v2.id);
  EXPECT_THAT(rows[2].id, v2b.id);
  EXPECT_THAT(rows[3].id, v3.id);
}

TEST(Manifest, SeesUsedUnusedAndGone) {
  const auto used = MakeSegment(kHour13, "v1");
  const auto unused = MakeSegment(kHour13, "v1", 1);
  const auto gone = MakeSegment(kHour14, "v1");
  const Manifest rows = {MakeRow(used), MakeRow(unused), MakeRow(gone)};
  const Sighting sighting = See(rows, {{used}, {{Unused(unused, "2026-08-01T00:00Z")}}});
  EXPECT_THAT(sighting.rows, ElementsAre(Reads::kUsed, Reads::kUnused, Reads::kGone));
  EXPECT_EQ(sighting.unused_at[1], At("2026-08-01T00:00Z"));
  EXPECT_THAT(sighting.strangers, IsEmpty());
}

TEST(Manifest, TakesAbsenceForUnusedOnlyWhereUnusedOnesCannotBeListed) {
  const Manifest rows = {MakeRow(MakeSegment(kHour13, "v1"), Phase::kSent)};
  EXPECT_THAT(See(rows, {{}, std::nullopt}).rows, ElementsAre(Reads::kUnused));
  EXPECT_THAT(See(rows, {{}, {{}}}).rows, ElementsAre(Reads::kGone));
}

TEST(Manifest, CallsUnknownUsedSegmentsOverItsTimeStrangers) {
  const auto ours = MakeSegment(kHour13, "v1");
  const auto appended = MakeSegment(kHour13, "v1", 1);
  const auto elsewhere = MakeSegment(kHour14, "v1");
  const auto day = MakeSegment("2026-07-16/2026-07-17", "v0");
  const Manifest rows = {MakeRow(ours), MakeRow(day, Phase::kStays)};
  const Sighting sighting = See(rows, {{ours, appended, elsewhere, day}, {{}}});
  ASSERT_THAT(sighting.strangers, SizeIs(1));
  EXPECT_EQ(sighting.strangers[0].id, appended.id);
}

TEST(Manifest, TellsOlderDataThatWasBroughtBackFromNewer) {
  ManifestRow hidden = MakeRow(MakeSegment(kHour13, "v1"));
  hidden.hidden = true;
  const Manifest rows = {hidden, MakeRow(MakeSegment(kHour13, "v3"))};
  const auto newer = [&](const druid::Segment& stranger) {
    return !Newer(rows, See(rows, {{stranger}, {{}}})).empty();
  };
  EXPECT_FALSE(newer(MakeSegment(kHour13, "v2"))) << "v3 hides it again, whatever v1 was";
  EXPECT_TRUE(newer(MakeSegment(kHour13, "v4")));
  EXPECT_TRUE(newer(MakeSegment(kHour13, "v3", 1))) << "it adds to ours";
  EXPECT_TRUE(newer(MakeSegment("2026-07-16/2026-07-17", "v2"))) << "ours hides an hour of it";
}

TEST(Manifest, TellsOurMarkFromSomebodyElses) {
  const auto segment = MakeSegment(kHour13, "v1");
  const auto seen = [&](ManifestRow row, const char* since) {
    Manifest rows = {std::move(row)};
    const Changes changes = Follow(rows, See(rows, {{}, {{Unused(segment, since)}}}), kSkew, false);
    EXPECT_EQ(rows[0].phase == Phase::kForeign, changes.foreign.size() == 1);
    return rows[0].phase;
  };
  ManifestRow sent = MakeRow(segment, Phase::kSent);
  sent.sent_at = At("2026-08-01T12:00:00Z");
  EXPECT_EQ(seen(sent, "2026-08-01T12:00:00.250Z"), Phase::kMarked);
  EXPECT_EQ(seen(sent, "2026-08-01T11:59:50Z"), Phase::kForeign) << "long before we asked";
  EXPECT_EQ(seen(MakeRow(segment), "2026-08-01T12:00:00Z"), Phase::kForeign) << "we never asked";
}

TEST(Manifest, NoticesAMarkThatWasMadeAgain) {
  const auto segment = MakeSegment(kHour13, "v1");
  Manifest rows = {MarkedRow(segment, "2026-08-01T12:00Z")};
  const auto again = See(rows, {{}, {{Unused(segment, "2026-08-02T12:00Z")}}});
  EXPECT_THAT(Follow(rows, again, kSkew, false).remarked, ElementsAre(segment.id));
  EXPECT_EQ(rows[0].unused_at, At("2026-08-02T12:00Z"));
  EXPECT_THAT(Follow(rows, again, kSkew, false).remarked, IsEmpty());
}

TEST(Manifest, TellsWhoKilled) {
  const auto segment = MakeSegment(kHour13, "v1");
  Manifest rows = {MarkedRow(segment, "2026-08-01T12:00Z"),
                   MarkedRow(MakeSegment(kHour14, "v1"), "2026-08-01T12:00Z")};
  rows[0].kill_task = "interlock-kill-1";
  const Changes changes = Follow(rows, See(rows, {{}, {{}}}), kSkew, false);
  EXPECT_EQ(rows[0].phase, Phase::kKilled);
  EXPECT_EQ(rows[1].phase, Phase::kLost);
  EXPECT_THAT(changes.lost, ElementsAre(rows[1].id));
}

TEST(Manifest, RestoresWhatReadsAsUsedAndRevivesWhatALateMarkTook) {
  const auto segment = MakeSegment(kHour13, "v1");
  Manifest rows = {MarkedRow(segment, "2026-08-01T12:00Z")};
  Follow(rows, See(rows, {{segment}, {{}}}), kSkew, true);
  EXPECT_EQ(rows[0].phase, Phase::kRestored);
  const auto late = See(rows, {{}, {{Unused(segment, "2026-08-01T12:01Z")}}});
  Follow(rows, late, kSkew, true);
  EXPECT_EQ(rows[0].phase, Phase::kMarked);
}

TEST(Manifest, CountsOnlyWhatIsItsOwn) {
  const auto a = MakeSegment(kHour13, "v1");
  const auto b = MakeSegment(kHour14, "v1");
  const auto day = MakeSegment("2026-07-16/2026-07-17", "v0");
  const Manifest rows = {MakeRow(a), MakeRow(b, Phase::kForeign), MakeRow(day, Phase::kStays)};
  const Counts counts = Count(rows, See(rows, {{a, day}, {{Unused(b, "2026-08-01T12:00Z")}}}));
  EXPECT_EQ(counts.used, 1);
  EXPECT_EQ(counts.marked, 0);
  EXPECT_EQ(counts.foreign, 1);
}

TEST(Manifest, NamesRoundTrip) {
  for (Phase phase : {Phase::kPlanned, Phase::kSent, Phase::kMarked, Phase::kForeign,
                      Phase::kRestored, Phase::kKilled, Phase::kLost, Phase::kStays}) {
    EXPECT_EQ(PhaseNamed(Name(phase)), phase);
  }
  for (File file : {File::kUnchecked, File::kPresent, File::kGone}) {
    EXPECT_EQ(FileNamed(Name(file)), file);
  }
}

}  // namespace
}  // namespace interlock::drop
