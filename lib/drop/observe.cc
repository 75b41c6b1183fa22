#include "lib/drop/observe.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/drop/kill.h"
#include "lib/druid/timeline.h"

namespace interlock::drop {
namespace {

constexpr double kRelative = 1e-9;

// Keeps `value` where the answer is done; else notes why it is not known.
template <class T>
bool Take(const druid::Answer<T>& answer, T& value, Sight& sight) {
  if (answer.done()) {
    value = answer.value();
    return true;
  }
  sight.why_not = answer.text();
  return false;
}

bool TakeUnused(const Drop& drop, druid::Cluster& cluster, Sight& sight) {
  if (!sight.offered.unused_segments_list) return true;
  sight.look.unused.emplace();
  for (const Interval& interval : drop.intervals) {
    std::vector<druid::UnusedSegment> some;
    if (!Take(cluster.ListUnusedSegments(drop.datasource, interval), some, sight)) return false;
    std::move(some.begin(), some.end(), std::back_inserter(*sight.look.unused));
  }
  return true;
}

// Read last, with the clocks beside it, so that its Date is next to our own readings.
bool TakeLocks(const Drop& drop, druid::Cluster& cluster, store::Store& store, const Clock& clock,
               Sight& sight) {
  const auto locks = cluster.ListLocks(drop.datasource, drop.intervals);
  sight.clocks = {store.Now(), clock.Now(), locks.druid_time()};
  return Take(locks, sight.locks, sight);
}

bool TakeTasks(const Drop& drop, druid::Cluster& cluster, Sight& sight) {
  if (drop.state != State::kChecking) return true;
  return Take(ListRunningTasks(drop.datasource, cluster), sight.tasks, sight);
}

// A Druid that lists from a cache shows what was marked used only after this.
bool Refresh(const Drop& drop, druid::Cluster& cluster, Sight& sight) {
  if (!MayCacheSegments(sight.offered.version)) return true;
  druid::LoadStatus ignored;
  return Take(cluster.GetLoadStatus(drop.datasource, drop.intervals.front(), true), ignored, sight);
}

bool Waits(const druid::TaskStatus& status) {
  return status.runner_state == "WAITING" || status.runner_state == "PENDING";
}

// A task that waits takes nobody's time but the drop's; one that runs may be at work on many
// files, so it is given longer, and from when it began.
bool Overdue(const Kill& kill, bool runs, const Options& options, Instant now) {
  if (!runs) return now - kill.stored >= options.kill_deadline;
  return kill.running && now - *kill.running >= options.kill_run_deadline;
}

KillSight Ended(const Kill& kill, const druid::TaskStatus& status, druid::Cluster& cluster) {
  KillSight sight;
  sight.piece = Piece::kEnded;
  sight.runs = kill.running.has_value();
  sight.outcome = status.state == druid::TaskState::kSuccess ? "SUCCESS" : "FAILED";
  sight.error = status.error.substr(0, kMaxErrorBytes);
  const auto report = cluster.GetTaskReport(kill.task_id);
  if (report.done()) {
    sight.reported = report.value().segments_killed.value_or(0);
    if (sight.error.empty()) sight.error = report.value().error.substr(0, kMaxErrorBytes);
  }
  return sight;
}

// The rows that are there are hidden or not as they were: queries see the same.
bool SameVisibleSet(const Manifest& rows, const Look& look) {
  const druid::Timeline timeline = druid::Timeline::Of(look.used);
  std::set<std::string> hidden;
  for (const druid::Segment& segment : timeline.Hidden()) hidden.insert(segment.id);
  return std::all_of(rows.begin(), rows.end(), [&](const ManifestRow& row) {
    return row.phase != Phase::kRestored || row.hidden == (hidden.count(row.id) > 0);
  });
}

bool SameNumber(double a, double b) {
  return std::abs(a - b) <= kRelative * std::max(std::abs(a), std::abs(b));
}

std::string NotLoaded(const std::string& datasource, const std::vector<Interval>& intervals,
                      druid::Cluster& cluster) {
  for (const Interval& interval : intervals) {
    const auto load = cluster.GetLoadStatus(datasource, interval, true);
    if (!load.done()) return load.text();
    if (load.value().unavailable_segments > 0) {
      return absl::StrCat(load.value().unavailable_segments, " segments are not loaded yet");
    }
  }
  return "";
}

// Where the rows were counted before the mark (Plan::counted).
std::vector<Interval> CountedIn(const Sums& sums) {
  std::vector<Interval> intervals;
  for (const druid::RowSums& one : sums) intervals.push_back(one.interval);
  return intervals;
}

bool Past(const std::optional<Instant>& since, absl::Duration length, Instant now) {
  return since && now - *since >= length;
}

}  // namespace

bool MayCacheSegments(const std::string& version) {
  constexpr int kLastWithout = 33;
  int major = 0;
  const bool told = absl::SimpleAtoi(version.substr(0, version.find('.')), &major);
  return !told || major > kLastWithout;
}

Sight SeeSegments(const Drop& drop, druid::Cluster& cluster, store::Store& store,
                  const Clock& clock) {
  Sight sight;
  sight.began = store.Now();
  sight.known =
      Take(cluster.GetCapabilities(), sight.offered, sight) && Refresh(drop, cluster, sight) &&
      Take(cluster.ListUsedSegments(drop.datasource, drop.intervals), sight.look.used, sight) &&
      TakeUnused(drop, cluster, sight) && TakeTasks(drop, cluster, sight) &&
      TakeLocks(drop, cluster, store, clock, sight);
  return sight;
}

KillSight SeeKill(const Kill& kill, const Options& options, druid::Cluster& cluster, Instant now) {
  KillSight sight;
  if (kill.post == Kill::Post::kEnded) {
    sight.piece = Piece::kEnded;
    if (kill.outcome == "TAKEN") sight.piece = Piece::kTaken;
    if (kill.outcome == "REFUSED") sight.piece = Piece::kRefused;
    return sight;
  }
  if (kill.post == Kill::Post::kIntent) {
    sight.piece = Piece::kUnposted;
    return sight;
  }
  const auto status = cluster.GetTaskStatus(kill.task_id);
  if (status.not_found()) {
    // A bare 404 settles nothing; the same id again does.
    sight.piece = Piece::kUnposted;
  } else if (!status.done()) {
    sight.why_not = status.text();
  } else if (status.value().terminal()) {
    return Ended(kill, status.value(), cluster);
  } else {
    sight.runs = !Waits(status.value());
    sight.stands = sight.runs ? "RUNNING" : status.value().runner_state;
    if (Overdue(kill, sight.runs, options, now)) sight.piece = Piece::kOverdue;
  }
  return sight;
}

std::optional<Owner> OwnerOf(const Kill& kill, druid::Cluster& cluster) {
  const auto payload = cluster.GetTaskPayload(kill.task_id);
  if (!payload.done()) return std::nullopt;
  const auto context = payload.value().context.find("interlock");
  const auto carries = [&](const std::string& nonce) {
    return context != payload.value().context.end() &&
           absl::StrContains(context->second, absl::StrCat("\"", nonce, "\""));
  };
  if (carries(kill.nonce)) return Owner::kKill;
  return carries(OccupantNonce(kill.nonce)) ? Owner::kOccupant : Owner::kOther;
}

RowSight SeeRows(const Drop& drop, const Manifest& rows, const Sight& sight, const Options& options,
                 druid::Cluster& cluster, Instant now) {
  RowSight seen;
  const auto any = [&rows](auto is) { return std::any_of(rows.begin(), rows.end(), is); };
  const bool partly = any([](const ManifestRow& row) {
    return row.phase == Phase::kKilled || row.phase == Phase::kLost;
  });
  if (any([](const ManifestRow& row) { return row.phase == Phase::kForeign; })) {
    seen.proof = Proof::kOverdue;
    seen.text = "all that this drop marked is used again; what others marked unused is not";
    return seen;
  }
  if (!partly && !SameVisibleSet(rows, sight.look)) {
    seen.proof = Proof::kDiffers;
    seen.text = "other segments are visible than before the mark";
    return seen;
  }
  if (partly || !drop.sums_before) {
    // Nothing to compare with: the ids are proven, and that is what is said.
    seen.proof = partly ? Proof::kSame : Proof::kOverdue;
    const auto gone = std::count_if(rows.begin(), rows.end(), [](const ManifestRow& row) {
      return row.phase == Phase::kKilled || row.phase == Phase::kLost;
    });
    seen.text = partly ? absl::StrCat("what the kill had left is used again; ", gone, " of ",
                                      drop.segment_count, " segments are killed, for good")
                       : "no sums from before the mark";
    return seen;
  }
  const std::vector<Interval> counted = CountedIn(*drop.sums_before);
  seen.text = NotLoaded(drop.datasource, counted, cluster);
  if (seen.text.empty()) {
    const auto sums = cluster.SumRows(drop.datasource, counted, drop.metrics);
    if (sums.done()) seen.sums = sums.value();
    if (!sums.done()) seen.text = sums.text();
  }
  if (!seen.sums) {
    const bool overdue = Past(drop.restore_started, options.restore_proof_deadline, now);
    seen.proof = overdue ? Proof::kOverdue : Proof::kUnread;
  } else if (SameSums(*drop.sums_before, *seen.sums)) {
    seen.proof = Proof::kSame;
    seen.text = "the same segments are visible as before, with the same rows and sums";
  } else {
    const bool late = Past(drop.restore_started, options.restore_differs_after, now);
    seen.proof = late ? Proof::kDiffers : Proof::kUnread;
    seen.text = "rows or sums are not what they were before the mark";
  }
  return seen;
}

bool SameSums(const Sums& before, const Sums& after) {
  return before.size() == after.size() &&
         std::equal(before.begin(), before.end(), after.begin(),
                    [](const druid::RowSums& a, const druid::RowSums& b) {
                      return a.interval == b.interval && a.rows == b.rows &&
                             a.sums.size() == b.sums.size() &&
                             std::equal(a.sums.begin(), a.sums.end(), b.sums.begin(),
                                        [](const auto& x, const auto& y) {
                                          return x.first == y.first &&
                                                 SameNumber(x.second, y.second);
                                        });
                    });
}

}  // namespace interlock::drop
