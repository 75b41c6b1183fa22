// `audit`, `audit --export` and `audit --verify`.
#include <ostream>

#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/print.h"
#include "client/cli/session.h"
#include "client/cli/verb_tables.h"
#include "interlock/v1/audit.pb.h"

namespace interlock::cli {
namespace {

constexpr int kPage = 1000;

absl::StatusOr<int> Verify(Session& session) {
  v1::VerifyAuditResponse reply;
  const auto status = session.Call("Audit.VerifyAudit", v1::VerifyAuditRequest(), reply);
  if (!status.ok()) return status;
  session.Print(reply, {{""}});
  if (reply.intact()) return kDone;
  session.Complain(
      absl::StrCat("AUDIT_BROKEN: event ", reply.first_broken_sequence(), ": ", reply.message()));
  return kNo;
}

// Every event that was asked for, one JSON object a line, page after page; the oldest
// first, so that an export can go on where the one before ended.
absl::StatusOr<int> Export(Session& session) {
  v1::ListAuditEventsRequest request;
  if (absl::Status status = session.Fill(request); !status.ok()) return status;
  request.set_oldest_first(true);
  if (request.page_size() == 0) request.set_page_size(kPage);
  do {
    v1::ListAuditEventsResponse reply;
    const absl::Status status = session.Call("Audit.ListAuditEvents", request, reply);
    if (!status.ok()) return status;
    for (const auto& event : reply.events()) session.out << JsonText(event) << '\n';
    request.set_page_token(reply.next_page_token());
  } while (!request.page_token().empty());
  session.out << std::flush;
  return kDone;
}

}  // namespace

absl::StatusOr<int> RunAudit(Session& session) {
  if (session.arguments.Given("verify")) return Verify(session);
  return session.arguments.Given("export") ? Export(session) : RunPlainVerb(session);
}

}  // namespace interlock::cli
