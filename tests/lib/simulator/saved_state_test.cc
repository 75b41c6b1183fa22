// What a simulator that is started again still knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/lib/simulator/simulated_druid.h"

namespace interlock::simulator {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class SavedState : public testing::Test {
 protected:
  SavedState() : folder_(testing::TempDir() + "simulator_saved_state_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~SavedState() override { std::filesystem::remove_all(folder_); }

  SimulatorOptions Options() const {
    SimulatorOptions options = SimulatedDruid::Options();
    options.state_file = folder_ + "/state.json";
    options.world.deep_storage = folder_ + "/segments";
    return options;
  }
  const std::string folder_;
};

TEST_F(SavedState, SegmentsRowsMarksAndRulesAreThereAgain) {
  std::vector<std::string> used;
  {
    SimulatedDruid druid(Options());
    druid.Run({.id = "old", .lines = Line(13, 1, "a", 1)});
    druid.Run({.id = "new", .lines = Line(13, 1, "a", 2) + Line(13, 1, "b", 4)});
    const std::vector<std::string> both = druid.Used();
    druid.Post("/druid/indexer/v1/datasources/clicks/markUnused",
               absl::StrCat(R"({"segmentIds":[")", both[0], R"("]})"));
    druid.Post("/druid/coordinator/v1/rules/clicks", R"([{"type":"loadForever"}])");
    used = druid.Used();
  }
  SimulatedDruid druid(Options());
  EXPECT_EQ(druid.Used(), used);
  druid.Pass(1'000);
  EXPECT_EQ(druid.Sum("n"), 6);
  EXPECT_EQ(druid.Get("/druid/coordinator/v1/rules/clicks").body, R"([{"type":"loadForever"}])");
  EXPECT_EQ(
      druid.GetJson("/druid/coordinator/v1/metadata/datasources/clicks/unusedSegments").Size(), 1u);
}

TEST_F(SavedState, IdsStayTakenAndReportsReadable) {
  {
    SimulatedDruid druid(Options());
    druid.Run({.lines = Line(13, 1, "a", 1)});
  }
  SimulatedDruid druid(Options());
  EXPECT_EQ(druid.StatusCode("task"), "SUCCESS");
  EXPECT_EQ(druid.Stat("task", "processed"), 1);
  EXPECT_EQ(druid.Submit(Ingestion{.lines = Line(13, 1, "a", 1)}.Json()).status, 400);
}

TEST_F(SavedState, ATaskThatHadNotEndedStartsAnewAndPublishesOnce) {
  {
    SimulatedDruid druid(Options());
    druid.Submit(Ingestion{.lines = Line(13, 1, "a", 1), .context = R"({"nonce":"7f"})"}.Json());
    druid.Submit(Ingestion{.id = "waits", .lines = Line(13, 1, "a", 2)}.Json());
  }
  SimulatedDruid druid(Options());
  EXPECT_EQ(druid.RunnerCode("task"), "RUNNING");
  EXPECT_EQ(druid.RunnerCode("waits"), "WAITING");
  EXPECT_THAT(druid.Get("/druid/indexer/v1/task/task").body, HasSubstr(R"("nonce":"7f")"));
  druid.Pass(200);
  EXPECT_EQ(druid.StatusCode("waits"), "SUCCESS");
  EXPECT_THAT(druid.Used(), SizeIs(2));
}

TEST_F(SavedState, AFileThatIsNoneIsRefused) {
  std::ofstream(folder_ + "/state.json") << "{\"segments\":5}";
  FakeClock clock;
  SimulatorOptions options = Options();
  options.clock = &clock;
  EXPECT_EQ(Simulator::Start(options).status().code(), absl::StatusCode::kInvalidArgument);
  options.world.deep_storage.clear();
  EXPECT_EQ(Simulator::Start(options).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace interlock::simulator
