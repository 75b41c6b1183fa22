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

std::string WhyNot(const v1::Blocker& held) {
  const std::string interval = ShortInterval(held.interval());
  const bool reservation =
      held.kind() == v1::Blocker::RESERVATION || held.kind() == v1::Blocker::KIND_UNSPECIFIED;
  if (!reservation) {
    return absl::StrCat(interval, ": ", held.message(), held.remedy().empty() ? "" : "; ",
                        held.remedy());
  }
  return absl::StrCat(
      interval, " is held by ", held.holder(),
      held.purpose().empty() ? "" : absl::StrCat(" (", held.purpose(), ")"),
      held.has_until_time() ? absl::StrCat(" until ", FieldText(held, "until_time")) : "");
}

// What was asked and not got, in one line, under each reason's own name.
std::string Skipped(const v1::ReserveIntervalResponse& reply) {
  std::vector<std::string> parts;
  std::string reason;
  for (const auto& held : reply.skipped()) {
    const std::string its = held.reason().empty() ? "HELD" : held.reason();
    const bool other = its != reason;
    reason = its;
    parts.push_back(absl::StrCat(other ? reason : "", other ? ": " : "", WhyNot(held)));
  }
  return absl::StrJoin(parts, "; ");
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
