// The rows of the table of verbs, by what they are about.
#pragma once

#include <vector>

#include "client/cli/verb.h"

namespace interlock::cli {

std::vector<Verb> CoordinatorVerbs();  // reserve, submit, verify, drop
std::vector<Verb> ReservationVerbs();
std::vector<Verb> BackfillVerbs();  // and jobs
std::vector<Verb> DropVerbs();      // and retention
std::vector<Verb> SealVerbs();
std::vector<Verb> StreamVerbs();  // and check-append
// status, doctor, findings, explain, audit, report, policy, completion
std::vector<Verb> ServerVerbs();

// What verbs do beyond fill, call, print.
absl::StatusOr<int> RunReserve(Session& session);
absl::StatusOr<int> RunSubmit(Session& session);
absl::StatusOr<int> RunVerify(Session& session);
absl::StatusOr<int> RunDrop(Session& session);
absl::StatusOr<int> RunRestore(Session& session);
absl::StatusOr<int> RunPutRetention(Session& session);
absl::StatusOr<int> RunWatchBackfill(Session& session);
absl::StatusOr<int> RunWatchReservations(Session& session);
absl::StatusOr<int> RunPutJob(Session& session);
absl::StatusOr<int> RunAudit(Session& session);
absl::StatusOr<int> RunReport(Session& session);
absl::StatusOr<int> RunCompletion(Session& session);

}  // namespace interlock::cli
