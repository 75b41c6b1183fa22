// Whole handovers, with a simulated supervisor: nothing lost, nothing twice, and the stream
// running again, whatever happens on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lib/backfill/stream_site.h"

namespace interlock::backfill {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

bool Asks(const druid::HttpRequest& request, const char* what) {
  return request.method == "POST" &&
         absl::EndsWith(request.url, absl::StrCat("/supervisor/clicks/", what));
}

TEST(HandoverRun, TheStreamIsSuspendedTheHourRecomputedAndTheStreamResumed) {
  StreamSite site;
  site.Produce(13, 6);
  const std::string id = site.SubmitHandover(StreamSite::Reindex(13, 14));
  ASSERT_TRUE(site.RunUntil([&] { return site.StreamIsBack(id); }));
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  const Handover handover = site.HandoverOf(id);
  EXPECT_EQ(handover.reason, "");
  EXPECT_TRUE(handover.suspended && handover.resumed);
  EXPECT_EQ(handover.supervisors.at(0).offsets.at("0"), "6");
  EXPECT_FALSE(site.Suspended());
  EXPECT_EQ(site.Rows(13), 6);
  site.Produce(13, 2);
  site.Suspend();
  ASSERT_TRUE(site.RunUntil([&] { return !site.TaskLives(); }));
  EXPECT_EQ(site.Rows(13), 8) << "what came later is added, and nothing is read again";
}

TEST(HandoverRun, WhatComesMeanwhileIsReadOnceAfterIt) {
  StreamSite site;
  site.Produce(13, 6);
  const std::string id = site.SubmitHandover(StreamSite::Reindex(13, 14));
  ASSERT_TRUE(
      site.RunUntil([&] { return site.HandoverOf(id).state == HandoverState::kSuspended; }));
  site.Produce(13, 4);
  ASSERT_TRUE(site.RunUntil([&] { return site.StreamIsBack(id); }));
  site.Suspend();
  ASSERT_TRUE(site.RunUntil([&] { return !site.TaskLives(); }));
  EXPECT_EQ(site.Rows(13), 10);
}

TEST(HandoverRun, WhatLiesOutsideOfTheTailRunsFirstWithTheStreamAlive) {
  StreamSite site(kLateTwoHours);  // from 11:00 on
  site.Load(10, 5);
  site.Produce(12, 6);
  site.Ask("POST", "/simulator/faults",
           R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},"kind":"stuck_task",)"
           R"("times":1})");
  const std::string id = site.SubmitHandover(site.FilesSpec(10, 13, 6));
  ASSERT_TRUE(site.RunUntil([&] { return site.OurTasks().size() == 1; }, absl::Minutes(1)));
  EXPECT_FALSE(site.RunUntil([&] { return site.Suspended(); }, absl::Seconds(20)));
  EXPECT_EQ(site.HandoverOf(id).state, HandoverState::kBefore);
  site.Ask("POST", absl::StrCat("/druid/indexer/v1/task/", site.OurTasks()[0], "/shutdown"));
  ASSERT_TRUE(site.RunUntil([&] { return site.Suspended(); }));
  EXPECT_EQ(site.Rows(10), 6) << "what lies outside is done by then";
  ASSERT_TRUE(site.RunUntil([&] { return site.StreamIsBack(id); }));
  EXPECT_EQ(site.Rows(12), 6);
}

TEST(HandoverRun, OneThatAPersonSuspendedStaysSuspended) {
  StreamSite site;
  site.Produce(13, 6);
  site.Suspend();
  ASSERT_TRUE(site.RunUntil([&] { return !site.TaskLives(); }));
  const std::string id = site.SubmitHandover(StreamSite::Reindex(13, 14));
  ASSERT_TRUE(site.RunUntil([&] { return site.HandoverOf(id).state == HandoverState::kOver; }));
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_TRUE(site.HandoverOf(id).supervisors.at(0).was_suspended);
  EXPECT_TRUE(site.Suspended());
}

TEST(HandoverRun, AFailedBackfillGivesTheStreamBack) {
  StreamSite site;
  site.Produce(13, 6);
  site.Ask(
      "POST", "/simulator/faults",
      R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},"kind":"failed_task","times":0})");
  const std::string id = site.SubmitHandover(StreamSite::Reindex(13, 14));
  ASSERT_TRUE(site.RunUntil([&] { return site.StreamIsBack(id); }));
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "FAILED");
  EXPECT_EQ(site.Rows(13), 6);
}

TEST(HandoverRun, ThePauseEndsInTheMiddleOfATaskAndTheRestIsPendingWithTheReason) {
  StreamSite site;
  site.Produce(13, 6);
  site.Ask("POST", "/simulator/faults",
           R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},"kind":"stuck_task"})");
  const std::string id = site.SubmitHandover(StreamSite::Reindex(13, 14), absl::Minutes(2));
  ASSERT_TRUE(site.RunUntil([&] { return !site.OurTasks().empty(); }));
  ASSERT_TRUE(site.RunUntil([&] { return site.StreamIsBack(id); }));
  const Handover handover = site.HandoverOf(id);
  EXPECT_EQ(handover.reason, "PAUSE_OVER");
  EXPECT_GE(*handover.resumed, *handover.resume_by);
  EXPECT_LT(*handover.resumed - *handover.resume_by, absl::Seconds(30));
  const auto partition = site.Partitions(id).at(0);
  EXPECT_EQ(NameOf(partition.state), "PENDING");
  EXPECT_EQ(partition.reason, "PAUSE_OVER") << partition.message;
  EXPECT_EQ(site.Rows(13), 6);
  // A person has it go on: another handover.
  site.Ask("DELETE", "/simulator/faults");
  ASSERT_TRUE(site.backfills().Pause(id, site.Caller()).ok());
  ASSERT_TRUE(site.backfills().Resume(id, site.Caller()).ok());
  EXPECT_EQ(NameOf(site.RunUntilOver(id, absl::Minutes(5)).backfill.phase), "DONE");
  ASSERT_TRUE(site.RunUntil([&] { return site.StreamIsBack(id); }));
  EXPECT_EQ(site.Rows(13), 6);
}

TEST(HandoverRun, ACancelledBackfillsTaskIsOverBeforeTheStreamResumes) {
  StreamSite site;
  site.Produce(13, 6);
  site.Ask("POST", "/simulator/faults",
           R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},"kind":"stuck_task"})");
  const std::string id = site.SubmitHandover(StreamSite::Reindex(13, 14));
  ASSERT_TRUE(site.RunUntil([&] { return !site.OurTasks().empty(); }));
  bool resumed_over_it = false;
  site.transport().Before([&](const druid::HttpRequest& request) {
    if (!Asks(request, "resume")) return;
    for (const auto& unit : site.Partitions(id)) {
      resumed_over_it = resumed_over_it || IsOpen(unit.state);
    }
  });
  ASSERT_TRUE(site.backfills().Cancel(id, site.Caller()).ok());
  ASSERT_TRUE(site.RunUntil([&] { return site.StreamIsBack(id); }));
  EXPECT_FALSE(resumed_over_it);
  EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "CANCELLED");
  EXPECT_EQ(site.Rows(13), 6);
}

TEST(HandoverRun, SomebodyElseWhoResumesItIsNoticedAndNothingIsPostedAnyMore) {
  StreamSite site;
  site.Produce(13, 6);
  site.Ask("POST", "/simulator/faults",
           R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},"kind":"stuck_task"})");
  const std::string id = site.SubmitHandover(StreamSite::Reindex(13, 14));
  ASSERT_TRUE(site.RunUntil([&] { return !site.OurTasks().empty(); }));
  site.RunUntil([] { return false; }, absl::Seconds(10));
  site.Resume();
  ASSERT_TRUE(site.RunUntil([&] { return site.StreamIsBack(id); }));
  site.RunUntil([] { return false; }, absl::Seconds(10));
  EXPECT_EQ(site.HandoverOf(id).reason, "RESUMED_BY_OTHERS");
  EXPECT_THAT(site.Findings("RESUMED_BY_OTHERS"), SizeIs(1));
  EXPECT_THAT(site.OurTasks(), SizeIs(1));
  EXPECT_EQ(site.Rows(13), 6);
}

TEST(HandoverRun, OurOwnSuspendAndResumeAreNobodyElses) {
  StreamSite site;
  site.Produce(13, 6);
  const std::string id = site.SubmitHandover(StreamSite::Reindex(13, 14));
  ASSERT_TRUE(site.RunUntil([&] { return site.StreamIsBack(id); }));
  site.RunUntil([] { return false; }, absl::Seconds(30));
  EXPECT_THAT(site.Findings("RESUMED_BY_OTHERS"), IsEmpty());
  EXPECT_THAT(site.Findings("SUSPENDED_BY_OTHERS"), IsEmpty());
}

TEST(HandoverRun, OneHandoverAtATimeHasASupervisor) {
  StreamSite site;
  site.Produce(12, 6);
  site.Produce(13, 6);
  const std::string first = site.SubmitHandover(StreamSite::Reindex(12, 13));
  const std::string second = site.SubmitHandover(StreamSite::Reindex(13, 14));
  int at_once = 0;
  ASSERT_TRUE(site.RunUntil([&] {
    int having = 0;
    for (const std::string& id : {first, second}) {
      having += site.HandoverOf(id).state == HandoverState::kSuspended;
    }
    at_once = std::max(at_once, having);
    return site.StreamIsBack(first) && site.StreamIsBack(second);
  }));
  EXPECT_EQ(at_once, 1);
  for (const std::string& id : {first, second}) {
    EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
  }
  EXPECT_EQ(site.Rows(12), 6);
  EXPECT_EQ(site.Rows(13), 6);
}

// A suspend that arrives late must not come after the resume.
TEST(HandoverRun, ACallThatWasLostIsWaitedOutBeforeTheOpposite) {
  for (const char* what : {"suspend", "resume"}) {
    for (const Spoil spoil : {Spoil::kLostBefore, Spoil::kLostAfter, Spoil::kLate,
                              Spoil::kErrorAfter, Spoil::kGarbage}) {
      SCOPED_TRACE(absl::StrCat(what, " spoiled by ", static_cast<int>(spoil)));
      StreamSite site;
      site.Produce(13, 6);
      bool spoiled = false;
      site.transport().SpoilBy([&](int64_t, const druid::HttpRequest& request) {
        if (spoiled || !Asks(request, what)) return Spoil::kNot;
        spoiled = true;
        return spoil;
      });
      const std::string id = site.SubmitHandover(StreamSite::Reindex(13, 14));
      ASSERT_TRUE(site.RunUntil([&] { return site.StreamIsBack(id); }));
      EXPECT_TRUE(spoiled);
      site.RunUntil([] { return false; }, absl::Minutes(2));
      EXPECT_FALSE(site.Suspended());
      EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
      EXPECT_EQ(site.Rows(13), 6);
    }
  }
}

// The process dies before exchange 1, 2, 3 … with Druid, until a run needs fewer.
TEST(HandoverRun, DyingAtAnyMomentLosesNothingAndTheStreamComesBack) {
  for (int64_t death = 1;; ++death) {
    SCOPED_TRACE(absl::StrCat("died before exchange ", death));
    StreamSite site;
    site.Produce(13, 6);
    const std::string id = site.SubmitHandover(StreamSite::Reindex(13, 14));
    bool died = false;
    ASSERT_TRUE(site.RunThroughDeath(
        death, [&] { return site.StreamIsBack(id); }, &died));
    EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "DONE");
    EXPECT_THAT(site.OurTasks(), SizeIs(1));
    EXPECT_FALSE(site.Suspended());
    EXPECT_EQ(site.Rows(13), 6);
    if (!died || testing::Test::HasFailure()) break;
  }
}

// Rows that the input has and the stream reads again: found, and named.
TEST(HandoverRun, InputBeyondTheCommittedOffsetsIsSaidAndItsRowsAreFound) {
  StreamSite site;
  site.Produce(13, 6);
  const std::string id = site.SubmitHandover(site.FilesSpec(13, 14, 8));
  EXPECT_THAT(site.backfills().Get(id)->backfill.notices,
              Contains(HasSubstr("LATE_ROWS_POSSIBLE")));
  ASSERT_TRUE(
      site.RunUntil([&] { return site.HandoverOf(id).state == HandoverState::kSuspended; }));
  site.Produce(13, 2);  // two of the eight that the files have
  ASSERT_TRUE(site.RunUntil([&] { return site.StreamIsBack(id); }));
  site.Suspend();
  ASSERT_TRUE(site.RunUntil([&] { return !site.Findings("FOREIGN_WRITE").empty(); }));
  const guard::Finding found = site.Findings("FOREIGN_WRITE")[0];
  EXPECT_EQ(found.stream, "clicks");
  EXPECT_EQ(found.backfill_id, id);
  EXPECT_EQ(site.Rows(13), 10);
}

}  // namespace
}  // namespace interlock::backfill
