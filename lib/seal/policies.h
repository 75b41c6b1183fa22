// Policies: seals that make themselves, behind an age that moves with the calendar.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/audit/caller.h"
#include "lib/seal/seals.h"
#include "lib/store/store.h"

namespace interlock::seal {

struct SealPolicy {
  std::string name;
  std::string datasource_pattern;  // `*` for any characters
  std::string unit;                // what is sealed as one: P1M
  std::string age;                 // after the unit's end, by the calendar: P45D
  std::string time_zone;           // of both; "" is UTC
  std::string label;               // a template of the unit: {start:%Y-%m}
  SnapshotSpec snapshot;
  std::string corrections_datasource;
  bool accept_compaction = false;
  std::string updated_by;
  Instant updated;
};

// Units that one pass of a policy seals in one datasource.
inline constexpr int64_t kMostUnits = 100;

// INVALID_NAME, INVALID_PATTERN, INVALID_PERIOD, INVALID_SNAPSHOT.
absl::Status CheckPolicy(const SealPolicy& policy);

absl::StatusOr<SealPolicy> PutPolicy(store::Store& store, SealPolicy policy,
                                     const audit::Caller& caller);
// Those whose name comes after `after`, by name.
absl::StatusOr<std::vector<SealPolicy>> ListPolicies(store::Store& store, const std::string& after,
                                                     int64_t most);
// UNKNOWN_SEAL_POLICY.
absl::Status DeletePolicy(store::Store& store, const std::string& name,
                          const audit::Caller& caller);

bool Applies(const SealPolicy& policy, const std::string& datasource);

// The units of `datasource` that are old enough at `now`, have segments (`used`), and are
// not sealed, oldest first; at most kMostUnits. A unit that is sealed in part is left alone.
// `render` fills the label in.
absl::StatusOr<std::vector<SealRequest>> DueUnits(
    store::Store& store, const SealPolicy& policy, const std::string& datasource,
    const std::vector<Interval>& used, Instant now,
    const std::function<std::string(const std::string& label, const Interval& unit)>& render);

}  // namespace interlock::seal
