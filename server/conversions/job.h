// Jobs between lib/backfill and the wire.
#pragma once

#include "absl/status/statusor.h"
#include "interlock/v1/jobs.pb.h"
#include "lib/backfill/jobs.h"

namespace interlock::server {

// With its work, which lists leave out.
void ToProto(const backfill::Job& job, bool with_work, v1::Job* proto);

// INVALID_REQUEST where there is no work, or a part that makes no sense.
absl::StatusOr<backfill::Job> FromProto(const v1::Job& proto);

}  // namespace interlock::server
