#include "lib/backfill/sql_work.h"

#include <cstring>

#include "lib/backfill/json_members.h"
#include "lib/backfill/placeholder.h"
#include "lib/backfill/spec_tuning.h"
#include "lib/druid/task_id.h"

namespace interlock::backfill {
namespace {

// MSQTasks.controllerTaskId.
constexpr char kPrefix[] = "query-";

}  // namespace

std::string ToJson(const SqlWork& work) {
  JsonWriter out;
  out.Text("query", work.query);
  out.Text("context", work.context);
  return out.ToString();
}

SqlWork SqlWorkFrom(const std::string& json) {
  rapidjson::Document document;
  if (!ReadJsonObject(json, &document)) return {};
  return {TextIn(document, "query"), TextIn(document, "context")};
}

std::string RenderQuery(const std::string& query, const Interval& unit) {
  const auto parsed = Template::Parse(query);
  return parsed.ok() ? parsed->Render(unit, "%Y-%m-%d %H:%M:%S") : query;
}

std::string SqlQueryId(const std::string& pinned_id) {
  std::string id = pinned_id.substr(0, druid::kMaxTaskIdBytes - std::strlen(kPrefix));
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id;
}

std::string SqlTaskId(const std::string& query_id) { return kPrefix + query_id; }

std::string RenderSql(const std::string& work_json, const Unit& unit,
                      const TaskIdentity& identity) {
  const SqlWork work = SqlWorkFrom(work_json);
  rapidjson::Document body(rapidjson::kObjectType);
  auto& allocator = body.GetAllocator();
  const auto text = [&](const std::string& value) { return JsonValue(value, allocator); };
  rapidjson::Document given;
  JsonValue context(rapidjson::kObjectType);
  if (ReadJsonObject(work.context, &given)) context.CopyFrom(given, allocator);
  JsonValue ours(rapidjson::kObjectType);
  ours.AddMember("backfill", text(identity.backfill_id), allocator);
  ours.AddMember("attempt", identity.attempt, allocator);
  ours.AddMember("nonce", text(identity.nonce), allocator);
  context.AddMember(rapidjson::StringRef(kContextMember), ours, allocator);
  const bool named = identity.task_id.rfind(kPrefix, 0) == 0;
  context.AddMember("sqlQueryId",
                    text(named ? identity.task_id.substr(std::strlen(kPrefix)) : identity.task_id),
                    allocator);
  body.AddMember("query", text(RenderQuery(work.query, unit.hull())), allocator);
  body.AddMember("context", context, allocator);
  return WriteJson(body);
}

bool IsSql(const std::string& work_json) { return !SqlWorkFrom(work_json).query.empty(); }

}  // namespace interlock::backfill
