// What the watcher makes of what Druid shows, look after look.
#include "gmock/gmock.h"
#include "tests/lib/guard/guard_site.h"

namespace interlock::guard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void RunStream(GuardSite& site, const std::string& io = kLateHour,
               const std::string& minimum = "2026-07-16T18:59:39.950Z") {
  site.druid().supervisors["views"] = {"views", "v", io, false, true};
  site.druid().tasks["index_kafka_views_a"] = {"views", "v", "index_kafka_views", minimum, 0, ""};
}

TEST(Watcher, ASupervisorIsFoundAndItsTailRefusesToTheMillisecond) {
  GuardSite site;
  RunStream(site);
  site.Look();
  ASSERT_THAT(site.All(), SizeIs(1));
  EXPECT_FALSE(site.All()[0].is_declared);
  EXPECT_EQ(site.All()[0].tail.source, TailSource::kRunningTasks);
  EXPECT_TRUE(site.Reserve("2026-07-16T18:00:00Z/2026-07-16T18:59:39.950Z").ok());
  const auto refused = site.Reserve("2026-07-16T18:59:39.950Z/2026-07-16T19:00:00Z");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("2026-07-16T18:59:39.950Z"));
}

TEST(Watcher, AnAppendSharesWithAStream) {
  GuardSite site;
  RunStream(site);
  site.Look();
  EXPECT_TRUE(site.Reserve("2026-07-16T19:00Z/2026-07-16T20:00Z", lease::Mode::kAppend).ok());
}

TEST(Watcher, AnUnboundedTailRefusesEverythingUntilOneIsDeclared) {
  GuardSite site;
  RunStream(site, "", "");
  site.Look();
  EXPECT_FALSE(site.Reserve("2020-01-01/2020-01-02").ok());
  Registration setting;
  setting.datasource = "views";
  setting.tail = absl::Hours(48);
  const auto told = site.Registered(setting);
  EXPECT_EQ(told.stream.name, "default");
  EXPECT_TRUE(site.Reserve("2020-01-01/2020-01-02").ok());
  EXPECT_FALSE(site.Reserve("2026-07-16T10:00Z/2026-07-16T11:00Z").ok());
}

TEST(Watcher, AnUnboundedTailThatWasAcceptedRefusesNothing) {
  GuardSite site;
  RunStream(site, "", "");
  Registration accepts;
  accepts.datasource = "views";
  accepts.accept_unbounded = true;
  site.Registered(accepts);
  site.Look();
  EXPECT_TRUE(site.Reserve("2026-07-16T10:00Z/2026-07-16T11:00Z").ok());
}

TEST(Watcher, WhereDruidCantBeAskedTheTailStaysAsLastKnown) {
  GuardSite site;
  RunStream(site);
  site.Look();
  site.druid().away = true;
  site.Look();
  ASSERT_THAT(site.All(), SizeIs(1));
  EXPECT_TRUE(site.All()[0].stale);
  EXPECT_EQ(site.All()[0].tail.bound.fixed, At("2026-07-16T18:59:39.950Z"));
  EXPECT_FALSE(site.Reserve("2026-07-16T19:00Z/2026-07-16T20:00Z").ok());
  site.druid().away = false;
  site.Look();
  EXPECT_FALSE(site.All()[0].stale);
}

// One list that is short may be a permission that was lost: lists are filtered.
TEST(Watcher, ASupervisorIsGoneOnlyWhenItIsMissedTwice) {
  GuardSite site;
  RunStream(site);
  site.Look();
  site.druid().supervisors.clear();
  site.druid().tasks.clear();
  site.Look();
  EXPECT_FALSE(site.Reserve("2026-07-16T19:00Z/2026-07-16T20:00Z").ok());
  site.Look();
  EXPECT_THAT(site.All(), IsEmpty());
  EXPECT_THAT(site.Findings("TERMINATED"), SizeIs(1));
  EXPECT_TRUE(site.Reserve("2026-07-16T19:00Z/2026-07-16T20:00Z").ok());
}

TEST(Watcher, ATailThatMovesBackOverALiveLeaseIsAFindingAndRevokesNothing) {
  GuardSite site;
  RunStream(site);
  site.Look();
  auto lease = site.Reserve("2026-07-16T17:00Z/2026-07-16T18:00Z");
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_THAT(site.Findings("TAIL_MOVED_BACK"), IsEmpty());
  site.druid().supervisors["views"].io = ",\"lateMessageRejectionPeriod\":\"PT5H\"";
  site.Look();
  const auto found = site.Findings("TAIL_MOVED_BACK");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].stream, "views");
  EXPECT_THAT(found[0].intervals, ElementsAre(Of("2026-07-16T17:00Z/2026-07-16T18:00Z")));
  EXPECT_TRUE(site.store()
                  .Read([&](store::Transaction& tx) {
                    return lease::CheckToken(tx, lease->reservation.id, lease->reservation.token,
                                             "views", Of("2026-07-16T17:00Z/2026-07-16T18:00Z"));
                  })
                  .ok());
}

TEST(Watcher, ATailThatMovesWithTheClockIsNoFinding) {
  GuardSite site;
  RunStream(site);
  site.Look();
  ASSERT_TRUE(site.Reserve("2026-07-16T17:00Z/2026-07-16T18:00Z").ok());
  for (int i = 0; i < 5; ++i) site.Look();
  EXPECT_THAT(site.Findings("TAIL_MOVED_BACK"), IsEmpty());
}

TEST(Watcher, Case080AnotherSpecUnderTheSameIdIsNoticedAndSaid) {
  GuardSite site;
  RunStream(site);
  site.Look();
  site.druid().supervisors["views"].topic = "other";
  site.Look();
  const auto replaced = site.Findings("SUPERVISOR_REPLACED");
  ASSERT_THAT(replaced, SizeIs(1));
  EXPECT_THAT(replaced[0].message, HasSubstr("other"));
  // … and its task is still the first one's: the new one has adopted it.
  const auto adopted = site.Findings("ADOPTED_TASK");
  ASSERT_THAT(adopted, SizeIs(1));
  EXPECT_THAT(adopted[0].task_ids, ElementsAre("index_kafka_views_a"));
  site.druid().tasks.clear();
  site.Look();
  EXPECT_THAT(site.Findings("ADOPTED_TASK"), IsEmpty());
}

TEST(Watcher, ASupervisorThatSomebodySuspendsIsSaid) {
  GuardSite site;
  RunStream(site);
  site.Look();
  site.druid().supervisors["views"].suspended = true;
  site.Look();
  EXPECT_THAT(site.Findings("SUSPENDED_BY_OTHERS"), SizeIs(1));
  for (int i = 0; i < 3; ++i) site.Look();
  EXPECT_THAT(site.Findings("SUSPENDED_BY_OTHERS"), SizeIs(1)) << "as long as it is";
  site.druid().supervisors["views"].suspended = false;
  site.Look();
  EXPECT_THAT(site.Findings("SUSPENDED_BY_OTHERS"), IsEmpty());
  EXPECT_THAT(site.Findings("RESUMED_BY_OTHERS"), SizeIs(1));
}

// … and is no state of it: else each that ever happened would be open for ever.
TEST(Watcher, WhatSomebodyDidIsToldForADay) {
  GuardSite site;
  RunStream(site);
  site.Look();
  site.druid().supervisors["views"].topic = "other";
  site.Look();
  site.clock().Advance(absl::Hours(23));
  site.Look();
  EXPECT_THAT(site.Findings("SUPERVISOR_REPLACED"), SizeIs(1));
  site.clock().Advance(absl::Hours(1));
  site.Look();
  EXPECT_THAT(site.Findings("SUPERVISOR_REPLACED"), IsEmpty());
}

TEST(Watcher, ATailThatMovedBackIsSettledOnceNoLeaseIsLeftThere) {
  GuardSite site;
  RunStream(site);
  site.Look();
  const auto lease = site.Reserve("2026-07-16T17:00Z/2026-07-16T18:00Z");
  ASSERT_TRUE(lease.ok()) << lease.status();
  site.druid().supervisors["views"].io = ",\"lateMessageRejectionPeriod\":\"PT5H\"";
  site.Look();
  site.Look();
  EXPECT_THAT(site.Findings("TAIL_MOVED_BACK"), SizeIs(1));
  ASSERT_TRUE(site.store()
                  .Write([&](store::Transaction& tx) {
                    return lease::Release(tx, lease->reservation.id, lease->reservation.token,
                                          GuardSite::Ada())
                        .status();
                  })
                  .ok());
  site.Look();
  EXPECT_THAT(site.Findings("TAIL_MOVED_BACK"), IsEmpty());
}

TEST(Watcher, AnUnhealthySupervisorChangesNoTail) {
  GuardSite site;
  RunStream(site);
  site.Look();
  site.druid().supervisors["views"].healthy = false;
  site.Look();
  const auto found = site.Findings("UNHEALTHY");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].message, HasSubstr("no broker"));
  EXPECT_EQ(site.All()[0].tail.bound.fixed, At("2026-07-16T18:59:39.950Z"));
  site.druid().supervisors["views"].healthy = true;
  site.Look();
  EXPECT_THAT(site.Findings("UNHEALTHY"), IsEmpty());
}

TEST(Watcher, RowsThrownAwayAreSummedOverTasksAndReported) {
  GuardSite site;
  RunStream(site);
  site.druid().tasks["index_kafka_views_a"].thrown_away = 3;
  site.Look();
  EXPECT_EQ(site.All()[0].health->thrown_away, 3);
  site.druid().tasks["index_kafka_views_a"].ended = "SUCCESS";
  site.druid().tasks["index_kafka_views_b"] = {
      "views", "v", "index_kafka_views", "2026-07-16T19:00Z", 4, ""};
  site.Look();
  EXPECT_EQ(site.All()[0].health->thrown_away, 7);
  const auto found = site.Findings("ROWS_THROWN_AWAY");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].amount, 7);
}

TEST(Watcher, AStreamsTaskWithoutASupervisorIsAnOrphanOnceNobodyWillStopIt) {
  GuardSite site;
  site.options.orphan_after = absl::Seconds(30);
  site.Restart();
  RunStream(site);
  site.Look();
  site.druid().supervisors.clear();
  site.Look();
  EXPECT_THAT(site.Findings("ORPHAN_STREAM_TASK"), IsEmpty());
  for (int i = 0; i < 8; ++i) site.Look();
  const auto found = site.Findings("ORPHAN_STREAM_TASK");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].task_ids, ElementsAre("index_kafka_views_a"));
  EXPECT_THAT(found[0].remedy, HasSubstr("shutdown"));
  // Its tail stands as long as it runs.
  EXPECT_FALSE(site.Reserve("2026-07-16T19:00Z/2026-07-16T20:00Z").ok());
  site.druid().tasks["index_kafka_views_a"].ended = "FAILED";
  site.Look();
  EXPECT_THAT(site.Findings("ORPHAN_STREAM_TASK"), IsEmpty());
}

TEST(Watcher, Case095TheSameIntervalOfAnotherDatasourceIsNobodysTail) {
  GuardSite site;
  RunStream(site);
  site.druid().supervisors["clicks"] = {"clicks", "c", "", false, true};
  site.Look();
  ASSERT_THAT(site.All(), SizeIs(2));
  EXPECT_TRUE(site.Reserve("2026-07-16T17:00Z/2026-07-16T18:00Z").ok());
}

}  // namespace
}  // namespace interlock::guard
