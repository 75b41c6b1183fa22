// What rows a caller expects of a backfill, between lib/backfill and the wire.
#pragma once

#include "absl/status/status.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "interlock/v1/rows.pb.h"
#include "lib/backfill/record.h"
#include "lib/backfill/request.h"

namespace interlock::server {

// INVALID_ARGUMENT with every fault: an interval that can't be read, a sum without a value.
absl::Status FromProto(const v1::RowExpectation& proto, backfill::BackfillRequest* request);

void ToProto(const backfill::Backfill& backfill, v1::RowExpectation* proto);

// Deadlines of a request that are there and are none.
absl::Status CheckDurations(const v1::SubmitBackfillRequest& request);

}  // namespace interlock::server
