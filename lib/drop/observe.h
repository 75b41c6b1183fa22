// What a step asks of Druid before it decides. Reads only.
//
// Threads: any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lib/drop/clocks.h"
#include "lib/drop/manifest.h"
#include "lib/drop/options.h"
#include "lib/drop/record.h"
#include "lib/drop/running_tasks.h"
#include "lib/drop/state.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"

namespace interlock::drop {

struct Sight {
  bool known = false;   // every answer came
  std::string why_not;  // else the first that did not
  Instant began;        // by the store's clock, before anything was asked
  Look look;
  std::vector<druid::TaskLock> locks;
  std::vector<RunningTask> tasks;  // in CHECKING
  druid::Capabilities offered;
  Readings clocks;  // read together, at the end
};

// Whether this Druid may list used segments from a cache (34 and later, or one that does not
// say): what was marked used shows there only after a refresh.
bool MayCacheSegments(const std::string& version);

// Segments, locks and clocks of the drop's time.
Sight SeeSegments(const Drop& drop, druid::Cluster& cluster, store::Store& store,
                  const Clock& clock);

inline constexpr size_t kMaxErrorBytes = 1'000;  // of Druid's words that are kept

// Where the kill task in work stands. Nothing here is proof of what it did.
struct KillSight {
  Piece piece = Piece::kLives;
  std::string stands;   // of one that lives, in Druid's word: "WAITING", "PENDING", "RUNNING"
  bool runs = false;    // and does not wait
  std::string outcome;  // of a terminal one: "SUCCESS", "FAILED"
  std::string error;
  std::string failure;  // of a failed one: why (kill.h)
  int64_t reported = 0;
  std::string why_not;  // it could not be read now
};
KillSight SeeKill(const Kill& kill, const Options& options, druid::Cluster& cluster, Instant now);

// Whose the task under that kill's id is, by the nonce that it carries; nothing where that
// cannot be read now.
enum class Owner {
  kKill,      // it is the kill
  kOccupant,  // it is what took its id (kill.h, OccupantJson): the kill will never be
  kOther,
};
std::optional<Owner> OwnerOf(const Kill& kill, druid::Cluster& cluster);

// Whether what is visible, and its sums, are as before the mark.
struct RowSight {
  Proof proof = Proof::kUnread;
  std::optional<Sums> sums;
  std::string text;  // for people
};
RowSight SeeRows(const Drop& drop, const Manifest& rows, const Sight& sight, const Options& options,
                 druid::Cluster& cluster, Instant now);

// Whole numbers exactly, others to within a relative 1e-9 (their order of adding differs).
bool SameSums(const Sums& before, const Sums& after);

}  // namespace interlock::drop
