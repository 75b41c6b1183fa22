#include "lib/drop/running_tasks.h"

#include <utility>

#include "absl/strings/match.h"
#include "lib/druid/json.h"
#include "lib/time/interval_set.h"
#include "rapidjson/document.h"

namespace interlock::drop {
namespace {

using Found = druid::Answer<std::vector<RunningTask>>;

bool Streams(const std::string& type) {
  return absl::StartsWith(type, "index_") && type != "index_parallel" && type != "index_hadoop" &&
         !absl::StartsWith(type, "index_spark");
}

void AddText(const rapidjson::Value& value, std::vector<Interval>& found) {
  const std::string text(value.GetString(), value.GetStringLength());
  if (text.find('/') == std::string::npos) return;
  const absl::StatusOr<Interval> interval = Interval::Parse(text);
  if (interval.ok()) found.push_back(*interval);
}

// With a list in place of calls: a payload nests as deep as its writer likes.
std::vector<Interval> TextsOf(const rapidjson::Value& root) {
  std::vector<Interval> found;
  std::vector<const rapidjson::Value*> open = {&root};
  while (!open.empty()) {
    const rapidjson::Value& value = *open.back();
    open.pop_back();
    if (value.IsString()) AddText(value, found);
    if (value.IsArray()) {
      for (const auto& element : value.GetArray()) open.push_back(&element);
    }
    if (value.IsObject()) {
      for (const auto& member : value.GetObject()) open.push_back(&member.value);
    }
  }
  return found;
}

}  // namespace

std::vector<Interval> IntervalsIn(const std::string& json) {
  rapidjson::Document document;
  std::string why_not;
  if (!druid::ParseJson(json, &document, &why_not)) return {};
  return Condense(TextsOf(document));
}

Found ListRunningTasks(const std::string& datasource, druid::Cluster& cluster) {
  const auto live = cluster.ListLiveTasks(datasource);
  if (!live.done()) return Found::Like(live);
  std::vector<RunningTask> tasks;
  for (const druid::TaskStatus& status : live.value()) {
    if (!status.top_level() || Streams(status.type)) continue;
    RunningTask task{status.id, status.type, std::nullopt};
    if (tasks.size() < kMostTasksRead) {
      const auto payload = cluster.GetTaskPayload(status.id);
      if (payload.not_found()) continue;  // it has ended meanwhile
      if (!payload.done()) return Found::Like(payload);
      std::vector<Interval> intervals = IntervalsIn(payload.value().json);
      if (!intervals.empty()) task.intervals = std::move(intervals);
    }
    tasks.push_back(std::move(task));
  }
  return Found::Done(std::move(tasks));
}

}  // namespace interlock::drop
