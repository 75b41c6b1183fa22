#include "lib/audit/chain.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/audit/audit.h"
#include "lib/audit/retention.h"
#include "lib/audit/verify_chain.h"
#include "lib/store/sqlite.h"
#include "lib/time/fake_clock.h"

namespace interlock::audit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ChainTest : public ::testing::Test {
 protected:
  ChainTest() : store_(*store::OpenTemporarySqlite({AuditSchema()}, clock_)) {}

  void Add(int count) {
    ASSERT_TRUE(store_
                    ->Write([&](store::Transaction& tx) {
                      absl::Status status;
                      for (int i = 0; i < count && status.ok(); ++i) {
                        Event event;
                        event.caller = {"ada", "", "", "ipv4:127.0.0.1:5"};
                        event.method = "DoThing";
                        event.subject = absl::StrCat("s", ++written_);
                        status = Record(tx, event);
                      }
                      return status;
                    })
                    .ok());
  }
  // Writes a row under a number of its own, as a transaction does that drew its number
  // early and commits late.
  void AddNumbered(int64_t sequence) {
    Run("INSERT INTO audit_event (seq, at_ms, identity, request_id, reason, method, datasource,"
        " subject, result, before_json, after_json) VALUES (:seq, 0, '', '', '', 'Late', '', '',"
        " 'OK', '', '')",
        {sequence});
  }
  int64_t Chain() {
    int64_t all = 0;
    while (true) {
      const auto chained = ChainOnce(*store_);
      EXPECT_TRUE(chained.ok()) << chained.status();
      if (!chained.ok() || *chained == 0) return all;
      all += *chained;
    }
  }
  ChainReport Verify(int64_t from = 0, int64_t to = 0) {
    ChainReport report;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto walked = VerifyChain(tx, from, to);
                      if (walked.ok()) report = *walked;
                      return walked.status();
                    })
                    .ok());
    return report;
  }
  // What somebody with a shell does to the file.
  void Run(const char* sql, std::vector<store::Value> values = {}) {
    ASSERT_TRUE(
        store_->Write([&](store::Transaction& tx) { return tx.Execute(sql, values).status(); })
            .ok());
  }
  std::vector<RecordedEvent> All() {
    std::vector<RecordedEvent> events;
    Page page;
    page.size = 1000;
    page.oldest_first = true;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto listed = List(tx, {}, page);
                      if (listed.ok()) events = listed->events;
                      return listed.status();
                    })
                    .ok());
    return events;
  }
  int64_t Retain(Instant before) {
    int64_t removed = 0;
    EXPECT_TRUE(store_
                    ->Write([&](store::Transaction& tx) {
                      auto gone = RemoveOldest(tx, before);
                      if (gone.ok()) removed = *gone;
                      return gone.status();
                    })
                    .ok());
    return removed;
  }

  FakeClock clock_;
  std::unique_ptr<store::SqliteStore> store_;
  int written_ = 0;
};

TEST_F(ChainTest, ChainsEveryEventOnceInTheirOrder) {
  Add(1203);
  EXPECT_EQ(Verify().unchained, 1203);
  EXPECT_EQ(Chain(), 1203);
  Add(2);
  EXPECT_EQ(Chain(), 2);
  const ChainReport report = Verify();
  EXPECT_TRUE(report.intact) << report.message;
  EXPECT_EQ(report.checked, 1205);
  EXPECT_EQ(report.unchained, 0);
  EXPECT_EQ(report.hash.size(), 64u);
  int64_t expected = 0;
  for (const RecordedEvent& event : All()) {
    if (++expected > 1000) break;
    EXPECT_EQ(event.position, expected);
    EXPECT_EQ(event.event.subject, absl::StrCat("s", expected));
    EXPECT_EQ(event.chain_hash.size(), 64u);
  }
}

TEST_F(ChainTest, AnEmptyStoreIsIntact) {
  EXPECT_EQ(Chain(), 0);
  EXPECT_TRUE(Verify().intact);
}

TEST_F(ChainTest, NamesTheRowThatWasChanged) {
  Add(700);
  Chain();
  for (const char* change : {
           "UPDATE audit_event SET identity = 'eve' WHERE seq = 612",
           "UPDATE audit_event SET identity = 'ada', at_ms = at_ms + 1 WHERE seq = 612",
       }) {
    Run(change);
    const ChainReport report = Verify();
    EXPECT_FALSE(report.intact);
    EXPECT_EQ(report.first_broken, 612);
    EXPECT_EQ(report.checked, 611);
    EXPECT_THAT(report.message, HasSubstr("row 612"));
  }
  Run("UPDATE audit_event SET at_ms = at_ms - 1 WHERE seq = 612");
  EXPECT_TRUE(Verify().intact);
}

TEST_F(ChainTest, EveryColumnIsPartOfTheHash) {
  Add(3);
  Chain();
  const std::vector<const char*> columns = {"identity",   "request_id",    "reason", "method",
                                            "datasource", "subject",       "result", "before_json",
                                            "after_json", "resource_type", "peer"};
  for (const char* column : columns) {
    const std::string change =
        absl::StrCat("UPDATE audit_event SET ", column, " = ", column, " || 'x' WHERE seq = 2");
    const std::string back = absl::StrCat("UPDATE audit_event SET ", column, " = substr(", column,
                                          ", 1, length(", column, ") - 1) WHERE seq = 2");
    Run(change.c_str());
    EXPECT_EQ(Verify().first_broken, 2) << column;
    Run(back.c_str());
    EXPECT_TRUE(Verify().intact) << column;
  }
}

TEST_F(ChainTest, TextCannotMoveFromOneColumnToTheNext) {
  Add(1);
  Run("UPDATE audit_event SET subject = 'ab', result = 'c'");
  Chain();
  Run("UPDATE audit_event SET subject = 'a', result = 'bc'");
  EXPECT_EQ(Verify().first_broken, 1);
}

TEST_F(ChainTest, FindsAnEventThatIsMissing) {
  Add(700);
  Chain();
  Run("DELETE FROM audit_event WHERE seq = 33");
  EXPECT_EQ(Verify().first_broken, 33);
  EXPECT_THAT(Verify().message, HasSubstr("row 33"));
}

TEST_F(ChainTest, FindsAMissingTail) {
  Add(1100);
  Chain();
  Run("DELETE FROM audit_event WHERE seq > 1090");
  EXPECT_EQ(Verify().first_broken, 1091);
  Run("DELETE FROM audit_event WHERE seq > 1000");
  Run("DELETE FROM audit_block WHERE first_position > 1000");
  const ChainReport report = Verify();
  EXPECT_EQ(report.first_broken, 1001);
  EXPECT_THAT(report.message, HasSubstr("1100"));
  // The numbers come again, and still nobody is fooled.
  Add(5);
  EXPECT_EQ(Verify().first_broken, 1001);
}

TEST_F(ChainTest, FindsAMissingBeginningAndAMissingMiddle) {
  Add(1600);
  Chain();
  Run("DELETE FROM audit_block WHERE first_position = 501");
  Run("DELETE FROM audit_event WHERE seq > 500 AND seq <= 1000");
  EXPECT_EQ(Verify().first_broken, 501);
  Run("DELETE FROM audit_block WHERE first_position = 1");
  Run("DELETE FROM audit_event WHERE seq <= 500");
  EXPECT_EQ(Verify().first_broken, 1);
}

TEST_F(ChainTest, FindsARowThatWasWrittenIn) {
  Add(10);
  Run("DELETE FROM audit_event WHERE seq = 4");
  Chain();
  clock_.Advance(kGapKept + absl::Hours(1));
  Add(1);
  Chain();
  EXPECT_TRUE(Verify().intact);
  AddNumbered(4);
  EXPECT_FALSE(Verify().intact);
  EXPECT_THAT(Verify().message, HasSubstr("row 4 "));
}

TEST_F(ChainTest, ARowOfATransactionThatWasStillOpenIsNotSkipped) {
  Add(3);
  // 4, 5 and 7 are drawn, and their transactions still open.
  AddNumbered(6);
  AddNumbered(8);
  EXPECT_EQ(Chain(), 5);
  AddNumbered(5);
  EXPECT_EQ(Verify().unchained, 1);
  EXPECT_TRUE(Verify().intact);
  EXPECT_EQ(Chain(), 1);
  AddNumbered(7);
  AddNumbered(9);
  AddNumbered(4);
  EXPECT_EQ(Chain(), 3);
  const ChainReport report = Verify();
  EXPECT_TRUE(report.intact) << report.message;
  EXPECT_EQ(report.checked, 9);
  std::vector<int64_t> positions;
  for (const RecordedEvent& event : All()) positions.push_back(event.position);
  // By row; each has the place in which it became visible.
  EXPECT_THAT(positions, ElementsAre(1, 2, 3, 7, 6, 4, 8, 5, 9));
}

TEST_F(ChainTest, TwoChainersDoNotChainTwice) {
  Add(5);
  EXPECT_EQ(Chain(), 5);
  // What a second one would store that saw the same five.
  EXPECT_FALSE(store_
                   ->Write([&](store::Transaction& tx) {
                     auto moved = tx.Execute(
                         "UPDATE audit_head SET position = 5 WHERE id = 1 AND position = 0", {});
                     return moved.ok() && *moved == 0 ? absl::AbortedError("moved")
                                                      : absl::OkStatus();
                   })
                   .ok());
  EXPECT_EQ(Verify().checked, 5);
}

TEST_F(ChainTest, WalksAPart) {
  Add(1700);
  Chain();
  const ChainReport middle = Verify(700, 800);
  EXPECT_TRUE(middle.intact) << middle.message;
  EXPECT_EQ(middle.checkpoint, 500);
  EXPECT_EQ(middle.checked, 300);
  Run("UPDATE audit_event SET reason = 'x' WHERE seq = 750");
  EXPECT_EQ(Verify(700, 800).first_broken, 750);
  EXPECT_TRUE(Verify(1001).intact);
  EXPECT_TRUE(Verify(0, 749).intact);
}

TEST_F(ChainTest, RetentionLeavesACheckpointFromWhichTheChainHolds) {
  Add(600);
  Chain();
  clock_.Advance(absl::Hours(24));
  Add(600);
  Chain();
  EXPECT_EQ(Retain(clock_.Now() - absl::Hours(1)), 500);
  EXPECT_EQ(Retain(clock_.Now() - absl::Hours(1)), 100);
  EXPECT_EQ(Retain(clock_.Now() - absl::Hours(1)), 0);  // the rest is younger
  EXPECT_EQ(Chain(), 2);                                // each removal tells of itself
  const ChainReport report = Verify();
  EXPECT_TRUE(report.intact) << report.message;
  EXPECT_EQ(report.checkpoint, 600);
  EXPECT_EQ(report.checked, 602);
  EXPECT_EQ(All().front().position, 601);
  Run("UPDATE audit_checkpoint SET hash = '00' WHERE position = 600");
  EXPECT_EQ(Verify().first_broken, 601);
}

TEST_F(ChainTest, RetentionNeverTakesTheNewestBlock) {
  Add(10);
  Chain();
  EXPECT_EQ(Retain(clock_.Now() + absl::Hours(1)), 0);
}

}  // namespace
}  // namespace interlock::audit
