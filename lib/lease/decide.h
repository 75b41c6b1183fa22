// The one place where a request is granted, sent to wait, or refused.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "lib/audit/caller.h"
#include "lib/lease/reservation.h"
#include "lib/lease/tables.h"
#include "lib/lease/waiting.h"
#include "lib/store/store.h"

namespace interlock::lease {

// Under the datasource's lock; `waiter` is the request's place in line, if it has one: then
// what still can't be granted keeps it.
absl::StatusOr<Grant> Decide(store::Transaction& tx, const DatasourceRow& datasource,
                             const ReserveRequest& request, const std::optional<Waiter>& waiter,
                             const audit::Caller& caller, const Limits& limits);

}  // namespace interlock::lease
