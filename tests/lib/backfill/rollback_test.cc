// The former generation comes back: exactly it, once, and only where nothing else is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/backfill/rollback_worker.h"
#include "lib/lease/reservations.h"
#include "lib/time/status_reason.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RollbackTest : public testing::Test {
 protected:
  std::string Done(const std::string& spec) {
    const std::string id = site_.Submit(spec);
    EXPECT_EQ(NameOf(site_.RunUntilOver(id).backfill.phase), "DONE");
    return id;
  }
  absl::StatusOr<Backfills::RollbackReply> Ask(const std::string& id,
                                               Backfills::RollbackRequest request = {}) {
    return site_.backfills().Rollback(id, request, site_.Caller());
  }
  std::string Refusal(const std::string& id, Backfills::RollbackRequest request = {}) {
    return ReasonOf(Ask(id, std::move(request)).status());
  }
  // Druid's own duty: hidden segments become unused after a while.
  void RetireHidden(int hour) {
    const auto used = site_.cluster().ListUsedSegments("clicks", {Hour(hour)});
    const auto timeline = druid::Timeline::Of(used.value());
    std::vector<std::string> ids;
    for (const druid::Segment& segment : timeline.Hidden()) ids.push_back(segment.id);
    ASSERT_THAT(ids, SizeIs(1));
    ASSERT_TRUE(site_.cluster().MarkUnused("clicks", ids).done());
  }

  // Over hours [from, to), one segment of that granularity.
  static std::string Coarse(int from, int to, const std::string& granularity) {
    return Edited(BackfillSite::InlineSpec(from, to, 2),
                  {{"/spec/dataSchema/granularitySpec/segmentGranularity", granularity}});
  }
  int64_t Renewals() {
    int64_t renewals = 0;
    absl::Status status = site_.store().Read([&](store::Transaction& tx) {
      audit::Filter filter;
      filter.method = "RenewReservation";
      auto events = audit::List(tx, filter, {});
      if (events.ok()) renewals = static_cast<int64_t>(events->events.size());
      return events.status();
    });
    EXPECT_TRUE(status.ok()) << status;
    return renewals;
  }

  BackfillSite site_;
};

TEST_F(RollbackTest, BringsTheFormerRowsBackAndIsRefusedASecondTime) {
  site_.Load(13, 5);
  site_.Load(14, 5);
  const std::string before = site_.Version(13), next_door = site_.Version(14);
  const std::string id = Done(BackfillSite::InlineSpec(13, 14, 8));
  RetireHidden(13);
  const auto reply = Ask(id);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(NameOf(reply->backfill.phase), "ROLLING_BACK");
  EXPECT_THAT(site_.Held(Hour(13)), SizeIs(1));
  EXPECT_EQ(NameOf(site_.RunUntilOver(id).backfill.phase), "ROLLED_BACK");
  EXPECT_EQ(site_.Rows(13), 5);
  EXPECT_EQ(site_.Version(13), before);
  EXPECT_EQ(site_.Version(14), next_door);
  EXPECT_THAT(site_.Held(Hour(13)), IsEmpty());
  const auto partitions = site_.Partitions(id);
  EXPECT_EQ(NameOf(partitions[0].state), "ROLLED_BACK");
  EXPECT_THAT(partitions[0].message, HasSubstr("with 5 rows"));
  EXPECT_TRUE(partitions[0].proof->gap_ms);
  EXPECT_EQ(Refusal(id), "ALREADY_ROLLED_BACK");
  EXPECT_EQ(Refusal(id, {{Hour(13)}, false, false}), "ALREADY_ROLLED_BACK");
}

TEST_F(RollbackTest, ToNothingLeavesNothing) {
  const std::string id = Done(BackfillSite::InlineSpec(13, 14, 8));
  ASSERT_TRUE(Ask(id).ok());
  EXPECT_EQ(NameOf(site_.RunUntilOver(id).backfill.phase), "ROLLED_BACK");
  EXPECT_EQ(site_.Version(13), "");
}

TEST_F(RollbackTest, ValidateOnlyTellsAndChangesNothing) {
  site_.Load(13, 5);
  const std::string id = Done(BackfillSite::InlineSpec(13, 14, 8));
  const auto reply = Ask(id, {{}, false, true});
  ASSERT_TRUE(reply.ok()) << reply.status();
  ASSERT_THAT(reply->partitions, SizeIs(1));
  EXPECT_THAT(reply->partitions[0].message, HasSubstr("1 come back"));
  EXPECT_EQ(NameOf(site_.backfills().Get(id)->backfill.phase), "DONE");
  EXPECT_EQ(site_.Rows(13), 8);
}

TEST_F(RollbackTest, OfSomePartitionsLeavesTheOthers) {
  site_.Load(13, 5);
  site_.Load(14, 5);
  const std::string id = Done(site_.FilesSpec(13, 15, 3));
  ASSERT_TRUE(Ask(id, {{Hour(14)}, false, false}).ok());
  EXPECT_EQ(NameOf(site_.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_EQ(site_.Rows(13), 3);
  EXPECT_EQ(site_.Rows(14), 5);
  EXPECT_EQ(NameOf(site_.Partitions(id)[1].state), "ROLLED_BACK");
  // What is left of it can still go.
  ASSERT_TRUE(Ask(id).ok());
  EXPECT_EQ(NameOf(site_.RunUntilOver(id).backfill.phase), "ROLLED_BACK");
  EXPECT_EQ(site_.Rows(13), 5);
}

TEST_F(RollbackTest, IsRefusedOverWhatSomebodyWroteSince) {
  site_.Load(13, 5);
  const std::string id = Done(BackfillSite::InlineSpec(13, 14, 8));
  site_.Load(13, 2);
  EXPECT_EQ(Refusal(id), "NOT_NEWEST_GENERATION");
  EXPECT_EQ(site_.Rows(13), 2);
}

TEST_F(RollbackTest, IsRefusedWhileOthersHoldTheTimeAndAfterItsWindow) {
  site_.Load(13, 5);
  const std::string id = Done(BackfillSite::InlineSpec(13, 14, 8));
  ASSERT_TRUE(site_.store()
                  .Write([&](store::Transaction& tx) {
                    lease::ReserveRequest request;
                    request.datasource = "clicks";
                    request.intervals = {Hour(13)};
                    request.holder = "bob";
                    return lease::Reserve(tx, request, site_.Caller()).status();
                  })
                  .ok());
  EXPECT_EQ(Refusal(id), "HELD");
  site_.Pass(absl::Hours(25));
  EXPECT_EQ(Refusal(id), "ROLLBACK_WINDOW_OVER");
}

TEST_F(RollbackTest, WantsAReasonAndSomethingToRollBack) {
  const std::string id = site_.Submit(BackfillSite::InlineSpec(13, 14, 8));
  EXPECT_EQ(Refusal(id), "STILL_AT_WORK");
  ASSERT_TRUE(site_.backfills().Cancel(id, site_.Caller()).ok());
  site_.RunUntilOver(id);
  EXPECT_EQ(Refusal(id), "NOTHING_TO_ROLL_BACK");
  EXPECT_EQ(Refusal(id, {{Hour(17)}, false, false}), "UNKNOWN_PARTITION");
  EXPECT_EQ(ReasonOf(site_.backfills().Rollback(id, {}, {"ada", "", ""}).status()),
            "REASON_REQUIRED");
}

TEST_F(RollbackTest, ASuspectPartitionThatWipedAnHourComesBack) {
  site_.Load(13, 5);
  const std::string id = site_.Submit(BackfillSite::WipingSpec(13));
  EXPECT_EQ(NameOf(site_.RunUntilOver(id).backfill.phase), "NEEDS_ATTENTION");
  EXPECT_EQ(site_.Partitions(id)[0].reason, "ZERO_ROWS");
  ASSERT_TRUE(Ask(id).ok()) << Ask(id).status();
  EXPECT_EQ(NameOf(site_.RunUntilOver(id).backfill.phase), "ROLLED_BACK");
  EXPECT_EQ(site_.Rows(13), 5);
}

// The old ones are used before the new ones go: whatever call fails, there is no hole that
// nobody closes.
TEST_F(RollbackTest, GoesOnWhateverExchangeIsSpoiled) {
  for (const Spoil spoil : {Spoil::kLostBefore, Spoil::kLostAfter, Spoil::kGarbage}) {
    for (int64_t first = 1;; ++first) {
      SCOPED_TRACE(absl::StrCat("spoiled ", static_cast<int>(spoil), " at ", first));
      BackfillSite site;
      site.Load(13, 5);
      const std::string id = site.Submit(BackfillSite::InlineSpec(13, 14, 8));
      site.RunUntilOver(id);
      ASSERT_TRUE(site.backfills().Rollback(id, {}, site.Caller()).ok());
      const int64_t start = site.transport().exchanges();
      bool spoiled = false;
      site.transport().SpoilBy([&](int64_t number, const druid::HttpRequest&) {
        if (number - start != first) return Spoil::kNot;
        spoiled = true;
        return spoil;
      });
      EXPECT_EQ(NameOf(site.RunUntilOver(id).backfill.phase), "ROLLED_BACK");
      site.transport().SpoilBy(nullptr);
      EXPECT_EQ(site.Rows(13), 5);
      if (!spoiled || HasFailure()) break;
    }
  }
}

// An hour was recomputed within a longer segment: what is replaced then has two versions, the
// older one visible on both sides of the other.
TEST_F(RollbackTest, ToAGenerationOfTwoVersionsBringsBothBack) {
  Done(Coarse(12, 18, R"("SIX_HOUR")"));
  Done(BackfillSite::InlineSpec(14, 15, 7));
  const std::string outer = site_.Version(13), inner = site_.Version(14);
  ASSERT_NE(outer, inner);
  BackfillRequest all;
  all.spec = Coarse(12, 18, R"("SIX_HOUR")");
  all.reprocess = Reprocess::kAll;
  const auto again = site_.backfills().Submit(all, site_.Caller());
  ASSERT_TRUE(again.ok()) << again.status();
  site_.RunUntilOver(again->backfill.id);
  EXPECT_EQ(site_.Rows(14), 2);
  ASSERT_TRUE(Ask(again->backfill.id).ok());
  EXPECT_EQ(NameOf(site_.RunUntilOver(again->backfill.id).backfill.phase), "ROLLED_BACK");
  EXPECT_EQ(site_.Version(13), outer);
  EXPECT_EQ(site_.Version(14), inner);
  EXPECT_EQ(site_.Rows(14), 7);
}

TEST_F(RollbackTest, ThatEndsHalfWayIsNotDone) {
  site_.Load(13, 5);
  const auto before = site_.cluster().ListUsedSegments("clicks", {Hour(13)});
  const std::string id = Done(BackfillSite::InlineSpec(13, 14, 8));
  ASSERT_TRUE(Ask(id).ok());
  while (site_.Rows(13) == 8) {
    if (!site_.StepOnce()) site_.Pass(absl::Milliseconds(100));
  }
  // Somebody takes away what has come back.
  ASSERT_TRUE(site_.cluster().MarkUnused("clicks", {before.value()[0].id}).done());
  const auto over = site_.RunUntilOver(id);
  EXPECT_EQ(NameOf(over.backfill.phase), "NEEDS_ATTENTION");
  EXPECT_EQ(over.backfill.reason, "ROLLBACK_FAILED");
  EXPECT_THAT(over.backfill.message, HasSubstr("used no more"));
  EXPECT_THAT(over.backfill.message, testing::Not(HasSubstr("backfills rollback")));
  EXPECT_EQ(NameOf(site_.Partitions(id)[0].state), "SUSPECT");
  // A way out: it is written again.
  ASSERT_TRUE(site_.backfills().Retry(id, {State::kSuspect}, {}, site_.Caller()).ok());
  EXPECT_EQ(NameOf(site_.RunUntilOver(id).backfill.phase), "DONE");
  EXPECT_EQ(site_.Rows(13), 8);
}

TEST_F(RollbackTest, RenewsItsLeaseWhereMuchOfItIsOver) {
  site_.Load(13, 5);
  const std::string id = Done(BackfillSite::InlineSpec(13, 14, 8));
  const int64_t renewals = Renewals();
  site_.simulator().Ask("POST", "/simulator/loading", R"({"paused":true})");
  ASSERT_TRUE(Ask(id).ok());
  for (int i = 0; i < 100; ++i) {
    while (site_.StepOnce()) {
    }
    site_.Pass(absl::Milliseconds(100));
  }
  EXPECT_LE(Renewals(), renewals + 1);
}

TEST_F(RollbackTest, TheSameRequestAgainChangesNothing) {
  site_.Load(13, 5);
  const std::string id = Done(BackfillSite::InlineSpec(13, 14, 8));
  ASSERT_TRUE(site_.backfills().Rollback(id, {}, site_.Caller("r1")).ok());
  ASSERT_TRUE(site_.backfills().Rollback(id, {}, site_.Caller("r1")).ok());
  EXPECT_EQ(NameOf(site_.RunUntilOver(id).backfill.phase), "ROLLED_BACK");
  EXPECT_TRUE(site_.backfills().Rollback(id, {}, site_.Caller("r1")).ok());
  EXPECT_EQ(site_.Rows(13), 5);
}

}  // namespace
}  // namespace interlock::backfill
