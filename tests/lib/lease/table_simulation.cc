#include "tests/lib/lease/table_simulation.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "lib/lease/events.h"
#include "lib/lease/tails.h"
#include "lib/time/interval_set.h"

namespace interlock::lease {
namespace {

constexpr int kSteps = 30;
constexpr int kCheckEvery = 5;

}  // namespace

std::vector<Interval> ToIntervals(const HourSet& hours) {
  std::vector<Interval> intervals;
  for (const int hour : hours) intervals.push_back(Hour(hour));
  return Condense(std::move(intervals));
}

void Simulation::Run(uint64_t seed) {
  random_.seed(seed);
  seed_ = seed;
  model_ = TableModel();
  last_token_.clear();
  last_place_.clear();
  model_.lock_delay = Chance(30) ? absl::Seconds(Pick(120)) : absl::ZeroDuration();
  limits_.lock_delay = model_.lock_delay;
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    SCOPED_TRACE(absl::StrCat("seed ", seed, " step ", step));
    Step();
    if (step % kCheckEvery == 0 || step + 1 == kSteps) CheckAll();
  }
}

void Simulation::Restart() {
  store_.reset();
  store::SqliteOptions options;
  options.path = folder_.File("store.db");
  options.schemas = {audit::AuditSchema(), LeaseSchema()};
  options.durable = false;
  auto store = store::OpenSqlite(std::move(options), clock_);
  ASSERT_TRUE(store.ok()) << store.status();
  store_ = std::move(*store);
}

void Simulation::RestartSomehow() {
  const Instant before = now();
  store_.reset();
  const absl::Duration down = absl::Seconds(Pick(300));
  const bool reboot = Chance(30);
  if (reboot) {
    clock_.Reboot(down);
  } else {
    clock_.Advance(down);
  }
  if (Chance(50)) clock_.StepWall(absl::Minutes(Pick(120) - 60));
  Restart();
  if (reboot) {
    EXPECT_GE(now(), before);
  } else {
    EXPECT_EQ(now(), before + down);
  }
}

void Simulation::Step() {
  const int dice = Pick(1000);
  if (dice < 350) {
    TryReserve();
  } else if (dice < 480) {
    clock_.Advance(absl::Seconds(Pick(200)));
  } else if (dice < 530) {
    clock_.StepWall(absl::Minutes(Pick(120) - 60));
  } else if (dice < 533) {
    RestartSomehow();
  } else if (dice < 560) {
    Keep();
  } else if (dice < 590) {
    ChangeTail();
  } else if (dice < 650 && !model_.line.empty()) {
    ActOnWaiter();
  } else if (!model_.reservations.empty()) {
    auto place = model_.reservations.begin();
    std::advance(place, Pick(static_cast<int>(model_.reservations.size())));
    ActOn(place->first, place->second);
  }
}

void Simulation::ChangeTail() {
  Tail tail;
  tail.datasource = Named(Chance(50) ? "wiki" : "clicks");
  tail.stream = "kafka";
  if (Chance(40)) {
    model_.tails.erase(tail.datasource);
    EXPECT_TRUE(Write([&](store::Transaction& tx) {
                  return RemoveTail(tx, tail.datasource, tail.stream).status();
                }).ok());
    return;
  }
  const int hour = kHours / 2 + Pick(kHours);
  model_.tails[tail.datasource] = hour;
  tail.bound = Hour(hour).start();
  tail.source = "DECLARED";
  EXPECT_TRUE(Write([&](store::Transaction& tx) { return SetTail(tx, tail); }).ok());
}

void Simulation::ActOn(const std::string& id, ModelReservation& r) {
  Reservation handle;
  handle.id = id;
  handle.token = r.token;
  handle.datasource = r.datasource;
  switch (Pick(6)) {
    case 0:
      return DoRenew(handle, r);
    case 1:
      return DoRelease(handle, r);
    case 2:
      return DoForce(handle, r);
    case 3:
      return DoPin(handle, r);
    case 4:
      return DoUnpin(r);
    default:
      return DoGiveBack(handle, r);
  }
}

void Simulation::DoRenew(const Reservation& handle, ModelReservation& r) {
  const absl::Duration ttl = absl::Seconds(1 + Pick(300));
  const auto renewed = Renew(handle, ttl);
  if (!model_.Active(r, now())) {
    EXPECT_EQ(ReasonOf(renewed.status()), model_.WhyEnded(r, now()));
    return;
  }
  EXPECT_TRUE(renewed.ok()) << renewed.status();
  r.deadline = now() + ttl;
}

void Simulation::DoRelease(const Reservation& handle, ModelReservation& r) {
  const auto released = Release(handle);
  if (model_.Active(r, now())) {
    r.ended = State::kReleased;
  } else if (r.ended != State::kReleased) {
    EXPECT_EQ(ReasonOf(released.status()), model_.WhyEnded(r, now()));
    return;
  }
  EXPECT_TRUE(released.ok()) << released.status();
}

void Simulation::DoForce(const Reservation& handle, ModelReservation& r) {
  const auto forced = ForceRelease(handle);
  // The same call twice is one; an orphan can be forced, for its work to be shut down.
  if (!model_.Active(r, now()) && r.pins.empty() && r.ended != State::kForced) {
    EXPECT_EQ(ReasonOf(forced.status()), model_.WhyEnded(r, now()));
    return;
  }
  EXPECT_TRUE(forced.ok()) << forced.status();
  r.ended = State::kForced;
}

void Simulation::DoPin(const Reservation& handle, ModelReservation& r) {
  const int hour = Pick(kHours);
  const std::string work_id = absl::StrCat("w", ++works_);
  const absl::Status status = Pin(handle, work_id, Hour(hour));
  if (!model_.Active(r, now())) {
    EXPECT_THAT(ReasonOf(status), ::testing::AnyOf(model_.WhyEnded(r, now()), "STALE_TOKEN"));
  } else if (r.held.count(hour) == 0) {
    EXPECT_EQ(ReasonOf(status), "OUTSIDE_RESERVATION");
  } else {
    EXPECT_TRUE(status.ok()) << status;
    r.pins[work_id] = {hour};
  }
}

void Simulation::DoUnpin(ModelReservation& r) {
  if (r.pins.empty()) return;
  EXPECT_TRUE(Unpin(r.pins.begin()->first).ok());
  r.pins.erase(r.pins.begin());
}

void Simulation::DoGiveBack(const Reservation& handle, ModelReservation& r) {
  const HourSet hours = SomeHours();
  const auto left = GiveBack(handle, ToIntervals(hours));
  bool pinned = false, outside = false;
  for (const int hour : hours) {
    outside = outside || r.granted.count(hour) == 0;
    if (r.held.count(hour) == 0) continue;
    for (const auto& [work, pins] : r.pins) pinned = pinned || pins.count(hour) > 0;
  }
  if (!model_.Active(r, now())) {
    if (r.ended == State::kReleased && !outside) {
      EXPECT_TRUE(left.ok()) << left.status();
      return;
    }
    EXPECT_EQ(ReasonOf(left.status()), model_.WhyEnded(r, now()));
    return;
  }
  if (pinned || outside) {
    EXPECT_EQ(ReasonOf(left.status()), pinned ? "WORK_UNSETTLED" : "OUTSIDE_RESERVATION");
    return;
  }
  EXPECT_TRUE(left.ok()) << left.status();
  for (const int hour : hours) r.held.erase(hour);
  if (r.held.empty()) r.ended = State::kReleased;
}

void Simulation::Keep() {
  EXPECT_TRUE(Write([&](store::Transaction& tx) -> absl::Status {
                if (auto noted = NoteExpiries(tx); !noted.ok()) return noted.status();
                if (Chance(50)) return absl::OkStatus();
                return TrimEvents(tx, tx.now() - absl::Minutes(1), 0).status();
              }).ok());
}

void Simulation::CheckAll() {
  std::map<std::string, Reservation> read;
  ASSERT_TRUE(store_
                  ->Read([&](store::Transaction& tx) {
                    for (const auto& [id, r] : model_.reservations) {
                      auto found = lease::Get(tx, id);
                      if (!found.ok()) return found.status();
                      read[id] = *found;
                    }
                    return absl::OkStatus();
                  })
                  .ok());
  std::map<std::pair<std::string, int>, std::vector<Mode>> owners;
  for (const auto& [id, r] : model_.reservations) {
    const Reservation& found = read[id];
    EXPECT_EQ(found.state, model_.StateOf(r, now())) << id;
    const HourSet blocked = model_.Blocked(r, now());
    if (found.state == State::kActive) {
      EXPECT_EQ(found.intervals, ToIntervals(blocked)) << id;
    }
    for (const int hour : blocked) owners[{r.datasource, hour}].push_back(r.mode);
  }
  for (const auto& [place, modes] : owners) {
    const bool shared = std::count(modes.begin(), modes.end(), Mode::kReplace) == 0;
    EXPECT_TRUE(shared || modes.size() == 1) << place.first << " " << place.second;
  }
}

}  // namespace interlock::lease
