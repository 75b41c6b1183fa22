// Faults of the task, the schema and its granularities, and of JSON itself.
#include "tests/lib/backfill/faulty_specs.h"

namespace interlock::backfill {
namespace {

using ::testing::HasSubstr;

std::vector<Faulty> TaskFaults() {
  return {
      {"NoType", {{"/type", ""}}, {"/type"}, "index_parallel"},
      {"OtherType", {{"/type", "\"index\""}}, {"/type"}, "index_parallel"},
      {"Compaction", {{"/type", "\"compact\""}}, {"/type"}, "compaction"},
      {"TypeIsNumber", {{"/type", "3"}}, {"/type"}, "not a string"},
      {"NoSpec", {{"/spec", ""}}, {"/spec"}, "missing"},
      {"SpecIsList", {{"/spec", "[]"}}, {"/spec"}, "not an object"},
      {"NoDataSchema", {{kSchema, ""}}, {kSchema}, "missing"},
      {"NoIoConfig", {{kIo, ""}}, {kIo}, "missing"},
      {"GroupId", {{"/groupId", "\"g\""}}, {"/groupId"}, "locks"},
      {"IdIsNumber", {{"/id", "7"}}, {"/id"}, "not a string"},
      {"OtherDatasourceAbove", {{"/dataSource", "\"other\""}}, {"/dataSource"}, "page_views"},
      {"MisspelledSpec", {{"/contxt", "{}"}}, {"/contxt"}, "`context`"},
      {"MemberInTheWrongPlace",
       {{"/spec/intervals", "[]"}},
       {"/spec/intervals"},
       "granularitySpec"},
  };
}

std::vector<Faulty> SchemaFaults() {
  const std::string source = kSchema + "/dataSource";
  return {
      {"NoDatasource", {{source, ""}}, {source}, "missing"},
      {"EmptyDatasource", {{source, "\"\""}}, {source}, "empty"},
      {"DatasourceIsNumber", {{source, "1"}}, {source}, "not a string"},
      {"Case069SlashInDatasource", {{source, "\"a/b\""}}, {source}, "/"},
      {"Case069DotFirst", {{source, "\".x\""}}, {source}, "starts with"},
      {"Case069Tab", {{source, "\"a\\tb\""}}, {source}, "byte 1"},
      {"Case069Emoji", {{source, "\"a\\ud83d\\ude00\""}}, {source}, "byte 1"},
      {"PlaceholderInDatasource", {{source, "\"ds_{start:%Y}\""}}, {source}, "input alone"},
      {"Case069DatasourceLongerThanDruidsTables",
       {{source, "\"" + std::string(256, 'd') + "\""}},
       {source},
       "256 bytes"},
      {"NoTimestampSpec",
       {{kSchema + "/timestampSpec", ""}},
       {kSchema + "/timestampSpec"},
       "missing"},
      {"TimestampSpecIsString",
       {{kSchema + "/timestampSpec", "\"ts\""}},
       {kSchema + "/timestampSpec"},
       "not an object"},
      {"NoDimensionsSpec",
       {{kSchema + "/dimensionsSpec", ""}},
       {kSchema + "/dimensionsSpec"},
       "missing"},
      {"DimensionsIsObject",
       {{kSchema + "/dimensionsSpec/dimensions", "{}"}},
       {kSchema + "/dimensionsSpec/dimensions"},
       "not a list"},
      {"DimensionIsNumber",
       {{kSchema + "/dimensionsSpec/dimensions/1", "4"}},
       {kSchema + "/dimensionsSpec/dimensions/1"},
       "not an object"},
      {"DimensionWithoutName",
       {{kSchema + "/dimensionsSpec/dimensions/1", R"({"type":"long"})"}},
       {kSchema + "/dimensionsSpec/dimensions/1/name"},
       "missing"},
      {"DimensionTwice",
       {{kSchema + "/dimensionsSpec/dimensions/1", "\"site\""}},
       {kSchema + "/dimensionsSpec/dimensions/1"},
       "already"},
      {"MetricIsDimension",
       {{kSchema + "/metricsSpec/0/name", "\"site\""}},
       {kSchema + "/metricsSpec/0/name"},
       "already"},
      {"MetricsIsObject",
       {{kSchema + "/metricsSpec", "{}"}},
       {kSchema + "/metricsSpec"},
       "not a list"},
      {"MetricWithoutType",
       {{kSchema + "/metricsSpec/0/type", ""}},
       {kSchema + "/metricsSpec/0/type"},
       "missing"},
      {"SumWithoutField",
       {{kSchema + "/metricsSpec/1/fieldName", ""}},
       {kSchema + "/metricsSpec/1/fieldName"},
       "missing"},
      {"Parser", {{kSchema + "/parser", "{}"}}, {kSchema + "/parser"}, "old form"},
      {"MisspelledGranularitySpec",
       {{kSchema + "/granularityspec", "{}"}},
       {kSchema + "/granularityspec"},
       "`granularitySpec`"},
  };
}

std::vector<Faulty> GranularityFaults() {
  const std::string segment = kGranularity + "/segmentGranularity";
  const std::string intervals = kGranularity + "/intervals";
  return {
      {"NoGranularitySpec", {{kGranularity, ""}}, {kGranularity}, "missing"},
      {"ArbitraryGranularity",
       {{kGranularity + "/type", "\"arbitrary\""}},
       {kGranularity + "/type"},
       "uniform"},
      {"NoSegmentGranularity", {{segment, ""}}, {segment}, "missing"},
      {"UnknownGranularity", {{segment, "\"HOURS\""}}, {segment}, "HOURS"},
      {"GranularityNone", {{segment, "\"NONE\""}}, {segment}, "runs out of memory"},
      {"GranularityOfUnknownType", {{segment, R"({"type":"moon"})"}}, {segment + "/type"}, "moon"},
      {"BadPeriod", {{segment, R"({"type":"period","period":"P1"})"}}, {segment + "/period"}, "P1"},
      {"BadZone",
       {{segment, R"({"type":"period","period":"P1D","timeZone":"Mars/Utopia"})"}},
       {segment},
       "Mars"},
      {"Case032DurationWithOrigin",
       {{segment, R"({"type":"duration","duration":86400000,"origin":"1970-01-01T18:19:00Z"})"}},
       {segment},
       "origin"},
      {"BadQueryGranularity",
       {{kGranularity + "/queryGranularity", "\"MINUTES\""}},
       {kGranularity + "/queryGranularity"},
       "MINUTES"},
      {"RollupIsString",
       {{kGranularity + "/rollup", "\"yes\""}},
       {kGranularity + "/rollup"},
       "true or false"},
      {"Case001NoIntervals", {{intervals, ""}}, {intervals, kIo + "/dropExisting"}, "missing"},
      {"EmptyIntervals", {{intervals, "[]"}}, {intervals, kIo + "/dropExisting"}, "empty"},
      {"IntervalsIsString", {{intervals, kHour}}, {intervals}, "not a list"},
      {"IntervalIsNumber", {{intervals + "/0", "5"}}, {intervals + "/0"}, "not a string"},
      {"IntervalIsNull", {{intervals + "/0", "null"}}, {intervals + "/0"}, "null"},
      {"UnparsableInterval",
       {{intervals + "/0", "\"yesterday\""}},
       {intervals + "/0"},
       "yesterday"},
      {"BackwardsInterval",
       {{intervals + "/0", "\"2026-07-17/2026-07-16\""}},
       {intervals + "/0"},
       "2026-07-17"},
      {"EmptyInterval",
       {{intervals + "/0", "\"2026-07-16/2026-07-16\""}},
       {intervals + "/0"},
       "is empty"},
      {"OverlappingIntervals",
       {{intervals, absl::StrCat("[", kHour, ",", kHour, "]")}},
       {intervals + "/1"},
       "overlaps"},
      {"UnalignedInterval",
       {{intervals + "/0", "\"2026-07-16T13:30/2026-07-16T16:30\""}},
       {intervals + "/0"},
       "lost"},
      {"Case026WeekOverAMonth",
       {{segment, "\"WEEK\""}, {intervals + "/0", "\"2015-02-01/2015-03-01\""}},
       {intervals + "/0"},
       "lost"},
      {"Case030UtcDayInNewYork",
       {{segment, R"({"type":"period","period":"P1D","timeZone":"America/New_York"})"},
        {intervals + "/0", "\"2020-06-01/2020-06-02\""}},
       {intervals + "/0"},
       "lost"},
      {"Case025AllGranularityOverADay",
       {{segment, "\"ALL\""}, {intervals + "/0", "\"2026-07-16/2026-07-17\""}},
       {intervals + "/0"},
       "lost"},
      {"Case023EternityByDay",
       {{segment, "\"DAY\""},
        {intervals + "/0", "\"-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z\""}},
       {intervals},
       "10000"},
  };
}

TEST(SpecFaults, TheGoodSpecHasNone) {
  const SpecCheck check = CheckSpec(GoodSpec(), {});
  EXPECT_TRUE(check.spec) << Faults(check);
  EXPECT_TRUE(check.warnings.empty());
  EXPECT_TRUE(SpecStatus(check).ok());
  EXPECT_EQ(check.corrected, "");
}

TEST(SpecFaults, OfTheTaskAreEachFound) { ExpectEachFound(TaskFaults()); }
TEST(SpecFaults, OfTheSchemaAreEachFound) { ExpectEachFound(SchemaFaults()); }
TEST(SpecFaults, OfGranularitiesAreEachFound) { ExpectEachFound(GranularityFaults()); }

// A year of one segment re-ingested by months: where a month has no input, the year would
// stay visible, old rows and all.
TEST(SpecFaults, Case017FinerSegmentsOverACoarserOneNeedDropExisting) {
  const Edits months = {{kGranularity + "/segmentGranularity", "\"MONTH\""},
                        {kGranularity + "/intervals", R"(["2020-01-01/2021-01-01"])"}};
  EXPECT_TRUE(CheckSpec(GoodSpecWith(months), {}).spec);
  Edits without = months;
  without.emplace_back(kIo + "/dropExisting", "false");
  const SpecCheck check = CheckSpec(GoodSpecWith(without), {});
  EXPECT_FALSE(check.spec);
  EXPECT_THAT(FaultPointers(check), testing::ElementsAre(kIo + "/dropExisting"));
  EXPECT_THAT(check.faults[0].found, testing::HasSubstr("the old rows would stay visible"));
}

TEST(SpecFaults, AreAllReportedTogether) {
  const SpecCheck check = CheckSpec(GoodSpecWith({{"/type", "\"index\""},
                                                  {kSchema + "/dataSource", "\"a/b\""},
                                                  {kSchema + "/timestampSpec", ""},
                                                  {kGranularity + "/intervals/0", "\"x\""},
                                                  {kIo + "/appendToExisting", "true"},
                                                  {kIo + "/inputFormat", ""},
                                                  {kPartitions + "/numShards", "0"},
                                                  {"/context", R"({"priority":90})"}}),
                                    {});
  EXPECT_EQ(check.faults.size(), 10u) << Faults(check);  // append breaks perfect roll-up too
}

TEST(SpecFaults, OfJsonItselfAreFound) {
  EXPECT_THAT(Faults(CheckSpec("{\"type\":", {})), HasSubstr("is not JSON"));
  EXPECT_THAT(Faults(CheckSpec("[1]", {})), HasSubstr("no JSON object"));
  EXPECT_THAT(Faults(CheckSpec("", {})), HasSubstr("is not JSON"));
  EXPECT_THAT(Faults(CheckSpec("{\"a\":\"\xff\"}", {})), HasSubstr("is not JSON"));
  EXPECT_THAT(Faults(CheckSpec(std::string(5 << 20, ' '), {})), HasSubstr("bytes long"));
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(Faults(CheckSpec("{\"type\":" + deep + "}", {})), HasSubstr("levels deep"));
}

TEST(SpecFaults, MembersThatStandTwiceAreFoundWhereTheyStand) {
  std::string json = GoodSpec();
  json.insert(json.find("\"dropExisting\""), "\"dropExisting\":false,");
  const SpecCheck check = CheckSpec(json, {});
  ASSERT_FALSE(check.faults.empty());
  EXPECT_EQ(check.faults[0].pointer, "/spec/ioConfig/dropExisting");
  EXPECT_THAT(check.faults[0].found, HasSubstr("twice"));

  const SpecCheck in_list = CheckSpec(R"({"type":"index_parallel","x~/y":[1,{"a":1,"a":2}]})", {});
  EXPECT_EQ(in_list.faults[0].pointer, "/x~0~1y/1/a");
}

// A tree holds such an integer as a double: Druid would be sent another one.
TEST(SpecFaults, IntegersThatWouldArriveRoundedAreFoundWhereTheyStand) {
  std::string json = GoodSpec();
  json.insert(1, R"("context":{"seed":123456789012345678901,"list":[1,-9223372036854775809],)"
                 R"("fits":[18446744073709551615,-9223372036854775808,1e30,0.1,2.50]},)");
  const SpecCheck check = CheckSpec(json, {});
  EXPECT_THAT(FaultPointers(check), testing::ElementsAre("/context/seed", "/context/list/1"));
  ASSERT_FALSE(check.faults.empty());
  EXPECT_THAT(check.faults[0].found,
              HasSubstr("123456789012345678901, an integer of more than 64"));
}

TEST(SpecFaults, UnknownMembersThatLookLikeNothingAreOnlyWarnedOf) {
  const SpecCheck check = CheckSpec(GoodSpecWith({{kIo + "/zebra", "1"}}), {});
  ASSERT_TRUE(check.spec) << Faults(check);
  ASSERT_EQ(check.warnings.size(), 1u);
  EXPECT_EQ(check.warnings[0].pointer, kIo + "/zebra");
}

TEST(SpecFaults, UnknownInputSourcesAreOnlyWarnedOf) {
  const SpecCheck check = CheckSpec(
      GoodSpecWith({{kSource, R"({"type":"mainframe"})"}, {kIo + "/inputFormat", ""}}), {});
  ASSERT_TRUE(check.spec) << Faults(check);
  ASSERT_EQ(check.warnings.size(), 1u);
}

}  // namespace
}  // namespace interlock::backfill
