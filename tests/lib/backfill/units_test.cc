#include "lib/backfill/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/backfill/json_document.h"
#include "lib/time/reason.h"
#include "rapidjson/pointer.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kIntervals[] = "/spec/dataSchema/granularitySpec/intervals";
constexpr char kSource[] = "/spec/ioConfig/inputSource";

Spec Checked(const std::string& json) {
  const SpecCheck check = CheckSpec(json, {});
  EXPECT_TRUE(check.spec) << Faults(check);
  return *check.spec;
}

Cut CutOf(const std::string& json) {
  const auto cut = CutIntoUnits(Checked(json));
  EXPECT_TRUE(cut.ok()) << cut.status();
  return *cut;
}

std::string At(const std::string& json, const char* pointer) {
  rapidjson::Document document;
  document.Parse(json);
  const rapidjson::Value* value = rapidjson::Pointer(pointer).Get(document);
  return value == nullptr ? "" : WriteJson(*value);
}

std::string Rendered(const std::string& json, size_t unit) {
  return RenderTask(Checked(json).json, CutOf(json).units[unit], {"il-1", "bf-1", 2, "n0nce"});
}

TEST(Units, ArePartitionsWhereTheInputNarrows) {
  const Cut cut = CutOf(SpecFile("day-placeholder.json"));
  ASSERT_EQ(cut.units.size(), 24u);
  for (const Unit& unit : cut.units) EXPECT_EQ(unit.partitions.size(), 1u);
  EXPECT_THAT(cut.finer, IsEmpty());
  EXPECT_THAT(cut.why, HasSubstr("each of the 24"));
  const std::string task = Rendered(SpecFile("day-placeholder.json"), 7);
  EXPECT_EQ(At(task, kSource),
            R"({"type":"s3","prefixes":["s3://raw/page_views/dt=2025-11-13/h=07/"]})");
  EXPECT_EQ(At(task, kIntervals), R"(["2025-11-13T07:00:00.000Z/2025-11-13T08:00:00.000Z"])");
}

TEST(Units, OfInputThatDoesNotNarrowIsOneAndThePlanSaysWhatWouldGiveMore) {
  const Cut cut = CutOf(SpecFile("day-hashed.json"));
  ASSERT_EQ(cut.units.size(), 1u);
  EXPECT_EQ(cut.units[0].partitions.size(), 24u);
  EXPECT_EQ(cut.units[0].key(), "2025-11-13T00:00:00.000Z/2025-11-14T00:00:00.000Z");
  EXPECT_THAT(cut.why, HasSubstr("read all of it 24 times"));
  EXPECT_THAT(cut.finer, HasSubstr("24 tasks and restart points"));
}

TEST(Units, OfADruidSourceNarrowItsIntervalTogetherWithIntervals) {
  EXPECT_EQ(CutOf(SpecFile("reindex-druid.json")).units.size(), 24u);
  const std::string task = Rendered(SpecFile("reindex-druid.json"), 23);
  const std::string hour = "2025-11-13T23:00:00.000Z/2025-11-14T00:00:00.000Z";
  EXPECT_EQ(At(task, "/spec/ioConfig/inputSource/interval"), "\"" + hour + "\"");
  EXPECT_EQ(At(task, kIntervals), "[\"" + hour + "\"]");
}

TEST(Units, ThatReadTheSameInputAreOne) {
  const std::string json = Edited(
      SpecFile("day-placeholder.json"),
      {{"/spec/ioConfig/inputSource/prefixes/0", "\"s3://raw/page_views/dt={start:%Y-%m-%d}/\""},
       {"/spec/dataSchema/granularitySpec/intervals/0",
        "\"2025-11-13T22:00Z/2025-11-14T03:00Z\""}});
  const Cut cut = CutOf(json);
  ASSERT_EQ(cut.units.size(), 2u);
  EXPECT_EQ(cut.units[0].partitions.size(), 2u);
  EXPECT_EQ(cut.units[1].partitions.size(), 3u);
  EXPECT_THAT(cut.finer, HasSubstr("as fine as"));
}

TEST(Units, OfSeveralIntervalsKeepTheGapBetweenThem) {
  const std::string json = GoodSpecWith(
      {{kIntervals, R"(["2026-07-16T13Z/2026-07-16T14Z","2026-07-16T16Z/2026-07-16T18Z"])"}});
  const Cut cut = CutOf(json);
  ASSERT_EQ(cut.units.size(), 1u);
  EXPECT_EQ(cut.units[0].partitions.size(), 3u);
  EXPECT_EQ(cut.units[0].intervals.size(), 2u);
  EXPECT_EQ(At(Rendered(json, 0), kIntervals),
            R"(["2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z",)"
            R"("2026-07-16T16:00:00.000Z/2026-07-16T18:00:00.000Z"])");
}

TEST(Units, CombinedWithInputThatDoesNotNarrowAreOne) {
  const std::string json = GoodSpecWith({{kSource, R"({"type":"combining","delegates":[
          {"type":"local","baseDir":"/d/{start:%H}","filter":"*"},
          {"type":"local","baseDir":"/e","filter":"*"}]})"},
                                         {kIntervals, R"(["2026-07-16T13Z/2026-07-16T15Z"])"}});
  EXPECT_EQ(CutOf(json).units.size(), 1u);
}

TEST(Units, AreBoundedInPartitions) {
  const Spec spec = Checked(SpecFile("day-hashed.json"));
  const auto cut = CutIntoUnits(spec, 23);
  EXPECT_EQ(cut.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ReasonOf(cut.status()), "UNIT_TOO_LARGE");
}

TEST(Units, TooLargeForOneTaskAreAFaultOfTheSpec) {
  const SpecCheck check = CheckSpec(
      Edited(SpecFile("day-hashed.json"), {{kIntervals, R"(["2025-01-01T00Z/2025-03-01T00Z"])"}}),
      {});
  EXPECT_THAT(FaultPointers(check), ElementsAre(kIntervals));
}

TEST(RenderTask, PinsTheIdAndSaysWhoItIsBesideTheUsersContext) {
  const std::string task =
      Rendered(GoodSpecWith({{"/context", R"({"priority":30})"}, {"/id", "\"mine\""}}), 0);
  EXPECT_EQ(At(task, "/id"), "\"il-1\"");
  EXPECT_EQ(At(task, "/context"),
            R"({"priority":30,"interlock":{"backfill":"bf-1","attempt":2,"nonce":"n0nce"}})");
  EXPECT_EQ(NonceIn(At(task, "/context/interlock")), "n0nce");
}

TEST(RenderTask, FillsInRowFiltersAndLeavesInlineDataAlone) {
  const std::string json = GoodSpecWith(
      {{"/spec/dataSchema/transformSpec",
        R"({"filter":{"type":"selector","dimension":"d","value":"{start:%Y-%m-%d}"}})"},
       {kSource, R"({"type":"inline","data":"{\"a\":\"{start}\"}"})"}});
  const std::string task = Rendered(json, 0);
  EXPECT_EQ(At(task, "/spec/dataSchema/transformSpec/filter/value"), "\"2026-07-16\"");
  EXPECT_EQ(At(task, "/spec/ioConfig/inputSource/data"), R"("{\"a\":\"{start}\"}")");
}

TEST(NonceIn, IsEmptyWhereThereIsNone) {
  EXPECT_EQ(NonceIn(""), "");
  EXPECT_EQ(NonceIn("7"), "");
  EXPECT_EQ(NonceIn("{\"nonce\":7}"), "");
}

}  // namespace
}  // namespace interlock::backfill
