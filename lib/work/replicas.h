// Which servers share a store: each says now and then that it is there. For people alone;
// claims and leases decide without it.
//
// Threads: functions on a transaction.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/store/store.h"

namespace interlock::work {

// One that has been silent for so long is gone, and not listed any more.
inline constexpr absl::Duration kReplicaForgotten = absl::Hours(24);

struct Replica {
  std::string name;
  std::string version;  // of its program
  Instant seen;         // when it said last that it is there, by the store's clock
};

// Says that `name` is there now, and forgets those that are gone.
absl::Status NoteReplica(store::Transaction& tx, const std::string& name,
                         const std::string& version);

// By name.
absl::StatusOr<std::vector<Replica>> ListReplicas(store::Transaction& tx);

}  // namespace interlock::work
