// Queries that run as tasks, through the broker: apache/druid,
// extensions-core/multi-stage-query/…/sql/resources/SqlTaskResource.java.
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/druid/cluster_impl.h"

namespace interlock::druid {
namespace {

constexpr char kPath[] = "/druid/v2/sql/task";
// The controller's task id is this and the query's own id (MSQTasks.controllerTaskId).
constexpr char kPrefix[] = "query-";

Call ToBroker(const char* endpoint, std::string body) {
  Call call;
  call.endpoint = endpoint;
  call.service = Service::kBroker;
  call.method = "POST";
  call.path = kPath;
  call.body = std::move(body);
  return call;
}

// One row, of which ATTRIBUTES is JSON in a text (Druid 26 and later).
std::string ReadExplanation(const rapidjson::Document& reply, SqlExplanation* explanation) {
  if (!reply.IsArray() || reply.Size() != 1) return "an explanation that is not one row";
  rapidjson::Document attributes;
  std::string why;
  if (!ParseJson(TextMember(reply[0], "ATTRIBUTES"), &attributes, &why)) {
    return absl::StrCat("an explanation whose attributes are ", why);
  }
  explanation->statement = TextMember(attributes, "statementType");
  explanation->datasource = TextMember(attributes, "targetDataSource");
  explanation->replaces = TextMember(attributes, "replaceTimeChunks");
  const rapidjson::Value* segments = Member(attributes, "partitionedBy");
  if (segments != nullptr) {
    explanation->granularity_json = WriteJson(*segments);
    // A granularity that has no name comes as JSON, in a text or not.
    if (segments->IsString() && absl::StartsWith(segments->GetString(), "{")) {
      explanation->granularity_json = segments->GetString();
    }
  }
  return explanation->statement.empty() ? "an explanation without a statement's type" : "";
}

}  // namespace

Answer<SqlExplanation> Cluster::ExplainSql(const std::string& query,
                                           const std::string& context_json) {
  SqlExplanation explanation;
  Call call =
      ToBroker("sql_explain",
               absl::StrCat(R"({"query":)", QuoteJson(absl::StrCat("EXPLAIN PLAN FOR ", query)),
                            R"(,"context":)", context_json.empty() ? "{}" : context_json, "}"));
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    explanation = SqlExplanation();
    return ReadExplanation(reply, &explanation);
  });
  const Answer<HttpReply> answer = impl_->caller.Send(call);
  return WithValue(answer, std::move(explanation));
}

Answer<std::string> Cluster::SubmitSql(const std::string& query_id, const std::string& body) {
  const std::string task = absl::StrCat(kPrefix, query_id);
  Call call = ToBroker("sql_submit", body);
  call.changes = true;
  call.submits = true;
  call.task_id = task;
  call.read = ReadsJson([&](const rapidjson::Document& reply) {
    const std::string got = TextMember(reply, "taskId");
    return got == task ? std::string()
                       : absl::StrCat("submitted ", task, ", got a reply about ", got);
  });
  return WithValue(impl_->caller.Send(call), task);
}

}  // namespace interlock::druid
