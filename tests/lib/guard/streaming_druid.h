// The overlord's side of streams, as a transport: supervisors, their tasks' payloads, and
// what went wrong, in the shapes of a real 33.0.0. A test says what there is.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/druid/cluster.h"
#include "lib/druid/transport.h"

namespace interlock::guard {

class StreamingDruid : public druid::HttpTransport {
 public:
  struct OneSupervisor {
    std::string datasource, topic;
    std::string io;  // more of its ioConfig: ",\"lateMessageRejectionPeriod\":\"PT1H\""
    bool suspended = false, healthy = true;
  };
  struct OneTask {
    std::string datasource, topic, group;
    std::string minimum;  // minimumMessageTime; "" for none
    int thrown_away = 0;
    std::string ended;  // "", or SUCCESS, or FAILED
  };

  std::map<std::string, OneSupervisor> supervisors;
  std::map<std::string, OneTask> tasks;
  std::string segments = "[]";
  std::string unused = "[]";
  bool away = false;
  std::vector<std::string> asked;

  druid::HttpReply Send(const druid::HttpRequest& request) override {
    asked.push_back(request.method + " " + request.url);
    druid::HttpReply reply = away ? druid::HttpReply() : Answer(request);
    if (request.on_body && reply.status == 200) {
      request.on_body(reply.body);
      reply.body.clear();
    }
    return reply;
  }
  void Pause(std::chrono::milliseconds) override {}

 private:
  static druid::HttpReply Ok(std::string body) {
    druid::HttpReply reply;
    reply.exchange = druid::HttpReply::Exchange::kWhole;
    reply.status = 200;
    reply.body = std::move(body);
    reply.content_type = "application/json";
    return reply;
  }
  static druid::HttpReply NotFound(std::string text) {
    druid::HttpReply reply = Ok(std::move(text));
    reply.status = 404;
    reply.content_type = "text/plain";
    return reply;
  }
  static std::string After(const std::string& url, const std::string& mark) {
    const size_t at = url.find(mark);
    const std::string rest = url.substr(at + mark.size());
    return rest.substr(0, rest.find('/'));
  }

  std::string SupervisorJson(const std::string& id) const {
    const OneSupervisor& one = supervisors.at(id);
    return absl::StrCat(
        R"({"id":")", id, R"(","state":")", one.suspended ? "SUSPENDED" : "RUNNING",
        R"(","detailedState":")",
        one.healthy ? (one.suspended ? "SUSPENDED" : "RUNNING") : "UNABLE_TO_CONNECT_TO_STREAM",
        R"(","healthy":)", one.healthy ? "true" : "false", R"(,"suspended":false,"spec":{)",
        R"("suspended":)", one.suspended ? "true" : "false",
        R"(,"type":"kafka","spec":{"dataSchema":{"dataSource":")", one.datasource,
        R"("},"ioConfig":{"topic":")", one.topic, "\"", one.io, "}}}}");
  }
  std::string TaskJson(const std::string& id) const {
    const OneTask& one = tasks.at(id);
    const std::string code = one.ended.empty() ? "RUNNING" : one.ended;
    return absl::StrCat(R"({"id":")", id, R"(","groupId":")", one.group,
                        R"(","type":"index_kafka","statusCode":")", code, R"(","status":")", code,
                        R"(","runnerStatusCode":"RUNNING","dataSource":")", one.datasource, "\"}");
  }
  std::string PayloadJson(const std::string& id) const {
    const OneTask& one = tasks.at(id);
    return absl::StrCat(
        R"({"task":")", id, R"(","payload":{"type":"index_kafka","id":")", id, R"(","groupId":")",
        one.group, R"(","dataSource":")", one.datasource,
        R"(","ioConfig":{"startSequenceNumbers":{"stream":")", one.topic,
        R"(","partitionSequenceNumberMap":{"0":0}})",
        one.minimum.empty() ? "" : absl::StrCat(R"(,"minimumMessageTime":")", one.minimum, "\""),
        "}}}");
  }
  std::string CountsJson(const std::string& supervisor) const {
    std::vector<std::string> counts;
    for (const auto& [id, task] : tasks) {
      if (task.datasource != supervisors.at(supervisor).datasource || !task.ended.empty()) continue;
      counts.push_back(absl::StrCat("\"", id, R"(":{"totals":{"buildSegments":{"processed":5,)",
                                    R"("thrownAway":)", task.thrown_away, "}}}"));
    }
    return absl::StrCat(R"({"0":{)", absl::StrJoin(counts, ","), "}}");
  }

  druid::HttpReply Answer(const druid::HttpRequest& request) {
    const std::string& url = request.url;
    if (absl::EndsWith(url, "/supervisor?full")) {
      std::vector<std::string> all;
      for (const auto& [id, one] : supervisors) all.push_back(SupervisorJson(id));
      return Ok(absl::StrCat("[", absl::StrJoin(all, ","), "]"));
    }
    if (absl::StrContains(url, "/supervisor/")) {
      const std::string id = After(url, "/supervisor/");
      if (supervisors.count(id) == 0) {
        return NotFound(absl::StrCat("Cannot find any supervisor with id: [", id, "]"));
      }
      if (absl::EndsWith(url, "/stats")) return Ok(CountsJson(id));
      return Ok(absl::StrCat(R"({"id":")", id, R"(","payload":{"latestOffsets":{"0":9},)",
                             R"("aggregateLag":4,"recentErrors":[)",
                             supervisors.at(id).healthy
                                 ? ""
                                 : R"({"exceptionClass":"StreamException","message":"no broker"})",
                             "]}}"));
    }
    if (absl::StrContains(url, "/tasks?state=")) {
      std::vector<std::string> listed;
      for (const auto& [id, task] : tasks) {
        if (absl::EndsWith(url, "=running") && task.ended.empty()) listed.push_back(TaskJson(id));
      }
      return Ok(absl::StrCat("[", absl::StrJoin(listed, ","), "]"));
    }
    if (absl::StrContains(url, "/task/")) {
      const std::string id = After(url, "/task/");
      if (tasks.count(id) == 0) {
        return NotFound(absl::StrCat("Cannot find any task with id: [", id, "]"));
      }
      if (absl::EndsWith(url, "/status")) {
        return Ok(absl::StrCat(R"({"task":")", id, R"(","status":)", TaskJson(id), "}"));
      }
      if (absl::EndsWith(url, "/reports")) {
        return NotFound("No task reports were found for this task.");
      }
      return Ok(PayloadJson(id));
    }
    if (absl::StrContains(url, "/unusedSegments")) return Ok(unused);
    return Ok(segments);
  }
};

}  // namespace interlock::guard
