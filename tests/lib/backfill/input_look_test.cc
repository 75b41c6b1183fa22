// Inputs that hold nothing for a partition which has rows: seen before a task wipes it.
#include "lib/backfill/input_look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "tests/lib/backfill/backfill_site.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Action = PlannedPartition::Action;

class InputLookTest : public testing::Test {
 protected:
  Plan PlanFor(const std::string& spec, std::optional<int64_t> min_rows = std::nullopt) {
    BackfillRequest request;
    request.spec = spec;
    request.min_rows = min_rows;
    auto plan = site_.backfills().MakePlan(request);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *std::move(plan) : Plan();
  }
  // Rows of the hour 13 alone, over 13 and 14.
  static std::string ShortSpec() {
    return Edited(
        BackfillSite::InlineSpec(13, 14, 3),
        {{"/spec/dataSchema/granularitySpec/intervals", R"(["2026-07-16T13:00:00Z/PT2H"])"}});
  }

  BackfillSite site_;
};

TEST_F(InputLookTest, InlineRowsThatMissAnHourWithRowsAreABlockerOfIt) {
  site_.Load(13, 5);
  site_.Load(14, 5);
  const Plan plan = PlanFor(ShortSpec());
  EXPECT_EQ(plan.partitions[0].action, Action::kRun);
  EXPECT_EQ(plan.partitions[1].action, Action::kBlocked);
  ASSERT_THAT(plan.partitions[1].obstacles, SizeIs(1));
  EXPECT_EQ(plan.partitions[1].obstacles[0].kind, "INPUT");
  EXPECT_EQ(plan.partitions[1].obstacles[0].reason, "INPUT_EMPTY");
  EXPECT_THAT(plan.partitions[1].obstacles[0].remedy, HasSubstr("min_rows 0"));
}

TEST_F(InputLookTest, NoTaskIsSentThatWouldWipeAnHour) {
  site_.Load(14, 5);
  const std::string id = site_.Submit(ShortSpec());
  site_.RunUntilOver(id, absl::Seconds(5));
  EXPECT_EQ(site_.Partitions(id)[0].reason, "INPUT_EMPTY");
  EXPECT_THAT(site_.Partitions(id)[1].blockers, SizeIs(1));
  EXPECT_THAT(site_.OurTasks(), IsEmpty());
  EXPECT_EQ(site_.Rows(14), 5);
}

TEST_F(InputLookTest, WhoExpectsNoRowsHasTheHourEmptied) {
  site_.Load(14, 5);
  EXPECT_EQ(PlanFor(ShortSpec(), 0).partitions[1].action, Action::kRun);
  BackfillRequest request;
  request.spec = ShortSpec();
  request.min_rows = 0;
  const auto submitted = site_.backfills().Submit(request, site_.Caller());
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  EXPECT_EQ(NameOf(site_.RunUntilOver(submitted->backfill.id).backfill.phase), "DONE");
  EXPECT_EQ(site_.Rows(14), 0);
}

TEST_F(InputLookTest, AnHourThatHasNoRowsMayStayWithout) {
  site_.Load(13, 5);
  const Plan plan = PlanFor(ShortSpec());
  EXPECT_EQ(plan.partitions[1].action, Action::kRun);
  EXPECT_THAT(plan.partitions[1].obstacles, IsEmpty());
}

TEST_F(InputLookTest, ALineThatCantBeReadLeavesAllOfItOpen) {
  site_.Load(13, 5);
  EXPECT_EQ(PlanFor(BackfillSite::WipingSpec(13)).partitions[0].action, Action::kRun);
}

TEST_F(InputLookTest, FilesAreLookedForHereAndTheirAbsenceIsOnlyTold) {
  site_.Load(13, 5);
  const std::string spec =
      Edited(site_.FilesSpec(13, 14, 3), {{"/spec/ioConfig/inputSource/filter", "\"*.csv\""}});
  const Plan plan = PlanFor(spec);
  EXPECT_EQ(plan.partitions[0].action, Action::kRun);
  ASSERT_THAT(plan.partitions[0].obstacles, SizeIs(1));
  EXPECT_FALSE(plan.partitions[0].obstacles[0].blocking);
  EXPECT_THAT(plan.partitions[0].obstacles[0].message, HasSubstr("as seen from Interlock's host"));
  EXPECT_THAT(PlanFor(site_.FilesSpec(13, 14, 3)).partitions[0].obstacles, IsEmpty());
}

TEST_F(InputLookTest, ADatasourceThatHasNothingThereIsABlocker) {
  site_.Load(13, 5);
  const std::string spec =
      Edited(BackfillSite::InlineSpec(13, 14, 3),
             {{"/spec/ioConfig/inputSource",
               R"({"type":"druid","dataSource":"raw","interval":"2026-07-16T13:00:00Z/PT1H"})"},
              {"/spec/ioConfig/inputFormat", ""}});
  const Plan plan = PlanFor(spec);
  ASSERT_THAT(plan.partitions, SizeIs(1));
  EXPECT_EQ(plan.partitions[0].action, Action::kBlocked);
  EXPECT_THAT(plan.partitions[0].obstacles[0].message, HasSubstr("datasource raw"));
}

class LocalFilesTest : public testing::Test {
 protected:
  LocalFilesTest() {
    std::string name = (std::filesystem::temp_directory_path() / "files-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~LocalFilesTest() override {
    std::error_code gone;
    std::filesystem::remove_all(folder_, gone);
  }
  void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(folder_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::string folder_;
};

TEST_F(LocalFilesTest, CountWhatMatchesAtAnyDepthAndIsNotEmpty) {
  Write("a.json", "{}");
  Write("deep/er/b.json", "{}");
  Write("c.json", "");
  Write("d.csv", "x");
  EXPECT_EQ(CountLocalFiles(folder_, "*.json"), 2u);
  EXPECT_EQ(CountLocalFiles(folder_, "?.csv"), 1u);
  EXPECT_EQ(CountLocalFiles(folder_, "*.tsv"), 0u);
}

TEST_F(LocalFilesTest, AreNotKnownWhereTheFolderIsNotHere) {
  EXPECT_EQ(CountLocalFiles(folder_ + "/none", "*"), std::nullopt);
  EXPECT_EQ(CountLocalFiles(folder_, "[ab].json"), std::nullopt);
}

}  // namespace
}  // namespace interlock::backfill
