// SubmitBackfill with `correction`: the same work, written beside what is sealed.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "lib/audit/caller.h"
#include "lib/backfill/backfills.h"
#include "lib/backfill/jobs.h"
#include "lib/seal/corrections.h"
#include "server/seal_upkeep.h"

namespace interlock::server {

class CorrectionCall {
 public:
  // All must outlive it.
  CorrectionCall(backfill::Backfills& backfills, backfill::Jobs& jobs,
                 seal::Corrections& corrections, SealUpkeep& upkeep)
      : backfills_(backfills), jobs_(jobs), corrections_(corrections), upkeep_(upkeep) {}

  struct Redirected {
    backfill::BackfillRequest request;  // over the side datasource
    std::string datasource;             // the sealed one
    std::string corrections_datasource;
  };
  // Errors of a plan; NOT_SEALED where a part is not sealed; CORRECTIONS_DIFFER;
  // TARGET_NOT_FOUND of a query that does not begin with REPLACE INTO.
  absl::StatusOr<Redirected> Redirect(const backfill::BackfillRequest& request) const;

  // Its difference is to be stored (again), as that of a correction that was retried.
  absl::Status FollowAgain(const backfill::Backfill& backfill);

  // Stores the backfill, and remembers that its difference is to be stored.
  absl::StatusOr<backfill::Backfills::Submitted> Submit(const Redirected& redirected,
                                                        const audit::Caller& caller);

 private:
  absl::StatusOr<std::string> TargetOf(const backfill::Plan& plan) const;

  backfill::Backfills& backfills_;
  backfill::Jobs& jobs_;
  seal::Corrections& corrections_;
  SealUpkeep& upkeep_;
};

}  // namespace interlock::server
