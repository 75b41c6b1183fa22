#include "lib/lease/in_the_way.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/lease/lease_errors.h"
#include "lib/lease/obstacle.h"
#include "lib/lease/overlaps.h"
#include "lib/lease/request.h"
#include "lib/lease/tails.h"
#include "lib/lease/waiting.h"
#include "lib/time/interval_set.h"
#include "lib/time/status_reason.h"

namespace interlock::lease {
namespace {

absl::Status Add(absl::StatusOr<std::vector<Held>> found, std::vector<Held>& all) {
  if (!found.ok()) return found.status();
  all.insert(all.end(), std::make_move_iterator(found->begin()),
             std::make_move_iterator(found->end()));
  return absl::OkStatus();
}

// A stream that writes in coarser partitions than the request, or in ones that stick out of
// its: what it writes later is not where the request can see it (apache/druid#17265, #15589).
bool Crosses(const ReserveRequest& request, const Held& held) {
  return request.mode == Mode::kReplace && held.mode == Mode::kAppend && held.calendar &&
         request.partitions && !held.calendar->FinerOrEqual(*request.partitions);
}

std::string ReasonFor(const ReserveRequest& request, const Held& held) {
  switch (held.by) {
    case HeldBy::kReservation:
    case HeldBy::kOrphan:
      return Crosses(request, held) ? "CROSSING_GRANULARITY" : "HELD";
    case HeldBy::kLockDelay:
      return "LOCK_DELAY";
    case HeldBy::kWaiter:
      return "BEHIND_WAITER";
    case HeldBy::kTail:
    case HeldBy::kSeal:
    case HeldBy::kDrop:
      break;
  }
  return held.reason;
}

// The higher, the longer it stands.
int Weight(const ReserveRequest& request, const Held& held) {
  switch (held.by) {
    case HeldBy::kSeal:
    case HeldBy::kDrop:
      return 5;
    case HeldBy::kTail:
      return 4;
    case HeldBy::kReservation:
    case HeldBy::kOrphan:
      return Crosses(request, held) ? 3 : 2;
    case HeldBy::kLockDelay:
      return 1;
    case HeldBy::kWaiter:
      break;
  }
  return 0;
}

Interval WholePartitions(const ReserveRequest& request, const Held& piece) {
  return request.partitions ? request.partitions->Widen(piece.interval) : piece.interval;
}

// What of `asked` would be granted, for the metadata.
std::string WouldDo(const ReserveRequest& request, const std::vector<Interval>& asked,
                    const std::vector<Held>& held) {
  std::vector<Interval> free = WithoutHeld(request, asked, held);
  constexpr size_t kMostShown = 10;
  if (free.size() > kMostShown) free.resize(kMostShown);
  return absl::StrJoin(Printed(free), ", ");
}

}  // namespace

std::vector<Interval> WithoutHeld(const ReserveRequest& request, const std::vector<Interval>& asked,
                                  const std::vector<Held>& held) {
  std::vector<Interval> taken;
  for (const Held& piece : held) taken.push_back(WholePartitions(request, piece));
  return Subtract(asked, Condense(std::move(taken)));
}

std::vector<Held> LeftOut(const ReserveRequest& request, const std::vector<Interval>& asked,
                          const std::vector<Held>& held) {
  if (!request.partitions.has_value()) return held;
  std::vector<Held> left_out;
  for (const Held& piece : held) {
    for (const Interval& part : Intersect(asked, {WholePartitions(request, piece)})) {
      left_out.push_back(piece);
      left_out.back().interval = part;
    }
  }
  return left_out;
}

absl::StatusOr<std::vector<Held>> FindBarriers(store::Transaction& tx,
                                               const DatasourceRow& datasource,
                                               const ReserveRequest& request,
                                               const std::vector<Interval>& asked,
                                               const Limits& limits) {
  std::vector<Held> found;
  absl::Status status;
  if (request.mode == Mode::kReplace) {
    status = Add(FindTails(tx, datasource, asked, request.tails), found);
  }
  if (status.ok() && limits.obstacles != nullptr) {
    status = Add(limits.obstacles->Find(tx, request.datasource, request.mode, asked), found);
  }
  if (!status.ok()) return status;
  return found;
}

absl::StatusOr<InTheWay> FindInTheWay(store::Transaction& tx, const DatasourceRow& datasource,
                                      const ReserveRequest& request,
                                      const std::vector<Interval>& asked, int64_t place,
                                      int64_t most, const Limits& limits) {
  absl::StatusOr<Overlaps> overlaps = FindOverlaps(tx, datasource, request.mode, asked, most);
  if (!overlaps.ok()) return overlaps.status();
  InTheWay found;
  found.lapsed = std::move(overlaps->lapsed);
  found.held = std::move(overlaps->held);
  found.all = static_cast<int64_t>(found.held.size()) < most;
  const size_t reservations = found.held.size();
  absl::Status status = Add(FindBarriers(tx, datasource, request, asked, limits), found.held);
  if (status.ok()) {
    status = Add(FindWaiters(tx, datasource, request.mode, asked, place), found.held);
  }
  if (!status.ok()) return status;
  if (found.held.size() > reservations) {
    std::stable_sort(found.held.begin(), found.held.end(), [](const Held& a, const Held& b) {
      return a.interval.start() < b.interval.start();
    });
  }
  return found;
}

absl::Status Refusal(const ReserveRequest& request, const std::vector<Interval>& asked,
                     const std::vector<Held>& held, Instant now) {
  const auto lead = std::max_element(held.begin(), held.end(), [&](const Held& a, const Held& b) {
    return Weight(request, a) < Weight(request, b);
  });
  Metadata more;
  if (lead->by == HeldBy::kTail) {
    more["boundary"] = lead->interval.start().ToString();
  }
  if (lead->by != HeldBy::kReservation) more["would_do"] = WouldDo(request, asked, held);
  return HeldError(request.datasource, ReasonFor(request, *lead), *lead, held, std::move(more),
                   now);
}

bool WillPass(const std::vector<Held>& held) {
  return std::all_of(held.begin(), held.end(), [](const Held& one) {
    return one.by == HeldBy::kReservation || one.by == HeldBy::kOrphan ||
           one.by == HeldBy::kLockDelay || one.by == HeldBy::kWaiter;
  });
}

std::optional<Instant> FirstEnd(const std::vector<Held>& held, Instant now) {
  std::optional<Instant> first;
  for (const Held& one : held) {
    if (one.orphaned || one.by == HeldBy::kWaiter || one.until <= now) continue;
    if (!first || one.until < *first) first = one.until;
  }
  return first;
}

}  // namespace interlock::lease
