#include "lib/drop/check.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/drop/kill.h"
#include "lib/time/duration.h"
#include "lib/time/interval_set.h"

namespace interlock::drop {
namespace {

using Objections = std::vector<Objection>;

void UsedAgain(const CheckInput& input, Objections& found) {
  for (size_t i = 0; i < input.rows.size(); ++i) {
    const ManifestRow& row = input.rows[i];
    if (!row.ours() || input.sighting.rows[i] != Reads::kUsed) continue;
    found.push_back({kMarkedUsedAgain, row.id, "it was marked used again by somebody else"});
  }
}

void NotThereBefore(const CheckInput& input, Objections& found) {
  const std::vector<druid::Segment> newer = Newer(input.rows, input.sighting);
  for (const druid::Segment& segment : input.sighting.strangers) {
    const bool older = std::none_of(newer.begin(), newer.end(), [&](const druid::Segment& other) {
      return other.id == segment.id;
    });
    if (older) {
      found.push_back(
          {kOlderDataUnder, segment.id,
           absl::StrCat("older data was brought back over ", segment.interval.ToString(),
                        "; drop that too, or restore this drop, which hides it")});
    } else {
      found.push_back({kNewerDataOver, segment.id,
                       absl::StrCat("used data that was not there at the mark lies over ",
                                    segment.interval.ToString())});
    }
  }
}

void TooYoung(const CheckInput& input, Objections& found) {
  for (const Interval& covered : CoveredTime(input.rows)) {
    if (OlderThan(covered.end(), input.floor, input.now)) continue;
    found.push_back(
        {kYoungerThanFloor, covered.ToString(),
         absl::StrCat("its end is less than ", interlock::FormatDuration(input.floor), " ago")});
  }
}

void Locks(const CheckInput& input, Objections& found) {
  const std::vector<Interval> covered = CoveredTime(input.rows);
  for (const druid::TaskLock& lock : input.locks) {
    if (lock.revoked || Intersect(covered, Condense({lock.interval})).empty()) continue;
    found.push_back(
        {kLocked, lock.interval.ToString(),
         absl::StrCat("a Druid task of group ",
                      lock.group_id.empty() ? "(not told)" : lock.group_id, " holds a lock here")});
  }
}

// One that has no lock yet would get it before the kill's task does.
void Tasks(const CheckInput& input, Objections& found) {
  const std::vector<Interval> covered = CoveredTime(input.rows);
  for (const RunningTask& task : input.tasks) {
    if (task.intervals && Intersect(covered, *task.intervals).empty()) continue;
    found.push_back({kRunningTask, task.id,
                     absl::StrCat("a Druid task of type ", task.type,
                                  task.intervals ? " is at work here"
                                                 : " runs, and where it will "
                                                   "write is not told")});
  }
}

void Unbounded(const CheckInput& input, Objections& found) {
  for (const ManifestRow& row : input.rows) {
    if (row.phase != Phase::kMarked || row.unused_at) continue;
    found.push_back({kTimeOfMarkUnknown, row.id, "Druid does not say when it turned unused"});
  }
  for (const KillPiece& piece : KillPieces(input.rows)) {
    for (const druid::UnusedSegment& unlisted : input.sighting.unlisted) {
      if (!WouldKill(piece, unlisted)) continue;
      found.push_back({kNotOnManifest, unlisted.segment.id,
                       absl::StrCat("no kill of ", piece.interval.ToString(),
                                    " can leave it out, and it is not on the manifest")});
    }
  }
}

}  // namespace

Objections SharedFiles(const Manifest& rows, const std::vector<druid::Segment>& used) {
  std::set<absl::string_view> doomed;
  std::multimap<absl::string_view, const ManifestRow*> files;
  for (const ManifestRow& row : rows) {
    if (!row.ours()) continue;
    doomed.insert(row.id);
    files.emplace(row.load_spec, &row);
  }
  Objections found;
  for (const druid::Segment& segment : used) {
    if (doomed.count(segment.id) > 0) continue;
    const auto [first, last] = files.equal_range(segment.load_spec);
    for (auto file = first; file != last; ++file) {
      if (!SameFile(*file->second, segment)) continue;
      found.push_back({kSharedFile, file->second->id,
                       absl::StrCat("its file also stands behind the used segment ", segment.id)});
    }
  }
  return found;
}

Objections SpeaksAgainst(const CheckInput& input) {
  Objections found;
  UsedAgain(input, found);
  NotThereBefore(input, found);
  for (Objection& shared : SharedFiles(input.rows, input.look.used)) {
    found.push_back(std::move(shared));
  }
  TooYoung(input, found);
  Locks(input, found);
  Tasks(input, found);
  Unbounded(input, found);
  return found;
}

}  // namespace interlock::drop
