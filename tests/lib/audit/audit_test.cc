#include "lib/audit/audit.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/audit/json_object.h"
#include "lib/store/sqlite.h"
#include "lib/time/fake_clock.h"

namespace interlock::audit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AuditTest : public ::testing::Test {
 protected:
  AuditTest() : store_(*store::OpenTemporarySqlite({AuditSchema()}, clock_)) {}

  void Write(const std::string& datasource, const std::string& subject,
             const std::string& identity = "ada") {
    Event event;
    event.caller = {identity, "q1", "because"};
    event.method = "DoThing";
    event.datasource = datasource;
    event.subject = subject;
    EXPECT_TRUE(store_->Write([&](store::Transaction& tx) { return Record(tx, event); }).ok());
  }
  Events List(const Filter& filter, const Page& page = {}) {
    Events events;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      auto listed = audit::List(tx, filter, page);
                      if (listed.ok()) events = *listed;
                      return listed.status();
                    })
                    .ok());
    return events;
  }
  std::vector<std::string> Subjects(const Filter& filter, int64_t size = 100) {
    std::vector<std::string> subjects;
    Page page{size, 0};
    do {
      const Events events = List(filter, page);
      for (const RecordedEvent& event : events.events) subjects.push_back(event.event.subject);
      page.before_sequence = events.next;
    } while (page.before_sequence > 0);
    return subjects;
  }

  FakeClock clock_;
  std::unique_ptr<store::SqliteStore> store_;
};

TEST_F(AuditTest, KeepsEveryFieldWithTheTransactionsTime) {
  const Event event = {
      {"ada", "q1", "why \"not\""}, "Drop", "wiki", "d1", "HELD", "{}", "{\"a\":1}"};
  ASSERT_TRUE(store_->Write([&](store::Transaction& tx) { return Record(tx, event); }).ok());
  const Events events = List({});
  ASSERT_EQ(events.events.size(), 1u);
  const RecordedEvent& read = events.events[0];
  EXPECT_EQ(read.at, clock_.Now());
  EXPECT_EQ(read.event.caller.identity, "ada");
  EXPECT_EQ(read.event.caller.request_id, "q1");
  EXPECT_EQ(read.event.caller.reason, "why \"not\"");
  EXPECT_EQ(read.event.method, "Drop");
  EXPECT_EQ(read.event.datasource, "wiki");
  EXPECT_EQ(read.event.subject, "d1");
  EXPECT_EQ(read.event.result, "HELD");
  EXPECT_EQ(read.event.before, "{}");
  EXPECT_EQ(read.event.after, "{\"a\":1}");
}

TEST_F(AuditTest, IsThereIfAndOnlyIfItsTransactionIs) {
  EXPECT_FALSE(store_
                   ->Write([&](store::Transaction& tx) {
                     EXPECT_TRUE(Record(tx, Event()).ok());
                     return absl::AbortedError("no");
                   })
                   .ok());
  EXPECT_THAT(List({}).events, IsEmpty());
}

TEST_F(AuditTest, ListsTheNewestFirstInPages) {
  for (int i = 0; i < 7; ++i) Write("wiki", absl::StrCat(i));
  for (const int64_t size : {1, 3, 7, 100}) {
    EXPECT_THAT(Subjects({}, size), ElementsAre("6", "5", "4", "3", "2", "1", "0"));
  }
}

TEST_F(AuditTest, FiltersByEveryField) {
  Write("wiki", "a", "ada");
  clock_.Advance(absl::Hours(1));
  const Instant later = clock_.Now();
  Write("wiki", "b", "bob");
  Write("clicks", "c", "ada");
  Filter filter;
  filter.datasource = "wiki";
  EXPECT_THAT(Subjects(filter, 1), ElementsAre("b", "a"));
  filter.identity = "ada";
  EXPECT_THAT(Subjects(filter), ElementsAre("a"));
  filter = {};
  filter.subject = "c";
  EXPECT_THAT(Subjects(filter), ElementsAre("c"));
  filter = {};
  filter.method = "Other";
  EXPECT_THAT(Subjects(filter), IsEmpty());
  filter = {};
  filter.since = later;
  EXPECT_THAT(Subjects(filter), ElementsAre("c", "b"));
  filter.until = later;
  EXPECT_THAT(Subjects(filter), IsEmpty());
  filter.since = std::nullopt;
  EXPECT_THAT(Subjects(filter), ElementsAre("a"));
}

TEST_F(AuditTest, FiltersByRequestResourceAndTime) {
  Event event;
  event.caller = {"ada", "q7", ""};
  event.method = "unit.DONE";
  event.subject = "b1";
  event.resource_type = "backfill";
  event.before = "{\"holder\":\"airflow/x\"}";
  event.after = "{\"intervals\":[\"2026-07-16T00:00:00.000Z/2026-07-17T00:00:00.000Z\"]}";
  ASSERT_TRUE(store_->Write([&](store::Transaction& tx) { return Record(tx, event); }).ok());
  Write("wiki", "other");
  Filter filter;
  filter.request_id = "q7";
  EXPECT_THAT(Subjects(filter), ElementsAre("b1"));
  filter = {};
  filter.resource_type = "backfill";
  EXPECT_THAT(Subjects(filter), ElementsAre("b1"));
  filter = {};
  filter.method = "*.DON*";
  EXPECT_THAT(Subjects(filter), ElementsAre("b1"));
  filter.method = "unit.*E*x";
  EXPECT_THAT(Subjects(filter), IsEmpty());
  filter = {};
  filter.overlapping = *Interval::Parse("2026-07-16T12:00Z/2026-07-16T13:00Z");
  EXPECT_THAT(Subjects(filter), ElementsAre("b1"));
  EXPECT_EQ(List(filter).events[0].holder, "airflow/x");
  filter.overlapping = *Interval::Parse("2026-07-17/2026-07-18");
  EXPECT_THAT(Subjects(filter), IsEmpty());
}

TEST_F(AuditTest, ListsTheOldestFirstInPages) {
  for (int i = 0; i < 5; ++i) Write("wiki", absl::StrCat(i));
  Page page{2, 0, true};
  std::vector<std::string> subjects;
  do {
    const Events events = List({}, page);
    for (const RecordedEvent& event : events.events) subjects.push_back(event.event.subject);
    page.before_sequence = events.next;
  } while (page.before_sequence > 0);
  EXPECT_THAT(subjects, ElementsAre("0", "1", "2", "3", "4"));
}

TEST_F(AuditTest, FindsAFewAmongManyAcrossChunks) {
  ASSERT_TRUE(store_
                  ->Write([&](store::Transaction& tx) {
                    for (int i = 0; i < 1700; ++i) {
                      Event event;
                      event.subject = absl::StrCat(i);
                      event.method = i % 600 == 0 ? "Rare" : "Common";
                      absl::Status status = Record(tx, event);
                      if (!status.ok()) return status;
                    }
                    return absl::OkStatus();
                  })
                  .ok());
  Filter filter;
  filter.method = "Rare";
  EXPECT_THAT(Subjects(filter), ElementsAre("1200", "600", "0"));
  EXPECT_THAT(Subjects(filter, 1), ElementsAre("1200", "600", "0"));
}

TEST(JsonObject, EscapesWhatJsonWantsEscaped) {
  JsonObject json;
  json.Text("a\"b", "c\\d\ne\x01").Number("n", -7).Texts("l", {"x", "ü"}).Texts("none", {});
  EXPECT_EQ(json.ToString(),
            "{\"a\\\"b\":\"c\\\\d\\u000ae\\u0001\",\"n\":-7,\"l\":[\"x\",\"ü\"],\"none\":[]}");
  EXPECT_EQ(JsonObject().ToString(), "{}");
}

}  // namespace
}  // namespace interlock::audit
