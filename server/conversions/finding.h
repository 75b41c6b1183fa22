// Findings between lib/sweep and the wire.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "interlock/v1/finding.pb.h"
#include "interlock/v1/findings.pb.h"
#include "lib/guard/findings.h"
#include "lib/sweep/findings.h"
#include "lib/sweep/swept.h"

namespace interlock::server {

void ToProto(const sweep::Finding& finding, v1::Finding* proto);
// What the guard of streams found.
void ToProto(const guard::Finding& finding, v1::Finding* proto);
void ToProto(const sweep::Swept& swept, v1::Sweep* proto);

absl::StatusOr<sweep::Filter> FromProto(const v1::ListFindingsRequest& request);

}  // namespace interlock::server
