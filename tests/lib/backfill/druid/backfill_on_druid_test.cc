// Backfills on a real Druid (or whichever the environment names): rolled back, and run as
// queries where that Druid runs any.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lib/audit/audit.h"
#include "lib/backfill/backfills.h"
#include "lib/backfill/handover_rows.h"
#include "lib/backfill/jobs.h"
#include "lib/backfill/json_document.h"
#include "lib/backfill/rollback_worker.h"
#include "lib/backfill/runner.h"
#include "lib/backfill/sql_work.h"
#include "lib/guard/rows.h"
#include "lib/lease/reservations.h"
#include "lib/store/sqlite.h"
#include "lib/time/clock.h"
#include "lib/time/status_reason.h"
#include "lib/work/loop.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"

namespace interlock::backfill {
namespace {

using druid::Hour;
using druid::Hours;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class BackfillOnDruid : public druid::DruidAtHand {
 public:
  void SetUp() override {
    DruidAtHand::SetUp();
    if (HasFatalFailure()) return;
    auto opened =
        store::OpenTemporarySqlite({audit::AuditSchema(), lease::LeaseSchema(), work::WorkSchema(),
                                    BackfillSchema(), guard::GuardSchema(), HandoverSchema()},
                                   clock_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    store_ = std::move(*opened);
    work::LoopOptions loop;
    loop.threads = 2;
    loop.claimant = {"test", absl::Seconds(90)};
    loop.on_failure = [](const work::Claim& claim, const absl::Status& status) {
      ADD_FAILURE() << claim.key << ": " << status;
    };
    loop_ = std::make_unique<work::Loop>(*store_, clock_, loop);
    backfills_ = std::make_unique<Backfills>(*store_, cluster(), options_, changes_,
                                             [this] { loop_->Wake(); });
    const Runner::World world{*store_, cluster(), clock_, changes_};
    runner_ = std::make_unique<Runner>(world, options_);
    rollback_ = std::make_unique<RollbackWorker>(world, options_);
    loop_->Handle(kWorkKind, [this](work::Claim& claim) { return runner_->Step(claim); });
    loop_->Handle(kRollbackWorkKind, [this](work::Claim& claim) { return rollback_->Step(claim); });
    loop_->Start();
  }
  void TearDown() override { loop_.reset(); }

 protected:
  // Rows of hours [first, end), `rows` each, as an index_parallel spec without its id.
  std::string Spec(int first, int end, int rows) {
    druid::BatchTask task;
    task.datasource = datasource();
    task.interval = Hours(first, end);
    for (int hour = first; hour < end; ++hour) {
      for (int i = 0; i < rows; ++i) task.events.push_back({hour, absl::StrCat("p", i), i});
    }
    return task.Json();
  }
  std::string Submit(const BackfillRequest& request) {
    const auto submitted = backfills_->Submit(request, {"ada", "", "a test"});
    EXPECT_TRUE(submitted.ok()) << submitted.status();
    return submitted.ok() ? submitted->backfill.id : "";
  }
  std::string SubmitSpec(const std::string& spec) {
    BackfillRequest request;
    request.spec = spec;
    return Submit(request);
  }
  Backfills::Detail Now(const std::string& id) {
    auto detail = backfills_->Get(id);
    EXPECT_TRUE(detail.ok()) << detail.status();
    return detail.ok() ? *std::move(detail) : Backfills::Detail();
  }
  void WaitFor(const std::string& id, Phase phase) {
    WaitUntil(absl::StrCat("the backfill is ", NameOf(phase)), [&] {
      const Backfill now = Now(id).backfill;
      const bool over = IsOver(now.phase) || now.phase == Phase::kNeedsAttention;
      return now.phase == phase || (over && now.phase != Phase::kDone);
    });
    const Backfill now = Now(id).backfill;
    std::string rollbacks;
    EXPECT_TRUE(store_
                    ->Read([&](store::Transaction& tx) {
                      const auto all = ReadRollbacks(tx, id);
                      if (!all.ok()) return all.status();
                      for (const Rollback& one : *all) {
                        absl::StrAppend(&rollbacks, one.partition.ToString(), " ", NameOf(one.step),
                                        " ", one.message, "\n");
                      }
                      return absl::OkStatus();
                    })
                    .ok());
    ASSERT_EQ(now.phase, phase) << NameOf(now.phase) << " " << now.message << "\n" << rollbacks;
  }
  absl::StatusOr<Backfills::RollbackReply> RollBack(const std::string& id) {
    return backfills_->Rollback(id, {}, {"ada", "", "it was wrong"});
  }
  // A Druid without the extension for queries has no such path.
  bool RunsQueries() {
    return cluster().ExplainSql("SELECT 1", "").cause() != druid::Cause::kUnsupported;
  }
  // REPLACE of one unit by two rows an hour, from rows that are given in the query.
  std::string Query(const std::string& where) {
    std::string lines;
    for (int hour = 12; hour < 16; ++hour) {
      for (const char* minute : {"05", "06"}) {
        absl::StrAppend(&lines, R"({"ts":"2026-07-16T)", hour, ":", minute, R"(:00Z","page":"a"})",
                        "\\n");
      }
    }
    return absl::StrCat(
        "REPLACE INTO \"", datasource(), "\" OVERWRITE WHERE ", where,
        " SELECT TIME_PARSE(\"ts\") AS __time, \"page\" FROM TABLE(EXTERN('",
        R"({"type":"inline","data":)", absl::StrReplaceAll(JsonQuoted(lines), {{"\\\\n", "\\n"}}),
        "}','{\"type\":\"json\"}','",
        R"sql([{"name":"ts","type":"string"},{"name":"page","type":"string"}]')))sql",
        " WHERE TIME_PARSE(\"ts\") >= TIMESTAMP '{start}' AND TIME_PARSE(\"ts\") < TIMESTAMP "
        "'{end}' PARTITIONED BY HOUR");
  }
  static constexpr char kWhere[] = "__time >= TIMESTAMP '{start}' AND __time < TIMESTAMP '{end}'";

  SystemClock clock_;
  Options options_;
  std::unique_ptr<store::Store> store_;
  Changes changes_;
  std::unique_ptr<work::Loop> loop_;
  std::unique_ptr<Backfills> backfills_;
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<RollbackWorker> rollback_;
};

TEST_F(BackfillOnDruid, ARollbackRestoresTheEarlierRowsAndASecondIsRefused) {
  const std::string first = SubmitSpec(Spec(13, 15, 3));
  WaitFor(first, Phase::kDone);
  ExpectRows(Hours(13, 15), 6);
  const std::string second = SubmitSpec(Spec(13, 15, 5));
  WaitFor(second, Phase::kDone);
  ExpectRows(Hours(13, 15), 10);
  // What is hidden may be unused by then, as Druid's own duty has it after a while.
  const auto timeline = druid::Timeline::Of(Used(Hours(13, 15)));
  std::vector<std::string> hidden;
  for (const druid::Segment& segment : timeline.Hidden()) hidden.push_back(segment.id);
  ASSERT_THAT(hidden, SizeIs(2));
  ASSERT_TRUE(cluster().MarkUnused(datasource(), hidden).done());

  EXPECT_EQ(ReasonOf(RollBack(first).status()), "NOT_NEWEST_GENERATION");
  const auto reply = RollBack(second);
  ASSERT_TRUE(reply.ok()) << reply.status();
  WaitFor(second, Phase::kRolledBack);
  ExpectRows(Hours(13, 15), 6);
  EXPECT_EQ(ReasonOf(RollBack(second).status()), "ALREADY_ROLLED_BACK");
  const auto partitions = backfills_->ListPartitions(second, {}, 0, "");
  ASSERT_TRUE(partitions.ok());
  for (const StoredPartition& partition : partitions->partitions) {
    ASSERT_TRUE(partition.proof);
    EXPECT_TRUE(partition.proof->gap_ms);
    RecordProperty("gap_ms", static_cast<int>(partition.proof->gap_ms.value_or(-1)));
  }
  // The one before it is the newest again, and can go in its turn: to nothing.
  ASSERT_TRUE(RollBack(first).ok());
  WaitFor(first, Phase::kRolledBack);
  const auto left = druid::Timeline::Of(UsedNow(Hours(13, 15)));
  EXPECT_TRUE(left.Visible(Hours(13, 15)).empty());
}

TEST_F(BackfillOnDruid, AQueryRunsAsATaskForEachPartition) {
  if (!RunsQueries()) GTEST_SKIP() << "this Druid runs no queries as tasks";
  Jobs jobs(*store_, cluster());
  Jobs::PutRequest put;
  put.job.name = "nightly";
  put.job.sql = true;
  put.job.work = ToJson(SqlWork{Query(kWhere), R"({"maxNumTasks":2})"});
  const auto stored = jobs.PutJob(put, {"ada", "", "a test"});
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->job.datasource, datasource());
  EXPECT_EQ(stored->job.granularity_json, "\"HOUR\"");

  BackfillRequest request;
  request.job = "nightly";
  request.intervals = {Hours(13, 15)};
  const std::string id = Submit(request);
  WaitFor(id, Phase::kDone);
  const auto sums = cluster().SumRows(datasource(), {Hours(12, 16)}, {});
  ASSERT_TRUE(sums.done()) << sums.text();
  EXPECT_EQ(sums.value()[0].rows, 4);
  const auto partitions = backfills_->ListPartitions(id, {}, 0, "");
  ASSERT_THAT(partitions->partitions, SizeIs(2));
  for (const StoredPartition& partition : partitions->partitions) {
    EXPECT_EQ(partition.proof->rows_found, 2);
    EXPECT_THAT(partition.proof->task_id, HasSubstr("query-il-"));
    // Posted again, it is known as ours by its nonce, in the query's own context.
    const auto payload = cluster().GetTaskPayload(partition.proof->task_id);
    ASSERT_TRUE(payload.done()) << payload.text();
    EXPECT_NE(NonceIn(payload.value().context.at("interlock")), "");
  }
}

TEST_F(BackfillOnDruid, AQuerysReplyThatIsLostIsSettledByItsId) {
  if (!RunsQueries()) GTEST_SKIP() << "this Druid runs no queries as tasks";
  Unit unit;
  unit.intervals = unit.partitions = {Hour(13)};
  const TaskIdentity identity{SqlTaskId(SqlQueryId("il-0123-" + datasource())), "bf-1", 1, "n1"};
  const std::string body = RenderSql(ToJson(SqlWork{Query(kWhere), ""}), unit, identity);
  const std::string id = SqlQueryId("il-0123-" + datasource());
  const auto first = cluster().SubmitSql(id, body);
  ASSERT_TRUE(first.done()) << first.text();
  const auto again = cluster().SubmitSql(id, body);
  EXPECT_EQ(again.cause(), druid::Cause::kAlreadyExists) << again.text();
  EXPECT_EQ(WaitForEnd(identity.task_id).state, druid::TaskState::kSuccess);
  const auto report = cluster().GetTaskReport(identity.task_id);
  ASSERT_TRUE(report.done()) << report.text();
  EXPECT_EQ(report.value().processed, 2);
}

TEST_F(BackfillOnDruid, AQueryThatReplacesOtherTimeThanItsUnitIsRefused) {
  if (!RunsQueries()) GTEST_SKIP() << "this Druid runs no queries as tasks";
  const auto reason = [&](const std::string& query) {
    BackfillRequest request;
    request.sql = true;
    request.spec = ToJson(SqlWork{query, ""});
    request.intervals = {Hour(13)};
    const auto plan = backfills_->MakePlan(request);
    const auto faults = FaultsOf(plan.status());
    return faults.empty() ? std::string(ReasonOf(plan.status())) : faults[0].found;
  };
  EXPECT_EQ(reason(Query(kWhere)), "");
  EXPECT_THAT(reason(Query("__time >= TIMESTAMP '2001-01-01' AND __time < TIMESTAMP "
                           "'2003-01-01'")),
              HasSubstr("where the unit is"));
  // Whole for a unit that starts a day, and a whole day too many for each later hour.
  for (const char* cut : {"{start:%Y-%m-%d} 00:00:00", "{start:%Y}-01-01 00:00:00"}) {
    EXPECT_THAT(reason(Query(absl::StrCat("__time >= TIMESTAMP '", cut,
                                          "' AND __time < TIMESTAMP '{end}'"))),
                HasSubstr("where the unit is"))
        << cut;
  }
  EXPECT_THAT(
      reason(absl::StrReplaceAll(Query(kWhere), {{"REPLACE INTO", "INSERT INTO"},
                                                 {absl::StrCat(" OVERWRITE WHERE ", kWhere), ""}})),
      HasSubstr("no REPLACE"));
  EXPECT_THAT(reason("REPLACE INTO nonsense {start} {end}"), HasSubstr("is refused by Druid"));
  EXPECT_THAT(reason(absl::StrReplaceAll(Query(kWhere), {{"{end}", "2026-07-16 14:00:00"}})),
              HasSubstr("has no {end}"));
}

}  // namespace
}  // namespace interlock::backfill
