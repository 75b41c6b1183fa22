#include "lib/seal/seals.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/druid/task_id.h"
#include "lib/seal/figures_json.h"
#include "lib/seal/rows.h"
#include "lib/seal/seal_errors.h"
#include "lib/seal/snapshot_query.h"
#include "lib/time/status_reason.h"

namespace interlock::seal {
namespace {

std::string FingerprintOf(const SealRequest& request) {
  return absl::StrCat(request.datasource, "|", request.interval.ToString(), "|", request.label, "|",
                      ToJson(request.snapshot), "|", request.accept_compaction, "|",
                      request.corrections_datasource);
}

absl::Status Held(const std::string& datasource, const std::vector<Holder>& holders) {
  const Holder& first = holders.front();
  absl::Status status =
      WithReason(absl::FailedPreconditionError(absl::StrCat(
                     first.interval.ToString(), " of ", datasource,
                     " may still be written: ", first.description,
                     holders.size() > 1 ? absl::StrCat(", and ", holders.size() - 1, " more") : "",
                     "; seal it once that is over")),
                 first.type == "TAIL" ? "TAIL" : "HELD");
  for (const Holder& holder : holders) {
    AddBlocker(status, holder.type, absl::StrCat(datasource, "/", holder.interval.ToString()),
               holder.description);
  }
  return status;
}

audit::Event EventOf(const audit::Caller& caller, const char* method, const Seal& seal) {
  audit::Event event;
  event.caller = caller;
  event.method = method;
  event.datasource = seal.datasource;
  event.subject = seal.id;
  event.resource_type = "seal";
  return event;
}

// Begun by a call of the same request that was cut short, or that is still under way: what it
// barred stays barred, and its figures are read here as well.
absl::StatusOr<Sealed> TakeOver(store::Transaction& tx, Seal seal) {
  seal.unseal_until = tx.now() + kSealingFor;
  absl::Status status = UpdateSeal(tx, seal);
  if (!status.ok()) return status;
  return Sealed{std::move(seal), false, false};
}

absl::Status GiveUp(store::Transaction& tx, const std::string& id) {
  auto stored = ReadSeal(tx, id);
  if (!stored.ok() || stored->state != State::kSealing) return stored.status();
  return DeleteSeal(tx, id);
}

}  // namespace

bool IsDatasource(const std::string& name) {
  return druid::ValidateDruidName("datasource", name).ok();
}

std::string DefaultCorrections(const std::string& datasource) {
  return absl::StrCat(datasource, "__corrections");
}

std::string Describe(const Seal& seal, Instant now) {
  audit::JsonObject json;
  json.Text("state", NameOf(StateAt(seal, now)))
      .Text("interval", seal.interval.ToString())
      .Text("label", seal.label)
      .Text("ids_digest", seal.ids_digest)
      .Text("content_digest", seal.content_digest)
      .Text("integrity", NameOf(seal.integrity))
      .Text("corrections_datasource", seal.corrections_datasource);
  if (!seal.policy.empty()) json.Text("policy", seal.policy);
  if (seal.unseal_until) json.Text("unseal_until", seal.unseal_until->ToString());
  return json.ToString();
}

absl::StatusOr<std::vector<Seal>> Barred(store::Transaction& tx, const std::string& datasource,
                                         const Interval& interval) {
  auto seals = SealsOver(tx, datasource, interval);
  if (!seals.ok()) return seals.status();
  std::vector<Seal> barring;
  for (Seal& seal : *seals) {
    if (Bars(seal, tx.now())) barring.push_back(std::move(seal));
  }
  return barring;
}

absl::Status Seals::CheckRequest(const SealRequest& request) const {
  if (!IsDatasource(request.datasource)) return InvalidDatasource("datasource", request.datasource);
  if (const std::string& side = request.corrections_datasource; !side.empty()) {
    if (!IsDatasource(side)) return InvalidDatasource("corrections_datasource", side);
    if (side == request.datasource) return CorrectionsInto("corrections_datasource", side);
  }
  return CheckSnapshot(request.snapshot);
}

absl::Status Seals::CheckFree(store::Transaction& tx, const std::string& datasource,
                              const Interval& interval) const {
  auto holders = options_.holders(tx, datasource, interval);
  if (!holders.ok()) return holders.status();
  return holders->empty() ? absl::OkStatus() : Held(datasource, *holders);
}

absl::StatusOr<Layout> Seals::CheckDruid(const SealRequest& request, bool* compacted) {
  auto layout = ReadLayout(cluster_, request.datasource, request.interval);
  if (!layout.ok()) return layout.status();
  if (!layout->any_visible) return NothingToSeal(request.datasource, request.interval);
  auto configured = options_.compacted(request.datasource);
  if (!configured.ok()) return configured.status();
  *compacted = *configured;
  if (*configured && !request.accept_compaction) return CompactionConfigured(request.datasource);
  return layout;
}

// Stores the seal, which bars from now on, without its figures.
absl::StatusOr<Sealed> Seals::Begin(store::Transaction& tx, const SealRequest& request,
                                    const audit::Caller& caller) const {
  auto earlier = FindByRequest(tx, caller.identity, caller.request_id);
  if (!earlier.ok()) return earlier.status();
  if (earlier->has_value()) {
    Seal& before = **earlier;
    const bool sealing = before.state == State::kSealing;
    if (!sealing && before.fingerprint != FingerprintOf(request)) {
      return RequestIdReused(caller.request_id, before.id);
    }
    if (!sealing) return Sealed{std::move(before), true, false};
    if (Bars(before, tx.now()) && before.fingerprint == FingerprintOf(request)) {
      return TakeOver(tx, std::move(before));
    }
  }
  absl::Status status = CheckFree(tx, request.datasource, request.interval);
  if (!status.ok()) return status;
  auto there = SealsOver(tx, request.datasource, request.interval);
  if (!there.ok()) return there.status();
  for (const Seal& seal : *there) {
    if (seal.state != State::kSealing || Bars(seal, tx.now())) return AlreadySealed(seal);
    status = DeleteSeal(tx, seal.id);
    if (!status.ok()) return status;
  }
  Seal seal;
  seal.datasource = request.datasource;
  seal.interval = request.interval;
  seal.state = State::kSealing;
  seal.reason = caller.reason;
  seal.label = request.label;
  seal.sealed_by = caller.identity;
  seal.request_id = caller.request_id;
  seal.fingerprint = FingerprintOf(request);
  seal.policy = request.policy;
  seal.created = tx.now();
  seal.snapshot = request.snapshot;
  seal.unseal_until = tx.now() + kSealingFor;
  seal.corrections_datasource = request.corrections_datasource.empty()
                                    ? DefaultCorrections(request.datasource)
                                    : request.corrections_datasource;
  status = InsertSeal(tx, seal);
  if (!status.ok()) return status;
  return Sealed{std::move(seal), false, false};
}

// The figures of segments that were the same before and after.
absl::StatusOr<std::pair<Layout, Figures>> Seals::ReadTwice(const Seal& seal, Layout layout) {
  for (int i = 0; i < 2; ++i) {
    auto figures = ReadFigures(cluster_, seal.datasource, seal.interval, layout, seal.snapshot);
    if (!figures.ok()) return figures.status();
    auto after = ReadLayout(cluster_, seal.datasource, seal.interval);
    if (!after.ok()) return after.status();
    if (after->ids_digest == layout.ids_digest) {
      return std::make_pair(std::move(layout), *std::move(figures));
    }
    layout = *std::move(after);
  }
  return ChangedMeanwhile(seal.interval);
}

absl::StatusOr<Seal> Seals::Complete(Seal seal, const Layout& layout, const Figures& figures,
                                     const audit::Caller& caller) {
  absl::Status status = store_.Write([&](store::Transaction& tx) {
    auto stored = ReadSeal(tx, seal.id);
    if (!stored.ok()) return stored.status();
    seal = *std::move(stored);
    if (seal.state != State::kSealing) return absl::OkStatus();  // another call has done it
    // Read for too long: it bars no more, and somebody may write.
    if (!Bars(seal, tx.now())) return ChangedMeanwhile(seal.interval);
    seal.state = State::kActive;
    seal.unseal_until.reset();
    seal.ids_digest = seal.seen_ids_digest = layout.ids_digest;
    seal.content_digest = figures.content_digest;
    seal.integrity = Integrity::kIntact;
    seal.checked = tx.now();
    seal.group_count = static_cast<int64_t>(figures.totals.size());
    absl::Status done = UpdateSeal(tx, seal);
    if (done.ok()) done = ReplaceBuckets(tx, seal.id, figures.buckets);
    if (done.ok()) done = ReplaceTotals(tx, seal.id, figures.totals);
    if (!done.ok()) return done;
    audit::Event event = EventOf(caller, "SealInterval", seal);
    event.after = Describe(seal, tx.now());
    return audit::Record(tx, event);
  });
  if (!status.ok()) return status;
  return seal;
}

absl::StatusOr<Sealed> Seals::SealInterval(const SealRequest& request,
                                           const audit::Caller& caller) {
  if (caller.reason.empty()) return ReasonRequired("what was given out");
  if (absl::Status status = CheckRequest(request); !status.ok()) return status;
  bool compacted = false;
  auto layout = CheckDruid(request, &compacted);
  // A repeated request is answered from the store, however Druid does by now.
  Sealed sealed;
  absl::Status status = store_.Write([&](store::Transaction& tx) {
    auto earlier = FindByRequest(tx, caller.identity, caller.request_id);
    if (!earlier.ok()) return earlier.status();
    const bool repeated = earlier->has_value() && (*earlier)->state != State::kSealing;
    if (!repeated && !layout.ok()) return layout.status();
    auto begun = Begin(tx, request, caller);
    if (begun.ok()) sealed = std::move(*begun);
    return begun.status();
  });
  if (!status.ok() || sealed.attached) {
    return status.ok() ? absl::StatusOr<Sealed>(sealed) : status;
  }
  // Read anew: what was there before the time was barred may be gone.
  absl::StatusOr<Seal> done = absl::UnknownError("not sealed");
  layout = ReadLayout(cluster_, request.datasource, request.interval);
  if (layout.ok()) {
    auto figures = ReadTwice(sealed.seal, *std::move(layout));
    done = figures.ok() ? Complete(sealed.seal, figures->first, figures->second, caller)
                        : absl::StatusOr<Seal>(figures.status());
  } else {
    done = layout.status();
  }
  if (!done.ok()) {
    // Left behind it would end by itself.
    store_.Write([&](store::Transaction& tx) { return GiveUp(tx, sealed.seal.id); }).IgnoreError();
    return done.status();
  }
  return Sealed{*std::move(done), false, compacted};
}

absl::StatusOr<Sealed> Seals::Preview(const SealRequest& request) {
  if (absl::Status status = CheckRequest(request); !status.ok()) return status;
  Sealed preview;
  auto layout = CheckDruid(request, &preview.compacted);
  if (!layout.ok()) return layout.status();
  preview.seal.datasource = request.datasource;
  preview.seal.interval = request.interval;
  preview.seal.label = request.label;
  preview.seal.snapshot = request.snapshot;
  preview.seal.policy = request.policy;
  preview.seal.ids_digest = layout->ids_digest;
  preview.seal.corrections_datasource = request.corrections_datasource.empty()
                                            ? DefaultCorrections(request.datasource)
                                            : request.corrections_datasource;
  // In a write transaction, since it asks as a grant does; it writes nothing.
  absl::Status status = store_.Write([&](store::Transaction& tx) {
    auto there = SealsOver(tx, request.datasource, request.interval);
    if (!there.ok()) return there.status();
    for (const Seal& seal : *there) {
      if (seal.state != State::kSealing || Bars(seal, tx.now())) return AlreadySealed(seal);
    }
    return CheckFree(tx, request.datasource, request.interval);
  });
  if (!status.ok()) return status;
  return preview;
}

absl::StatusOr<Seal> Seals::Unseal(const std::string& id, absl::Duration unseal_for,
                                   const audit::Caller& caller) {
  if (caller.reason.empty()) return ReasonRequired("to lift a seal");
  if (unseal_for <= absl::ZeroDuration() || unseal_for > kLongestUnseal) {
    return UnsealTooLong(absl::FormatDuration(unseal_for));
  }
  Seal seal;
  absl::Status status = store_.Write([&](store::Transaction& tx) {
    auto stored = ReadSeal(tx, id);
    if (!stored.ok()) return stored.status();
    seal = *std::move(stored);
    if (!caller.request_id.empty()) {
      const std::string fingerprint = absl::StrCat(absl::ToInt64Milliseconds(unseal_for));
      auto same = tx.Query(
          "SELECT fingerprint FROM seal_request WHERE seal = :seal AND request_id = :request",
          {seal.number, caller.request_id});
      if (!same.ok()) return same.status();
      if (!same->empty()) {
        return same->front().Text(0) == fingerprint ? absl::OkStatus()
                                                    : RequestIdReused(caller.request_id, id);
      }
      absl::Status noted = tx.Execute(
                                 "INSERT INTO seal_request (seal, request_id, fingerprint) VALUES"
                                 " (:seal, :request, :fingerprint)",
                                 {seal.number, caller.request_id, fingerprint})
                               .status();
      if (!noted.ok()) return noted;
    }
    const State state = StateAt(seal, tx.now());
    if (state == State::kSealing) return NotSealed(seal, state);
    audit::Event event = EventOf(caller, "UnsealInterval", seal);
    event.before = Describe(seal, tx.now());
    seal.state = State::kUnsealed;
    seal.unsealed_by = caller.identity;
    seal.unseal_reason = caller.reason;
    seal.unseal_until = tx.now() + unseal_for;
    absl::Status done = UpdateSeal(tx, seal);
    if (!done.ok()) return done;
    event.after = Describe(seal, tx.now());
    return audit::Record(tx, event);
  });
  if (!status.ok()) return status;
  return seal;
}

}  // namespace interlock::seal
