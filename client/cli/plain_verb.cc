// A verb that is its row of the table: fill, call, print.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/api.h"
#include "client/cli/print.h"
#include "client/cli/session.h"
#include "google/protobuf/descriptor.h"

namespace interlock::cli {
namespace {

// Lists come in pages; the flag that gets the next one is said.
void TellOfMore(Session& session, const google::protobuf::Message& reply) {
  const auto* field = reply.GetDescriptor()->FindFieldByName("next_page_token");
  if (field == nullptr) return;
  const std::string token = reply.GetReflection()->GetString(reply, field);
  if (!token.empty()) session.Tell(absl::StrCat("there is more: --page-token ", token));
}

}  // namespace

absl::StatusOr<int> RunPlainVerb(Session& session) {
  const auto& method = MethodNamed(session.verb.method);
  const auto request = NewMessage(*method.input_type());
  const auto reply = NewMessage(*method.output_type());
  if (absl::Status status = session.Fill(*request); !status.ok()) return status;
  if (method.server_streaming()) {
    const absl::Duration longest =
        session.bounded_wait ? session.timeout : absl::InfiniteDuration();
    const absl::Status status =
        session.calls.Watch(session.verb.method, *request, *reply, longest, [&] {
          session.Print(*reply, session.verb.view);
          return true;
        });
    if (!status.ok()) return status;
    return 0;
  }
  if (absl::Status status = session.Call(session.verb.method, *request, *reply); !status.ok()) {
    return status;
  }
  session.Print(*reply, session.verb.view);
  TellOfMore(session, *reply);
  return session.verb.answer == nullptr ? 0 : session.verb.answer(*reply);
}

}  // namespace interlock::cli
