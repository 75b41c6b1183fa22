#include "tests/lib/simulator/simulated_druid.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace interlock::simulator {
namespace {

constexpr char kTasks[] = "/druid/indexer/v1/task";

JsonDocument Parse(const Reply& reply) {
  absl::StatusOr<JsonDocument> json = ParseJson(reply.body);
  EXPECT_TRUE(json.ok()) << reply.status << " " << reply.body;
  return json.ok() ? *std::move(json) : JsonDocument(rapidjson::kObjectType);
}

}  // namespace

std::string Hour(int hour) {
  return absl::StrFormat("2026-07-16T%02d:00:00.000Z/2026-07-16T%02d:00:00.000Z", hour, hour + 1);
}

std::string Line(int hour, int minute, absl::string_view page, int n) {
  return absl::StrFormat(R"({"ts":"2026-07-16T%02d:%02d:00Z","page":"%s","n":%d})"
                         "\n",
                         hour, minute, page, n);
}

std::string Ingestion::Json() const {
  std::string input = source;
  if (input.empty()) {
    JsonWriter writer;
    writer.Object().Member("type", "inline").Member("data", lines).End();
    input = writer.Take();
  }
  const std::string list =
      intervals.empty() ? "null" : absl::StrCat("[\"", absl::StrJoin(intervals, "\",\""), "\"]");
  return absl::StrCat(
      R"({"type":"index_parallel","id":")", id, R"(","context":)", context,
      R"(,"spec":{"dataSchema":{"dataSource":")", kDatasource, R"(","timestampSpec":)", timestamp,
      R"(,"dimensionsSpec":{"dimensions":)", dimensions,
      R"(},"metricsSpec":[{"type":"count","name":"count"},)",
      R"({"type":"longSum","name":"n","fieldName":"n"}],"granularitySpec":{"type":"uniform",)",
      R"("segmentGranularity":)", segment_granularity, R"(,"queryGranularity":")",
      query_granularity, R"(","rollup":true,"intervals":)", list,
      R"(}},"ioConfig":{"type":"index_parallel","inputSource":)", input, R"(,"inputFormat":)",
      format, R"(,"appendToExisting":)", append ? "true" : "false", R"(,"dropExisting":)",
      drop ? "true" : "false", R"(},"tuningConfig":{"type":"index_parallel")", tuning, "}}}");
}

SimulatorOptions SimulatedDruid::Options() {
  SimulatorOptions options;
  options.ticks_by_itself = false;
  options.world.task_duration = Moment(100);
  options.world.load_delay = Moment(1'000);
  options.world.drop_delay = Moment(2'000);
  options.world.poll_period = Moment(10'000);
  return options;
}

SimulatedDruid::SimulatedDruid(SimulatorOptions options) {
  if (options.ticks_by_itself) options = Options();
  options.clock = &clock_;
  absl::StatusOr<std::unique_ptr<Simulator>> started = Simulator::Start(std::move(options));
  EXPECT_TRUE(started.ok()) << started.status();
  simulator_ = *std::move(started);
}

void SimulatedDruid::Pass(int millis) {
  clock_.Advance(absl::Milliseconds(millis));
  simulator_->Tick();
}

JsonDocument SimulatedDruid::GetJson(const std::string& target) { return Parse(Get(target)); }

JsonDocument SimulatedDruid::PostJson(const std::string& target, const std::string& body) {
  return Parse(Post(target, body));
}

Reply SimulatedDruid::Submit(const std::string& task_json) { return Post(kTasks, task_json); }

std::string SimulatedDruid::Run(const Ingestion& ingestion) {
  return RunTask(ingestion.id, ingestion.Json());
}

std::string SimulatedDruid::RunTask(const std::string& id, const std::string& task_json) {
  const Reply reply = Submit(task_json);
  EXPECT_EQ(reply.status, 200) << reply.body;
  Pass(100);
  if (StatusCode(id) == "RUNNING") Pass(1'900);  // a parallel one
  return StatusCode(id);
}

std::string SimulatedDruid::StatusCode(const std::string& id) {
  return FindString(GetJson(absl::StrCat(kTasks, "/", id, "/status")), "status/statusCode");
}

std::string SimulatedDruid::RunnerCode(const std::string& id) {
  return FindString(GetJson(absl::StrCat(kTasks, "/", id, "/status")), "status/runnerStatusCode");
}

std::string SimulatedDruid::Error(const std::string& id) {
  return FindString(GetJson(absl::StrCat(kTasks, "/", id, "/status")), "status/errorMsg");
}

int64_t SimulatedDruid::Stat(const std::string& id, const std::string& name) {
  const JsonDocument report = GetJson(absl::StrCat(kTasks, "/", id, "/reports"));
  const std::string base = "ingestionStatsAndErrors/payload/";
  for (const char* where : {"rowStats/buildSegments/", "rowStats/totals/buildSegments/", ""}) {
    const auto found = FindInt(report, absl::StrCat(base, where, name));
    if (found) return *found;
  }
  return -1;
}

std::vector<std::string> SimulatedDruid::Used() {
  std::vector<std::string> ids;
  const JsonDocument list = PostJson(
      absl::StrCat("/druid/coordinator/v1/metadata/datasources/", kDatasource, "/segments"),
      R"(["1000/3000"])");
  for (const JsonValue& id : list.GetArray()) ids.emplace_back(id.GetString());
  return ids;
}

std::vector<std::string> SimulatedDruid::Shards() {
  std::vector<std::string> shards;
  const JsonDocument list = PostJson(
      absl::StrCat("/druid/coordinator/v1/metadata/datasources/", kDatasource, "/segments?full"),
      R"(["1000/3000"])");
  for (const JsonValue& segment : list.GetArray()) shards.push_back(ToText(segment["shardSpec"]));
  return shards;
}

int64_t SimulatedDruid::Sum(const std::string& name) {
  const JsonDocument rows =
      PostJson("/druid/v2",
               absl::StrCat(R"({"queryType":"timeseries","dataSource":")", kDatasource,
                            R"(","intervals":["2020/2030"],"granularity":"all","aggregations":[)",
                            R"({"type":"longSum","name":"s","fieldName":")", name, R"("}]})"));
  return FindInt(rows[0], "result/s").value_or(-1);
}

int64_t SimulatedDruid::Count() {
  const JsonDocument rows =
      PostJson("/druid/v2",
               absl::StrCat(R"({"queryType":"timeseries","dataSource":")", kDatasource,
                            R"(","intervals":["2020/2030"],"granularity":"all","aggregations":[)",
                            R"({"type":"count","name":"s"}]})"));
  return FindInt(rows[0], "result/s").value_or(-1);
}

}  // namespace interlock::simulator
