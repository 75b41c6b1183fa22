#include "tests/druid/druid_at_hand/druid_at_hand.h"

#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/druid/json.h"
#include "lib/druid/timeline.h"

namespace interlock::druid {
namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::milliseconds kBetweenLooks{100};

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Tests of all runs share one Druid that may be days old.
std::string NameOfThisTest() {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = absl::StrCat("c", getpid(), "_");
  const int64_t now = std::chrono::system_clock::now().time_since_epoch().count() / 1'000'000;
  absl::StrAppend(&name, absl::Hex(now & 0xffffff), "_", test->name());
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace

void DruidAtHand::SetUp() {
  ClusterOptions options;
  coordinator_ = Environment("DRUID_COORDINATOR");
  overlord_ = Environment("DRUID_OVERLORD");
  const std::string broker = Environment("DRUID_BROKER");
  if (coordinator_.empty() || overlord_.empty() || broker.empty()) {
    FAIL() << "DRUID_COORDINATOR, DRUID_OVERLORD and DRUID_BROKER must say where Druid is: "
              "deploy/druid/run start writes them into DIR/env";
  }
  // With a router, everything of the adapter goes through it.
  const std::string router = Environment("DRUID_ROUTER");
  if (router.empty()) {
    options.coordinator = {coordinator_};
    options.overlord = {overlord_};
    options.broker = {broker};
  } else {
    options.router = {router};
  }
  options.access = Access::kManage;
  transport_ = std::make_shared<CurlTransport>(CurlTransportOptions{});
  cluster_ = std::make_unique<Cluster>(options, transport_);
  datasource_ = NameOfThisTest();
  major_ = std::atoi(Environment("DRUID_VERSION").c_str());
  simulated_ = Raw("GET", overlord_ + "/simulator/state").status == 200;
  const auto capabilities = cluster_->GetCapabilities();
  ASSERT_TRUE(capabilities.done()) << capabilities.text();
  capabilities_ = capabilities.value();
}

std::string DruidAtHand::Overlord(const std::string& path) const {
  return absl::StrCat(overlord_, "/druid/indexer/v1", path);
}

std::string DruidAtHand::Coordinator(const std::string& path) const {
  return absl::StrCat(coordinator_, "/druid/coordinator/v1", path);
}

std::string DruidAtHand::Simulator(const std::string& path) const {
  return absl::StrCat(overlord_, "/simulator", path);
}

HttpReply DruidAtHand::Raw(const std::string& method, const std::string& url,
                           const std::string& body, const std::string& accept) {
  HttpRequest request;
  request.method = method;
  request.url = url;
  request.body = body;
  request.headers = {absl::StrCat("Accept: ", accept), "Content-Type: application/json"};
  return transport_->Send(request);
}

void DruidAtHand::Submit(const std::string& task_json) {
  bool was_unknown = false;
  WaitUntil("a task is taken", [&] {
    const auto submitted = cluster().SubmitTask(task_json);
    if (submitted.done()) return true;
    if (was_unknown && submitted.cause() == Cause::kAlreadyExists) return true;
    EXPECT_TRUE(submitted.unknown()) << submitted.text();
    was_unknown = true;
    return !submitted.unknown();
  });
}

TaskStatus DruidAtHand::Run(const std::string& task_json) {
  Submit(task_json);
  rapidjson::Document task;
  std::string why;
  EXPECT_TRUE(ParseJson(task_json, &task, &why)) << why;
  return WaitForEnd(TextMember(task, "id"));
}

TaskStatus DruidAtHand::WaitForEnd(const std::string& id) {
  TaskStatus status;
  WaitUntil("task " + id + " has ended", [&] {
    const auto answer = cluster().GetTaskStatus(id);
    if (answer.done()) status = answer.value();
    return answer.done() && status.terminal();
  });
  return status;
}

void DruidAtHand::WaitUntil(const std::string& what, const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!holds()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "waited in vain until " << what;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

void DruidAtHand::WaitForLoad(const Interval& interval) {
  WaitUntil("all is loaded", [&] {
    const auto load = cluster().GetLoadStatus(datasource_, interval, true);
    return load.done() && load.value().unavailable_segments == 0;
  });
}

std::vector<Segment> DruidAtHand::Used(const Interval& interval) {
  const auto used = cluster().ListUsedSegments(datasource_, {interval});
  EXPECT_TRUE(used.done()) << used.text();
  return used.done() ? used.value() : std::vector<Segment>();
}

std::vector<Segment> DruidAtHand::UsedNow(const Interval& interval) {
  const auto refreshed = cluster().GetLoadStatus(datasource_, interval, /*refresh=*/true);
  EXPECT_TRUE(refreshed.done()) << refreshed.text();
  return Used(interval);
}

std::vector<UnusedSegment> DruidAtHand::Unused(const Interval& interval) {
  const auto unused = cluster().ListUnusedSegments(datasource_, interval);
  EXPECT_TRUE(unused.done()) << unused.text();
  return unused.done() ? unused.value() : std::vector<UnusedSegment>();
}

std::vector<std::string> DruidAtHand::VisibleVersions(const Interval& interval) {
  const Timeline timeline = Timeline::Of(Used(interval));
  std::vector<std::string> visible;
  for (const Slice& slice : timeline.Visible(interval)) visible.push_back(slice.version);
  return visible;
}

int64_t DruidAtHand::Rows(const Interval& interval) {
  const auto sums = cluster().SumRows(datasource_, {interval}, {"count"});
  if (!sums.done()) return -1;
  return static_cast<int64_t>(sums.value()[0].sums.at("count"));
}

void DruidAtHand::ExpectRows(const Interval& interval, int64_t rows) {
  WaitUntil(absl::StrCat("queries count ", rows, " rows in ", interval.ToString()),
            [&] { return Rows(interval) == rows; });
}

Interval Hours(int first, int end) {
  constexpr int64_t kHour = 3'600'000;
  const Instant day = *Instant::Parse("2026-07-16T00:00:00Z");
  return *Interval::Of(Instant::FromMillis(day.millis() + first * kHour),
                       Instant::FromMillis(day.millis() + end * kHour));
}

Interval Hour(int hour) { return Hours(hour, hour + 1); }

std::string EventLines(const std::vector<Event>& events) {
  constexpr int64_t kFiveMinutes = 300'000;
  return absl::StrJoin(events, "\n", [](std::string* out, const Event& event) {
    const Instant ts = Instant::FromMillis(Hour(event.hour).start().millis() + kFiveMinutes);
    absl::StrAppend(out, R"({"ts":")", ts.ToString(), R"(","page":")", event.page, R"(","n":)",
                    event.n, "}");
  });
}

namespace {

// As a JSON string; the lines hold no other characters that want escaping.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '\n') {
      quoted += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

std::string BatchTask::Json() const {
  const std::string source = input_source.empty() ? absl::StrCat(R"({"type":"inline","data":)",
                                                                 Quoted(EventLines(events)), "}")
                                                  : input_source;
  const std::string intervals =
      with_intervals ? absl::StrCat(R"(,"intervals":[")", interval.ToString(), R"("])") : "";
  const std::string tuning =
      partitions.empty() ? ""
                         : absl::StrCat(R"(,"forceGuaranteedRollup":true,"partitionsSpec":)",
                                        partitions, R"(,"maxNumConcurrentSubTasks":2)");
  return absl::StrCat(
      R"({"type":"index_parallel","id":")", id, R"(","spec":{"dataSchema":{"dataSource":")",
      datasource, R"(","timestampSpec":{"column":"ts","format":"iso"},)",
      R"("dimensionsSpec":{"dimensions":["page"]},)",
      R"("metricsSpec":[{"type":"count","name":"count"},)",
      R"({"type":"longSum","name":"n","fieldName":"n"}],)",
      R"("granularitySpec":{"type":"uniform","segmentGranularity":"HOUR",)",
      R"("queryGranularity":"MINUTE","rollup":true)", intervals, "}},",
      R"("ioConfig":{"type":"index_parallel","inputSource":)", source,
      R"(,"inputFormat":{"type":"json"},"appendToExisting":)", append ? "true" : "false",
      R"(,"dropExisting":)", drop ? "true" : "false", "},",
      R"("tuningConfig":{"type":"index_parallel")", tuning, R"(}},"context":)", context, "}");
}

std::string NoopTask(const std::string& id, int run_ms, const std::string& context) {
  return absl::StrCat(R"({"type":"noop","id":")", id, R"(","runTime":)", run_ms, R"(,"context":)",
                      context, "}");
}

}  // namespace interlock::druid
