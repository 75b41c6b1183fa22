// `jobs put`: a job from a file.
#include <string>

#include "client/cli/json_file.h"
#include "client/cli/session.h"
#include "client/cli/verb_tables.h"
#include "interlock/v1/jobs.pb.h"
#include "rapidjson/document.h"

namespace interlock::cli {
namespace {

// A task spec and not a Job: Druid's has a `type`, which a Job has not.
bool IsBareSpec(const std::string& text) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(text);
  return !document.HasParseError() && document.IsObject() && document.HasMember("type");
}

}  // namespace

absl::StatusOr<int> RunPutJob(Session& session) {
  v1::PutJobRequest request;
  if (absl::Status status = session.Fill(request); !status.ok()) return status;
  const std::string file = session.arguments.positionals().front();
  const auto text = session.Contents(file);
  if (!text.ok()) return text.status();
  if (IsBareSpec(*text)) {
    if (!session.arguments.Given("name")) {
      return UsageError(file + " is a bare spec: --name says what the job is called");
    }
    request.mutable_job()->set_spec(*text);
  } else if (absl::Status status = ReadJson(*text, request, "job"); !status.ok()) {
    return status;
  }
  if (session.arguments.Given("name"))
    request.mutable_job()->set_name(session.arguments.Get("name"));
  v1::PutJobResponse reply;
  if (absl::Status status = session.Call(session.verb.method, request, reply); !status.ok()) {
    return status;
  }
  session.Print(reply, session.verb.view);
  return 0;
}

}  // namespace interlock::cli
