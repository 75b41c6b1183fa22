#include "lib/backfill/tail_terms.h"

#include <algorithm>
#include <utility>

#include "lib/backfill/handover_rows.h"
#include "lib/guard/rows.h"
#include "lib/lease/reservations.h"

namespace interlock::backfill {
namespace {

struct PolicyName {
  TailPolicy policy;
  absl::string_view name;
};
constexpr PolicyName kNames[] = {
    {TailPolicy::kRefuse, "REFUSE"},
    {TailPolicy::kWait, "WAIT_TAIL"},
    {TailPolicy::kHandover, "HANDOVER"},
    {TailPolicy::kAcceptUnbounded, "ACCEPT_UNBOUNDED"},
};

std::string Text(absl::string_view view) { return {view.data(), view.size()}; }

// Streams that append with concurrent locks: whoever insists writes beside them.
absl::Status AddConcurrent(store::Transaction& tx, const std::string& datasource,
                           TailLeave* leave) {
  auto streams = guard::StreamsOf(tx, datasource);
  if (!streams.ok()) return streams.status();
  for (const guard::Stream& stream : *streams) {
    if (stream.concurrent_locks) leave->streams.push_back(stream.name);
  }
  if (!leave->streams.empty()) leave->streams.push_back(guard::kDefaultStream);
  return absl::OkStatus();
}

}  // namespace

absl::string_view NameOf(TailPolicy policy) {
  for (const PolicyName& known : kNames) {
    if (known.policy == policy) return known.name;
  }
  return "REFUSE";
}

TailPolicy TailPolicyOf(absl::string_view name) {
  for (const PolicyName& known : kNames) {
    if (known.name == name) return known.policy;
  }
  return TailPolicy::kRefuse;
}

absl::StatusOr<TailTerms> ReadTailTerms(store::Transaction& tx, const std::string& backfill_id) {
  auto rows = tx.Query(
      "SELECT policy, max_pause_ms, ends_at_committed, accept_concurrent"
      " FROM backfill_tail_terms WHERE backfill_id = :id",
      {backfill_id});
  if (!rows.ok()) return rows.status();
  TailTerms terms;
  if (rows->empty()) return terms;
  const store::Row& row = rows->front();
  terms.policy = TailPolicyOf(row.Text(0));
  terms.max_pause = absl::Milliseconds(row.Int(1));
  terms.ends_at_committed_offsets = row.Flag(2);
  terms.accept_concurrent_append = row.Flag(3);
  return terms;
}

absl::Status PutTailTerms(store::Transaction& tx, const std::string& backfill_id,
                          const TailTerms& terms) {
  if (terms.policy == TailPolicy::kRefuse && !terms.accept_concurrent_append) {
    return absl::OkStatus();
  }
  return tx
      .Execute(
          "INSERT INTO backfill_tail_terms (backfill_id, policy, max_pause_ms,"
          " ends_at_committed, accept_concurrent) VALUES (:id, :policy, :pause, :ends, :accept)",
          {backfill_id, Text(NameOf(terms.policy)), absl::ToInt64Milliseconds(terms.max_pause),
           terms.ends_at_committed_offsets, terms.accept_concurrent_append})
      .status();
}

bool TailLeave::Covers(const std::string& stream) const {
  return std::find(streams.begin(), streams.end(), stream) != streams.end();
}

absl::StatusOr<TailLeave> TailLeaveOf(store::Transaction& tx, const TailTerms& terms,
                                      const std::string& datasource) {
  TailLeave leave;
  if (terms.policy == TailPolicy::kAcceptUnbounded) {
    leave.tails = lease::Tails::kAcceptUnbounded;
  }
  if (!terms.accept_concurrent_append) return leave;
  absl::Status status = AddConcurrent(tx, datasource, &leave);
  if (!status.ok()) return status;
  return leave;
}

absl::StatusOr<TailLeave> TailLeaveNow(store::Transaction& tx, const std::string& backfill_id,
                                       const std::string& datasource) {
  auto terms = ReadTailTerms(tx, backfill_id);
  if (!terms.ok()) return terms.status();
  auto leave = TailLeaveOf(tx, *terms, datasource);
  if (!leave.ok() || terms->policy != TailPolicy::kHandover) return leave;
  auto handover = ReadHandover(tx, backfill_id);
  if (!handover.ok()) return handover.status();
  if (!*handover || !HasStreams(**handover)) return leave;
  for (const Supervised& one : (*handover)->supervisors) leave->streams.push_back(one.id);
  // The datasource's own setting speaks for its supervisors' streams.
  leave->streams.push_back(guard::kDefaultStream);
  return leave;
}

lease::Tails TailsFor(const TailLeave& leave) {
  return leave.streams.empty() ? leave.tails : lease::Tails::kAccept;
}

absl::StatusOr<std::vector<lease::Held>> FindHeldWith(store::Transaction& tx,
                                                      const TailLeave& leave,
                                                      const std::string& datasource,
                                                      const std::vector<Interval>& intervals,
                                                      int64_t most, const lease::Limits& limits) {
  lease::ReserveRequest request;
  request.datasource = datasource;
  request.intervals = intervals;
  request.tails = TailsFor(leave);
  auto held = lease::FindHeld(tx, request, most, limits);
  if (!held.ok() || leave.streams.empty()) return held;
  auto others = lease::FindOthers(tx, datasource, intervals, {});
  if (!others.ok()) return others.status();
  for (lease::Held& one : *others) {
    const bool accepted =
        leave.tails == lease::Tails::kAcceptUnbounded && one.reason == "UNBOUNDED_TAIL";
    if (one.by != lease::HeldBy::kTail || accepted || leave.Covers(one.holder)) continue;
    held->push_back(std::move(one));
  }
  return held;
}

}  // namespace interlock::backfill
