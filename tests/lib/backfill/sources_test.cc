// Where a derived table comes from: mappings, cycles, faults, and what its task then reads.
#include "lib/backfill/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/backfill/json_members.h"
#include "lib/backfill/units.h"
#include "lib/time/status_reason.h"
#include "rapidjson/pointer.h"

namespace interlock::backfill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using Mapping = Source::Mapping;

Interval Of(const std::string& text) { return *Interval::Parse(text); }
Instant At(const std::string& text) { return *Instant::Parse(text); }
Source From(const std::string& datasource, Mapping mapping = Mapping::kSame) {
  Source source;
  source.datasource = datasource;
  source.mapping = mapping;
  if (mapping == Mapping::kFromStart) source.origin = At("2026-07-01T00:00:00Z");
  return source;
}

std::string Totals(const std::string& time, const std::string& source = "orders") {
  return absl::StrCat(
      R"({"type":"index_parallel","spec":{"dataSchema":{"dataSource":"totals","timestampSpec":)",
      time, R"(,"granularitySpec":{"segmentGranularity":"DAY"}},"ioConfig":{"inputSource":)",
      R"({"type":"druid","dataSource":")", source, R"(","interval":"{start}/{end}"}}}})");
}
constexpr char kAtStart[] = R"({"column":"at","missingValue":"{start}"})";
constexpr char kOwnTime[] = R"({"column":"__time","format":"millis"})";

TEST(Sources, AChangeTouchesThePartitionsThatCoverIt) {
  const Granularity day = *Granularity::FromName("DAY");
  const Granularity month = *Granularity::FromName("MONTH");
  const Interval hour = Of("2026-07-05T13/PT1H");
  EXPECT_THAT(TouchedBy(From("orders"), Of("2026-07-05/P1D"), day, Instant::kMin),
              ElementsAre(Of("2026-07-05/P1D")));
  EXPECT_THAT(TouchedBy(From("orders", Mapping::kCovering), hour, month, Instant::kMin),
              ElementsAre(Of("2026-07-01/P1M")));
  EXPECT_THAT(TouchedBy(From("orders", Mapping::kCovering), Of("2026-07-31/2026-08-02"), month,
                        Instant::kMin),
              ElementsAre(Of("2026-07-01/P2M")));
}

TEST(Sources, ARunningTotalIsTouchedFromTheChangeToItsEnd) {
  const Granularity day = *Granularity::FromName("DAY");
  const Source source = From("orders", Mapping::kFromStart);
  const Instant end = At("2026-07-15T00:00:00Z");
  EXPECT_THAT(TouchedBy(source, Of("2026-07-05T13/PT1H"), day, end),
              ElementsAre(Of("2026-07-05/2026-07-15")));
  // A new last day.
  EXPECT_THAT(TouchedBy(source, Of("2026-07-15/P1D"), day, end), ElementsAre(Of("2026-07-15/P1D")));
  // What lies before its origin is no part of it.
  EXPECT_THAT(TouchedBy(source, Of("2026-06-30/P1D"), day, end), IsEmpty());
  EXPECT_THAT(TouchedBy(source, Of("2026-06-30/P2D"), day, end),
              ElementsAre(Of("2026-07-01/2026-07-15")));
  EXPECT_EQ(ReadBy(source, Of("2026-07-05/P1D")), Of("2026-07-01/2026-07-06"));
  EXPECT_EQ(ReadBy(From("orders"), Of("2026-07-05/P1D")), Of("2026-07-05/P1D"));
}

TEST(Sources, ACycleIsFoundAndToldAsAWay) {
  const Derivations derivations = {
      {"month", {"day", "rates"}}, {"day", {"orders"}}, {"orders", {"month"}}, {"year", {"month"}}};
  EXPECT_EQ(CycleFrom(derivations, "month"), "month ← day ← orders ← month");
  EXPECT_EQ(CycleFrom({{"a", {"a"}}}, "a"), "a ← a");
  EXPECT_EQ(CycleFrom({{"month", {"day"}}, {"year", {"month", "day"}}}, "year"), "");
  EXPECT_THAT(AncestorsOf({{"year", {"month"}}, {"month", {"day", "rates"}}}, "year"),
              UnorderedElementsAre("month", "day", "rates"));
}

TEST(Sources, ComeBackFromTheStoreAsTheyWent) {
  Source corrected = From("orders", Mapping::kFromStart);
  corrected.reads = Source::Reads::kCorrected;
  corrected.corrections_datasource = "orders__corrections";
  const std::vector<Source> sources = {corrected, From("rates", Mapping::kCovering), From("days")};
  EXPECT_EQ(SourcesFrom(ToJson(sources)), sources);
  EXPECT_EQ(ToJson(std::vector<Source>()), "");
  EXPECT_THAT(SourcesFrom(""), IsEmpty());
}

TEST(Sources, FaultsAreToldAllAtOnce) {
  Source no_origin = From("orders", Mapping::kFromStart);
  no_origin.origin.reset();
  Source twice = From("orders");
  twice.origin = At("2026-07-01T00:00:00Z");
  Source corrected = From("rates");
  corrected.reads = Source::Reads::kCorrected;
  corrected.corrections_datasource = "rates__corrections";
  const absl::Status status =
      CheckSources({no_origin, twice, corrected, From("a/b")}, Totals(kOwnTime), false);
  EXPECT_EQ(ReasonOf(status), "SOURCE_INVALID");
  std::vector<std::string> pointers;
  for (const Fault& fault : FaultsOf(status)) pointers.push_back(fault.pointer);
  EXPECT_THAT(pointers, ElementsAre("/job/sources/0/origin", "/job/sources/0/mapping",
                                    "/job/sources/1/datasource", "/job/sources/1/origin",
                                    "/job/sources/2/reads", "/job/sources/3/datasource"));
  EXPECT_TRUE(CheckSources({From("orders", Mapping::kFromStart)}, Totals(kAtStart), false).ok());
  // Druid's combining source reads no two datasources (33: "Implement this method properly").
  Source total = From("orders", Mapping::kFromStart);
  total.reads = Source::Reads::kCorrected;
  total.corrections_datasource = "orders__corrections";
  EXPECT_THAT(FaultsOf(CheckSources({total}, Totals(kAtStart), false)), SizeIs(1));
  total.mapping = Mapping::kSame;
  total.origin.reset();
  EXPECT_TRUE(CheckSources({total}, Totals(kOwnTime), false).ok());
  EXPECT_TRUE(CheckSources({}, "", false).ok());
}

TEST(Sources, AQuerySaysForItselfWhatItReads) {
  const std::string query = R"({"query":"REPLACE INTO totals …"})";
  EXPECT_TRUE(CheckSources({From("orders", Mapping::kFromStart)}, query, true).ok());
  Source corrected = From("orders");
  corrected.reads = Source::Reads::kCorrected;
  corrected.corrections_datasource = "orders__corrections";
  EXPECT_THAT(FaultsOf(CheckSources({corrected}, query, true)), SizeIs(1));
}

class Rendered : public testing::Test {
 protected:
  std::string At(const std::string& json, const char* pointer) {
    rapidjson::Document document;
    if (!ReadJsonObject(json, &document)) return "none";
    const JsonValue* value = rapidjson::Pointer(pointer).Get(document);
    return value == nullptr ? "nothing" : WriteJson(*value);
  }
  static SourceRead ReadOf(const std::string& datasource) {
    SourceRead read;
    read.datasource = datasource;
    read.interval = Of("2026-07-01/2026-07-06");
    return read;
  }
  std::string Render(const std::vector<SourceRead>& reads) {
    const Interval day = Of("2026-07-05/P1D");
    return RenderTask(Totals(kAtStart), Unit{{day}, {day}}, {"il-1", "bf-1", 1, "n"}, reads);
  }
};

TEST_F(Rendered, ARunningTotalReadsFromItsOriginAndStandsAtTheUnitsStart) {
  const std::string task = Render({ReadOf("orders")});
  EXPECT_EQ(At(task, "/spec/ioConfig/inputSource/interval"),
            R"("2026-07-01T00:00:00.000Z/2026-07-06T00:00:00.000Z")");
  EXPECT_EQ(At(task, "/spec/dataSchema/timestampSpec/missingValue"),
            R"("2026-07-05T00:00:00.000Z")");
}

TEST_F(Rendered, CorrectedPartitionsAreReadWhereTheCorrectionsAre) {
  SourceRead read = ReadOf("orders");
  read.interval = Of("2026-07-05/P1D");
  read.corrections_datasource = "orders__corrections";
  EXPECT_EQ(At(Render({read}), "/spec/ioConfig/inputSource/dataSource"), R"("orders")");
  read.corrected = {read.interval};
  EXPECT_EQ(At(Render({read}), "/spec/ioConfig/inputSource/dataSource"),
            R"("orders__corrections")");
}

TEST_F(Rendered, AnotherDatasourcesInputIsLeftAsItWas) {
  const std::string task = Render({ReadOf("rates")});
  EXPECT_EQ(At(task, "/spec/ioConfig/inputSource/interval"),
            R"("2026-07-05T00:00:00.000Z/2026-07-06T00:00:00.000Z")");
}

}  // namespace
}  // namespace interlock::backfill
