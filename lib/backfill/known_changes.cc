#include "lib/backfill/known_changes.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/backfill/rows.h"
#include "lib/lease/reservations.h"

namespace interlock::backfill {
namespace {

// Pages of ended reservations that are looked through; beyond, a change may stay unexplained.
constexpr int kMostPages = 20;
constexpr int64_t kPageLeases = 1'000;

void Add(const lease::Reservation& lease, const Interval& around,
         std::vector<verify::KnownChange>* known) {
  for (const Interval& interval : lease.intervals) {
    if (!interval.Overlaps(around)) continue;
    known->push_back({interval, lease.created, lease.ended,
                      absl::StrCat("reservation ", lease.id, " of ", lease.holder)});
  }
}

}  // namespace

absl::StatusOr<std::vector<verify::KnownChange>> KnownChanges(store::Transaction& tx,
                                                              const Attempt& attempt,
                                                              const Interval& around,
                                                              Instant since) {
  auto known = KnownAttempts(tx, attempt.datasource, around, since, attempt.task_id);
  if (!known.ok()) return known.status();
  lease::Filter filter;
  filter.datasource = attempt.datasource;
  filter.overlapping = around;
  auto leases = lease::List(tx, filter, {});
  if (!leases.ok()) return leases.status();
  for (const lease::Reservation& lease : leases->reservations) {
    if (lease.id != attempt.reservation_id) Add(lease, around, &*known);
  }
  return known;
}

absl::Status AddEnded(store::Transaction& tx, const Attempt& attempt, const Interval& around,
                      Instant since, std::vector<verify::KnownChange>* known) {
  lease::Filter filter;
  filter.datasource = attempt.datasource;
  filter.states = {lease::State::kReleased, lease::State::kExpired, lease::State::kForced};
  lease::Page page{kPageLeases, ""};
  for (int i = 0; i < kMostPages; ++i) {
    auto leases = lease::List(tx, filter, page);
    if (!leases.ok()) return leases.status();
    for (const lease::Reservation& lease : leases->reservations) {
      const bool since_then = lease.ended && *lease.ended >= since;
      if (since_then && lease.id != attempt.reservation_id) Add(lease, around, known);
    }
    page.token = leases->next;
    if (page.token.empty()) break;
  }
  return absl::OkStatus();
}

}  // namespace interlock::backfill
