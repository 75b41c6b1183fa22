// The manifest: which segments a drop is about, and what became of each. It outlives the
// segments' own metadata rows, so it is the only thing that can name a file whose row is
// gone (case 53).
//
// Threads: values and functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/druid/segment.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::drop {

// What we have done to one segment, and seen of it.
enum class Phase {
  kPlanned,   // to be marked; no call for it was ever sent
  kSent,      // a mark for it was sent, with whatever answer
  kMarked,    // read back as unused, by our mark
  kForeign,   // somebody else marked it unused before us: not ours to kill or to restore
  kRestored,  // read back as used after RestoreDrop
  kKilled,    // its row is gone after a kill task of ours was sent for it
  kLost,      // its row is gone, and not by us
  kStays,     // only partly inside the interval, so never touched; known not to be new
};
const char* Name(Phase phase);
std::optional<Phase> PhaseNamed(absl::string_view name);

// Whether the file of a segment is there, as a storage probe sees it.
enum class File {
  kUnchecked,  // no probe for this kind of storage, or it never saw the file
  kPresent,
  kGone,      // was present before the kill and is not now
  kShared,    // present, and stands behind another segment: it is not ours to miss
  kDoubtful,  // not looked for, and the task that removed its row did not end well
};
const char* Name(File file);
std::optional<File> FileNamed(absl::string_view name);

struct ManifestRow {
  std::string id;
  Interval interval;
  std::string version;
  int32_t partition_num = 0;
  std::string shard_type;
  int64_t size_bytes = 0;
  std::string load_spec;
  bool tombstone = false;
  bool hidden = false;  // no query read it when it was planned: a higher version covers it
  Phase phase = Phase::kPlanned;
  // Druid's clock just before our mark was sent (nothing once a restore has marked it used
  // again), and the moment that Druid wrote down for the change (29+), which bounds the
  // kill.
  std::optional<Instant> sent_at;
  std::optional<Instant> unused_at;
  File file = File::kUnchecked;
  std::string kill_task;  // the last task that was sent to kill it

  // It is the drop's to mark, kill or restore.
  bool ours() const { return phase != Phase::kForeign && phase != Phase::kStays; }
};
using Manifest = std::vector<ManifestRow>;

// The order in which ids are marked unused: hidden ones first and lower versions before
// higher ones, so that no mark ever brings an older generation to light. Restoring goes
// the other way round.
bool MarksBefore(const ManifestRow& a, const ManifestRow& b);

// The same file may stand behind two ids (an upgraded segment): equal loadSpecs. Those
// of tombstones are equal too, and name no file.
bool SameFile(const ManifestRow& row, const druid::Segment& segment);

// Its row is gone and its file is not, or a failed kill makes that likely (case 53).
bool Orphaned(const ManifestRow& row);

bool AnyOrphaned(const Manifest& rows);
// Those of them whose file was seen to be there.
int64_t CountOrphans(const Manifest& rows);

// Rows that a mark of ours made unused, or may have: what a restore brings back.
int64_t CountRevivable(const Manifest& rows);

// Parts that the drop's manifest covers, condensed.
std::vector<Interval> CoveredTime(const Manifest& rows);

// --- What a look at Druid says of the manifest -----------------------------------------

struct Look {
  std::vector<druid::Segment> used;  // all that overlap the drop's interval
  // Nothing where this Druid cannot list them (before 29).
  std::optional<std::vector<druid::UnusedSegment>> unused;
};

enum class Reads {
  kUsed,
  kUnused,  // also "not used" where unused segments cannot be listed
  kGone,
};

struct Sighting {
  std::vector<Reads> rows;                        // of each row of the manifest
  std::vector<std::optional<Instant>> unused_at;  // of each, where Druid tells it
  // Used ids that overlap the manifest's time and were not there at the plan.
  std::vector<druid::Segment> strangers;
  // Unused ids that are not on the manifest, or not ours on it.
  std::vector<druid::UnusedSegment> unlisted;
};
Sighting See(const Manifest& rows, const Look& look);

// Those of the strangers that a restore would not wholly hide again: of a version at or above
// what was visible, or over time that nothing visible covered. The others are older data that
// somebody brought back, another drop's restore for one.
std::vector<druid::Segment> Newer(const Manifest& rows, const Sighting& sighting);

// A restore has marked it used again, and it reads as unused all the same: somebody's mark, or
// Druid's own. Of a hidden one that is no wonder: a duty marks unused what no query reads.
bool Undone(const ManifestRow& row);

// Counts over the rows that are ours.
struct Counts {
  int used = 0;
  int marked = 0;
  int gone = 0;
  int foreign = 0;
  // Among the marked ones: undone, by whether queries read them before the drop.
  int undone = 0;
  int hidden_undone = 0;
};
Counts Count(const Manifest& rows, const Sighting& sighting);

// What Follow found out on the way.
struct Changes {
  std::vector<size_t> changed;        // rows whose phase or time is not what it was
  std::vector<std::string> foreign;   // ids that somebody else marked
  std::vector<std::string> remarked;  // marked again after our proof: the window starts anew
  std::vector<std::string> lost;      // rows that somebody else killed
};

// Brings the phases up to what was seen. `max_skew` is how far Druid's processes may be
// apart: a mark dated earlier than that before ours was sent is somebody else's.
// `restoring` reads used rows as restored.
Changes Follow(Manifest& rows, const Sighting& sighting, absl::Duration max_skew, bool restoring);

}  // namespace interlock::drop
