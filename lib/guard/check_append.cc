#include "lib/guard/check_append.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/druid/task_id.h"
#include "lib/guard/guard_errors.h"
#include "lib/lease/reservations.h"
#include "lib/lease/tables.h"
#include "lib/time/interval_set.h"

namespace interlock::guard {
namespace {

constexpr int64_t kMostHeld = 1'000;
constexpr absl::Duration kSoonest = absl::Seconds(1);
constexpr absl::Duration kLatest = absl::Seconds(30);

Interval At(Instant instant) {
  return Interval::Between(instant, Instant::FromMillis(instant.millis() + 1));
}

// From the first instant to the last: one index step where nobody holds any of it.
Interval HullOf(const std::vector<Instant>& instants) {
  const auto [first, last] = std::minmax_element(instants.begin(), instants.end());
  return Interval::Between(*first, At(*last).end());
}

std::vector<Interval> Each(const std::vector<Instant>& instants) {
  std::vector<Interval> each;
  for (const Instant instant : instants) each.push_back(At(instant));
  return Condense(std::move(each));
}

Decision DecisionOf(const lease::Held& held) {
  const bool final = held.by == lease::HeldBy::kSeal || held.by == lease::HeldBy::kDrop;
  return final ? Decision::kReject : Decision::kHold;
}

// What is in the way of an APPEND; all of it, or of the instants alone where the stretch
// between them is too full.
absl::StatusOr<std::vector<lease::Held>> FindInTheWay(store::Transaction& tx,
                                                      const AppendQuestion& question,
                                                      const lease::Limits& limits) {
  const std::vector<Interval> asked = {HullOf(question.instants)};
  auto held =
      lease::FindHeld(tx, question.datasource, lease::Mode::kAppend, asked, kMostHeld, limits);
  if (held.ok() && static_cast<int64_t>(held->size()) >= kMostHeld) {
    held = lease::FindHeld(tx, question.datasource, lease::Mode::kAppend, Each(question.instants),
                           kMostInstants, limits);
  }
  if (!held.ok()) return held.status();
  // Who waits in line for a REPLACE has nothing yet.
  std::erase_if(*held, [](const lease::Held& one) { return one.by == lease::HeldBy::kWaiter; });
  return held;
}

Decision Judge(Instant instant, const std::vector<lease::Held>& in_the_way,
               std::vector<bool>* refusing) {
  Decision decision = Decision::kAllow;
  for (size_t i = 0; i < in_the_way.size(); ++i) {
    if (!in_the_way[i].interval.Contains(instant)) continue;
    (*refusing)[i] = true;
    decision = std::max(decision, DecisionOf(in_the_way[i]));
  }
  return decision;
}

absl::Duration RetryAfter(const std::vector<lease::Held>& blockers, Instant now) {
  absl::Duration soonest = kLatest;
  for (const lease::Held& held : blockers) {
    if (!held.orphaned) soonest = std::min(soonest, held.until - now);
  }
  return std::max(soonest, kSoonest);
}

// The lease that is shown, where it lives and is this datasource's.
absl::StatusOr<std::optional<lease::Reservation>> Shown(store::Transaction& tx,
                                                        const AppendQuestion& question) {
  if (question.reservation_id.empty()) return std::optional<lease::Reservation>();
  auto reservation = lease::Get(tx, question.reservation_id);
  if (!reservation.ok()) return reservation.status();
  const Interval first =
      reservation->intervals.empty() ? Interval() : reservation->intervals.front();
  absl::Status status =
      lease::CheckToken(tx, question.reservation_id, question.token, question.datasource, first);
  if (!status.ok()) return status;
  return std::optional<lease::Reservation>(*std::move(reservation));
}

void Answer(const AppendQuestion& question, std::vector<lease::Held> in_the_way,
            AppendAnswer* answer) {
  std::vector<bool> refusing(in_the_way.size(), false);
  std::vector<Decision> each;
  bool same = true;
  for (const Instant instant : question.instants) {
    const Decision decision = Judge(instant, in_the_way, &refusing);
    each.push_back(decision);
    same = same && decision == each.front();
    answer->decision = std::max(answer->decision, decision);
  }
  if (!same) answer->each = std::move(each);
  for (size_t i = 0; i < in_the_way.size(); ++i) {
    if (refusing[i]) answer->blockers.push_back(std::move(in_the_way[i]));
  }
}

}  // namespace

absl::StatusOr<AppendAnswer> CheckAppend(store::Store& store, const AppendQuestion& question,
                                         const Options& options, const lease::Limits& limits) {
  if (!druid::ValidateDruidName("datasource", question.datasource).ok()) {
    return InvalidDatasource(question.datasource, question.datasource.empty()
                                                      ? "is missing"
                                                      : "is no name that Druid "
                                                        "takes");
  }
  const auto asked = static_cast<int64_t>(question.instants.size());
  if (asked > kMostInstants) return TooManyInstants(asked, kMostInstants);
  AppendAnswer answer;
  absl::Status status = store.Read([&](store::Transaction& tx) -> absl::Status {
    answer = AppendAnswer();
    auto own = Shown(tx, question);
    if (!own.ok()) return own.status();
    answer.valid_for = options.append_valid_for;
    if (*own) answer.valid_for = std::min(answer.valid_for, (*own)->deadline - tx.now());
    answer.valid_until = tx.now() + answer.valid_for;
    auto datasource = lease::FindDatasource(tx, question.datasource);
    if (!datasource.ok()) return datasource.status();
    if (datasource->has_value()) answer.token = (*datasource)->token;
    if (question.instants.empty()) return absl::OkStatus();
    auto in_the_way = FindInTheWay(tx, question, limits);
    if (!in_the_way.ok()) return in_the_way.status();
    // A REPLACE lease of one's own does not stand in one's own way.
    if (*own) {
      std::erase_if(*in_the_way, [&](const lease::Held& held) {
        return held.reservation_id == question.reservation_id;
      });
    }
    Answer(question, *std::move(in_the_way), &answer);
    if (answer.decision == Decision::kHold) {
      answer.retry_after = RetryAfter(answer.blockers, tx.now());
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return answer;
}

}  // namespace interlock::guard
