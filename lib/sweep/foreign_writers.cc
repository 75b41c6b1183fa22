#include "lib/sweep/foreign_writers.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace interlock::sweep {
namespace {

// Ids of tasks that Interlock pins (druid/task_id.h).
constexpr char kOwnTasks[] = "il-";

bool IsAtWork(const lease::Reservation& reservation) {
  return reservation.mode == lease::Mode::kReplace && !reservation.pins.empty();
}

// The part of a reservation that an interval touches, of the first that it touches.
struct Touched {
  const lease::Reservation* reservation = nullptr;
  Interval part;
};

std::vector<Touched> TouchedBy(const Interval& interval,
                               const std::vector<lease::Reservation>& reservations) {
  std::vector<Touched> touched;
  for (const auto& reservation : reservations) {
    if (!IsAtWork(reservation)) continue;
    for (const auto& reserved : reservation.intervals) {
      const auto part = reserved.Intersect(interval);
      if (part) touched.push_back({&reservation, *part});
    }
  }
  return touched;
}

std::string WhoseTime(const lease::Reservation& reservation) {
  return absl::StrCat("time that ", reservation.holder, " has reserved (", reservation.id, ")");
}

}  // namespace

std::vector<Observed> ForeignLocks(const std::vector<druid::TaskLock>& locks,
                                   const std::vector<lease::Reservation>& reservations) {
  std::vector<Observed> observed;
  for (const auto& lock : locks) {
    if (lock.revoked || lock.group_id.empty() || absl::StartsWith(lock.group_id, kOwnTasks)) {
      continue;
    }
    for (const auto& [reservation, part] : TouchedBy(lock.interval, reservations)) {
      Observed one;
      one.kind = kForeignWriter;
      one.interval = part;
      one.subject = lock.group_id;
      one.reason = "LOCK_IN_RESERVED_TIME";
      one.message = absl::StrCat("task ", lock.group_id, " holds a ", lock.type, " lock in ",
                                 WhoseTime(*reservation));
      one.remedy =
          "have its owner ask for a reservation; shut the task down where it must not write";
      one.digest = lock.version;
      observed.push_back(std::move(one));
    }
  }
  return observed;
}

std::optional<Observed> LeftByForeign(const Observed& writer,
                                      const std::vector<lease::Reservation>& reservations,
                                      const std::vector<druid::Segment>& used) {
  const auto touched = TouchedBy(writer.interval, reservations);
  if (touched.empty() || writer.digest.empty()) return std::nullopt;
  Observed left = writer;
  left.segments.clear();
  for (const auto& segment : used) {
    if (segment.version == writer.digest && segment.interval.Overlaps(writer.interval)) {
      left.segments.push_back(segment.id);
    }
  }
  if (left.segments.empty()) return std::nullopt;
  left.reason = "SEGMENTS_IN_RESERVED_TIME";
  left.message = absl::StrCat("task ", writer.subject, " is over and has left ",
                              left.segments.size(), " segment(s) of version ", writer.digest,
                              " in ", WhoseTime(*touched.front().reservation));
  left.remedy = "have its owner ask for a reservation; what is proven there says which rows count";
  return left;
}

}  // namespace interlock::sweep
