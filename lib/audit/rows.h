// Events as rows: what chain, list and verify share. Internal to lib/audit.
#pragma once

#include "lib/audit/audit.h"

// Statements must be literals; these are the columns that EventFrom reads.
#define INTERLOCK_AUDIT_COLUMNS                                                    \
  "seq, at_ms, identity, request_id, reason, method, datasource, subject, result," \
  " before_json, after_json, resource_type, peer"

namespace interlock::audit {

// Without what is read out of its JSON, and without its place in the chain.
RecordedEvent EventFrom(const store::Row& row);

}  // namespace interlock::audit
