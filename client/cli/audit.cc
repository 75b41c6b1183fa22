// `audit`, and `audit --verify`.
#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/session.h"
#include "client/cli/verb_tables.h"
#include "interlock/v1/audit.pb.h"

namespace interlock::cli {

absl::StatusOr<int> RunAudit(Session& session) {
  if (!session.arguments.Given("verify")) return RunPlainVerb(session);
  v1::VerifyAuditResponse reply;
  const auto status = session.Call("Audit.VerifyAudit", v1::VerifyAuditRequest(), reply);
  if (!status.ok()) return status;
  session.Print(reply, {{""}});
  if (reply.intact()) return kDone;
  session.Complain(
      absl::StrCat("AUDIT_BROKEN: event ", reply.first_broken_sequence(), ": ", reply.message()));
  return kNo;
}

}  // namespace interlock::cli
