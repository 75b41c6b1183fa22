// What a handover is shown: of the store, and of Druid.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "lib/backfill/handover_rows.h"
#include "lib/backfill/handover_worker.h"
#include "lib/backfill/obstacles.h"
#include "lib/backfill/rows.h"
#include "lib/guard/look.h"
#include "lib/guard/rows.h"
#include "lib/lease/reservations.h"
#include "lib/time/interval_set.h"

namespace interlock::backfill {
namespace {

constexpr int64_t kAllUnits = std::numeric_limits<int32_t>::max();
// How many of those that have the time are looked for: one says enough.
constexpr int64_t kMostHeld = 10;

const std::vector<State> kOpenStates = {State::kPending,   State::kReserved, State::kSubmitting,
                                        State::kRunning,   State::kProving,  State::kUndetermined,
                                        State::kNotApplied};

// From where on the datasource's supervisors may write, by what was last seen; its own
// setting speaks for them.
absl::StatusOr<Instant> TailStart(store::Transaction& tx, const std::string& datasource) {
  auto streams = guard::StreamsOf(tx, datasource);
  if (!streams.ok()) return streams.status();
  Instant start = Instant::kMax;
  for (const guard::Stream& stream : *streams) {
    if (stream.tail.any) start = std::min(start, stream.tail.bound.StartAt(tx.now()));
  }
  return start;
}

// Of the supervisors that Druid has, those whose tails reach before `end`: the others write
// nothing of what is recomputed. One that the guard has not seen yet may write anywhere.
absl::StatusOr<std::vector<Supervised>> Choose(store::Transaction& tx, const Handover& handover,
                                               const std::set<std::string>& in_druid, Instant end) {
  std::vector<Supervised> chosen;
  for (const std::string& id : in_druid) {
    auto stream = guard::FindStream(tx, handover.datasource, id);
    if (!stream.ok()) return stream.status();
    const bool known = stream->has_value() && (*stream)->tail.any;
    if (known && end <= (*stream)->tail.bound.StartAt(tx.now())) continue;
    Supervised one;
    one.id = id;
    chosen.push_back(std::move(one));
  }
  return chosen;
}

}  // namespace

// A call that was not answered may arrive as long as whoever carries it tries.
bool HandoverWorker::Settled(const Supervised& one, Instant now) const {
  return !one.unsettled || !one.asked || now >= *one.asked + 2 * options_.call_deadline;
}

absl::StatusOr<HandoverWorker::Standing> HandoverWorker::ReadStanding(store::Transaction& tx,
                                                                      const std::string& id) {
  Standing standing;
  auto handover = ReadHandover(tx, id);
  auto backfill = ReadBackfill(tx, id);
  if (!handover.ok()) return handover.status();
  if (!backfill.ok()) return backfill.status();
  standing.handover = handover->value_or(Handover());
  if (!handover->has_value()) standing.handover.state = HandoverState::kOver;
  standing.backfill = *std::move(backfill);
  auto start = TailStart(tx, standing.backfill.datasource);
  auto units = ReadUnits(tx, id, kOpenStates, Instant::kMax, false, kAllUnits);
  if (!start.ok()) return start.status();
  if (!units.ok()) return units.status();
  HandoverSight& sight = standing.sight;
  std::set<std::string> own;  // reservations
  for (const StoredUnit& unit : *units) {
    const bool inside = unit.unit.hull().end() > *start;
    const bool undetermined = unit.state == State::kUndetermined;
    // Outside of the tail the stream does not write, whatever becomes of it.
    if (inside) sight.inside_open = true;
    if (!inside && !undetermined) sight.outside_open = true;
    if (IsOpen(unit.state) && (inside || !undetermined)) sight.attempt_open = true;
    if (!inside) continue;
    standing.inside.insert(standing.inside.end(), unit.unit.intervals.begin(),
                           unit.unit.intervals.end());
    own.insert(unit.reservation_id);
  }
  standing.inside = Condense(std::move(standing.inside));
  sight.wanted = !standing.backfill.cancel && !standing.backfill.pause;
  if (standing.handover.state != HandoverState::kBefore || standing.inside.empty()) {
    return standing;
  }
  lease::ReserveRequest request;
  request.datasource = standing.backfill.datasource;
  request.intervals = standing.inside;
  request.tails = lease::Tails::kAccept;
  auto held = lease::FindHeld(tx, request, kMostHeld, options_.lease_limits);
  if (!held.ok()) return held.status();
  sight.time_free = std::all_of(held->begin(), held->end(), [&](const lease::Held& one) {
    return !one.reservation_id.empty() && own.count(one.reservation_id) > 0;
  });
  return standing;
}

bool HandoverWorker::LocksAreGone(const Standing& standing) {
  const auto locks = world_.cluster.ListLocks(standing.handover.datasource, standing.inside);
  if (!locks.done()) return false;
  return std::none_of(locks.value().begin(), locks.value().end(), LockBlocks);
}

void HandoverWorker::LookAtDruid(const Standing& standing, DruidSight* druid) {
  const Handover& handover = standing.handover;
  guard::StreamLook look(world_.cluster);
  const auto seen = look.Look(world_.store.Now());
  if (!seen.done()) return;
  druid->known = true;
  druid->tasks_gone = true;
  for (const auto& [key, one] : seen.value().streams) {
    if (key.first != handover.datasource) continue;
    // One whose tail does not reach in goes on; tasks that have no supervisor do not count as its.
    const bool others = one.supervisor && handover.Find(key.second) == nullptr;
    if (!others) druid->tasks_gone = druid->tasks_gone && one.tasks.empty();
    if (!one.supervisor) continue;
    SupervisorSight& sight = druid->supervisors[key.second];
    sight.there = true;
    sight.suspended = one.supervisor->suspended;
    sight.task_seen = !one.tasks.empty();
    for (const druid::StreamTask& task : one.tasks) {
      druid->offsets[key.second].insert(task.start_offsets.begin(), task.start_offsets.end());
    }
  }
  if (handover.state == HandoverState::kDraining && druid->tasks_gone) {
    druid->tasks_gone = LocksAreGone(standing);
  }
}

// What Druid showed, beside what the store knows of the same supervisors.
absl::Status HandoverWorker::Join(store::Transaction& tx, const DruidSight& druid,
                                  Standing* standing) {
  Handover& handover = standing->handover;
  if (handover.state == HandoverState::kBefore && druid.known && !standing->inside.empty()) {
    std::set<std::string> there;
    for (const auto& [id, sight] : druid.supervisors) there.insert(id);
    auto chosen = Choose(tx, handover, there, standing->inside.back().end());
    if (!chosen.ok()) return chosen.status();
    handover.supervisors = *std::move(chosen);
  }
  standing->sight.known = druid.known;
  standing->sight.tasks_gone = druid.tasks_gone;
  for (Supervised& one : handover.supervisors) {
    SupervisorSight& sight = standing->sight.supervisors[one.id];
    const auto seen = druid.supervisors.find(one.id);
    if (seen != druid.supervisors.end()) sight = seen->second;
    auto other = WhoHasSupervisor(tx, one.id);
    if (!other.ok()) return other.status();
    sight.another_has_it = !other->empty() && *other != handover.backfill_id;
    sight.call_settled = Settled(one, tx.now());
    const auto offsets = druid.offsets.find(one.id);
    const bool back = handover.state == HandoverState::kResuming && offsets != druid.offsets.end();
    if (back) one.offsets = offsets->second;
    one.seen_suspended = one.seen_suspended || (handover.state == HandoverState::kDraining &&
                                                druid.known && sight.suspended);
  }
  return absl::OkStatus();
}

}  // namespace interlock::backfill
