// Every kind of fault, alone in an otherwise good spec: found where it stands, named,
// and nothing else with it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lib/backfill/spec.h"
#include "lib/time/status_reason.h"
#include "tests/lib/backfill/spec_editing.h"

namespace interlock::backfill {
namespace {

using ::testing::HasSubstr;

constexpr char kHour[] = R"("2026-07-16T13:00:00Z/2026-07-16T14:00:00Z")";
const std::string kSchema = "/spec/dataSchema";
const std::string kGranularity = "/spec/dataSchema/granularitySpec";
const std::string kIo = "/spec/ioConfig";
const std::string kSource = "/spec/ioConfig/inputSource";
const std::string kTuning = "/spec/tuningConfig";
const std::string kPartitions = "/spec/tuningConfig/partitionsSpec";

struct Faulty {
  const char* kind;
  Edits edits;
  std::vector<std::string> pointers;  // of all faults, in order
  const char* says;                   // in the first fault's found or would_do
};

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
      {"GranularityNone", {{segment, "\"NONE\""}}, {segment}, "millisecond"},
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

std::vector<Faulty> InputFaults() {
  const std::string type = kSource + "/type";
  const auto source = [](const char* json) { return Edits{{kSource, json}}; };
  const char* druid_out =
      R"({"type":"druid","dataSource":"raw","interval":"2026-07-16T12:00Z/2026-07-16T14:00Z"})";
  const char* druid_part =
      R"({"type":"druid","dataSource":"raw","interval":"2026-07-16T13:00Z/2026-07-16T13:30Z"})";
  const char* combined = R"({"type":"combining","delegates":[
      {"type":"local","baseDir":"/d","filter":"*"},
      {"type":"druid","dataSource":"page_views","interval":"2026-07-16T13:00Z/2026-07-16T14:00Z"}]})";
  return {
      {"Appends",
       {{kIo + "/appendToExisting", "true"}, {kTuning, ""}},
       {kIo + "/appendToExisting"},
       "again"},
      {"AppendIsString",
       {{kIo + "/appendToExisting", "\"false\""}},
       {kIo + "/appendToExisting"},
       "true or false"},
      {"Case017DropExistingFalse",
       {{kIo + "/dropExisting", "false"}},
       {kIo + "/dropExisting"},
       "stay visible"},
      {"NoDropExisting", {{kIo + "/dropExisting", ""}}, {kIo + "/dropExisting"}, "missing"},
      {"MisspelledDropExisting",
       {{kIo + "/dropexisting", "true"}},
       {kIo + "/dropexisting"},
       "`dropExisting`"},
      {"OtherIoType", {{kIo + "/type", "\"index\""}}, {kIo + "/type"}, "index_parallel"},
      {"NoIoType", {{kIo + "/type", ""}}, {kIo + "/type"}, "missing"},
      {"NoInputSource", {{kSource, ""}}, {kSource}, "missing"},
      {"SourceWithoutType", {{type, ""}}, {type}, "missing"},
      {"SourceOfAnotherName", source(R"({"type":"gs","uris":["gs://a/b"]})"), {type}, "google"},
      {"Firehose", {{kIo + "/firehose", "{}"}}, {kIo + "/firehose"}, "old form"},
      {"NoInputFormat", {{kIo + "/inputFormat", ""}}, {kIo + "/inputFormat"}, "missing"},
      {"FormatWithoutType", {{kIo + "/inputFormat", "{}"}}, {kIo + "/inputFormat/type"}, "missing"},
      {"InlineWithoutData", source(R"({"type":"inline","data":""})"), {kSource + "/data"}, "empty"},
      {"LocalWithoutFilter", {{kSource + "/filter", ""}}, {kSource + "/filter"}, "missing"},
      {"LocalWithoutAnything", source(R"({"type":"local"})"), {kSource}, "nothing to read"},
      {"HttpWithoutUris", source(R"({"type":"http"})"), {kSource}, "uris"},
      {"S3WithoutPaths", source(R"({"type":"s3"})"), {kSource}, "prefixes"},
      {"S3Twice",
       source(R"({"type":"s3","uris":["s3://a/b"],"prefixes":["s3://a/"]})"),
       {kSource + "/prefixes"},
       "beside uris"},
      {"S3EmptyList", source(R"({"type":"s3","prefixes":[]})"), {kSource + "/prefixes"}, "empty"},
      {"DruidOutside", source(druid_out), {kSource + "/interval"}, "outside"},
      {"DruidReadsAPart", source(druid_part), {kSource + "/interval"}, "emptied"},
      {"DruidIntervalGarbage",
       source(R"({"type":"druid","dataSource":"raw","interval":"today"})"),
       {kSource + "/interval"},
       "no interval"},
      {"DruidWithoutInterval",
       source(R"({"type":"druid","dataSource":"raw"})"),
       {kSource},
       "what to read"},
      {"Case003TargetCombinedWithNewRows",
       source(combined),
       {kSource + "/delegates/1"},
       "add it again"},
      {"CombiningNothing",
       source(R"({"type":"combining","delegates":[]})"),
       {kSource + "/delegates"},
       "empty"},
      {"UnknownPlaceholder",
       {{kSource + "/filter", "\"{day:%d}.json\""}},
       {kSource + "/filter"},
       "no placeholder"},
      {"UnknownDirective",
       {{kSource + "/filter", "\"{start:%y}.json\""}},
       {kSource + "/filter"},
       "directive"},
      {"ForeignTemplate",
       {{kSource + "/filter", "\"{{ ds }}.json\""}},
       {kSource + "/filter"},
       "another tool"},
      {"OpenPlaceholder",
       {{kSource + "/filter", "\"{start.json\""}},
       {kSource + "/filter"},
       "lacks"},
      {"PathOfTheEndAlone",
       {{kSource + "/filter", "\"{end:%H}.json\""}},
       {kSource + "/filter"},
       "first moment after"},
      {"PathThatClimbsOut",
       {{kSource + "/baseDir", "\"/data/{start:%Y}/../x\""}},
       {kSource + "/baseDir"},
       "outside"},
  };
}

std::vector<Faulty> TuningFaults() {
  const auto partitions = [](const char* json) { return Edits{{kPartitions, json}}; };
  const std::string guaranteed = kTuning + "/forceGuaranteedRollup";
  return {
      {"OtherTuningType",
       {{kTuning + "/type", "\"kafka\""}},
       {kTuning + "/type"},
       "index_parallel"},
      {"TuningIsList", {{kTuning, "[]"}}, {kTuning}, "not an object"},
      {"DynamicWithGuarantee", partitions(R"({"type":"dynamic"})"), {guaranteed}, "dynamic"},
      {"DynamicOfNoRows",
       {{kPartitions, R"({"type":"dynamic","maxRowsPerSegment":0})"}, {guaranteed, "false"}},
       {kPartitions + "/maxRowsPerSegment"},
       "positive"},
      {"HashedWithoutGuarantee", {{guaranteed, ""}}, {guaranteed}, "hashed"},
      {"GuaranteeIsString", {{guaranteed, "\"true\""}}, {guaranteed}, "true or false"},
      {"UnknownPartitions", partitions(R"({"type":"random"})"), {kPartitions + "/type"}, "random"},
      {"PartitionsWithoutType", {{kPartitions + "/type", ""}}, {kPartitions + "/type"}, "missing"},
      {"RangeWithoutDimensions",
       partitions(R"({"type":"range","targetRowsPerSegment":5})"),
       {kPartitions + "/partitionDimensions"},
       "missing"},
      {"RangeWithoutRows",
       partitions(R"({"type":"range","partitionDimensions":["site"]})"),
       {kPartitions + "/targetRowsPerSegment"},
       "missing"},
      {"RangeWithBothRows",
       partitions(R"({"type":"range","partitionDimensions":["site"],"targetRowsPerSegment":5,
                      "maxRowsPerSegment":6})"),
       {kPartitions + "/maxRowsPerSegment"},
       "beside"},
      {"HashedRowsAndShards",
       {{kPartitions + "/numShards", "2"}},
       {kPartitions + "/numShards"},
       "beside"},
      {"NegativeRows",
       {{kPartitions + "/targetRowsPerSegment", "-5"}},
       {kPartitions + "/targetRowsPerSegment"},
       "positive"},
      {"RowsBeyondAnInt",
       {{kPartitions + "/targetRowsPerSegment", "3000000000"}},
       {kPartitions + "/targetRowsPerSegment"},
       "32-bit"},
      {"RowsAreText",
       {{kPartitions + "/targetRowsPerSegment", "\"5\""}},
       {kPartitions + "/targetRowsPerSegment"},
       "whole number"},
      {"SingleDimWithoutDimension",
       partitions(R"({"type":"single_dim","maxRowsPerSegment":5})"),
       {kPartitions + "/partitionDimension"},
       "missing"},
      {"SingleDimWithAList",
       partitions(R"({"type":"single_dim","maxRowsPerSegment":5,"partitionDimension":"site",
                      "partitionDimensions":["site"]})"),
       {kPartitions + "/partitionDimensions"},
       "`partitionDimension`"},
      {"RangeOverInline",
       {{kSource, R"({"type":"inline","data":"x"})"},
        {kPartitions, R"({"type":"range","partitionDimensions":["site"],"maxRowsPerSegment":5})"}},
       {kPartitions + "/type"},
       "one piece"},
      {"NoSubTasks",
       {{kTuning + "/maxNumConcurrentSubTasks", "0"}},
       {kTuning + "/maxNumConcurrentSubTasks"},
       "positive"},
      {"OldPartitioning", {{kTuning + "/numShards", "3"}}, {kTuning + "/numShards"}, "old form"},
      {"MisspelledPartitionsSpec",
       {{kTuning + "/partitionSpec", "{}"}},
       {kTuning + "/partitionSpec"},
       "`partitionsSpec`"},
  };
}

std::vector<Faulty> ContextFaults() {
  const auto context = [](const char* json) { return Edits{{"/context", json}}; };
  return {
      {"ContextIsList", context("[]"), {"/context"}, "not an object"},
      {"Case044SegmentLocks",
       context(R"({"forceTimeChunkLock":false})"),
       {"/context/forceTimeChunkLock"},
       "stream"},
      {"ConcurrentLocks",
       context(R"({"useConcurrentLocks":true})"),
       {"/context/useConcurrentLocks"},
       "twice"},
      {"SharedLock", context(R"({"useSharedLock":true})"), {"/context/useSharedLock"}, "twice"},
      {"ReplaceLock",
       context(R"({"taskLockType":"REPLACE"})"),
       {"/context/taskLockType"},
       "EXCLUSIVE"},
      {"PriorityAboveStreams", context(R"({"priority":76})"), {"/context/priority"}, "75"},
      {"PriorityIsText", context(R"({"priority":"high"})"), {"/context/priority"}, "whole number"},
      {"OurMember", context(R"({"interlock":{}})"), {"/context/interlock"}, "own"},
      {"MisspelledContext",
       context(R"({"useconcurrentlocks":true})"),
       {"/context/useconcurrentlocks"},
       "`useConcurrentLocks`"},
  };
}

void ExpectEachFound(const std::vector<Faulty>& all) {
  for (const Faulty& faulty : all) {
    const SpecCheck check = CheckSpec(GoodSpecWith(faulty.edits), {});
    EXPECT_FALSE(check.spec) << faulty.kind;
    EXPECT_EQ(FaultPointers(check), faulty.pointers) << faulty.kind << "\n" << Faults(check);
    if (check.faults.empty()) continue;
    const SpecFault& first = check.faults.front();
    EXPECT_THAT(absl::StrCat(first.found, " — ", first.would_do), HasSubstr(faulty.says))
        << faulty.kind;
    const absl::Status status = SpecStatus(check);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ReasonOf(status), "SPEC_INVALID");
    EXPECT_EQ(FaultsOf(status).size(), check.faults.size());
  }
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
TEST(SpecFaults, OfInputAreEachFound) { ExpectEachFound(InputFaults()); }
TEST(SpecFaults, OfTuningAreEachFound) { ExpectEachFound(TuningFaults()); }
TEST(SpecFaults, OfContextAreEachFound) { ExpectEachFound(ContextFaults()); }

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
