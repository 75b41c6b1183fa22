// `reserve`, without and with a command.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/exit_code.h"
#include "client/cli/field_text.h"
#include "client/cli/reserve_command.h"
#include "client/cli/session.h"
#include "client/cli/verb_tables.h"
#include "interlock/v1/ingestion_coordinator.pb.h"

namespace interlock::cli {
namespace {

// What was asked and not got, in one line.
std::string Skipped(const v1::ReserveIntervalResponse& reply) {
  std::vector<std::string> parts;
  for (const auto& held : reply.skipped()) {
    parts.push_back(absl::StrCat(
        ShortInterval(held.interval()), " is held by ", held.holder(),
        held.purpose().empty() ? "" : absl::StrCat(" (", held.purpose(), ")"),
        held.has_until_time() ? absl::StrCat(" until ", FieldText(held, "until_time")) : ""));
  }
  return absl::StrCat("HELD: ", absl::StrJoin(parts, "; "));
}

}  // namespace

absl::StatusOr<int> RunReserve(Session& session) {
  const bool command = !session.arguments.command().empty();
  if (session.arguments.Given("kill-after") && !command) {
    return UsageError("--kill-after goes with -- COMMAND");
  }
  v1::ReserveIntervalRequest request;
  if (absl::Status status = session.Fill(request); !status.ok()) return status;
  if (command && request.validate_only()) {
    return UsageError("--dry-run and -- COMMAND exclude each other");
  }
  if (command) return RunUnderReservation(session, request);
  v1::ReserveIntervalResponse reply;
  const absl::Duration wait =
      absl::Seconds(request.wait().seconds()) + absl::Nanoseconds(request.wait().nanos());
  if (absl::Status status = session.Call(session.verb.method, request, reply, wait); !status.ok()) {
    return status;
  }
  session.Print(reply, session.verb.view);
  const bool granted = request.validate_only() ? reply.skipped().empty() || request.skip_held()
                                               : !reply.reservation().reservation_id().empty();
  if (granted) return kDone;
  session.Complain(Skipped(reply));
  return kNo;
}

}  // namespace interlock::cli
