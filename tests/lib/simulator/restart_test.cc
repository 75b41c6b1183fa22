// Restarts of the overlord, clocks, and the differences of an older version.
#include <curl/curl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/lib/simulator/http_client.h"
#include "tests/lib/simulator/simulated_druid.h"

namespace interlock::simulator {
namespace {

using testing::HasSubstr;

constexpr char kTasks[] = "/druid/indexer/v1/tasks";
constexpr char kRestart[] = R"({"refused_ms":1000,"redirect_ms":1000,"unavailable_ms":1000})";

TEST(Restart, IsRefusedThenRedirectsToItselfThenIsUnavailableThenRight) {
  SimulatedDruid druid;
  const std::string address = druid.simulator().address();
  druid.Post("/simulator/restart-overlord", kRestart);
  druid.Pass(500);
  EXPECT_EQ(Fetch("GET", address + kTasks).error, CURLE_COULDNT_CONNECT);
  druid.Pass(500);
  const Exchange redirect = Fetch("GET", address + kTasks + "?state=running");
  EXPECT_EQ(redirect.status, 307);
  EXPECT_EQ(redirect.location, address + kTasks + "?state=running");
  EXPECT_EQ(druid.Get("/druid/indexer/v1/isLeader").status, 404);
  EXPECT_EQ(druid.Get("/status/health").body, "true");
  druid.Pass(1'000);
  EXPECT_EQ(Fetch("GET", address + kTasks).status, 503);
  EXPECT_EQ(druid.Get("/druid/indexer/v1/isLeader").status, 200);
  druid.Pass(1'000);
  EXPECT_EQ(Fetch("GET", address + kTasks).status, 200);
}

TEST(Restart, TasksSurviveItAndEndWhenTheOverlordIsBack) {
  SimulatedDruid druid;
  druid.Submit(Ingestion{.id = "runs", .lines = Line(13, 5, "a", 1)}.Json());
  druid.Submit(Ingestion{.id = "waits", .lines = Line(13, 5, "b", 2)}.Json());
  druid.Post("/simulator/restart-overlord", kRestart);
  druid.Pass(2'900);
  EXPECT_EQ(druid.Get(kTasks).status, 503);
  druid.Pass(100);
  EXPECT_EQ(druid.StatusCode("runs"), "SUCCESS");
  EXPECT_EQ(druid.RunnerCode("waits"), "RUNNING");
  druid.Pass(100);
  EXPECT_EQ(druid.StatusCode("waits"), "SUCCESS");
}

TEST(Restart, TheBrokerAnswersAllTheWhile) {
  SimulatedDruid druid;
  druid.Run({.lines = Line(13, 5, "a", 1)});
  druid.Pass(1'000);
  druid.Post("/simulator/restart-overlord", R"({"redirect_ms":1000})");
  EXPECT_EQ(druid.Count(), 1);
}

TEST(Clock, TheDateHeaderFollowsTheClockAndItsSkew) {
  SimulatedDruid druid;
  const std::string url = druid.simulator().address() + "/status/health";
  EXPECT_EQ(Fetch("GET", url).date, "Thu, 16 Jul 2026 13:00:00 GMT");
  druid.Post("/simulator/clock", R"({"date_skew_ms":-60000})");
  EXPECT_EQ(Fetch("GET", url).date, "Thu, 16 Jul 2026 12:59:00 GMT");
  druid.Post("/simulator/clock", R"({"date_skew_ms":0,"wall_skew_ms":3600000})");
  EXPECT_EQ(Fetch("GET", url).date, "Thu, 16 Jul 2026 14:00:00 GMT");
  EXPECT_EQ(druid.Post("/simulator/clock", R"({"skew":1})").status, 400);
}

TEST(Clock, AdvancingItEndsTasks) {
  SimulatedDruid druid;
  druid.Submit(Ingestion{.lines = Line(13, 5, "a", 1)}.Json());
  druid.Post("/simulator/clock", R"({"advance_ms":100})");
  EXPECT_EQ(druid.StatusCode("task"), "SUCCESS");
}

TEST(Clock, ASkewedWallClockDatesVersionsAndEndsNothing) {
  SimulatedDruid druid;
  druid.Post("/simulator/clock", R"({"wall_skew_ms":-3600000})");
  druid.Submit(Ingestion{.lines = Line(13, 5, "a", 1)}.Json());
  EXPECT_EQ(druid.StatusCode("task"), "RUNNING");
  druid.Pass(100);
  EXPECT_THAT(druid.Used()[0], HasSubstr("_2026-07-16T12:00:00.000Z"));
}

class Older : public testing::Test {
 protected:
  static SimulatorOptions As28() {
    SimulatorOptions options = SimulatedDruid::Options();
    options.version = "28.0.0";
    return options;
  }
  Older() : druid(As28()) {}
  SimulatedDruid druid;
};

TEST_F(Older, HasNoMarksOnTheOverlordAndNoListOfUnusedSegments) {
  EXPECT_EQ(druid.Get("/status").body, R"({"version":"28.0.0","modules":[],"memory":{}})");
  EXPECT_EQ(druid.Post("/druid/indexer/v1/datasources/clicks/markUnused", "{}").status, 404);
  EXPECT_EQ(druid.Get("/druid/coordinator/v1/metadata/datasources/clicks/unusedSegments").status,
            404);
  EXPECT_EQ(druid.Post("/druid/indexer/v1/activeLocks", "[]").status, 404);
  EXPECT_EQ(druid.Post("/druid/indexer/v1/lockedIntervals", R"({"clicks":0})").body, "{}");
}

TEST_F(Older, MarksNothingOfWhatIsNotServedAndSays204) {
  const std::string mark = "/druid/coordinator/v1/datasources/clicks/markUnused";
  const std::string all = R"({"interval":"2026-07-16/2026-07-17"})";
  druid.Run({.lines = Line(13, 5, "a", 1)});
  EXPECT_EQ(druid.Post(mark, all).status, 204);
  EXPECT_EQ(druid.Used().size(), 1u);
  druid.Pass(1'000);
  // Counts what matches, again and again; and `versions` narrow nothing.
  EXPECT_EQ(druid.Post(mark, R"({"interval":"2026-07-16/2026-07-17","versions":["x"]})").body,
            R"({"numChangedSegments":1})");
  EXPECT_EQ(druid.Post(mark, all).body, R"({"numChangedSegments":1})");
  EXPECT_TRUE(druid.Used().empty());
}

TEST_F(Older, SaysAlreadyExistsInItsOwnWords) {
  druid.RunTask("x", R"({"type":"noop","id":"x","runTime":1})");
  EXPECT_EQ(druid.Submit(R"({"type":"noop","id":"x"})").body,
            R"({"error":"Task [x] already exists."})");
}

TEST_F(Older, KillsWithoutTheBoundsThatItDoesNotKnow) {
  druid.Run({.lines = Line(13, 5, "a", 1)});
  druid.Pass(1'000);
  druid.Post("/druid/coordinator/v1/datasources/clicks/markUnused",
             R"({"interval":"2026-07-16/2026-07-17"})");
  druid.RunTask("k", R"({"type":"kill","id":"k","dataSource":"clicks","versions":["nope"],)"
                     R"("maxUsedStatusLastUpdatedTime":"2020-01-01",)"
                     R"("interval":"2026-07-16/2026-07-17"})");
  EXPECT_THAT(druid.Get("/druid/indexer/v1/task/k/reports").body,
              HasSubstr(R"("numSegmentsKilled":1)"));
  EXPECT_THAT(druid.Get("/druid/indexer/v1/task/k").body, testing::Not(HasSubstr("versions")));
}

TEST(Version, OneThatWasNotMeasuredIsRefused) {
  FakeClock clock;
  SimulatorOptions options;
  options.clock = &clock;
  options.version = "31.0.1";
  EXPECT_FALSE(Simulator::Start(options).ok());
}

TEST(Http, UnknownPathsAndMethods) {
  SimulatedDruid druid;
  EXPECT_EQ(druid.Get("/druid/indexer/v1/nosuch").status, 404);
  EXPECT_EQ(druid.Get("/druid/indexer/v1/nosuch").body, "");
  EXPECT_EQ(druid.Get("/druid/indexer/v1/activeLocks").status, 405);
  EXPECT_THAT(druid.Get("/nosuch").body, HasSubstr(R"("servlet":"default")"));
  // Escaped ids and intervals reach the handler as they were meant.
  const std::string url = druid.simulator().address();
  EXPECT_THAT(Fetch("GET", url + "/druid/indexer/v1/task/a%3Ab%20c/status").body,
              HasSubstr("[a:b c]"));
}

}  // namespace
}  // namespace interlock::simulator
