#include "lib/drop/manifest.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "lib/time/interval_set.h"

namespace interlock::drop {
namespace {

constexpr std::pair<Phase, const char*> kPhases[] = {
    {Phase::kPlanned, "PLANNED"}, {Phase::kSent, "SENT"},         {Phase::kMarked, "MARKED"},
    {Phase::kForeign, "FOREIGN"}, {Phase::kRestored, "RESTORED"}, {Phase::kKilled, "KILLED"},
    {Phase::kLost, "LOST"},       {Phase::kStays, "STAYS"},
};

constexpr std::pair<File, const char*> kFiles[] = {
    {File::kUnchecked, "UNCHECKED"}, {File::kPresent, "PRESENT"},   {File::kGone, "GONE"},
    {File::kShared, "SHARED"},       {File::kDoubtful, "DOUBTFUL"},
};

template <class T, size_t n>
const char* NameIn(const std::pair<T, const char*> (&names)[n], T wanted) {
  for (const auto& [value, name] : names) {
    if (value == wanted) return name;
  }
  return "";
}

template <class T, size_t n>
std::optional<T> Named(const std::pair<T, const char*> (&names)[n], absl::string_view wanted) {
  for (const auto& [value, name] : names) {
    if (wanted == name) return value;
  }
  return std::nullopt;
}

Phase AfterUnused(const ManifestRow& row, std::optional<Instant> at, absl::Duration max_skew) {
  if (row.phase == Phase::kPlanned) return Phase::kForeign;
  if (row.phase == Phase::kSent) {
    const bool before_ours = at && row.sent_at && *at + max_skew < *row.sent_at;
    return before_ours ? Phase::kForeign : Phase::kMarked;
  }
  // Of one that was restored: a mark of ours that came late, or somebody's. Either way
  // the person who asked for the restore wants it back.
  return Phase::kMarked;
}

Phase After(const ManifestRow& row, Reads reads, std::optional<Instant> at, absl::Duration max_skew,
            bool restoring) {
  switch (reads) {
    case Reads::kUsed:
      return restoring && row.phase != Phase::kPlanned ? Phase::kRestored : row.phase;
    case Reads::kUnused:
      return AfterUnused(row, at, max_skew);
    case Reads::kGone:
      return row.kill_task.empty() ? Phase::kLost : Phase::kKilled;
  }
  return row.phase;
}

}  // namespace

const char* Name(Phase phase) { return NameIn(kPhases, phase); }
std::optional<Phase> PhaseNamed(absl::string_view name) { return Named(kPhases, name); }
const char* Name(File file) { return NameIn(kFiles, file); }
std::optional<File> FileNamed(absl::string_view name) { return Named(kFiles, name); }

bool MarksBefore(const ManifestRow& a, const ManifestRow& b) {
  const auto key = [](const ManifestRow& row) {
    return std::tie(row.version, row.interval, row.partition_num, row.id);
  };
  if (a.hidden != b.hidden) return a.hidden;
  return key(a) < key(b);
}

bool SameFile(const ManifestRow& row, const druid::Segment& segment) {
  return !row.tombstone && !segment.tombstone() && !row.load_spec.empty() &&
         row.load_spec == segment.load_spec;
}

bool Orphaned(const ManifestRow& row) {
  const bool gone = row.phase == Phase::kKilled || row.phase == Phase::kLost;
  return gone && (row.file == File::kPresent || row.file == File::kDoubtful);
}

bool AnyOrphaned(const Manifest& rows) { return std::any_of(rows.begin(), rows.end(), Orphaned); }

int64_t CountRevivable(const Manifest& rows) {
  return std::count_if(rows.begin(), rows.end(), [](const ManifestRow& row) {
    return row.phase == Phase::kSent || row.phase == Phase::kMarked;
  });
}

int64_t CountOrphans(const Manifest& rows) {
  return std::count_if(rows.begin(), rows.end(), [](const ManifestRow& row) {
    return Orphaned(row) && row.file == File::kPresent;
  });
}

std::vector<Interval> CoveredTime(const Manifest& rows) {
  std::vector<Interval> intervals;
  for (const ManifestRow& row : rows) {
    if (row.phase != Phase::kStays) intervals.push_back(row.interval);
  }
  return Condense(std::move(intervals));
}

Sighting See(const Manifest& rows, const Look& look) {
  std::set<absl::string_view> used;
  for (const druid::Segment& segment : look.used) used.insert(segment.id);
  std::map<absl::string_view, std::optional<Instant>> unused;
  if (look.unused) {
    for (const auto& row : *look.unused) unused[row.segment.id] = row.used_status_last_updated;
  }

  Sighting sighting;
  std::set<absl::string_view> listed, ours;
  for (const ManifestRow& row : rows) {
    listed.insert(row.id);
    if (row.ours()) ours.insert(row.id);
    const auto found = unused.find(row.id);
    Reads reads = look.unused ? Reads::kGone : Reads::kUnused;
    if (found != unused.end()) reads = Reads::kUnused;
    if (used.count(row.id) > 0) reads = Reads::kUsed;
    sighting.rows.push_back(reads);
    sighting.unused_at.push_back(found == unused.end() ? std::nullopt : found->second);
  }
  const std::vector<Interval> covered = CoveredTime(rows);
  for (const druid::Segment& segment : look.used) {
    if (listed.count(segment.id) > 0) continue;
    if (!Intersect(covered, {segment.interval}).empty()) sighting.strangers.push_back(segment);
  }
  if (look.unused) {
    for (const auto& row : *look.unused) {
      if (ours.count(row.segment.id) == 0) sighting.unlisted.push_back(row);
    }
  }
  return sighting;
}

std::vector<druid::Segment> Newer(const Manifest& rows, const Sighting& sighting) {
  std::vector<druid::Segment> newer;
  for (const druid::Segment& stranger : sighting.strangers) {
    std::vector<Interval> hides;
    bool beside = false;  // one of ours of its version or a lower one
    for (const ManifestRow& row : rows) {
      if (!row.ours() || row.hidden || !row.interval.Overlaps(stranger.interval)) continue;
      beside = beside || row.version <= stranger.version;
      hides.push_back(row.interval);
    }
    if (beside || !Covers(Condense(hides), {stranger.interval})) newer.push_back(stranger);
  }
  return newer;
}

bool Undone(const ManifestRow& row) { return row.phase == Phase::kMarked && !row.sent_at; }

Counts Count(const Manifest& rows, const Sighting& sighting) {
  Counts counts;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].phase == Phase::kForeign) ++counts.foreign;
    if (!rows[i].ours()) continue;
    if (sighting.rows[i] == Reads::kUsed) ++counts.used;
    if (sighting.rows[i] == Reads::kUnused) ++counts.marked;
    if (sighting.rows[i] == Reads::kUnused && Undone(rows[i])) {
      ++(rows[i].hidden ? counts.hidden_undone : counts.undone);
    }
    if (sighting.rows[i] == Reads::kGone) ++counts.gone;
  }
  return counts;
}

Changes Follow(Manifest& rows, const Sighting& sighting, absl::Duration max_skew, bool restoring) {
  Changes changes;
  for (size_t i = 0; i < rows.size(); ++i) {
    ManifestRow& row = rows[i];
    if (!row.ours()) continue;
    const std::optional<Instant> at = sighting.unused_at[i];
    const Phase after = After(row, sighting.rows[i], at, max_skew, restoring);
    const bool proven_before = row.phase == Phase::kMarked && row.unused_at.has_value();
    if (after == Phase::kMarked && proven_before && at && *at != *row.unused_at) {
      changes.remarked.push_back(row.id);
    }
    if (after == Phase::kForeign) changes.foreign.push_back(row.id);
    if (after == Phase::kLost && row.phase != Phase::kLost) changes.lost.push_back(row.id);
    const bool redated = at && at != row.unused_at;
    if (after != row.phase || redated) changes.changed.push_back(i);
    row.phase = after;
    if (redated) row.unused_at = at;
  }
  return changes;
}

}  // namespace interlock::drop
