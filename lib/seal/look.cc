// Looking at what lies under a seal, and sealing again once an unseal is over.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/seal/rows.h"
#include "lib/seal/seal_errors.h"
#include "lib/seal/seals.h"
#include "lib/time/status_reason.h"

namespace interlock::seal {
namespace {

// Between two attempts to seal again while somebody still writes.
constexpr absl::Duration kResealEvery = absl::Seconds(5);

audit::Event OwnEvent(const char* method, const Seal& seal, const std::string& result) {
  audit::Event event;
  event.caller.identity = "interlock";
  event.method = method;
  event.datasource = seal.datasource;
  event.subject = seal.id;
  event.result = result;
  event.resource_type = "seal";
  return event;
}

bool SameContents(const std::vector<Bucket>& a, const std::vector<Bucket>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!SameContent(a[i], b[i])) return false;
  }
  return true;
}

// The partitions as they were sealed: compaction may have made others.
Layout SealedPartitions(Layout layout, const std::vector<Bucket>& sealed) {
  layout.buckets.clear();
  for (const Bucket& bucket : sealed) {
    layout.buckets.push_back(bucket.interval);
    for (const Value& value : bucket.sums) {
      if (value.metric != "rows") layout.metrics.push_back(value.metric);
    }
  }
  std::sort(layout.metrics.begin(), layout.metrics.end());
  layout.metrics.erase(std::unique(layout.metrics.begin(), layout.metrics.end()),
                       layout.metrics.end());
  return layout;
}

struct Told {
  Integrity integrity = Integrity::kUnknown;
  std::string ids_digest;
};

// What Druid shows against what was sealed.
absl::StatusOr<Told> Tell(druid::Cluster& cluster, const Seal& seal,
                          const std::vector<Bucket>& sealed) {
  auto layout = ReadLayout(cluster, seal.datasource, seal.interval);
  if (!layout.ok()) {
    // A segment that sticks out, or half a version: other segments, whatever is in them.
    if (!absl::IsUnavailable(layout.status())) return Told{Integrity::kBroken, ""};
    return layout.status();
  }
  const std::string ids = layout->ids_digest;
  if (ids == seal.ids_digest) return Told{Integrity::kIntact, ids};
  if (ids == seal.seen_ids_digest && seal.integrity == Integrity::kRewritten) {
    return Told{Integrity::kRewritten, ids};
  }
  auto figures = ReadFigures(cluster, seal.datasource, seal.interval,
                             SealedPartitions(*std::move(layout), sealed), seal.snapshot);
  if (!figures.ok()) return figures.status();
  const bool same = SameContents(figures->buckets, sealed);
  return Told{same ? Integrity::kRewritten : Integrity::kBroken, ids};
}

}  // namespace

absl::StatusOr<Seals::Looked> Seals::Compare(Seal seal, absl::Duration every) {
  std::vector<Bucket> sealed;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    auto buckets = ReadBuckets(tx, seal.id);
    if (buckets.ok()) sealed = std::move(*buckets);
    return buckets.status();
  });
  if (!status.ok()) return status;
  auto read = Tell(cluster_, seal, sealed);
  const Told told = read.ok() ? *read : Told();
  Looked looked;
  looked.again = every;
  status = store_.Write([&](store::Transaction& tx) {
    auto stored = ReadSeal(tx, seal.id);
    if (!stored.ok()) return stored.status();
    Seal now = std::move(*stored);
    looked.broke = looked.rewritten = false;
    looked.seal = now;
    if (StateAt(now, tx.now()) != State::kActive) return absl::OkStatus();  // lifted meanwhile
    const Seal before = now;
    // What can't be told now does not make a broken seal better.
    const bool keep = told.integrity == Integrity::kUnknown && now.integrity == Integrity::kBroken;
    if (!keep) now.integrity = told.integrity;
    if (!told.ids_digest.empty()) now.seen_ids_digest = told.ids_digest;
    now.checked = tx.now();
    looked.seal = now;
    absl::Status done = UpdateSeal(tx, now);
    if (!done.ok() || now.integrity == before.integrity) return done;
    looked.broke = now.integrity == Integrity::kBroken;
    looked.rewritten = now.integrity == Integrity::kRewritten;
    if (!looked.broke && !looked.rewritten && before.integrity != Integrity::kBroken) return done;
    audit::Event event =
        OwnEvent("seal.CHECK", now, looked.broke ? "SEAL_BROKEN" : std::string("OK"));
    event.before = Describe(before, tx.now());
    event.after = Describe(now, tx.now());
    return audit::Record(tx, event);
  });
  if (!status.ok()) return status;
  return looked;
}

absl::StatusOr<Seals::Looked> Seals::Reseal(Seal seal) {
  Looked looked;
  looked.seal = seal;
  looked.again = kResealEvery;
  bool free = false;
  absl::Status status = store_.Write([&](store::Transaction& tx) {
    auto holders = options_.holders(tx, seal.datasource, seal.interval);
    if (!holders.ok()) return holders.status();
    free = holders->empty();
    return absl::OkStatus();
  });
  if (!status.ok() || !free) return status.ok() ? absl::StatusOr<Looked>(looked) : status;
  // It bars since its unseal has ended, and nobody holds anything: nothing of ours writes.
  auto layout = ReadLayout(cluster_, seal.datasource, seal.interval);
  if (!layout.ok()) return layout.status();
  auto figures = ReadTwice(seal, *std::move(layout));
  if (!figures.ok()) return figures.status();
  status = store_.Write([&](store::Transaction& tx) {
    auto stored = ReadSeal(tx, seal.id);
    if (!stored.ok()) return stored.status();
    Seal now = std::move(*stored);
    looked.resealed = false;
    if (StateAt(now, tx.now()) != State::kResealing) return absl::OkStatus();  // lifted again
    audit::Event event = OwnEvent("seal.RESEALED", now, "OK");
    event.before = Describe(now, tx.now());
    now.state = State::kActive;
    now.unseal_until.reset();
    now.ids_digest = now.seen_ids_digest = figures->first.ids_digest;
    now.content_digest = figures->second.content_digest;
    now.integrity = Integrity::kIntact;
    now.checked = tx.now();
    now.group_count = static_cast<int64_t>(figures->second.totals.size());
    absl::Status done = UpdateSeal(tx, now);
    if (done.ok()) done = ReplaceBuckets(tx, now.id, figures->second.buckets);
    if (done.ok()) done = ReplaceTotals(tx, now.id, figures->second.totals);
    if (!done.ok()) return done;
    event.after = Describe(now, tx.now());
    looked.seal = now;
    looked.resealed = true;
    return audit::Record(tx, event);
  });
  if (!status.ok()) return status;
  return looked;
}

absl::StatusOr<std::optional<Seals::Looked>> Seals::Look(const std::string& id,
                                                         absl::Duration every) {
  Seal seal;
  Instant now;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    now = tx.now();
    auto stored = ReadSeal(tx, id);
    if (stored.ok()) seal = std::move(*stored);
    return stored.status();
  });
  if (absl::IsNotFound(status)) return std::nullopt;
  if (!status.ok()) return status;
  absl::StatusOr<Looked> looked = Looked{seal, false, false, false, every};
  switch (StateAt(seal, now)) {
    case State::kSealing:
      looked->again = kSealingFor;
      break;
    case State::kUnsealed:
      looked->again = *seal.unseal_until - now;
      break;
    case State::kResealing:
      looked = Reseal(seal);
      break;
    case State::kActive:
      looked = Compare(seal, every);
      break;
  }
  if (!looked.ok()) return looked.status();
  if (looked->resealed) looked->again = every;
  return *std::move(looked);
}

}  // namespace interlock::seal
