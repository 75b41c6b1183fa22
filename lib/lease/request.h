// A request as a value: what is wrong with it, what makes two the same, how it is kept.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lib/audit/caller.h"
#include "lib/lease/reservation.h"
#include "lib/lease/tables.h"

namespace interlock::lease {

// INVALID_RESERVATION with every fault, or LIMIT_EXCEEDED.
absl::Status CheckRequest(const ReserveRequest& request, const Limits& limits);
absl::Status CheckTtl(absl::Duration ttl, const Limits& limits);
// REQUEST_ID_INVALID unless it is at most 128 printable ASCII characters.
absl::Status CheckRequestId(const std::string& id);

// What was asked for, as text that is kept with the grant.
std::string FingerprintOf(const ReserveRequest& request);
// One line for each field in which they differ, with both values.
std::vector<std::string> Differences(const std::string& kept, const std::string& now);

// The row of a grant at `now`, but for what was skipped.
Stored NewStored(Instant now, const Key& key, const ReserveRequest& request,
                 const audit::Caller& caller);

// Whether `holder` is `name` or one below it; every holder is below "".
bool IsAtOrBelow(const std::string& holder, const std::string& name);

// JSON for the audit.
std::string DescribeGrant(const Reservation& reservation, const std::vector<Held>& skipped);
std::vector<std::string> Printed(const std::vector<Interval>& intervals);

}  // namespace interlock::lease
