#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/lease/events.h"
#include "tests/lib/lease/table_simulation.h"

namespace interlock::lease {
namespace {

constexpr int64_t kNoPlace = std::numeric_limits<int64_t>::max();

}  // namespace

HourSet Simulation::SomeHours() {
  HourSet hours;
  for (int pieces = 1 + Pick(2); pieces > 0; --pieces) {
    const int start = Pick(kHours);
    for (int hour = start; hour < std::min(kHours, start + 1 + Pick(4)); ++hour) {
      hours.insert(hour);
    }
  }
  return hours;
}

void Simulation::TryReserve() {
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

std::string Simulation::Named(const std::string& datasource) const {
  return absl::StrCat(datasource, "-", seed_);
}

void Simulation::Crash(const ReserveRequest& request) {
  EXPECT_TRUE(absl::IsAborted(Write([&](store::Transaction& tx) {
    lease::Reserve(tx, request, caller_, limits_).status().IgnoreError();
    return absl::AbortedError("crash");
  })));
}

bool Simulation::IsKnown(const ReserveRequest& request) const {
  for (const auto& [id, r] : model_.reservations) {
    if (r.holder == request.holder && r.request_id == request.request_id) return true;
  }
  return false;
}

bool Simulation::Settle(const ReserveRequest& request, const std::string& body,
                        const HourSet& asked, const absl::StatusOr<Grant>& grant, int64_t place) {
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

void Simulation::CheckRefused(const ReserveRequest& request, const HourSet& asked,
                              const TableModel::Taken& in_the_way,
                              const absl::StatusOr<Grant>& grant, int64_t place) {
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

void Simulation::ActOnWaiter() {
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

bool Simulation::CheckRepeated(const ReserveRequest& request, const std::string& body,
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

}  // namespace interlock::lease
