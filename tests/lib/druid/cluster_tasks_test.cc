#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/druid/cluster.h"
#include "tests/lib/druid/cluster_fixture.h"

namespace interlock::druid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Cluster, ATaskWithoutAnIdIsNotSent) {
  Fixture f(Reply(200, R"({"task":"made-up"})"));
  EXPECT_EQ(f.cluster.SubmitTask(R"({"type":"noop"})").cause(), Cause::kInvalid);
  EXPECT_EQ(f.cluster.SubmitTask("{").cause(), Cause::kInvalid);
  EXPECT_THAT(f.transport->requests, IsEmpty());
}

TEST(Cluster, ASubmitIsDoneOnlyWhenTheReplyNamesTheTask) {
  EXPECT_EQ(Fixture(Reply(200, R"({"task":"il-1"})")).cluster.SubmitTask(kTask).value(), "il-1");
  for (const char* body : {R"({"task":"other"})", "{}", "", "[]", R"({"task":)", R"({"task":7})"}) {
    EXPECT_EQ(Fixture(Reply(200, body)).cluster.SubmitTask(kTask).cause(), Cause::kGarbled) << body;
  }
}

// A query's reply has other fields than a task's; what ends it is the overlord's all the same.
TEST(Cluster, Case092AQuerysTaskIsNamedByItsOwnFieldAndShutDownLikeAnyOther) {
  Fixture f([](const HttpRequest& request) {
    return absl::StrContains(request.url, "/sql/task")
               ? Reply(202, R"({"taskId":"query-il-1","state":"RUNNING"})")
               : Reply(200, R"({"task":"query-il-1"})");
  });
  const auto submitted = f.cluster.SubmitSql("il-1", R"({"query":"REPLACE …"})");
  ASSERT_TRUE(submitted.done()) << submitted.text();
  EXPECT_EQ(submitted.value(), "query-il-1");
  EXPECT_TRUE(f.cluster.ShutdownTask(submitted.value()).done());
  EXPECT_EQ(f.transport->requests.back().url,
            "http://overlord:8090/druid/indexer/v1/task/query-il-1/shutdown");
}

TEST(Cluster, Case066ATakenIdIsToldFromAnotherRefusal) {
  EXPECT_EQ(Fixture(Reply(400, R"({"error":"Task[il-1] already exists!"})"))
                .cluster.SubmitTask(kTask)
                .cause(),
            Cause::kAlreadyExists);
}

TEST(Cluster, Case066TheContextComesBackAsItWas) {
  Fixture f(Reply(200,
                  R"({"task":"il-1","payload":{"type":"index_parallel","id":"il-1",)"
                  R"("spec":{"dataSchema":{"dataSource":"clicks"}},)"
                  R"("context":{"nonce":{"n": 1,"x":[true,null]},"forceTimeChunkLock":true}}})"));
  const auto answer = f.cluster.GetTaskPayload("il-1");
  ASSERT_TRUE(answer.done()) << answer.text();
  EXPECT_EQ(answer.value().context.at("nonce"), R"({"n":1,"x":[true,null]})");
  EXPECT_EQ(answer.value().datasource, "clicks");
  EXPECT_EQ(answer.value().type, "index_parallel");
}

TEST(Cluster, Case070EitherFieldOfTheStatusCountsAndAContradictionIsUnknown) {
  const struct {
    const char* status;
    TaskState state;
  } statuses[] = {
      {R"("statusCode":null,"status":"RUNNING")", TaskState::kRunning},
      {R"("status":"SUCCESS")", TaskState::kSuccess},
      {R"("statusCode":"FAILED")", TaskState::kFailed},
      {R"("statusCode":"SUCCESS","status":"SUCCESS")", TaskState::kSuccess},
      {R"("statusCode":null,"status":null)", TaskState::kUnknown},
      {R"("statusCode":"SUCCESS","status":"FAILED")", TaskState::kUnknown},
      {R"("statusCode":"CANCELED")", TaskState::kUnknown},
      {R"("statusCode":7)", TaskState::kUnknown},
  };
  for (const auto& status : statuses) {
    Fixture f(Reply(200, absl::StrCat(R"({"task":"a","status":{"id":"a",)", status.status, "}}")));
    const auto answer = f.cluster.GetTaskStatus("a");
    ASSERT_TRUE(answer.done()) << answer.text();
    EXPECT_EQ(answer.value().state, status.state) << status.status;
  }
}

TEST(Cluster, ReadsTheStatusOfATask) {
  Fixture f(Reply(200,
                  R"({"task":"a-1","status":{"id":"a-1","groupId":"g","type":"index_parallel",)"
                  R"("createdTime":"2026-11-29T16:09:02.344Z","queueInsertionTime":)"
                  R"("1970-01-01T00:00:00.000Z","statusCode":"FAILED","status":"FAILED",)"
                  R"("runnerStatusCode":"WAITING","duration":1129,"location":{"host":null},)"
                  R"("dataSource":"clicks","errorMsg":"Shutdown request from user"}})"));
  const TaskStatus status = f.cluster.GetTaskStatus("a-1").value();
  EXPECT_EQ(status.group_id, "g");
  EXPECT_FALSE(status.top_level());
  EXPECT_TRUE(status.terminal());
  EXPECT_EQ(status.created->ToString(), "2026-11-29T16:09:02.344Z");
  EXPECT_EQ(status.duration_ms, 1129);
  EXPECT_EQ(status.error, "Shutdown request from user");
}

TEST(Cluster, ARepliesAboutAnotherTaskIsNonsense) {
  Fixture f(Reply(200, R"({"task":"b","status":{"id":"b","status":"SUCCESS"}})"));
  EXPECT_EQ(f.cluster.GetTaskStatus("a").cause(), Cause::kGarbled);
  EXPECT_EQ(f.cluster.GetTaskPayload("a").cause(), Cause::kGarbled);
  EXPECT_EQ(f.cluster.ShutdownTask("a").cause(), Cause::kGarbled);
}

TEST(Cluster, ManyStatusesAreOneRequestAndUnknownIdsAreAbsent) {
  Fixture f(Reply(200, R"({"a":{"id":"a","status":"SUCCESS","duration":5,"errorMsg":null}})"));
  const auto answer = f.cluster.GetTaskStatuses({"a", "gone"});
  ASSERT_TRUE(answer.done());
  EXPECT_THAT(answer.value(), SizeIs(1));
  EXPECT_EQ(answer.value().at("a").state, TaskState::kSuccess);
  EXPECT_EQ(f.transport->requests[0].body, R"(["a","gone"])");
  EXPECT_TRUE(f.cluster.GetTaskStatuses({}).done());
  EXPECT_THAT(f.transport->requests, SizeIs(1));
}

TEST(Cluster, Case072AShutdownIsAskedNotDone) {
  // The same 200 for a task that had ended, and in old versions for none at all.
  EXPECT_TRUE(Fixture(Reply(200, R"({"task":"typo"})")).cluster.ShutdownTask("typo").done());
  EXPECT_TRUE(Fixture(Reply(404, "Cannot find any task with id: [typo]", "text/plain"))
                  .cluster.ShutdownTask("typo")
                  .not_found());
}

TEST(Cluster, ReadsReportsOfIngestionAndOfKills) {
  const auto batch = Fixture(Reply(200, R"({"ingestionStatsAndErrors":{"type":"x","taskId":"a",
      "payload":{"ingestionState":"COMPLETED","unparseableEvents":{},"rowStats":{
      "determinePartitions":{"processed":9},"buildSegments":{"processed":3,"processedBytes":5,
      "processedWithError":1,"thrownAway":2,"unparseable":4}},"errorMsg":"oh",
      "segmentAvailabilityConfirmed":false,"segmentsRead":null,"segmentsPublished":0}}})"))
                         .cluster.GetTaskReport("a");
  ASSERT_TRUE(batch.done()) << batch.text();
  EXPECT_TRUE(batch.value().has_row_stats);
  EXPECT_EQ(batch.value().processed, 3);
  EXPECT_EQ(batch.value().processed_with_error, 1);
  EXPECT_EQ(batch.value().thrown_away, 2);
  EXPECT_EQ(batch.value().unparseable, 4);
  EXPECT_EQ(batch.value().segments_published, 0);
  EXPECT_EQ(batch.value().error, "oh");
  const auto kill = Fixture(Reply(200, R"({"killUnusedSegments":{"type":"killUnusedSegments",
      "taskId":"k","payload":{"numSegmentsKilled":4,"numBatchesProcessed":2}}})"))
                        .cluster.GetTaskReport("k");
  EXPECT_EQ(kill.value().segments_killed, 4);
  EXPECT_FALSE(kill.value().has_row_stats);
}

TEST(Cluster, LiveTasksAreGatheredInTheOrderInWhichTheyMove) {
  Fixture f([](const HttpRequest& r) {
    if (absl::StrContains(r.url, "state=waiting")) {
      return Reply(
          200,
          R"([{"id":"a","dataSource":"d","statusCode":"RUNNING","runnerStatusCode":"WAITING"}])");
    }
    if (absl::StrContains(r.url, "state=pending")) return Reply(200, "[]");
    return Reply(
        200, R"([{"id":"a","dataSource":"d","statusCode":"RUNNING","runnerStatusCode":"RUNNING"},
        {"id":"x","dataSource":"other","statusCode":"RUNNING"}])");
  });
  const auto tasks = f.cluster.ListLiveTasks("d");
  ASSERT_TRUE(tasks.done()) << tasks.text();
  ASSERT_THAT(tasks.value(), SizeIs(1));
  EXPECT_EQ(tasks.value()[0].runner_state, "RUNNING");
  EXPECT_THAT(f.transport->Asked()[0], HasSubstr("tasks?datasource=d&state=waiting"));
}

TEST(Cluster, HalfAListOfLiveTasksIsNone) {
  Fixture f([](const HttpRequest& r) {
    return absl::StrContains(r.url, "state=running") ? Reply(403, "") : Reply(200, "[]");
  });
  EXPECT_EQ(f.cluster.ListLiveTasks("d").cause(), Cause::kUnauthorized);
}

TEST(Cluster, ReadsActiveLocks) {
  Fixture f(Reply(200, R"({"datasourceToLocks":{"d":[
    {"granularity":"timeChunk","type":"EXCLUSIVE","groupId":"g","dataSource":"d","interval":
     "2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z","version":"V","priority":75,"revoked":false},
    {"lockType":"REPLACE","groupId":"h","interval":"2026-07-16T13:30:00.000Z/2026-07-16T15:00:00.000Z",
     "version":"W","priority":50,"revoked":true},
    {"type":"APPEND","groupId":"i","interval":"2026-07-17/2026-07-18","version":"X","priority":0}]}})"));
  const auto locks = f.cluster.ListLocks("d", {kHour});
  ASSERT_TRUE(locks.done()) << locks.text();
  ASSERT_THAT(locks.value(), SizeIs(1));
  EXPECT_EQ(locks.value()[0].type, "EXCLUSIVE");
  EXPECT_EQ(locks.value()[0].priority, 75);
  // All lower case: `dataSource` is taken, and answers that there are no locks.
  EXPECT_EQ(f.transport->requests[0].body,
            R"([{"datasource":"d","priority":-2147483648,"intervals":)"
            R"(["2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z"]}])");
}

TEST(Cluster, LocksAreAskedTheWayThatThisVersionHas) {
  Fixture f([](const HttpRequest& r) {
    if (absl::EndsWith(r.url, "/lockedIntervals")) {
      return Reply(200, R"({"d":["2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z",
                                "2026-07-17/2026-07-18"]})");
    }
    return Reply(404, "", "");
  });
  EXPECT_THAT(f.cluster.ListLocks("d", {kHour}).value(), SizeIs(1));
  EXPECT_THAT(f.cluster.ListLocks("d", {}).value(), SizeIs(2));
  EXPECT_THAT(f.transport->Asked(),
              ElementsAre("POST http://overlord:8090/druid/indexer/v1/activeLocks",
                          "POST http://overlord:8090/druid/indexer/v1/lockedIntervals/v2",
                          "POST http://overlord:8090/druid/indexer/v1/lockedIntervals",
                          "POST http://overlord:8090/druid/indexer/v1/lockedIntervals"));
}

TEST(Cluster, ARememberedWayThatIsGoneIsFoundAgain) {
  bool updated = false;
  Fixture f([&](const HttpRequest& r) {
    const bool newest = absl::EndsWith(r.url, "/activeLocks");
    if (newest != updated) return Reply(404, "", "");
    return Reply(200, updated ? R"({"datasourceToLocks":{}})" : "{}");
  });
  EXPECT_TRUE(f.cluster.ListLocks("d", {}).done());
  updated = true;
  EXPECT_EQ(f.cluster.ListLocks("d", {}).cause(), Cause::kUnsupported);
  EXPECT_TRUE(f.cluster.ListLocks("d", {}).done());
}

}  // namespace
}  // namespace interlock::druid
