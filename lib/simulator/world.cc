#include "lib/simulator/world.h"

#include <algorithm>
#include <utility>

#include "absl/time/time.h"

namespace interlock::simulator {
namespace {

// A clock that was set back further than this is let show.
constexpr absl::Duration kMarkSlack = absl::Seconds(1);

}  // namespace

World::World(WorldOptions world_options, Traits world_traits)
    : options(std::move(world_options)),
      traits(std::move(world_traits)),
      deep_storage(options.deep_storage),
      historicals(segments, rules, options.load_delay, options.drop_delay),
      tasks(*this),
      streams(*this),
      mark_overshadowed_after(options.mark_overshadowed_after) {}

void World::AdvanceTo(Moment tick, Instant now) {
  anchor_tick_ = tick;
  anchor_now_ = now;
  for (std::optional<Moment> due = NextDue(); due && *due <= tick; due = NextDue()) {
    SetTime(std::max(*due, tick_));
    RunScheduled();
    historicals.DoDue(tick_);
    tasks.DoDue();
    if (poll_due_ && *poll_due_ <= tick_) Poll();
  }
  SetTime(std::max(tick, tick_));
}

void World::SetTime(Moment tick) {
  tick_ = tick;
  now_ = anchor_now_ - absl::Milliseconds((anchor_tick_ - tick).count());
}

std::optional<Moment> World::NextDue() const {
  std::optional<Moment> next = poll_due_;
  const auto consider = [&](const std::optional<Moment>& due) {
    if (due && (!next || *due < *next)) next = due;
  };
  if (!scheduled_.empty()) consider(scheduled_.begin()->first);
  consider(tasks.NextDue());
  consider(historicals.NextDue());
  return next;
}

void World::Schedule(Moment at, std::function<void()> action) {
  scheduled_.emplace(at, std::move(action));
}

void World::RunScheduled() {
  while (!scheduled_.empty() && scheduled_.begin()->first <= tick_) {
    const std::function<void()> action = std::move(scheduled_.begin()->second);
    scheduled_.erase(scheduled_.begin());
    action();
  }
}

void World::SegmentsChanged(const std::string& datasource) {
  historicals.Assign(datasource, tick_, now_);
  // Polls happen at multiples of their period; one without a change before it shows
  // nothing new and is left out.
  const Moment period = std::max(options.poll_period, Moment(1));
  if (!poll_due_) poll_due_ = (tick_ / period + 1) * period;
  for (const Segment* segment : segments.Used(datasource)) {
    if (!rules.Drops(*segment, now_)) continue;
    Schedule(tick_ + options.load_delay, [this, datasource] { DropByRule(datasource); });
    break;
  }
  if (mark_overshadowed_after) {
    Schedule(tick_ + *mark_overshadowed_after,
             [this, datasource] { MarkOvershadowed(datasource); });
  }
}

Instant World::MarkTime() {
  Instant at = now_;
  if (last_mark_ && at <= *last_mark_ && *last_mark_ - at < kMarkSlack) {
    at = *last_mark_ + absl::Milliseconds(1);
  }
  last_mark_ = at;
  return at;
}

void World::Poll() {
  polled_ = TakeSnapshot(segments);
  poll_due_.reset();
}

void World::DropByRule(const std::string& datasource) {
  bool any = false;
  for (Segment* segment : segments.All(datasource)) {
    if (!segment->used || !rules.Drops(*segment, now_)) continue;
    segments.Mark(*segment, false, now_);
    any = true;
  }
  if (any) SegmentsChanged(datasource);
}

void World::MarkOvershadowed(const std::string& datasource) {
  const std::vector<Slice> served = historicals.Served(datasource);
  std::vector<Segment*> hidden;
  for (Segment* segment : segments.All(datasource)) {
    if (segment->used && Overshadowed(*segment, served)) hidden.push_back(segment);
  }
  for (Segment* segment : hidden) segments.Mark(*segment, false, now_);
  if (!hidden.empty()) SegmentsChanged(datasource);
}

void World::BeginRestart(Restart restart) {
  restart_ = restart;
  Schedule(restart.unavailable_until, [this] { tasks.Pump(); });
}

World::Leadership World::leadership() const {
  if (tick_ < restart_.refused_until) return Leadership::kRefused;
  if (tick_ < restart_.redirect_until) return Leadership::kRedirect;
  if (tick_ < restart_.unavailable_until) return Leadership::kUnavailable;
  return Leadership::kLeader;
}

}  // namespace interlock::simulator
