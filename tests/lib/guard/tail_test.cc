// What a stream may still write, by what is known of it.
#include "lib/guard/tail.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace interlock::guard {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Instant At(const std::string& text) { return *Instant::Parse(text); }
const Instant kNow = At("2026-11-29T21:11:41.213Z");

Seen Supervised(const druid::MessageBounds& bounds = {}) {
  Seen seen;
  seen.supervisor.emplace();
  seen.supervisor->id = seen.supervisor->datasource = "views";
  seen.supervisor->stream = "v";
  seen.supervisor->bounds = bounds;
  return seen;
}

druid::MessageBounds Late(absl::Duration period) {
  druid::MessageBounds bounds;
  bounds.late_period = period;
  return bounds;
}

druid::StreamTask Task(const std::string& id, std::optional<Instant> minimum) {
  druid::StreamTask task;
  task.id = id;
  task.minimum_message_time = minimum;
  return task;
}

Declared Setting(absl::Duration tail) {
  Declared declared;
  declared.tail = tail;
  return declared;
}

Tail Of(const Seen& seen, const Declared& declared = {}) {
  return ComputeTail(declared, nullptr, &seen, kNow);
}

TEST(Tail, WithoutABoundItMayWriteAnywhereWhichIsDruidsDefault) {
  const Tail tail = Of(Supervised());
  EXPECT_TRUE(tail.any);
  EXPECT_EQ(tail.source, TailSource::kUnbounded);
  EXPECT_TRUE(tail.bound.unbounded());
  EXPECT_EQ(tail.bound.StartAt(kNow), Instant::kMin);
}

TEST(Tail, ItStartsAtTheLowestBoundOfItsRunningTasksToTheMillisecond) {
  Seen seen = Supervised(Late(absl::Hours(1)));
  seen.tasks = {Task("a", At("2026-11-29T20:11:39.950Z")),
                Task("b", At("2026-11-29T20:01:02.003Z"))};
  const Tail tail = Of(seen);
  EXPECT_EQ(tail.source, TailSource::kRunningTasks);
  EXPECT_EQ(tail.bound.StartAt(kNow), At("2026-11-29T20:01:02.003Z"));
  EXPECT_TRUE(tail.enforced);
}

// The status lists no task right after a start, a resume or a roll-over: the tail is made of
// the tasks that run, and of the next one, whichever reaches further back.
TEST(Tail, TheNextTaskCountsAsWell) {
  Seen seen = Supervised(Late(absl::Hours(3)));  // somebody has lengthened it
  seen.tasks = {Task("a", At("2026-11-29T20:11:39.950Z"))};
  const Tail tail = Of(seen);
  EXPECT_EQ(tail.source, TailSource::kLateMessageBound);
  EXPECT_EQ(tail.bound.StartAt(kNow), kNow - absl::Hours(3));
  // As the clock goes on, the running one's is the earlier.
  EXPECT_EQ(tail.bound.StartAt(kNow + absl::Hours(9)), At("2026-11-29T20:11:39.950Z"));
}

TEST(Tail, OneTaskWithoutABoundLeavesNone) {
  Seen seen = Supervised(Late(absl::Hours(1)));
  seen.tasks = {Task("a", At("2026-11-29T20:11:39.950Z")), Task("old", std::nullopt)};
  EXPECT_TRUE(Of(seen).bound.unbounded());
}

TEST(Tail, ASpecThatLostItsBoundGivesTheNextTaskNone) {
  Seen seen = Supervised();
  seen.tasks = {Task("a", At("2026-11-29T20:11:39.950Z"))};
  EXPECT_TRUE(Of(seen).bound.unbounded());
}

TEST(Tail, BetweenTasksItMovesWithTheClock) {
  const Tail tail = Of(Supervised(Late(absl::Hours(1))));
  EXPECT_EQ(tail.source, TailSource::kLateMessageBound);
  EXPECT_EQ(tail.bound.StartAt(kNow), kNow - absl::Hours(1));
  EXPECT_EQ(tail.bound.StartAt(kNow + absl::Minutes(5)), kNow - absl::Minutes(55));
}

// The start that a fixed cut-over gives moves inside of a task that outlives its
// taskDuration; its payload, and so the tail, stays at the earlier one.
TEST(Tail, AFixedStartStandsStill) {
  druid::MessageBounds bounds;
  bounds.late_start = At("2026-07-16T13:00Z");
  Seen seen = Supervised(bounds);
  seen.tasks = {Task("a", At("2026-07-16T13:00Z"))};
  EXPECT_EQ(Of(seen).bound.StartAt(kNow), At("2026-07-16T13:00Z"));
  EXPECT_EQ(Of(seen).bound.StartAt(kNow + absl::Hours(99)), At("2026-07-16T13:00Z"));
}

TEST(Tail, ASuspendedSupervisorMayBeResumedByAnybody) {
  Seen seen = Supervised(Late(absl::Hours(1)));
  seen.supervisor->suspended = true;
  EXPECT_EQ(Of(seen).bound.StartAt(kNow), kNow - absl::Hours(1));
  EXPECT_TRUE(Of(seen).any);
}

TEST(Tail, WhenDruidsClockIsBehindItsNextTaskReachesFurtherBack) {
  Seen seen = Supervised(Late(absl::Hours(1)));
  seen.druid_behind = absl::Minutes(7);
  EXPECT_EQ(Of(seen).bound.StartAt(kNow), kNow - absl::Minutes(67));
  seen.druid_behind = -absl::Minutes(7);
  EXPECT_EQ(Of(seen).bound.StartAt(kNow), kNow - absl::Hours(1));
}

TEST(Tail, ASettingGoesBeforeEverything) {
  Seen seen = Supervised(Late(absl::Hours(1)));
  seen.tasks = {Task("a", At("2026-11-29T20:11:39.950Z"))};
  const Tail tail = Of(seen, Setting(absl::Hours(48)));
  EXPECT_EQ(tail.source, TailSource::kSetting);
  EXPECT_EQ(tail.bound.StartAt(kNow), kNow - absl::Hours(48));
  EXPECT_TRUE(tail.enforced);
}

TEST(Tail, ASettingThatDruidDoesNotHoldToIsSaidToBeNone) {
  const Seen seen = Supervised();
  const Declared declared = Setting(absl::Hours(48));
  const Tail tail = Of(seen, declared);
  EXPECT_FALSE(tail.enforced);
  const auto notices = NoticesOf(tail, declared, &seen, "views");
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_EQ(notices[0].reason, "TAIL_NOT_ENFORCED");
  EXPECT_THAT(notices[0].remedy, HasSubstr("lateMessageRejectionPeriod"));
}

TEST(Tail, TheSettingOfTheDatasourceGoesForEachStreamWithoutOne) {
  const Seen seen = Supervised();
  const Declared of_datasource = Setting(absl::Hours(48));
  EXPECT_EQ(ComputeTail({}, &of_datasource, &seen, kNow).bound.length, absl::Hours(48));
  EXPECT_EQ(ComputeTail(Setting(absl::Hours(1)), &of_datasource, &seen, kNow).bound.length,
            absl::Hours(1));
}

TEST(Tail, ADeclaredSkipOffsetCountsOnlyWhereDruidHasNoBoundAndIsWarnedOf) {
  Declared declared;
  declared.has_spec = true;
  declared.skip_offset = absl::Hours(1);
  const Seen unbounded = Supervised();
  const Tail tail = Of(unbounded, declared);
  EXPECT_EQ(tail.source, TailSource::kSkipOffsetDeclared);
  EXPECT_EQ(tail.bound.StartAt(kNow), kNow - absl::Hours(1));
  EXPECT_FALSE(tail.enforced);
  const auto notices = NoticesOf(tail, declared, &unbounded, "views");
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_EQ(notices[0].reason, "TAIL_NOT_ENFORCED");
  EXPECT_THAT(notices[0].message, HasSubstr("drops it"));
  const Seen bounded = Supervised(Late(absl::Hours(3)));
  EXPECT_EQ(Of(bounded, declared).source, TailSource::kLateMessageBound);
}

TEST(Tail, ASpecThatIsNotPostedYetHasTheBoundItWillHave) {
  Declared declared;
  declared.has_spec = true;
  declared.bounds = Late(absl::Hours(2));
  const Tail tail = ComputeTail(declared, nullptr, nullptr, kNow);
  EXPECT_EQ(tail.source, TailSource::kLateMessageBound);
  EXPECT_EQ(tail.bound.length, absl::Hours(2));
  // Once it runs without, what was shown is not what is there.
  EXPECT_TRUE(Of(Supervised(), declared).bound.unbounded());
}

TEST(Tail, AnOutsideStreamIsTakenAtItsWord) {
  Declared declared;
  declared.reported_start = At("2026-11-29T20:00Z");
  const Tail tail = ComputeTail(declared, nullptr, nullptr, kNow);
  EXPECT_EQ(tail.source, TailSource::kReported);
  EXPECT_EQ(tail.bound.StartAt(kNow), At("2026-11-29T20:00Z"));
  EXPECT_FALSE(tail.enforced);
}

TEST(Tail, WhoIsGoneWithItsTasksWritesNothing) {
  const Seen nobody;
  EXPECT_FALSE(Of(nobody).any);
  Seen orphan;
  orphan.tasks = {Task("a", At("2026-11-29T20:11:39.950Z"))};
  EXPECT_TRUE(Of(orphan).any);
  EXPECT_EQ(Of(orphan).bound.StartAt(kNow), At("2026-11-29T20:11:39.950Z"));
}

TEST(Tail, AnUnboundedOneNamesTheCommandThatDeclaresOne) {
  const Seen seen = Supervised();
  const auto notices = NoticesOf(Of(seen), {}, &seen, "views");
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_EQ(notices[0].reason, "TAIL_UNBOUNDED");
  EXPECT_EQ(notices[0].remedy, "interlockctl streams register views --tail P2D");
}

TEST(Tail, ABoundThatDruidHoldsToNeedsNoWarning) {
  const Seen seen = Supervised(Late(absl::Hours(1)));
  EXPECT_THAT(NoticesOf(Of(seen), {}, &seen, "views"), IsEmpty());
}

}  // namespace
}  // namespace interlock::guard
