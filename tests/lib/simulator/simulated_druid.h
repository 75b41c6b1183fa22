// A simulator on a clock that stands still until the test moves it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/simulator/json.h"
#include "lib/simulator/simulator.h"
#include "lib/time/fake_clock.h"

namespace interlock::simulator {

inline constexpr char kDatasource[] = "clicks";

// "2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z"
std::string Hour(int hour);

// An index_parallel spec, hours of kDatasource, minutes rolled up, dimension "page",
// metrics "count" and "n".
struct Ingestion {
  std::string id = "task";
  std::vector<std::string> intervals = {Hour(13)};
  std::string lines = {};   // inline input; see Line
  std::string source = {};  // JSON of another input source
  std::string format = R"({"type":"json"})";
  bool append = false;
  bool drop = true;
  std::string segment_granularity = R"("HOUR")";
  std::string query_granularity = "MINUTE";
  std::string timestamp = R"({"column":"ts","format":"iso"})";
  std::string dimensions = R"(["page"])";
  std::string tuning = {};  // members after "type", with a leading comma
  std::string context = "{}";

  std::string Json() const;
};

// One line of input: {"ts":"2026-07-16T13:05:00Z","page":"a","n":1}
std::string Line(int hour, int minute, absl::string_view page, int n);

class SimulatedDruid {
 public:
  explicit SimulatedDruid(SimulatorOptions options = {});

  // 33.0.0 with 100 ms a task, 1 s to load, 2 s to drop, polls every 10 s.
  static SimulatorOptions Options();

  FakeClock& clock() { return clock_; }
  Simulator& simulator() { return *simulator_; }

  // Time passes, and what was due has happened.
  void Pass(int millis);

  Reply Get(const std::string& target) { return simulator_->Ask("GET", target); }
  Reply Post(const std::string& target, const std::string& body) {
    return simulator_->Ask("POST", target, body);
  }
  JsonDocument GetJson(const std::string& target);
  JsonDocument PostJson(const std::string& target, const std::string& body);

  Reply Submit(const std::string& task_json);
  // Submits it, and lets it end: its status.
  std::string Run(const Ingestion& ingestion);
  std::string RunTask(const std::string& id, const std::string& task_json);

  // "status" of /task/ID/status.
  std::string StatusCode(const std::string& id);
  std::string RunnerCode(const std::string& id);
  std::string Error(const std::string& id);
  // A number of the report's buildSegments.
  int64_t Stat(const std::string& id, const std::string& name);

  // Used ids, straight from the store.
  std::vector<std::string> Used();
  // Their shard specs.
  std::vector<std::string> Shards();
  // SUM(name) that queries see, over all time; -1 for null.
  int64_t Sum(const std::string& name);
  int64_t Count();

 private:
  FakeClock clock_;
  std::unique_ptr<Simulator> simulator_;
};

}  // namespace interlock::simulator
