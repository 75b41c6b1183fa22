// Faults, over real HTTP: what comes back, and what has happened.
#include <curl/curl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "tests/lib/simulator/http_client.h"
#include "tests/lib/simulator/simulated_druid.h"

namespace interlock::simulator {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr char kSubmit[] = "/druid/indexer/v1/task";

class Faults : public testing::Test {
 protected:
  void Set(const std::string& fault) {
    const absl::StatusOr<int> id = druid.simulator().AddFault(fault);
    ASSERT_TRUE(id.ok()) << id.status();
  }
  // A fault that meets a submit.
  void SetOnSubmit(const std::string& rest) {
    Set(absl::StrCat(R"({"match":{"method":"POST","path":"/druid/indexer/v1/task"},)", rest, "}"));
  }
  Exchange Submit(const std::string& id = "task") {
    return Fetch("POST", druid.simulator().address() + kSubmit,
                 Ingestion{.id = id, .lines = Line(13, 1, "a", 1)}.Json());
  }
  bool Exists(const std::string& id = "task") {
    return druid.Get(absl::StrCat(kSubmit, "/", id, "/status")).status == 200;
  }
  SimulatedDruid druid;
};

TEST_F(Faults, LostBeforeHasNoEffectAndNoReply) {
  SetOnSubmit(R"("kind":"lost_before")");
  EXPECT_EQ(Submit().error, CURLE_GOT_NOTHING);
  EXPECT_FALSE(Exists());
  EXPECT_EQ(Submit().status, 200);
}

TEST_F(Faults, LostAfterHasItsEffectAndNoReply) {
  SetOnSubmit(R"("kind":"lost_after")");
  EXPECT_EQ(Submit().error, CURLE_GOT_NOTHING);
  EXPECT_TRUE(Exists());
  const Exchange again = Submit();
  EXPECT_EQ(again.status, 400);
  EXPECT_THAT(again.body, HasSubstr("already exists"));
}

TEST_F(Faults, LateHasItsEffectWhenNobodyWaitsAnyMore) {
  SetOnSubmit(R"("kind":"late","delay_ms":5000)");
  EXPECT_EQ(Submit().error, CURLE_GOT_NOTHING);
  druid.Pass(4'999);
  EXPECT_FALSE(Exists());
  druid.Pass(1);
  EXPECT_TRUE(Exists());
}

TEST_F(Faults, ALatePostFindsItsIdOccupied) {
  SetOnSubmit(R"("kind":"late","delay_ms":5000)");
  Submit();
  druid.RunTask("task", R"({"type":"noop","id":"task","runTime":1})");
  druid.Pass(10'000);
  EXPECT_THAT(druid.Get(absl::StrCat(kSubmit, "/task")).body, HasSubstr(R"("type":"noop")"));
  EXPECT_TRUE(druid.Used().empty());
}

TEST_F(Faults, ResetIsAReset) {
  SetOnSubmit(R"("kind":"reset")");
  const Exchange reset = Submit();
  EXPECT_EQ(reset.error, CURLE_RECV_ERROR);
  EXPECT_FALSE(Exists());
}

TEST_F(Faults, AStatusComesInPlaceOfTheReplyWithOrWithoutTheEffect) {
  SetOnSubmit(R"("kind":"status","status":503,"body":"busy")");
  const Exchange refused = Submit();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body, "busy");
  EXPECT_FALSE(Exists());
  SetOnSubmit(R"("kind":"status","status":500,"effect":true)");
  EXPECT_EQ(Submit().status, 500);
  EXPECT_TRUE(Exists());
}

TEST_F(Faults, ATruncatedReplyEndsBeforeItsLength) {
  SetOnSubmit(R"("kind":"truncate","bytes":5)");
  const Exchange truncated = Submit();
  EXPECT_EQ(truncated.error, CURLE_PARTIAL_FILE);
  EXPECT_EQ(truncated.body, R"({"tas)");
  EXPECT_TRUE(Exists());
}

TEST_F(Faults, GarbageIsNoJson) {
  SetOnSubmit(R"("kind":"garbage")");
  const Exchange garbage = Submit();
  EXPECT_EQ(garbage.status, 200);
  EXPECT_FALSE(ParseJson(garbage.body).ok());
  EXPECT_TRUE(Exists());
}

TEST_F(Faults, AWalkSpoilsTheNthCallAndTellsWhetherThereWasOne) {
  SetOnSubmit(R"("kind":"status","walk":2)");
  EXPECT_EQ(Submit("a").status, 200);
  EXPECT_THAT(druid.Get("/simulator/faults").body, HasSubstr(R"("matched":1,"hits":0)"));
  EXPECT_EQ(Submit("b").status, 500);
  EXPECT_EQ(Submit("c").status, 200);
  EXPECT_THAT(druid.Get("/simulator/faults").body, HasSubstr(R"("matched":3,"hits":1)"));
}

TEST_F(Faults, MeetOnlyWhatTheyMatch) {
  Set(R"({"match":{"path":"/druid/*/task","body_contains":"\"second\""},"kind":"status","times":0})");
  EXPECT_EQ(Submit("first").status, 200);
  EXPECT_EQ(Submit("second").status, 500);
  EXPECT_EQ(Submit("second").status, 500);
  druid.simulator().Ask("DELETE", "/simulator/faults/1");
  EXPECT_EQ(Submit("second").status, 200);
}

TEST_F(Faults, AStaleSnapshotShowsSegmentsAsTheyOnceWere) {
  druid.Run({.id = "old", .lines = Line(13, 1, "a", 1)});
  Set(R"({"match":{"path":"*/segments"},"kind":"stale_snapshot"})");
  druid.Run({.id = "new", .lines = Line(13, 1, "a", 1)});
  EXPECT_THAT(druid.Used(), SizeIs(1));
  EXPECT_THAT(druid.Used(), SizeIs(2));
}

TEST_F(Faults, ATaskCanSayFailedAndHavePublished) {
  SetOnSubmit(R"("kind":"failed_but_published")");
  Submit();
  druid.Pass(100);
  EXPECT_EQ(druid.StatusCode("task"), "FAILED");
  EXPECT_THAT(druid.Used(), SizeIs(1));
}

TEST_F(Faults, ATaskCanSaySuccessAndHaveDoneNothing) {
  SetOnSubmit(R"("kind":"success_but_nothing")");
  Submit();
  druid.Pass(100);
  EXPECT_EQ(druid.StatusCode("task"), "SUCCESS");
  EXPECT_TRUE(druid.Used().empty());
}

TEST_F(Faults, UnknownKindsAndMembersAreRefused) {
  EXPECT_EQ(druid.Post("/simulator/faults", R"({"kind":"gremlin"})").status, 400);
  EXPECT_EQ(druid.Post("/simulator/faults", R"({"kind":"delay","dealy_ms":5})").status, 400);
  EXPECT_EQ(druid.Get("/simulator/nosuch").status, 404);
}

TEST_F(Faults, TheLogTellsWhatWasAskedAndWhatWouldHaveChangedSomething) {
  SetOnSubmit(R"("kind":"lost_before")");
  Submit();
  Submit();
  druid.Get("/druid/indexer/v1/tasks");
  const std::vector<LoggedRequest> log = druid.simulator().Requests();
  ASSERT_THAT(log, SizeIs(3));
  EXPECT_EQ(log[0].fault, "lost_before");
  EXPECT_EQ(log[0].status, 0);
  EXPECT_TRUE(log[0].write);
  EXPECT_EQ(log[1].status, 200);
  EXPECT_EQ(log[0].digest, log[1].digest);
  EXPECT_FALSE(log[2].write);
  EXPECT_EQ(druid.GetJson("/simulator/requests?writes").Size(), 2u);
  EXPECT_EQ(druid.GetJson("/simulator/requests?since=2").Size(), 1u);
}

}  // namespace
}  // namespace interlock::simulator
