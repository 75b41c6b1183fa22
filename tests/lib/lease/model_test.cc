// Random calls (reserve, skip, wait, renew, release, force, pin), lost replies, crashes,
// clock steps and restarts against the lease table and its model. One thread, seeded; a
// failure prints the command that replays it, in a store of its own.
#include <cstdlib>
#include <limits>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "lib/lease/events.h"
#include "lib/lease/tails.h"
#include "lib/lease/waiting.h"
#include "lib/time/interval_set.h"
#include "tests/lib/lease/lease_fixture.h"
#include "tests/lib/lease/table_model.h"
#include "tests/lib/store/temporary_folder.h"

namespace interlock::lease {
namespace {

constexpr int kHours = 16;
// Every run has datasources of its own, in one store for all of a part.
constexpr int kRuns = 500;
constexpr int kSteps = 30;
constexpr int kCheckEvery = 5;
constexpr int64_t kNoPlace = std::numeric_limits<int64_t>::max();

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

std::vector<Interval> ToIntervals(const HourSet& hours) {
  std::vector<Interval> intervals;
  for (const int hour : hours) intervals.push_back(Hour(hour));
  return Condense(std::move(intervals));
}

class Simulation : public LeaseTest {
 public:
  Simulation() { Restart(); }

  void Run(uint64_t seed) {
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
  void TestBody() override {}

 private:
  int Pick(int count) { return static_cast<int>(random_() % count); }
  bool Chance(int percent) { return Pick(100) < percent; }
  Instant now() { return store_->Now(); }

  void Restart() {
    store_.reset();
    store::SqliteOptions options;
    options.path = folder_.File("store.db");
    options.schemas = {audit::AuditSchema(), LeaseSchema()};
    options.durable = false;
    auto store = store::OpenSqlite(std::move(options), clock_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = std::move(*store);
  }

  // Down and up again with whatever the wall clock says by then; the store's time must not
  // go back, and must be exact where the machine stayed up.
  void RestartSomehow() {
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

  void Step() {
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

  HourSet SomeHours() {
    HourSet hours;
    for (int pieces = 1 + Pick(2); pieces > 0; --pieces) {
      const int start = Pick(kHours);
      for (int hour = start; hour < std::min(kHours, start + 1 + Pick(4)); ++hour) {
        hours.insert(hour);
      }
    }
    return hours;
  }

  void TryReserve() {
    const HourSet asked = SomeHours();
    ReserveRequest request = Request(absl::StrCat("h", Pick(3)), ToIntervals(asked));
    request.datasource = Named(Chance(70) ? "wiki" : "clicks");
    request.mode = Chance(70) ? Mode::kReplace : Mode::kAppend;
    request.ttl = absl::Seconds(1 + Pick(300));
    request.skip_held = Chance(30);
    if (Chance(40)) {
      request.request_id = absl::StrCat("q", Pick(30), "-", seed_);
    } else if (Chance(40)) {
      request.wait = absl::Seconds(1 + Pick(300));
    }
    const std::string body =
        absl::StrCat(request.datasource, NameOf(request.mode), absl::FormatDuration(request.ttl),
                     request.skip_held, absl::StrJoin(asked, ","));
    if (Chance(10)) Crash(request);
    // The reply of the first is lost: the second is what counts.
    const bool lost = !request.request_id.empty() && Chance(20);
    const bool known = lost && IsKnown(request);
    const bool first_ok = lost && Reserve(request, limits_).ok();
    auto grant = Reserve(request, limits_);
    if (CheckRepeated(request, body, grant)) return;
    if (lost && !known) {
      EXPECT_EQ(grant.ok(), first_ok);
      EXPECT_TRUE(!grant.ok() || grant->repeated);
    }
    Settle(request, body, asked, grant, kNoPlace);
  }

  std::string Named(const std::string& datasource) const {
    return absl::StrCat(datasource, "-", seed_);
  }

  // The transaction that would have granted is not committed.
  void Crash(const ReserveRequest& request) {
    EXPECT_TRUE(absl::IsAborted(Write([&](store::Transaction& tx) {
      lease::Reserve(tx, request, caller_, limits_).status().IgnoreError();
      return absl::AbortedError("crash");
    })));
  }

  bool IsKnown(const ReserveRequest& request) const {
    for (const auto& [id, r] : model_.reservations) {
      if (r.holder == request.holder && r.request_id == request.request_id) return true;
    }
    return false;
  }

  // What the model says of an answer that is not a repeated one. Whether it was granted.
  bool Settle(const ReserveRequest& request, const std::string& body, const HourSet& asked,
              const absl::StatusOr<Grant>& grant, int64_t place) {
    const auto in_the_way = model_.InTheWay(request.datasource, request.mode, asked, place, now());
    const HourSet taken = in_the_way.All();
    HourSet free;
    for (const int hour : asked) {
      if (taken.count(hour) == 0) free.insert(hour);
    }
    if (free.empty() || (!taken.empty() && !request.skip_held)) {
      CheckRefused(request, asked, in_the_way, grant, place);
      return false;
    }
    EXPECT_TRUE(grant.ok()) << grant.status();
    if (!grant.ok()) return false;
    EXPECT_FALSE(grant->waiting.has_value());
    EXPECT_EQ(grant->reservation.intervals, ToIntervals(free));
    EXPECT_EQ(grant->skipped.empty(), taken.empty());
    int64_t& last = last_token_[request.datasource];
    EXPECT_EQ(grant->reservation.token, last + 1);
    last = grant->reservation.token;
    model_.reservations[grant->reservation.id] = {request.datasource,
                                                  request.holder,
                                                  request.request_id,
                                                  body,
                                                  request.mode,
                                                  last,
                                                  free,
                                                  free,
                                                  now() + request.ttl,
                                                  State::kActive,
                                                  {}};
    return true;
  }

  void CheckRefused(const ReserveRequest& request, const HourSet& asked,
                    const TableModel::Taken& in_the_way, const absl::StatusOr<Grant>& grant,
                    int64_t place) {
    const bool waits =
        place != kNoPlace || (request.wait > absl::ZeroDuration() && in_the_way.tail.empty());
    if (!waits) {
      EXPECT_EQ(ReasonOf(grant.status()), in_the_way.Reason()) << grant.status();
      return;
    }
    ASSERT_TRUE(grant.ok()) << grant.status();
    ASSERT_TRUE(grant->waiting.has_value());
    EXPECT_EQ(ReasonOf(grant->waiting->why), in_the_way.Reason());
    if (place != kNoPlace) return;
    int64_t& last = last_place_[request.datasource];
    model_.line[{request.datasource, ++last}] = {request.datasource, request.mode, asked,
                                                 now() + request.wait, now() + kWaiterAlive};
    places_[{request.datasource, last}] = {request, *grant->waiting};
  }

  void ActOnWaiter() {
    auto at = model_.line.begin();
    std::advance(at, Pick(static_cast<int>(model_.line.size())));
    const auto key = at->first;
    const ReserveRequest request = places_[key].first;
    const Waiting place = places_[key].second;
    if (Chance(20)) {
      EXPECT_TRUE(Write([&](store::Transaction& tx) { return GiveUp(tx, place); }).ok());
      model_.line.erase(key);
      return;
    }
    const auto grant = In<Grant>(
        [&](store::Transaction& tx) { return WaitOn(tx, request, place, caller_, limits_); });
    at->second.alive_until = now() + kWaiterAlive;
    const ModelWaiter waiter = at->second;
    if (Settle(request, "", waiter.asked, grant, key.second)) {
      model_.line.erase(key);
    } else if (grant.ok() && grant->waiting) {
      const auto in_the_way =
          model_.InTheWay(request.datasource, request.mode, waiter.asked, key.second, now());
      const bool over = now() >= waiter.until || !in_the_way.tail.empty();
      EXPECT_EQ(grant->waiting->over, over);
      if (over) model_.line.erase(key);
    }
  }

  void ChangeTail() {
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

  // Whether there was an earlier request with this id, whose answer this must be.
  bool CheckRepeated(const ReserveRequest& request, const std::string& body,
                     const absl::StatusOr<Grant>& grant) {
    if (request.request_id.empty()) return false;
    for (const auto& [id, r] : model_.reservations) {
      if (r.holder != request.holder || r.request_id != request.request_id) continue;
      if (r.body != body) {
        EXPECT_EQ(ReasonOf(grant.status()), "REQUEST_ID_REUSED") << grant.status();
      } else if (model_.Active(r, now())) {
        EXPECT_TRUE(grant.ok() && grant->repeated && grant->reservation.id == id);
      } else {
        EXPECT_EQ(ReasonOf(grant.status()), model_.WhyEnded(r, now()));
      }
      return true;
    }
    return false;
  }

  void ActOn(const std::string& id, ModelReservation& r) {
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

  void DoRenew(const Reservation& handle, ModelReservation& r) {
    const absl::Duration ttl = absl::Seconds(1 + Pick(300));
    const auto renewed = Renew(handle, ttl);
    if (!model_.Active(r, now())) {
      EXPECT_EQ(ReasonOf(renewed.status()), model_.WhyEnded(r, now()));
      return;
    }
    EXPECT_TRUE(renewed.ok()) << renewed.status();
    r.deadline = now() + ttl;
  }

  void DoRelease(const Reservation& handle, ModelReservation& r) {
    const auto released = Release(handle);
    if (model_.Active(r, now())) {
      r.ended = State::kReleased;
    } else if (r.ended != State::kReleased) {
      EXPECT_EQ(ReasonOf(released.status()), model_.WhyEnded(r, now()));
      return;
    }
    EXPECT_TRUE(released.ok()) << released.status();
  }

  void DoForce(const Reservation& handle, ModelReservation& r) {
    const auto forced = ForceRelease(handle);
    // The same call twice is one; an orphan can be forced, for its work to be shut down.
    if (!model_.Active(r, now()) && r.pins.empty() && r.ended != State::kForced) {
      EXPECT_EQ(ReasonOf(forced.status()), model_.WhyEnded(r, now()));
      return;
    }
    EXPECT_TRUE(forced.ok()) << forced.status();
    r.ended = State::kForced;
  }

  void DoPin(const Reservation& handle, ModelReservation& r) {
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

  void DoUnpin(ModelReservation& r) {
    if (r.pins.empty()) return;
    EXPECT_TRUE(Unpin(r.pins.begin()->first).ok());
    r.pins.erase(r.pins.begin());
  }

  void DoGiveBack(const Reservation& handle, ModelReservation& r) {
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

  // What a server does beside the calls; nothing that is decided may depend on it.
  void Keep() {
    EXPECT_TRUE(Write([&](store::Transaction& tx) -> absl::Status {
                  if (auto noted = NoteExpiries(tx); !noted.ok()) return noted.status();
                  if (Chance(50)) return absl::OkStatus();
                  return TrimEvents(tx, tx.now() - absl::Minutes(1), 0).status();
                }).ok());
  }

  // Every reservation is in the state that the model says and blocks what it says; the
  // promise is kept.
  void CheckAll() {
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

  TemporaryFolder folder_;
  TableModel model_;
  Limits limits_;
  uint64_t seed_ = 0;
  std::map<std::string, int64_t> last_token_;
  std::map<std::string, int64_t> last_place_;
  std::map<std::pair<std::string, int64_t>, std::pair<ReserveRequest, Waiting>> places_;
  int works_ = 0;
  std::mt19937_64 random_;
};

// INTERLOCK_SEED names another first seed, INTERLOCK_RUNS another number of them.
void RunSeedsFrom(int64_t first_of_part) {
  const int64_t first = FromEnvironment("INTERLOCK_SEED", first_of_part);
  const int64_t runs = FromEnvironment("INTERLOCK_RUNS", kRuns);
  Simulation simulation;
  for (int64_t seed = first; seed < first + runs; ++seed) {
    simulation.Run(seed);
    ASSERT_FALSE(::testing::Test::HasFailure())
        << "replay: INTERLOCK_SEED=" << seed
        << " INTERLOCK_RUNS=1 lib_lease_test --gtest_filter=LeaseModel.*Part1";
  }
}

// In parts, which run side by side.
TEST(LeaseModel, TheTableAgreesWithItsModelPart1) { RunSeedsFrom(1); }
TEST(LeaseModel, TheTableAgreesWithItsModelPart2) { RunSeedsFrom(1 + kRuns); }
TEST(LeaseModel, TheTableAgreesWithItsModelPart3) { RunSeedsFrom(1 + 2 * kRuns); }
TEST(LeaseModel, TheTableAgreesWithItsModelPart4) { RunSeedsFrom(1 + 3 * kRuns); }

}  // namespace
}  // namespace interlock::lease
