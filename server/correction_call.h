// SubmitBackfill with `correction`: the same work, written beside what is sealed.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "lib/audit/caller.h"
#include "lib/backfill/backfills.h"
#include "lib/seal/corrections.h"
#include "server/seal_upkeep.h"

namespace interlock::server {

class CorrectionCall {
 public:
  // All must outlive it.
  CorrectionCall(backfill::Backfills& backfills, seal::Corrections& corrections, SealUpkeep& upkeep)
      : backfills_(backfills), corrections_(corrections), upkeep_(upkeep) {}

  struct Redirected {
    backfill::BackfillRequest request;  // over the side datasource
    std::string datasource;             // the sealed one
    std::string corrections_datasource;
  };
  // Errors of a plan; NOT_SEALED where a part is not sealed; CORRECTIONS_DIFFER.
  absl::StatusOr<Redirected> Redirect(const backfill::BackfillRequest& request) const;

  // Stores the backfill, and remembers that its difference is to be stored.
  absl::StatusOr<backfill::Backfills::Submitted> Submit(const Redirected& redirected,
                                                        const audit::Caller& caller);

 private:
  backfill::Backfills& backfills_;
  seal::Corrections& corrections_;
  SealUpkeep& upkeep_;
};

}  // namespace interlock::server
