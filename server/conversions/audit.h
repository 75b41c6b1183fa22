// Audit events between lib/audit and the wire.
#pragma once

#include "absl/status/statusor.h"
#include "interlock/v1/audit.pb.h"
#include "lib/audit/audit.h"
#include "lib/audit/verify_chain.h"

namespace interlock::server {

void ToProto(const audit::RecordedEvent& recorded, v1::AuditEvent* proto);
void ToProto(const audit::ChainReport& report, v1::VerifyAuditResponse* proto);

absl::StatusOr<audit::Filter> FromProto(const v1::ListAuditEventsRequest& request);

}  // namespace interlock::server
