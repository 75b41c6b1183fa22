// Streams as a real Druid 33 with a real Kafka has them, and what the guard makes of them.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/audit/audit.h"
#include "lib/guard/findings.h"
#include "lib/guard/late_rows.h"
#include "lib/guard/look.h"
#include "lib/guard/rows.h"
#include "lib/guard/streams.h"
#include "lib/guard/watcher.h"
#include "lib/lease/reservations.h"
#include "lib/store/sqlite.h"
#include "lib/time/clock.h"
#include "lib/time/status_reason.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"

namespace interlock::guard {
namespace {

using druid::Hour;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class StreamsOnDruid : public druid::DruidAtHand {
 protected:
  void SetUp() override {
    DruidAtHand::SetUp();
    ASSERT_NE(Variable("KAFKA"), "")
        << "these tests want a Druid with Kafka: tests/lib/guard/druid/run";
    ASSERT_NE(Variable("INTERLOCK_PRODUCE"), "");
    auto opened = store::OpenTemporarySqlite(
        {audit::AuditSchema(), work::WorkSchema(), lease::LeaseSchema(), GuardSchema()}, clock_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = std::move(*opened);
    options_.late_rows_every = absl::ZeroDuration();
    options_.poll_every = absl::ZeroDuration();
    watcher_ = std::make_unique<Watcher>(*store_, cluster(), options_);
    streams_ = std::make_unique<Streams>(*store_, cluster(), options_, nullptr);
    ASSERT_TRUE(store_->Write(Watcher::Begin).ok());
  }
  void TearDown() override {
    if (!posted_) return;
    // A terminated one that never ran a period leaves an orphan: suspended first.
    cluster().SuspendSupervisor(datasource());
    WaitUntil("its tasks are gone", [&] { return Tasks().empty(); });
    Raw("POST", Overlord(absl::StrCat("/supervisor/", datasource(), "/terminate")));
  }

  // io: more of the ioConfig; tuning: more of the tuningConfig.
  std::string Spec(const std::string& io, const std::string& tuning = "",
                   const std::string& context = "", const std::string& topic = "") {
    return absl::StrCat(
        R"({"type":"kafka","spec":{"dataSchema":{"dataSource":")", datasource(),
        R"(","timestampSpec":{"column":"ts","format":"iso"},"dimensionsSpec":{"dimensions":)",
        R"(["page"]},"metricsSpec":[{"type":"count","name":"count"},{"type":"longSum","name":"n",)",
        R"("fieldName":"n"}],"granularitySpec":{"type":"uniform","segmentGranularity":"HOUR",)",
        R"("queryGranularity":"MINUTE","rollup":true}},"ioConfig":{"type":"kafka","topic":")",
        topic.empty() ? Topic() : topic, R"(","inputFormat":{"type":"json"},"consumerProperties":)",
        R"({"bootstrap.servers":")", Variable("KAFKA"), R"("},"taskCount":1,"replicas":1,)",
        R"("taskDuration":"PT10M","period":"PT1S","startDelay":"PT1S","useEarliestOffset":true)",
        io, R"(},"tuningConfig":{"type":"kafka")", tuning, "}}",
        context.empty() ? "" : absl::StrCat(R"(,"context":)", context), "}");
  }
  std::string Topic() const { return "t_" + datasource(); }
  void PostSupervisor(const std::string& spec) {
    const auto reply = Raw("POST", Overlord("/supervisor"), spec);
    ASSERT_EQ(reply.status, 200) << reply.body;
    posted_ = true;
  }
  // Rows of 2026-07-16, one at minute 5 of `hour` each.
  void Produce(int hour, int count, const std::string& topic = "") {
    const auto file = std::filesystem::temp_directory_path() / (datasource() + ".rows");
    std::ofstream rows(file);
    for (int i = 0; i < count; ++i) {
      rows << absl::StrCat(R"({"ts":"2026-07-16T)", hour < 10 ? "0" : "", hour,
                           R"(:05:00Z","page":"p","n":1})", "\n");
    }
    rows.close();
    const std::string command =
        absl::StrCat(Variable("INTERLOCK_PRODUCE"), " ", Variable("KAFKA"), " ",
                     topic.empty() ? Topic() : topic, " < ", file.string());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    std::filesystem::remove(file);
  }
  std::vector<druid::StreamTask> Tasks() {
    StreamLook look(cluster());
    const auto seen = look.Look(store_->Now());
    EXPECT_TRUE(seen.done()) << seen.text();
    if (!seen.done()) return {};
    for (const auto& [key, one] : seen.value().streams) {
      if (key.first == datasource()) return one.tasks;
    }
    return {};
  }
  // … and its supervisor knows when it began: one that is suspended before that kills its
  // task ("failed to return start time"), and reads again what the task had read.
  void WaitForTask() {
    WaitUntil("a task reads", [&] {
      const auto status =
          Raw("GET", Overlord(absl::StrCat("/supervisor/", datasource(), "/status")));
      return !Tasks().empty() && absl::StrContains(status.body, "\"startTime\":\"");
    });
  }
  void Look() {
    auto claims = work::ClaimDue(*store_, clock_, {"worker", absl::Seconds(60)}, {kWorkKind}, 1);
    ASSERT_TRUE(claims.ok()) << claims.status();
    ASSERT_EQ(claims->size(), 1u);
    const auto outcome = watcher_->Step(claims->front());
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    ASSERT_TRUE(store_
                    ->Write([&](store::Transaction& tx) {
                      return work::Reschedule(tx, claims->front(), tx.now());
                    })
                    .ok());
  }
  Stream Own() {
    const auto page = streams_->List(datasource(), 0, "");
    EXPECT_TRUE(page.ok()) << page.status();
    if (!page.ok() || page->streams.empty()) return {};
    return page->streams[0].stream;
  }
  std::vector<Finding> Findings(const std::string& reason) {
    std::vector<Finding> found;
    const auto status = store_->Read([&](store::Transaction& tx) {
      auto all = ListFindings(tx, datasource(), true, 100);
      found.clear();
      if (!all.ok()) return all.status();
      for (auto& one : *all) {
        if (one.reason == reason) found.push_back(std::move(one));
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    return found;
  }
  static audit::Caller Ada() { return {"ada", "", "test"}; }

  // What a backfill would note: the visible version of the hour, and its segments.
  Proven ProvenNow(int hour) {
    Proven proven;
    proven.datasource = datasource();
    proven.interval = Hour(hour);
    proven.backfill_id = "b1";
    proven.at = store_->Now();
    for (const druid::Segment& segment : Used(Hour(hour))) {
      if (segment.version >= proven.version) proven.version = segment.version;
    }
    for (const druid::Segment& segment : Used(Hour(hour))) {
      if (segment.version == proven.version) proven.segments.push_back(segment.id);
    }
    return proven;
  }
  void Watch(const Proven& proven) {
    ASSERT_TRUE(
        store_->Write([&](store::Transaction& tx) { return WatchProven(tx, proven, options_); })
            .ok());
  }

  SystemClock clock_;
  Options options_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<Streams> streams_;
  bool posted_ = false;
};

// (a) skipOffsetFromLatest as the guides write it.
TEST_F(StreamsOnDruid, ASpecAsTheGuidesWriteItIsDroppedByDruidAndSaidSo) {
  const std::string spec = Spec("", R"(,"skipOffsetFromLatest":"PT1H")");
  Registration declared;
  declared.datasource = datasource();
  declared.supervisor_spec = spec;
  const auto told = streams_->Register(declared, false, Ada());
  ASSERT_TRUE(told.ok()) << told.status();
  ASSERT_THAT(told->notices, SizeIs(1));
  EXPECT_EQ(told->notices[0].reason, "TAIL_NOT_ENFORCED");
  PostSupervisor(spec);
  WaitForTask();
  // Druid has forgotten it: neither its spec nor its task knows of a bound.
  const auto back = Raw("GET", Overlord("/supervisor/" + datasource()));
  EXPECT_THAT(back.body, testing::Not(HasSubstr("skipOffsetFromLatest")));
  EXPECT_EQ(Tasks()[0].minimum_message_time, std::nullopt);
  Look();
  EXPECT_EQ(Own().tail.source, TailSource::kSkipOffsetDeclared);
  EXPECT_FALSE(Own().tail.enforced);
}

// (b) the boundary, to the millisecond, against the task's own payload.
TEST_F(StreamsOnDruid, TheBoundaryIsThatOfTheTasksOwnPayload) {
  PostSupervisor(Spec(R"(,"lateMessageRejectionPeriod":"PT1H")"));
  WaitForTask();
  Look();
  const druid::StreamTask task = Tasks()[0];
  const auto payload = Raw("GET", Overlord("/task/" + task.id));
  const Stream own = Own();
  ASSERT_TRUE(own.tail.bound.fixed.has_value());
  EXPECT_THAT(payload.body,
              HasSubstr("\"minimumMessageTime\":\"" + own.tail.bound.fixed->ToString() + "\""));
  EXPECT_EQ(own.tail.source, TailSource::kRunningTasks);
  EXPECT_TRUE(own.tail.enforced);
  EXPECT_EQ(own.tail.bound.length, absl::Hours(1));
  const Instant boundary = *own.tail.bound.fixed;
  const auto reserve = [&](Instant start, Instant end) {
    lease::ReserveRequest request;
    request.datasource = datasource();
    request.intervals = {Interval::Between(start, end)};
    request.holder = "backfill";
    return store_->Write(
        [&](store::Transaction& tx) { return lease::Reserve(tx, request, Ada()).status(); });
  };
  EXPECT_TRUE(reserve(boundary - absl::Hours(1), boundary).ok());
  const auto refused = reserve(boundary, boundary + absl::Milliseconds(1));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(std::string(refused.message()), HasSubstr(boundary.ToString()));
}

// The status says there are no tasks right after a resume; the list of tasks knows.
TEST_F(StreamsOnDruid, TheTailStandsThroughSuspendAndResume) {
  PostSupervisor(Spec(R"(,"lateMessageRejectionPeriod":"PT1H")"));
  WaitForTask();
  Look();
  ASSERT_TRUE(cluster().SuspendSupervisor(datasource()).done());
  EXPECT_EQ(cluster().SuspendSupervisor(datasource()).cause(), druid::Cause::kInvalid);
  Look();
  EXPECT_TRUE(Own().tail.any);
  EXPECT_THAT(Findings("SUSPENDED_BY_OTHERS"), SizeIs(1));
  WaitUntil("its tasks are gone", [&] { return Tasks().empty(); });
  Look();
  EXPECT_EQ(Own().tail.source, TailSource::kLateMessageBound);
  ASSERT_TRUE(cluster().ResumeSupervisor(datasource()).done());
  WaitForTask();
  Look();
  EXPECT_EQ(Own().tail.source, TailSource::kRunningTasks);
}

// (d) rows that come after a backfill has proven the hour.
TEST_F(StreamsOnDruid, LateRowsAfterABackfillAreFoundAndNamed) {
  druid::BatchTask batch;
  batch.id = TaskId("batch");
  batch.datasource = datasource();
  batch.events = {{13, "a", 1}, {13, "b", 1}};
  ASSERT_EQ(Run(batch.Json()).state, druid::TaskState::kSuccess);
  PostSupervisor(Spec(""));
  WaitForTask();
  Look();
  const Proven proven = ProvenNow(13);
  ASSERT_THAT(proven.segments, SizeIs(1));
  Watch(proven);
  Look();
  EXPECT_THAT(Findings("FOREIGN_WRITE"), IsEmpty());
  Produce(13, 3);
  WaitUntil("the stream holds the hour", [&] {
    const auto locks = cluster().ListLocks(datasource(), {Hour(13)});
    return locks.done() && !locks.value().empty();
  });
  ASSERT_TRUE(cluster().SuspendSupervisor(datasource()).done());
  WaitUntil("its rows are published", [&] { return Used(Hour(13)).size() == 2; });
  Look();
  const auto found = Findings("FOREIGN_WRITE");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].stream, datasource());
  EXPECT_EQ(found[0].backfill_id, "b1");
  ExpectRows(Hour(13), 5);
}

// (e) append and replace at once: what the stream had read is upgraded.
TEST_F(StreamsOnDruid, TheDoubleCountOfConcurrentLocksIsFoundAndNamed) {
  const std::string concurrent = R"({"useConcurrentLocks":true})";
  PostSupervisor(Spec("", "", concurrent));
  WaitForTask();
  EXPECT_TRUE(Tasks()[0].concurrent_locks);
  Produce(13, 3);
  WaitUntil("the stream has the hour", [&] {
    const auto locks = cluster().ListLocks(datasource(), {Hour(13)});
    return locks.done() && !locks.value().empty() && locks.value()[0].type == "APPEND";
  });
  Look();
  druid::BatchTask batch;
  batch.id = TaskId("batch");
  batch.datasource = datasource();
  batch.events = {{13, "a", 1}, {13, "b", 1}};
  batch.context = concurrent;
  ASSERT_EQ(Run(batch.Json()).state, druid::TaskState::kSuccess);
  Watch(ProvenNow(13));
  ASSERT_TRUE(cluster().SuspendSupervisor(datasource()).done());
  WaitUntil("its tasks are gone", [&] { return Tasks().empty(); });
  Look();
  const auto found = Findings("DUPLICATE_ROWS");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].message, HasSubstr("upgraded"));
  EXPECT_EQ(found[0].stream, datasource());
}

// (f) a second supervisor for the datasource replaces the first, and may adopt its task.
TEST_F(StreamsOnDruid, Case080ASecondSupervisorIsNoticedAndSaid) {
  PostSupervisor(Spec(R"(,"lateMessageRejectionPeriod":"PT1H")"));
  WaitForTask();
  Look();
  PostSupervisor(Spec(R"(,"lateMessageRejectionPeriod":"PT1H")", "", "", Topic() + "_b"));
  Look();
  const auto replaced = Findings("SUPERVISOR_REPLACED");
  ASSERT_THAT(replaced, SizeIs(1));
  EXPECT_THAT(replaced[0].message, HasSubstr(Topic() + "_b"));
  // Whether it adopts the task is Druid's race; where it does, that is said as well.
  const auto tasks = Tasks();
  const bool adopted = !tasks.empty() && tasks[0].stream == Topic();
  EXPECT_EQ(!Findings("ADOPTED_TASK").empty(), adopted);
}

// What Druid throws away it only counts.
TEST_F(StreamsOnDruid, RowsOutsideOfTheBoundsAreCountedAndReported) {
  PostSupervisor(Spec(R"(,"lateMessageRejectionPeriod":"PT1H")"));
  WaitForTask();
  Produce(13, 4);  // of July: far outside
  WaitUntil("they are thrown away", [&] {
    Look();
    return Own().health.has_value() && Own().health->thrown_away == 4;
  });
  const auto found = Findings("ROWS_THROWN_AWAY");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].amount, 4);
}

}  // namespace
}  // namespace interlock::guard
