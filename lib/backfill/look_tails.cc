#include "lib/backfill/look_tails.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/backfill/handover_rows.h"
#include "lib/backfill/spec.h"
#include "lib/backfill/tail_terms.h"
#include "lib/guard/look.h"
#include "lib/guard/mirror.h"
#include "lib/guard/observe.h"
#include "lib/guard/reach.h"
#include "lib/guard/rows.h"

namespace interlock::backfill {
namespace {

struct Known {
  std::vector<guard::Stream> streams;
  TailTerms terms;
  std::optional<Handover> handover;
};

absl::StatusOr<Known> ReadKnown(store::Store& store, const Backfill& backfill) {
  Known known;
  absl::Status status = store.Read([&](store::Transaction& tx) -> absl::Status {
    auto streams = guard::StreamsOf(tx, backfill.datasource);
    auto terms = ReadTailTerms(tx, backfill.id);
    auto handover = ReadHandover(tx, backfill.id);
    if (!streams.ok()) return streams.status();
    if (!terms.ok()) return terms.status();
    if (!handover.ok()) return handover.status();
    known = {*std::move(streams), *terms, *std::move(handover)};
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return known;
}

TailSight InTheWay(const guard::Stream& stream, const guard::Tail& tail, const Backfill& backfill,
                   const Unit& unit, Instant now) {
  if (tail.bound.unbounded()) {
    return {true, "UNBOUNDED_TAIL",
            absl::StrCat("stream ", stream.name,
                         " may still write any time: interlockctl streams register ",
                         backfill.datasource, " --tail P2D declares a tail")};
  }
  const Instant start = tail.bound.StartAt(now);
  std::string would_do = "nothing of it lies before";
  if (const auto granularity = ParseGranularity(backfill.granularity_json)) {
    const auto reach = guard::ReachInto(unit.intervals, start, *granularity);
    if (!reach.outside.empty()) {
      would_do = absl::StrCat(guard::Printed(reach.outside), " would do");
    }
  }
  return {true, "TAIL",
          absl::StrCat("stream ", stream.name, " may still write from ", start.ToString(), " on (",
                       guard::NameOf(tail.source), "); ", would_do)};
}

class TailLook {
 public:
  TailLook(store::Store& store, const Backfill& backfill, const Unit& unit, const Options& options,
           const Known& known)
      : store_(store), backfill_(backfill), unit_(unit), options_(options), known_(known) {}

  absl::StatusOr<TailSight> At(const guard::SeenStreams& seen, Instant now) {
    for (const guard::Stream& stream : known_.streams) {
      const auto there = seen.streams.find({stream.datasource, stream.supervisor_id});
      const guard::Seen nobody;
      auto sight = AtOne(stream, there != seen.streams.end() ? there->second : nobody, now);
      if (!sight.ok() || !sight->reason.empty()) return sight;
    }
    // One that was posted since the guard's last look.
    for (const auto& [key, own] : seen.streams) {
      if (key.first != backfill_.datasource || IsKnown(key.second)) continue;
      guard::Stream stream;
      stream.datasource = key.first;
      stream.name = stream.supervisor_id = key.second;
      auto sight = AtOne(stream, own, now);
      if (!sight.ok() || !sight->reason.empty()) return sight;
    }
    return TailSight();
  }

 private:
  bool IsKnown(const std::string& supervisor_id) const {
    return std::any_of(
        known_.streams.begin(), known_.streams.end(),
        [&](const guard::Stream& stream) { return stream.supervisor_id == supervisor_id; });
  }

  absl::StatusOr<TailSight> AtOne(const guard::Stream& stream, const guard::Seen& own,
                                  Instant now) {
    guard::Tail tail;
    bool accepted = known_.terms.policy == TailPolicy::kAcceptUnbounded;
    absl::Status status = store_.Read([&](store::Transaction& tx) -> absl::Status {
      auto computed = guard::TailOf(tx, stream, stream.supervisor_id.empty() ? nullptr : &own);
      if (!computed.ok()) return computed.status();
      tail = *computed;
      auto for_all = guard::AcceptsUnbounded(tx, stream, options_.guard);
      if (!for_all.ok()) return for_all.status();
      // Who asks for a handover wants the stream away, bound or not.
      accepted = known_.terms.policy != TailPolicy::kHandover && (accepted || *for_all);
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
    if (!tail.any || unit_.hull().end() <= tail.bound.StartAt(now)) return TailSight();
    if (tail.bound.unbounded() && accepted) return TailSight();
    if (Beside(own) || HandedOver(stream, own, now)) return TailSight();
    return InTheWay(stream, tail, backfill_, unit_, now);
  }

  // Both with concurrent locks, and somebody insists.
  bool Beside(const guard::Seen& own) const {
    return known_.terms.accept_concurrent_append && own.supervisor &&
           own.supervisor->concurrent_locks;
  }

  bool HandedOver(const guard::Stream& stream, const guard::Seen& own, Instant now) const {
    if (!known_.handover || !MayRunInTail(*known_.handover, now, options_.call_deadline)) {
      return false;
    }
    // The datasource's own setting speaks for the supervisor's stream.
    if (stream.name == guard::kDefaultStream) return true;
    return known_.handover->Find(stream.supervisor_id) != nullptr && own.supervisor &&
           own.supervisor->suspended && own.tasks.empty();
  }

  store::Store& store_;
  const Backfill& backfill_;
  const Unit& unit_;
  const Options& options_;
  const Known& known_;
};

}  // namespace

absl::StatusOr<TailSight> LookForTails(store::Store& store, druid::Cluster& cluster,
                                       const Backfill& backfill, const Unit& unit,
                                       const Options& options) {
  auto known = ReadKnown(store, backfill);
  if (!known.ok()) return known.status();
  if (known->streams.empty()) return TailSight();
  guard::StreamLook look(cluster);
  const Instant now = store.Now();
  const auto seen = look.Look(now);
  if (!seen.done()) return TailSight{false, "DRUID_UNAVAILABLE", seen.text()};
  return TailLook(store, backfill, unit, options, *known).At(seen.value(), now);
}

absl::StatusOr<TailSight> CheckHandover(store::Transaction& tx, const Backfill& backfill,
                                        const Unit& unit, const Options& options) {
  auto handover = ReadHandover(tx, backfill.id);
  if (!handover.ok()) return handover.status();
  if (!*handover || MayRunInTail(**handover, tx.now(), options.call_deadline)) return TailSight();
  auto streams = guard::StreamsOf(tx, backfill.datasource);
  if (!streams.ok()) return streams.status();
  const bool reached = std::any_of(streams->begin(), streams->end(), [&](const auto& stream) {
    return stream.in_druid && stream.tail.any &&
           unit.hull().end() > stream.tail.bound.StartAt(tx.now());
  });
  if (!reached) return TailSight();
  return TailSight{true, (*handover)->reason.empty() ? "TAIL" : (*handover)->reason,
                   (*handover)->message.empty() ? "the handover does not have the stream now"
                                                : (*handover)->message};
}

}  // namespace interlock::backfill
