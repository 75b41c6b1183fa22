// Which datasources are swept, and when each was.
//
// Threads: functions on a transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"

namespace interlock::sweep {

struct Swept {
  std::string datasource;
  Instant found;              // since when it is to be swept
  std::optional<Instant> at;  // when the newest whole sweep ended
  bool streamed = false;      // a supervisor writes it
  int64_t segments = 0;       // used ones
  int64_t unavailable = 0;    // of those that are visible, not served

  // Since when nobody has looked at all of it.
  Instant since() const { return at.value_or(found); }
};

// True where it was not there.
absl::StatusOr<bool> AddDatasource(store::Transaction& tx, const std::string& name, bool streamed);
absl::Status RemoveDatasource(store::Transaction& tx, const std::string& name);
// At tx.now().
absl::Status NoteSwept(store::Transaction& tx, const std::string& name, int64_t segments,
                       int64_t unavailable);
// By name; all where `name` is empty.
absl::StatusOr<std::vector<Swept>> ListSwept(store::Transaction& tx, const std::string& name);

}  // namespace interlock::sweep
