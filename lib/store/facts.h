// What the store knows of itself: one small table of names and values.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/store/connection.h"
#include "lib/store/schema.h"
#include "lib/store/store_clock.h"

namespace interlock::store {

// The schema of schema module "store": store_facts(name, text, number).
Schema FactsSchema();

struct Facts {
  std::string incarnation;     // "" in a new store
  bool is_backup = false;      // the file was written by a backup and not opened since
  bool has_mark_file = false;  // a file beside it tells how far it was (mark_file.h)
  std::optional<ClockFacts> clock;
  std::string origin;  // "" where none was written
};
absl::StatusOr<Facts> ReadFacts(Connection& connection);

absl::Status WriteIncarnation(Connection& connection, const std::string& incarnation);
absl::Status WriteClock(Connection& connection, const ClockFacts& clock);
absl::Status WriteIsBackup(Connection& connection, bool is_backup);
absl::Status WriteHasMarkFile(Connection& connection);
// Tokens handed out from now on are above `floor`.
absl::Status WriteTokenFloor(Connection& connection, int64_t floor);
// Above all that were handed out before `wall`, as long as a datasource gets fewer than a
// million grants a second; below 2^53, which JSON readers keep exactly, until the year 2248.
int64_t TokenFloorAt(Instant wall);
// Which database this is (PostgreSQL).
absl::Status WriteOrigin(Connection& connection, const std::string& origin);

// Sixteen letters and digits from the system's random source.
std::string NewIncarnation();

}  // namespace interlock::store
