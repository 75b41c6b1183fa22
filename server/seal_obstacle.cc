#include "server/seal_obstacle.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/lease/reservations.h"
#include "lib/lease/tables.h"

namespace interlock::server {
namespace {

lease::Held HeldBySeal(const seal::Seal& seal, const Interval& asked, Instant now) {
  lease::Held held;
  held.by = lease::HeldBy::kSeal;
  held.interval = *Interval::Of(std::max(asked.start(), seal.interval.start()),
                                std::min(asked.end(), seal.interval.end()));
  held.reason = "SEALED";
  held.holder = seal.sealed_by;
  held.purpose = seal.label.empty() ? seal.reason : seal.label;
  held.since = seal.created;
  held.until = Instant::kMax;
  held.link = absl::StrCat("seals/", seal.id);
  const bool resealing = seal::StateAt(seal, now) == seal::State::kResealing;
  held.message = absl::StrCat("seal ", seal.id, seal.label.empty() ? "" : " (", seal.label,
                              seal.label.empty() ? "" : ")", " of ", seal.sealed_by, ": ",
                              seal.reason, resealing ? "; its unseal is over" : "");
  held.remedy = absl::StrCat("submit it as a correction (--correction), which goes to ",
                             seal.corrections_datasource,
                             "; or have an admin lift it: ", "interlockctl seals unseal ", seal.id,
                             " --reason TEXT --for 1h");
  return held;
}

}  // namespace

lease::Obstacle SealObstacle() {
  return [](store::Transaction& tx, const std::string& datasource, lease::Mode,
            const std::vector<Interval>& intervals) -> absl::StatusOr<std::vector<lease::Held>> {
    std::vector<lease::Held> held;
    for (const Interval& interval : intervals) {
      auto seals = seal::Barred(tx, datasource, interval);
      if (!seals.ok()) return seals.status();
      for (const seal::Seal& seal : *seals) held.push_back(HeldBySeal(seal, interval, tx.now()));
    }
    return held;
  };
}

absl::StatusOr<std::vector<Interval>> SealedIn(store::Transaction& tx,
                                               const std::string& datasource,
                                               const Interval& interval) {
  auto seals = seal::Barred(tx, datasource, interval);
  if (!seals.ok()) return seals.status();
  std::vector<Interval> intervals;
  for (const seal::Seal& seal : *seals) intervals.push_back(seal.interval);
  return intervals;
}

absl::StatusOr<std::vector<seal::Holder>> HoldersOf(store::Transaction& tx,
                                                    const std::string& datasource,
                                                    const Interval& interval) {
  // As a grant does: of two servers one decides first, and the other sees it.
  auto locked = lease::LockDatasource(tx, datasource);
  if (!locked.ok()) return locked.status();
  auto held = lease::FindHeld(tx, datasource, lease::Mode::kReplace, {interval});
  if (!held.ok()) return held.status();
  std::vector<seal::Holder> holders;
  for (const lease::Held& one : *held) {
    // Who waits in line holds nothing, and will be refused.
    if (one.by == lease::HeldBy::kWaiter || one.by == lease::HeldBy::kSeal) continue;
    const bool tail = one.by == lease::HeldBy::kTail;
    holders.push_back({tail           ? "TAIL"
                       : one.orphaned ? "ORPHANED"
                                      : "HELD",
                       one.interval,
                       !one.message.empty()
                           ? one.message
                           : absl::StrCat("held by ", one.holder, " for ", one.purpose,
                                          one.orphaned ? ", whose work is not settled: " + one.link
                                                       : " until " + one.until.ToString())});
  }
  return holders;
}

}  // namespace interlock::server
