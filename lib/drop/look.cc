// The first part of a step: what Druid and the disk say.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lib/drop/check.h"
#include "lib/drop/drop_errors.h"
#include "lib/drop/kill.h"
#include "lib/drop/step.h"
#include "lib/time/status_reason.h"

namespace interlock::drop {
namespace {

bool AsksForSegments(const Drop& drop, Instant now) {
  switch (drop.state) {
    case State::kMarked:
    case State::kAwaitingApproval:
      return drop.window_end && now >= *drop.window_end;
    case State::kReserved:
    case State::kMarking:
    case State::kChecking:
    case State::kVerifying:
    case State::kRestoring:
      return true;
    default:
      return false;
  }
}

bool Shared(const ManifestRow& row, const Look& look) {
  const auto same = [&row](const druid::Segment& segment) {
    return segment.id != row.id && SameFile(row, segment);
  };
  if (std::any_of(look.used.begin(), look.used.end(), same)) return true;
  return look.unused && std::any_of(look.unused->begin(), look.unused->end(),
                                    [&](const auto& unused) { return same(unused.segment); });
}

bool RowGone(const ManifestRow& row) {
  return row.phase == Phase::kKilled || row.phase == Phase::kLost;
}

// Before the kill it is enough to have seen a file once; after it each is looked for until
// it is gone. Tombstones have none.
bool WantsLook(const ManifestRow& row) {
  if (!row.ours() || row.tombstone) return false;
  return RowGone(row) ? row.file != File::kGone : row.file == File::kUnchecked;
}

File FileAfter(const ManifestRow& row, std::optional<bool> there, const Look& look,
               bool kill_failed) {
  if (!RowGone(row)) return there == true ? File::kPresent : row.file;
  // Absence counts only where presence was seen before.
  const bool was_seen = row.file == File::kPresent || row.file == File::kShared;
  if (was_seen && there == false) return File::kGone;
  if (there == true) return Shared(row, look) ? File::kShared : File::kPresent;
  if (row.file == File::kUnchecked && kill_failed) return File::kDoubtful;
  return row.file;
}

}  // namespace

std::vector<size_t> LookForFiles(const std::vector<Kill>& kills, const Look& look,
                                 const StorageProbe* probe, Manifest& manifest) {
  std::set<std::string> failed;
  for (const Kill& kill : kills) {
    if (kill.outcome == "FAILED") failed.insert(kill.task_id);
  }
  std::vector<size_t> places, changed;
  std::vector<std::string> load_specs;
  for (size_t i = 0; i < manifest.size(); ++i) {
    if (!WantsLook(manifest[i])) continue;
    places.push_back(i);
    load_specs.push_back(manifest[i].load_spec);
  }
  std::vector<std::optional<bool>> there(places.size());
  if (probe != nullptr && !places.empty()) there = probe->Look(load_specs);
  for (size_t i = 0; i < places.size(); ++i) {
    ManifestRow& row = manifest[places[i]];
    const File file = FileAfter(row, there[i], look, failed.count(row.kill_task) > 0);
    if (file == row.file) continue;
    row.file = file;
    changed.push_back(places[i]);
  }
  return changed;
}

namespace {

// The kills as they stand with what was seen of the one in work.
std::vector<Kill> KillsNow(const Drops::Detail& detail, const View& view) {
  std::vector<Kill> kills = detail.kills;
  if (view.kill && !kills.empty()) kills.back().outcome = view.kill->outcome;
  return kills;
}

// Why the kill that has just ended failed. Druid often keeps the cause to the log of the
// process that did it; what became of rows and files is seen all the same.
std::string FailureOf(const Drop& drop, const Kill& kill, const View& view) {
  std::string said = KillFailure(view.kill->error);
  if (said != kKillOther && said != kKillShutDown) return said;
  if (kill.shutdown_asked && drop.cancel) return kKillCancelled;
  if (kill.shutdown_asked) return kill.running ? kKillRanTooLong : kKillWaitedTooLong;
  if (said == kKillShutDown) return said;
  const bool left =
      std::any_of(view.manifest.begin(), view.manifest.end(), [&](const ManifestRow& row) {
        return row.kill_task == kill.task_id && RowGone(row) && row.file == File::kPresent;
      });
  return left ? kKillFilesLeft : said;
}

void FollowSegments(const Drops::Detail& detail, const Surroundings& around, View& view) {
  const Drop& drop = detail.drop;
  const Look& look = view.sight->look;
  const Sighting sighting = See(view.manifest, look);
  // What older data a restore would hide again is not in its way.
  view.strangers = drop.state == State::kRestoring ? !Newer(view.manifest, sighting).empty()
                                                   : !sighting.strangers.empty();
  view.changes = Follow(view.manifest, sighting, around.options.max_clock_skew,
                        drop.state == State::kRestoring);
  view.counts = Count(view.manifest, sighting);
  // It has done what a restore can for these, and queries see no difference.
  if (drop.state == State::kRestoring) view.counts.marked -= view.counts.hidden_undone;
  if (drop.state == State::kChecking || drop.state == State::kKilling ||
      drop.state == State::kVerifying) {
    for (const size_t place :
         LookForFiles(KillsNow(detail, view), look, around.probe, view.manifest)) {
      view.changes.changed.push_back(place);
    }
  }
  if (drop.state != State::kChecking) return;
  // The operator's floor may have been raised since the drop was stored.
  const absl::Duration floor = std::max(drop.floor, around.options.FloorOf(drop.datasource));
  view.objections = SpeaksAgainst({view.manifest, See(view.manifest, look), look, view.sight->locks,
                                   view.sight->tasks, floor, view.sight->clocks});
  // Before an intent is stored that nobody could carry out, and that nothing can be restored under.
  if (around.options.observe_only) {
    view.objections.push_back({ReasonOf(ObserveOnly()), drop.datasource,
                               "druid.access is OBSERVE: nothing is killed until it is MANAGE"});
  }
}

}  // namespace

View LookAt(const Drops::Detail& detail, const Surroundings& around) {
  View view;
  view.manifest = detail.manifest;
  const Drop& drop = detail.drop;
  const Instant now = around.store.Now();
  if (drop.state == State::kKilling && !detail.kills.empty()) {
    view.kill = SeeKill(detail.kills.back(), around.options, around.cluster, now);
  }
  // What a kill did is read as soon as it has ended, so that the drop is never shown as if
  // nothing had happened.
  const bool ended = view.kill && !view.kill->outcome.empty();
  if (!ended && !AsksForSegments(drop, now)) return view;
  view.sight = SeeSegments(drop, around.cluster, around.store, around.clock);
  if (view.sight->known) FollowSegments(detail, around, view);
  if (ended && view.kill->outcome == "FAILED") {
    view.kill->failure = FailureOf(drop, detail.kills.back(), view);
  }
  if (!view.sight->known) return view;
  if (drop.state == State::kRestoring && view.counts.marked == 0) {
    view.rows = SeeRows(drop, view.manifest, *view.sight, around.options, around.cluster, now);
  }
  return view;
}

}  // namespace interlock::drop
