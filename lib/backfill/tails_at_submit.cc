#include "lib/backfill/tails_at_submit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/guard/reach.h"
#include "lib/guard/rows.h"
#include "lib/lease/tails.h"
#include "lib/time/interval_set.h"
#include "lib/time/status_reason.h"

namespace interlock::backfill {
namespace {

absl::Status UnboundedTail(const TailsAsked& asked, const lease::Tail& tail) {
  const std::string declare =
      absl::StrCat("interlockctl streams register ", asked.datasource, " --tail P2D");
  absl::Status status = absl::FailedPreconditionError(absl::StrCat(
      "stream ", tail.stream, " of ", asked.datasource,
      " has no late-message bound, which is Druid's default: it may still write any time. "
      "Declare what it may write: ",
      declare,
      "; or suspend it meanwhile (--handover), or accept late rows (--accept-unbounded-tail)"));
  AddBlocker(status, "TAIL", absl::StrCat(asked.datasource, "/", guard::Printed(asked.intervals)),
             declare);
  return WithReason(std::move(status), "UNBOUNDED_TAIL",
                    {{"stream", tail.stream}, {"remedy", declare}});
}

absl::Status ReachesIntoTail(const TailsAsked& asked, const lease::Tail& tail,
                             const guard::Reach& reach, const std::string& why_not) {
  const std::string would_do = guard::Printed(reach.outside);
  const std::string boundary = reach.boundary.ToString();
  absl::Status status = absl::FailedPreconditionError(
      absl::StrCat(guard::Printed(reach.inside), " reaches into what stream ", tail.stream,
                   " may still write, from ", boundary, " on (", tail.source, ")", why_not, "; ",
                   would_do.empty() ? std::string("nothing of what was asked lies before it")
                                    : absl::StrCat("the largest that would do is ", would_do),
                   "; or wait until it has passed (--wait-tail)",
                   why_not.empty() ? ", or suspend it meanwhile (--handover)" : ""));
  AddBlocker(status, "TAIL", absl::StrCat(asked.datasource, "/", guard::Printed(reach.inside)),
             absl::StrCat("stream ", tail.stream, " may write from ", boundary));
  return WithReason(
      std::move(status), "TAIL",
      {{"stream", tail.stream}, {"boundary", boundary}, {"largest_interval", would_do}});
}

class Taker {
 public:
  Taker(store::Transaction& tx, const TailsAsked& asked) : tx_(tx), asked_(asked) {}

  absl::StatusOr<Takeable> Take() {
    auto streams = guard::StreamsOf(tx_, asked_.datasource);
    if (!streams.ok()) return streams.status();
    streams_ = *std::move(streams);
    auto leave = TailLeaveOf(tx_, asked_.terms, asked_.datasource);
    auto tails = lease::ListTails(tx_, asked_.datasource);
    if (!leave.ok() || !tails.ok()) return leave.ok() ? tails.status() : leave.status();
    leave_ = *std::move(leave);
    taken_.now = asked_.intervals;
    for (const lease::Tail& tail : *tails) {
      if (absl::Status status = Against(tail); !status.ok()) return status;
    }
    taken_.later = Subtract(asked_.intervals, taken_.now);
    Tell();
    return std::move(taken_);
  }

 private:
  absl::Status Against(const lease::Tail& tail) {
    if (leave_.Covers(tail.stream)) return absl::OkStatus();
    if (tail.unbounded() && leave_.tails == lease::Tails::kAcceptUnbounded) {
      return absl::OkStatus();
    }
    const guard::Reach reach =
        guard::ReachInto(taken_.now, tail.StartAt(tx_.now()), asked_.granularity);
    if (!reach.any()) return absl::OkStatus();
    const bool passes = asked_.terms.policy == TailPolicy::kWait && !tail.unbounded();
    if (passes || MayHandOver(tail)) {
      taken_.now = reach.outside;
      return absl::OkStatus();
    }
    if (tail.unbounded()) return UnboundedTail(asked_, tail);
    return ReachesIntoTail(asked_, tail, reach,
                           asked_.terms.policy == TailPolicy::kHandover
                               ? ", and is no supervisor that could be suspended"
                               : "");
  }

  // Only a supervisor of Druid's can be suspended; the datasource's setting speaks for it.
  bool MayHandOver(const lease::Tail& tail) const {
    if (asked_.terms.policy != TailPolicy::kHandover) return false;
    return std::any_of(streams_.begin(), streams_.end(), [&](const guard::Stream& stream) {
      return stream.in_druid &&
             (stream.name == tail.stream || tail.stream == guard::kDefaultStream);
    });
  }

  void Tell() {
    const TailTerms& terms = asked_.terms;
    const bool hands_over = terms.policy == TailPolicy::kHandover;
    for (const guard::Stream& stream : streams_) {
      if (!stream.tail.any || stream.kind != guard::Kind::kSupervisor) continue;
      const bool loose = stream.tail.bound.unbounded() || !stream.tail.enforced;
      if (!loose || hands_over) continue;
      taken_.notices.push_back(absl::StrCat(
          "LATE_ROWS_POSSIBLE: Druid holds stream ", stream.name,
          " to no bound: it may add rows to what this backfill proves; they are looked for"));
    }
    if (terms.accept_concurrent_append && !leave_.streams.empty()) {
      taken_.notices.push_back(
          "CONCURRENT_APPEND: rows that the stream has read and not published are upgraded onto "
          "the new version, and may count twice; they are looked for");
    }
    if (!hands_over || taken_.later.empty()) return;
    if (!terms.ends_at_committed_offsets && !asked_.reads_itself) {
      taken_.notices.push_back(
          "LATE_ROWS_POSSIBLE: the input is not said to end at the stream's committed offsets: "
          "rows may be missing or there twice; they are looked for");
    }
  }

  store::Transaction& tx_;
  const TailsAsked& asked_;
  std::vector<guard::Stream> streams_;
  TailLeave leave_;
  Takeable taken_;
};

}  // namespace

absl::StatusOr<Takeable> TakeableNow(store::Transaction& tx, const TailsAsked& asked) {
  return Taker(tx, asked).Take();
}

}  // namespace interlock::backfill
