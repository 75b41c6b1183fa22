#include "server/method_roles.h"

#include "absl/strings/str_cat.h"
#include "lib/time/status_reason.h"

namespace interlock::server {
namespace {

// By name. Destructive calls and calls that overrule a person have roles of their own.
constexpr MethodRole kMethods[] = {
    {"AbandonAttempt", "admin", true},
    {"AcceptPartitions", "backfill", true},
    {"ApproveKill", "approve", true},
    {"CancelBackfill", "backfill", true},
    {"CancelDrop", "drop", true},
    {"CheckAppend", "read", true},
    {"DeleteRetentionPolicy", "admin", false},
    {"DeleteSealPolicy", "admin", false},
    {"Diagnose", "read", false},
    {"DropAndKill", "drop", true},
    {"ExplainInterval", "read", true},
    {"ExtendWindow", "drop", true},
    {"ForceReleaseReservation", "admin", true},
    {"GetBackfill", "read", true},
    {"GetDrop", "read", true},
    {"GetJob", "read", true},
    {"GetManifest", "read", true},
    {"GetReservation", "read", true},
    {"GetSeal", "read", true},
    {"GetStatus", "read", false},
    {"ListAuditEvents", "admin", false},
    {"ListBackfills", "read", false},
    {"ListCorrections", "read", false},
    {"ListDrops", "read", false},
    {"ListFindings", "read", false},
    {"ListJobs", "read", false},
    {"ListReservations", "read", false},
    {"ListRetentionPolicies", "read", false},
    {"ListSealPolicies", "read", false},
    {"ListSeals", "read", false},
    {"ListStreams", "read", false},
    {"PauseBackfill", "backfill", true},
    {"PutJob", "backfill", true},
    {"PutRetentionPolicy", "admin", false},
    {"PutSealPolicy", "admin", false},
    {"RegisterStream", "reserve", true},
    {"ReleaseReservation", "reserve", true},
    {"RemoveStream", "reserve", true},
    {"RenewReservation", "reserve", true},
    {"ReserveInterval", "reserve", true},
    {"RestoreDrop", "drop", true},
    {"ResumeBackfill", "backfill", true},
    {"RetryBackfill", "backfill", true},
    {"RollbackBackfill", "backfill", true},
    {"SealInterval", "seal", true},
    {"SubmitBackfill", "backfill", true},
    {"TestPolicy", "read", false},
    {"UnsealInterval", "admin", true},
    {"VerifyAudit", "admin", false},
    {"VerifySingleVersion", "read", true},
    {"WatchBackfill", "read", true},
    {"WatchReservations", "read", false},
};

constexpr const char* kRoles[] = {"read",    "reserve", "backfill", "drop",
                                  "approve", "seal",    "admin"};

}  // namespace

absl::StatusOr<MethodRole> RoleOf(const std::string& method) {
  const size_t slash = method.rfind('/');
  const std::string name = slash == std::string::npos ? method : method.substr(slash + 1);
  for (const MethodRole& one : kMethods) {
    if (one.method == name) return one;
  }
  absl::Status status = WithReason(
      absl::InvalidArgumentError(absl::StrCat("`", method.substr(0, 128), "` is no method")),
      "UNKNOWN_METHOD", {{"method", method.substr(0, 128)}});
  AddFault(status, "/method", "names none", "e.g. SubmitBackfill");
  return status;
}

std::vector<std::string> AllRoles() { return {std::begin(kRoles), std::end(kRoles)}; }

}  // namespace interlock::server
