// Marks, kills, and what is loaded when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/lib/simulator/simulated_druid.h"

namespace interlock::simulator {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr char kMarks[] = "/druid/indexer/v1/datasources/clicks/";
constexpr char kMetadata[] = "/druid/coordinator/v1/metadata/datasources/clicks/";
constexpr char kLoadStatus[] =
    "/druid/coordinator/v1/datasources/clicks/loadstatus?forceMetadataRefresh=true&"
    "interval=2026-07-16/2026-07-17";

std::string Ids(const std::vector<std::string>& ids) {
  return absl::StrCat(R"({"segmentIds":[")", absl::StrJoin(ids, "\",\""), "\"]}");
}

std::string Changed(int n) {
  return absl::StrCat(R"({"numChangedSegments":)", n, R"(,"segmentStateChanged":)",
                      n > 0 ? "true" : "false", "}");
}

std::string UnusedDate(SimulatedDruid& druid) {
  const JsonDocument unused = druid.GetJson(absl::StrCat(kMetadata, "unusedSegments"));
  return unused.Empty() ? "" : FindString(unused[0], "usedStatusLastUpdatedDate");
}

// Three generations of one hour, served; their ids, oldest first.
std::vector<std::string> LoadThree(SimulatedDruid& druid) {
  for (int i = 1; i <= 3; ++i) {
    druid.Run({.id = absl::StrCat("load", i), .lines = Line(13, 1, "a", i)});
    druid.Pass(5'000);
  }
  return druid.Used();
}

TEST(Marks, ByIdCountsAndDatesAnewWhatIsUnusedAlreadyByIntervalDoesNot) {
  SimulatedDruid druid;
  druid.Run({.lines = Line(13, 1, "a", 1)});
  const std::vector<std::string> ids = druid.Used();
  EXPECT_EQ(druid.Post(absl::StrCat(kMarks, "markUnused"), Ids(ids)).body, Changed(1));
  const std::string date = UnusedDate(druid);
  druid.Pass(1'000);
  const std::string interval = R"({"interval":"2026-07-16/2026-07-17"})";
  EXPECT_EQ(druid.Post(absl::StrCat(kMarks, "markUnused"), interval).body, Changed(0));
  EXPECT_EQ(UnusedDate(druid), date);
  EXPECT_EQ(druid.Post(absl::StrCat(kMarks, "markUnused"), Ids(ids)).body, Changed(1));
  EXPECT_GT(UnusedDate(druid), date);
}

TEST(Marks, NoTwoCallsShareADate) {
  SimulatedDruid druid;
  druid.Run({.lines = Line(13, 1, "a", 1)});
  const std::vector<std::string> ids = druid.Used();
  druid.Post(absl::StrCat(kMarks, "markUnused"), Ids(ids));
  const std::string date = UnusedDate(druid);
  druid.Post(absl::StrCat(kMarks, "markUnused"), Ids(ids));
  EXPECT_GT(UnusedDate(druid), date);
}

TEST(Marks, MarkUsedLeavesWhatIsHiddenAndTheSingleOneRevivesIt) {
  SimulatedDruid druid;
  const std::vector<std::string> ids = LoadThree(druid);
  ASSERT_THAT(ids, SizeIs(3));
  druid.Post(absl::StrCat(kMarks, "markUnused"), Ids({ids[1]}));
  EXPECT_EQ(druid.Post(absl::StrCat(kMarks, "markUsed"), Ids({ids[1]})).body, Changed(0));
  EXPECT_THAT(druid.Used(), SizeIs(2));
  EXPECT_EQ(druid.Post(absl::StrCat(kMarks, "segments/", ids[1]), "").body, Changed(1));
  EXPECT_THAT(druid.Used(), SizeIs(3));
  // With the newest unused, the revived one is seen, and never nothing.
  druid.Post(absl::StrCat(kMarks, "markUnused"), Ids({ids[2]}));
  for (int i = 0; i < 50; ++i) {
    druid.Pass(100);
    EXPECT_GT(druid.Sum("n"), 0);
  }
  EXPECT_EQ(druid.Sum("n"), 2);
}

TEST(Marks, MarkUsedAnswers500WithTheChangeMadeUnlessAskedForJson) {
  SimulatedDruid druid;
  druid.Run({.lines = Line(13, 1, "a", 1)});
  const std::vector<std::string> ids = druid.Used();
  const std::string coordinator = "/druid/coordinator/v1/datasources/clicks/markUsed";
  for (const auto& [path, accept] :
       {std::pair(absl::StrCat(kMarks, "markUsed"), "*/*"), std::pair(coordinator, "*/*"),
        std::pair(coordinator, "application/json")}) {
    druid.Post(absl::StrCat(kMarks, "markUnused"), Ids(ids));
    ASSERT_THAT(druid.Used(), IsEmpty());
    EXPECT_EQ(druid.simulator().Ask("POST", path, Ids(ids), accept).status, 500);
    EXPECT_THAT(druid.Used(), SizeIs(1)) << path << accept;
  }
}

TEST(Marks, OnlyWhatLiesWhollyInsideAnIntervalOfTheVersionsAsked) {
  SimulatedDruid druid;
  druid.Run({.lines = Line(13, 1, "a", 1)});
  for (const char* body : {R"({"interval":"2026-07-16T13:00/2026-07-16T13:30"})",
                           R"({"interval":"2026-07-16/2026-07-17","versions":["x"]})",
                           R"({"interval":"2026-07-16/2026-07-17","versions":[]})"}) {
    EXPECT_EQ(druid.Post(absl::StrCat(kMarks, "markUnused"), body).body, Changed(0)) << body;
  }
  for (const char* body : {"{}", R"({"segmentIds":[]})", R"({"segmentIds":["a"],"versions":["x"]})",
                           R"({"interval":"2026-07-16/2026-07-17","segmentIds":["a"]})"}) {
    EXPECT_EQ(druid.Post(absl::StrCat(kMarks, "markUnused"), body).status, 400) << body;
  }
}

TEST(Lists, TheGetIsAsStaleAsThePollThePostIsFresh) {
  SimulatedDruid druid;
  druid.Run({.lines = Line(13, 1, "a", 1)});
  EXPECT_THAT(druid.Used(), SizeIs(1));
  EXPECT_EQ(druid.Get(absl::StrCat(kMetadata, "segments")).status, 404);
  druid.Pass(10'000);
  EXPECT_EQ(druid.Get(absl::StrCat(kMetadata, "segments")).status, 200);
  // What has just been marked unused is still found there, and by its id too.
  const std::string id = druid.Used()[0];
  druid.Post(absl::StrCat(kMarks, "markUnused"), Ids({id}));
  EXPECT_EQ(druid.Get(absl::StrCat(kMetadata, "segments/", id)).status, 200);
  druid.Pass(10'000);
  EXPECT_EQ(druid.Get(absl::StrCat(kMetadata, "segments/", id)).status, 404);
  EXPECT_EQ(druid.Get(absl::StrCat(kMetadata, "segments/", id, "?includeUnused=true")).status, 200);
}

TEST(Loading, SegmentsAreServedAfterADelayAndLoadStatusCountsThem) {
  SimulatedDruid druid;
  EXPECT_EQ(druid.Get(kLoadStatus).status, 204);
  druid.Run({.lines = Line(13, 1, "a", 1)});
  EXPECT_EQ(druid.Get(absl::StrCat(kLoadStatus, "&simple")).body, R"({"clicks":1})");
  EXPECT_EQ(druid.Get(kLoadStatus).body, R"({"clicks":0.0})");
  EXPECT_EQ(druid.Count(), 0);
  druid.Pass(1'000);
  EXPECT_EQ(druid.Get(kLoadStatus).body, R"({"clicks":100.0})");
  EXPECT_EQ(druid.Count(), 1);
  EXPECT_THAT(druid
                  .Get("/druid/coordinator/v1/datasources/clicks/loadstatus?"
                       "forceMetadataRefresh=true&interval=2020-01-01/2020-01-02")
                  .body,
              HasSubstr("No used segment found"));
  EXPECT_EQ(druid.Get("/druid/coordinator/v1/datasources/clicks/loadstatus").status, 400);
}

TEST(Loading, AReplaceIsSeenAtOneMomentAndNeverWithoutRows) {
  SimulatedDruid druid;
  druid.Run({.id = "old", .lines = Line(13, 1, "a", 1)});
  druid.Pass(5'000);
  const std::string four = R"(,"partitionsSpec":{"type":"dynamic","maxRowsPerSegment":1})";
  druid.Run({.id = "new",
             .lines = Line(13, 1, "a", 10) + Line(13, 2, "b", 10) + Line(13, 3, "c", 10),
             .tuning = four});
  for (int i = 0; i < 60; ++i) {
    const int64_t sum = druid.Sum("n");
    EXPECT_TRUE(sum == 1 || sum == 30) << sum;
    druid.Pass(100);
  }
  EXPECT_EQ(druid.Sum("n"), 30);
}

TEST(Loading, PausedTheOldVersionIsServedOn) {
  SimulatedDruid druid;
  druid.Run({.id = "old", .lines = Line(13, 1, "a", 1)});
  druid.Pass(5'000);
  druid.Post("/simulator/loading", R"({"paused":true})");
  druid.Run({.id = "new", .lines = Line(13, 1, "a", 2)});
  druid.Pass(3'600'000);
  EXPECT_EQ(druid.Sum("n"), 1);
  EXPECT_EQ(druid.Get(absl::StrCat(kLoadStatus, "&simple")).body, R"({"clicks":1})");
  druid.Post("/simulator/loading", R"({"paused":false})");
  druid.Pass(5'000);
  EXPECT_EQ(druid.Sum("n"), 2);
}

TEST(Loading, RulesDecideWhatIsLoadedAndWhatIsDropped) {
  SimulatedDruid druid;
  const std::string rules = "/druid/coordinator/v1/rules/clicks";
  EXPECT_EQ(druid.Get(rules).body, "[]");
  druid.Post(rules, R"([{"type":"loadForever","tieredReplicants":{"elsewhere":1}}])");
  druid.Run({.lines = Line(13, 1, "a", 1)});
  druid.Pass(5'000);
  EXPECT_EQ(druid.Count(), 0);
  EXPECT_EQ(druid.Get(absl::StrCat(kLoadStatus, "&simple")).body, R"({"clicks":1})");
  druid.Post(rules, "[]");
  druid.Pass(5'000);
  EXPECT_EQ(druid.Count(), 1);
  druid.Post(rules, R"([{"type":"dropForever"}])");
  druid.Pass(5'000);
  EXPECT_THAT(druid.Used(), IsEmpty());
  EXPECT_EQ(druid.Count(), 0);
}

TEST(Duties, HiddenSegmentsAreMarkedUnusedOnlyWhereThatIsSwitchedOn) {
  SimulatedDruid druid;
  LoadThree(druid);
  druid.Pass(3'600'000);
  EXPECT_THAT(druid.Used(), SizeIs(3));
  druid.Post("/simulator/duties", R"({"mark_overshadowed_after_ms":1000})");
  druid.Pass(1'000);
  EXPECT_THAT(druid.Used(), SizeIs(1));
}

class Kills : public testing::Test {
 protected:
  static SimulatorOptions WithFiles(const std::string& folder) {
    SimulatorOptions options = SimulatedDruid::Options();
    options.world.deep_storage = folder;
    return options;
  }
  Kills()
      : folder_(testing::TempDir() + "simulator_deep_storage_" + std::to_string(getpid())),
        druid(WithFiles(folder_)) {}
  ~Kills() override { std::filesystem::remove_all(folder_); }

  size_t Files() const {
    size_t files = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_, error)) {
      files += entry.is_regular_file() ? 1 : 0;
    }
    return files;
  }
  void Unuse(const std::vector<std::string>& ids) {
    druid.Post(absl::StrCat(kMarks, "markUnused"), Ids(ids));
  }
  // Its report's payload.
  std::string Kill(const std::string& id, const std::string& bounds = "") {
    EXPECT_EQ(druid.RunTask(
                  id, absl::StrCat(R"({"type":"kill","id":")", id, R"(","dataSource":"clicks",)",
                                   R"("interval":"2026-07-16/2026-07-17")", bounds, "}")),
              "SUCCESS");
    return druid.Get(absl::StrCat("/druid/indexer/v1/task/", id, "/reports")).body;
  }
  static std::string Counts(int killed, int batches) {
    return absl::StrCat(R"("payload":{"numSegmentsKilled":)", killed, R"(,"numBatchesProcessed":)",
                        batches, "}");
  }

  const std::string folder_;
  SimulatedDruid druid;
};

TEST_F(Kills, TakeUnusedRowsAndTheirFilesAndNothingElse) {
  const std::vector<std::string> ids = LoadThree(druid);
  EXPECT_EQ(Files(), 3u);
  Unuse({ids[0], ids[1]});
  EXPECT_THAT(Kill("kill"), HasSubstr(Counts(2, 2)));
  EXPECT_EQ(Files(), 1u);
  EXPECT_EQ(druid.Get(absl::StrCat(kMetadata, "unusedSegments")).body, "[]");
  EXPECT_THAT(druid.Used(), SizeIs(1));
  EXPECT_THAT(Kill("again"), HasSubstr(Counts(0, 1)));
}

TEST_F(Kills, AreBoundedByLimitBatchVersionsAndDate) {
  const std::vector<std::string> ids = LoadThree(druid);
  Unuse({ids[0]});
  const std::string date = UnusedDate(druid);
  druid.Pass(1'000);
  Unuse({ids[1]});
  EXPECT_THAT(Kill("versions", R"(,"versions":["nope"])"), HasSubstr(Counts(0, 1)));
  EXPECT_THAT(Kill("early", R"(,"maxUsedStatusLastUpdatedTime":"2020-01-01T00:00Z")"),
              HasSubstr(Counts(0, 1)));
  EXPECT_THAT(Kill("date", absl::StrCat(R"(,"maxUsedStatusLastUpdatedTime":")", date,
                                        R"(","batchSize":1)")),
              HasSubstr(Counts(1, 2)));
  EXPECT_EQ(Files(), 2u);
  Unuse({ids[2]});
  EXPECT_THAT(Kill("limit", R"(,"limit":1,"batchSize":1)"), HasSubstr(Counts(1, 1)));
  EXPECT_EQ(Files(), 1u);
}

TEST_F(Kills, TakeNothingOnceTheirLockIsRevoked) {
  const std::vector<std::string> ids = LoadThree(druid);
  Unuse({ids[0]});
  druid.Submit(
      R"({"type":"kill","id":"kill","dataSource":"clicks","interval":"2026-07-16/2026-07-17"})");
  EXPECT_EQ(druid.Run({.id = "batch", .lines = Line(13, 1, "a", 1)}), "SUCCESS");
  EXPECT_EQ(druid.StatusCode("kill"), "FAILED");
  EXPECT_EQ(Files(), 4u);
  EXPECT_THAT(druid.Get(absl::StrCat(kMetadata, "unusedSegments")).body, HasSubstr(ids[0]));
}

TEST_F(Kills, LeaveAFileThatAnotherSegmentNamesToo) {
  const std::vector<std::string> ids = LoadThree(druid);
  druid.simulator().WithWorld([&](World& world) {
    Segment* first = world.segments.Find(kDatasource, ids[0]);
    first->load_spec_json = world.segments.Find(kDatasource, ids[2])->load_spec_json;
    first->file = world.segments.Find(kDatasource, ids[2])->file;
  });
  Unuse({ids[0]});
  EXPECT_THAT(Kill("kill"), HasSubstr(Counts(0, 2)));
  EXPECT_EQ(Files(), 3u);
  EXPECT_THAT(druid.Get(absl::StrCat(kMetadata, "unusedSegments")).body, Not(HasSubstr(ids[0])));
}

}  // namespace
}  // namespace interlock::simulator
