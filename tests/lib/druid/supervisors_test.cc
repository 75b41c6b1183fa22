// Supervisors and stream tasks, in the words of a real 33.0.0.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/druid/cluster.h"
#include "lib/druid/supervisor.h"
#include "lib/time/status_reason.h"
#include "tests/lib/druid/cluster_fixture.h"

namespace interlock::druid {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string Spec(const std::string& io, const std::string& tuning = "",
                 const std::string& more = "") {
  return absl::StrCat(R"({"type":"kafka","spec":{"dataSchema":{"dataSource":"views"},)",
                      R"("ioConfig":{"topic":"v","taskDuration":"PT600S")", io,
                      R"(},"tuningConfig":{"type":"kafka")", tuning, "}}", more, "}");
}

std::string Element(const std::string& spec, const std::string& more = "") {
  return absl::StrCat(R"([{"id":"views","state":"RUNNING","detailedState":"CONNECTING_TO_STREAM",)",
                      R"("healthy":true,"spec":)", spec, more, "}]");
}

Supervisor Only(const std::string& list) {
  const auto answer = Fixture(Reply(200, list)).cluster.ListSupervisors();
  EXPECT_TRUE(answer.done()) << answer.text();
  return answer.done() && answer.value().size() == 1 ? answer.value()[0] : Supervisor();
}

TEST(Supervisors, TheListHasBoundsAndStateOfEach) {
  const Supervisor one = Only(Element(Spec(R"(,"lateMessageRejectionPeriod":"PT3600S")")));
  EXPECT_EQ(one.id, "views");
  EXPECT_EQ(one.datasource, "views");
  EXPECT_EQ(one.stream, "v");
  EXPECT_EQ(one.bounds.late_period, absl::Hours(1));
  EXPECT_EQ(one.task_duration, absl::Minutes(10));
  EXPECT_FALSE(one.suspended);
  EXPECT_EQ(one.detailed_state, "CONNECTING_TO_STREAM");
  EXPECT_FALSE(one.concurrent_locks);
}

// A real 33.0.0 says "suspended":false beside the spec of a suspended one, for good.
TEST(Supervisors, WhetherOneIsSuspendedItsSpecTells) {
  EXPECT_TRUE(
      Only(Element(Spec("", "", R"(,"suspended":true)"), R"(,"suspended":false)")).suspended);
  EXPECT_FALSE(Only(Element(Spec("", "", R"(,"suspended":false)"))).suspended);
}

TEST(Supervisors, ABoundThatIsNullIsNone) {
  const Supervisor one = Only(Element(
      Spec(R"(,"lateMessageRejectionPeriod":null,"lateMessageRejectionStartDateTime":null)")));
  EXPECT_FALSE(one.bounds.bounded());
}

TEST(Supervisors, ASupervisorThatReadsNoStreamIsToldApart) {
  const Supervisor one =
      Only(R"([{"id":"autocompact__x","state":"RUNNING","spec":{"type":"autocompact"}}])");
  EXPECT_FALSE(one.streams());
}

TEST(Supervisors, AnotherTopicIsAnotherSpecAndASuspensionIsNot) {
  const std::string spec = Spec(R"(,"lateMessageRejectionPeriod":"PT1H")");
  const auto digest = [](const std::string& json) { return ParseSupervisorSpec(json)->digest; };
  EXPECT_EQ(digest(spec),
            digest(Spec(R"(,"lateMessageRejectionPeriod":"PT1H")", "", R"(,"suspended":true)")));
  EXPECT_NE(digest(spec), digest(Spec(R"(,"lateMessageRejectionPeriod":"PT2H")")));
}

TEST(Supervisors, ADeclaredSkipOffsetIsReadWhereverTheGuidesPutIt) {
  EXPECT_EQ(ParseSupervisorSpec(Spec("", R"(,"skipOffsetFromLatest":"PT1H")"))->skip_offset,
            absl::Hours(1));
  EXPECT_EQ(ParseSupervisorSpec(Spec(R"(,"skipOffsetFromLatest":"P1D")"))->skip_offset,
            absl::Hours(24));
}

TEST(Supervisors, ASpecThatIsNoneSaysWhatItLacks) {
  EXPECT_EQ(ReasonOf(ParseSupervisorSpec("{").status()), "SPEC_INVALID");
  EXPECT_THAT(std::string(ParseSupervisorSpec("{}").status().message()), HasSubstr("dataSource"));
  EXPECT_THAT(
      std::string(
          ParseSupervisorSpec(
              Spec(
                  R"(,"lateMessageRejectionPeriod":"PT1H","lateMessageRejectionStartDateTime":"2026")"))
              .status()
              .message()),
      HasSubstr("both"));
}

TEST(Supervisors, AnUnknownOneIsNotFoundInDruidsWords) {
  Fixture f(Reply(404, "Cannot find any supervisor with id: [nope]", "text/plain"));
  EXPECT_TRUE(f.cluster.GetSupervisorHealth("nope").not_found());
  EXPECT_TRUE(f.cluster.SuspendSupervisor("nope").not_found());
  // In front of another 404 it says nothing.
  EXPECT_TRUE(f.cluster.GetSupervisorHealth("other").unknown());
}

TEST(Supervisors, OneThatIsAsAskedAlreadyRefuses) {
  Fixture f(Reply(400, R"({"error":"[views] is already suspended"})"));
  EXPECT_EQ(f.cluster.SuspendSupervisor("views").cause(), Cause::kInvalid);
}

TEST(Supervisors, UnderObserveNothingIsSuspended) {
  Fixture f(Options(Access::kObserve), [](const HttpRequest&) { return Reply(200, "{}"); });
  EXPECT_EQ(f.cluster.SuspendSupervisor("views").cause(), Cause::kNotAllowed);
  EXPECT_EQ(f.cluster.ResumeSupervisor("views").cause(), Cause::kNotAllowed);
  EXPECT_THAT(f.transport->requests, IsEmpty());
}

// Right after a start the status has "aggregateLag":0 without any offset behind it.
TEST(Supervisors, ALagWithoutOffsetsIsNotKnown) {
  Fixture none(Reply(200,
                     R"({"id":"v","payload":{"minimumLag":{},"aggregateLag":0,"suspended":false,)"
                     R"("healthy":true,"state":"RUNNING","detailedState":"RUNNING",)"
                     R"("recentErrors":[]}})"));
  EXPECT_FALSE(none.cluster.GetSupervisorHealth("v").value().lag.has_value());
  Fixture some(Reply(200, R"({"id":"v","payload":{"latestOffsets":{"0":9},"aggregateLag":4,)"
                          R"("healthy":false,"state":"UNHEALTHY_SUPERVISOR","recentErrors":[)"
                          R"({"timestamp":"t","exceptionClass":"A","message":"first"},)"
                          R"({"timestamp":"t","exceptionClass":"B","message":"second"}]}})"));
  const auto health = some.cluster.GetSupervisorHealth("v");
  ASSERT_TRUE(health.done()) << health.text();
  EXPECT_EQ(health.value().lag, 4);
  EXPECT_FALSE(health.value().healthy);
  EXPECT_THAT(health.value().recent_errors, ElementsAre("B: second", "A: first"));
}

TEST(Supervisors, RowsThrownAwayAreCountedByTask) {
  Fixture f(Reply(200,
                  R"({"0":{"index_kafka_v_a":{"movingAverages":{},"totals":{"buildSegments":)"
                  R"({"processed":2,"processedBytes":150,"processedWithError":0,"thrownAway":1,)"
                  R"("unparseable":3}}}}})"));
  const auto counts = f.cluster.GetSupervisorCounts("v");
  ASSERT_TRUE(counts.done()) << counts.text();
  ASSERT_THAT(counts.value(), SizeIs(1));
  EXPECT_EQ(counts.value().at("index_kafka_v_a").thrown_away, 1);
  EXPECT_EQ(counts.value().at("index_kafka_v_a").unparseable, 3);
}

TEST(Supervisors, OnlyTasksThatReadStreamsAreListed) {
  Fixture f([](const HttpRequest& request) {
    if (request.url.find("state=running") == std::string::npos) return Reply(200, "[]");
    return Reply(200,
                 R"([{"id":"a","type":"index_kafka","dataSource":"v","statusCode":"RUNNING"},)"
                 R"({"id":"b","type":"index_parallel","dataSource":"v","statusCode":"RUNNING"}])");
  });
  const auto tasks = f.cluster.ListStreamTasks();
  ASSERT_TRUE(tasks.done()) << tasks.text();
  ASSERT_THAT(tasks.value(), SizeIs(1));
  EXPECT_EQ(tasks.value()[0].id, "a");
}

constexpr char kPayload[] =
    R"({"type":"index_kafka","id":"t","groupId":"index_kafka_v","dataSource":"v",)"
    R"("ioConfig":{"type":"kafka","startSequenceNumbers":{"type":"start","stream":"topic_a",)"
    R"("partitionSequenceNumberMap":{"0":17}},"minimumMessageTime":"2026-11-29T20:11:39.950Z"},)"
    R"("context":{"useConcurrentLocks":true}})";

TEST(StreamTask, ItsBoundIsExactToTheMillisecond) {
  const auto task = ReadStreamTask("t", kPayload);
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->minimum_message_time, *Instant::Parse("2026-11-29T20:11:39.950Z"));
  EXPECT_EQ(task->maximum_message_time, std::nullopt);
  EXPECT_EQ(task->stream, "topic_a");
  EXPECT_EQ(task->start_offsets.at("0"), "17");
  EXPECT_TRUE(task->concurrent_locks);
}

TEST(StreamTask, WithoutABoundItMayWriteAnything) {
  const auto task =
      ReadStreamTask("t", R"({"type":"index_kafka","dataSource":"v","ioConfig":{"type":"kafka"}})");
  ASSERT_TRUE(task.ok()) << task.status();
  EXPECT_EQ(task->minimum_message_time, std::nullopt);
  EXPECT_FALSE(ReadStreamTask("t", R"({"type":"noop"})").ok());
}

}  // namespace
}  // namespace interlock::druid
