#include "server/seal_upkeep.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/seal/policies.h"
#include "lib/seal/rows.h"
#include "lib/time/status_reason.h"
#include "server/log.h"
#include "server/seal_findings.h"
#include "server/seal_policies.h"

namespace interlock::server {
namespace {

constexpr char kLookKind[] = "seal";
constexpr char kPolicyKind[] = "seal_policies";
constexpr char kCorrectKind[] = "correction";
// A backfill that has failed may be retried: it is looked at now and then for so long.
constexpr absl::Duration kFailedEvery = absl::Minutes(5);
constexpr absl::Duration kFailedFor = absl::Hours(7 * 24);

std::string Text(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

// "job@7" as the label has it.
void ReadJob(const backfill::Backfill& backfill, seal::Corrections::Work& work) {
  const auto label = backfill.labels.find(kJobLabel);
  if (label == backfill.labels.end()) return;
  const size_t at = label->second.rfind('@');
  work.job = label->second.substr(0, at);
  if (at != std::string::npos &&
      !absl::SimpleAtoi(label->second.substr(at + 1), &work.job_version)) {
    work.job_version = 0;
  }
}

absl::StatusOr<std::vector<Interval>> ProvenOf(const backfill::Backfills& backfills,
                                               const std::string& id) {
  std::vector<Interval> proven;
  backfill::PartitionFilter filter;
  filter.states = {backfill::State::kDone, backfill::State::kEmpty};
  std::string token;
  do {
    auto page = backfills.ListPartitions(id, filter, 1000, token);
    if (!page.ok()) return page.status();
    for (const auto& partition : page->partitions) proven.push_back(partition.partition);
    token = page->next;
  } while (!token.empty());
  return proven;
}

void Tell(const seal::Seals::Looked& looked) {
  const LogFields fields = {{"seal_id", looked.seal.id}, {"datasource", looked.seal.datasource}};
  if (looked.broke) Log(LogLevel::kError, "sealed data was changed by somebody else", fields);
  if (looked.rewritten)
    Log(LogLevel::kInfo, "sealed data was rewritten, with equal content", fields);
  if (looked.resealed) Log(LogLevel::kInfo, "an unseal is over; the seal holds again", fields);
}

}  // namespace

SealUpkeep::SealUpkeep(World world, Times times, prometheus::Registry& registry)
    : world_(std::move(world)),
      times_(times),
      broken_(prometheus::BuildGauge()
                  .Name("interlock_broken_seals")
                  .Help("Seals whose content is not what was sealed")
                  .Register(registry)) {}

void SealUpkeep::Handle(work::Loop& loop) {
  loop.Handle(kLookKind, [this](work::Claim& claim) { return Look(claim); });
  loop.Handle(kPolicyKind, [this](work::Claim& claim) { return Policies(claim); });
  loop.Handle(kCorrectKind, [this](work::Claim& claim) { return Correct(claim); });
}

absl::Status SealUpkeep::Due(const char* kind, const std::string& key, Instant due) {
  absl::Status status = world_.store.Write(
      [&](store::Transaction& tx) { return work::Schedule(tx, kind, key, due); });
  if (status.ok()) world_.wake();
  return status;
}

absl::Status SealUpkeep::LookAt(const std::string& seal_id, Instant due) {
  return Due(kLookKind, seal_id, due);
}

absl::Status SealUpkeep::ApplyPolicies() { return Due(kPolicyKind, "all", world_.store.Now()); }

absl::Status SealUpkeep::Follow(const seal::Correcting& correcting) {
  if (absl::Status status = world_.corrections.Begin(correcting); !status.ok()) return status;
  return Due(kCorrectKind, correcting.backfill_id, world_.store.Now() + times_.backfill);
}

absl::Status SealUpkeep::Schedule() {
  // A correction whose server died between storing the backfill and remembering what for.
  std::vector<seal::Correcting> lost;
  std::vector<std::string> seals;
  absl::Status status = world_.store.Read([&](store::Transaction& tx) -> absl::Status {
    auto ids = seal::AllSealIds(tx);
    if (!ids.ok()) return ids.status();
    seals = *std::move(ids);
    auto rows = tx.Query(
        "SELECT id FROM backfill WHERE labels LIKE '%interlock.corrects%' AND id NOT IN"
        " (SELECT backfill_id FROM seal_correcting)",
        {});
    if (!rows.ok()) return rows.status();
    for (const store::Row& row : *rows) {
      seal::Correcting one;
      one.backfill_id = row.Text(0);
      lost.push_back(one);
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  for (seal::Correcting& one : lost) {
    auto detail = world_.backfills.Get(one.backfill_id);
    if (!detail.ok()) return detail.status();
    const auto label = detail->backfill.labels.find(kCorrectsLabel);
    if (label == detail->backfill.labels.end()) continue;
    one.datasource = label->second;
    one.requested_by = detail->backfill.requested_by;
    one.reason = detail->backfill.request_reason;
    one.corrections_datasource = detail->backfill.datasource;
    if (status = Follow(one); !status.ok()) return status;
  }
  auto pending = world_.corrections.Pending();
  if (!pending.ok()) return pending.status();
  return world_.store.Write([&](store::Transaction& tx) {
    absl::Status due = work::Schedule(tx, kPolicyKind, "all", tx.now());
    for (const std::string& id : seals) {
      if (due.ok()) due = work::Schedule(tx, kLookKind, id, tx.now());
    }
    for (const seal::Correcting& one : *pending) {
      if (due.ok()) due = work::Schedule(tx, kCorrectKind, one.backfill_id, tx.now());
    }
    return due;
  });
}

absl::Status SealUpkeep::CountBroken() {
  return world_.store.Read([this](store::Transaction& tx) {
    auto rows = tx.Query(
        "SELECT datasource, SUM(CASE WHEN integrity = 'BROKEN' THEN 1 ELSE 0 END) FROM seal"
        " GROUP BY datasource",
        {});
    if (!rows.ok()) return rows.status();
    for (const store::Row& row : *rows) {
      broken_.Add({{"datasource", row.Text(0)}}).Set(static_cast<double>(row.Int(1)));
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<work::Outcome> SealUpkeep::Look(const work::Claim& claim) {
  auto looked = world_.seals.Look(claim.key, times_.look);
  if (!looked.ok()) return looked.status();
  const bool gone = !looked->has_value();
  absl::Status kept = world_.store.Write([&](store::Transaction& tx) {
    return gone ? CloseSealFindings(tx, claim.key) : KeepSealFinding(tx, (*looked)->seal);
  });
  if (!kept.ok()) return kept;
  if (gone) return work::Outcome::Finished();
  Tell(**looked);
  if (absl::Status status = CountBroken(); !status.ok()) return status;
  return work::Outcome::NextDue(world_.store.Now() + (*looked)->again);
}

absl::Status SealUpkeep::SealBy(const seal::SealRequest& request) {
  audit::Caller own;
  own.identity = "interlock";
  own.reason = absl::StrCat("by policy ", request.policy);
  auto sealed = world_.seals.SealInterval(request, own);
  if (sealed.ok()) return LookAt(sealed->seal.id, world_.store.Now() + times_.look);
  Log(LogLevel::kWarning, "a policy could not seal; it tries again",
      {{"seal_policy", request.policy},
       {"datasource", request.datasource},
       {"interval", request.interval.ToString()},
       {"error", Text(sealed.status())}});
  return absl::OkStatus();
}

absl::StatusOr<work::Outcome> SealUpkeep::Policies(const work::Claim&) {
  auto policies = seal::ListPolicies(world_.store, "", 1000);
  if (!policies.ok()) return policies.status();
  for (const seal::SealPolicy& policy : *policies) {
    auto due = DueNow(world_.store, world_.cluster, policy);
    if (!due.ok()) return due.status();
    for (const seal::SealRequest& request : *due) {
      if (absl::Status status = SealBy(request); !status.ok()) return status;
    }
  }
  return work::Outcome::NextDue(world_.store.Now() + times_.policies);
}

absl::StatusOr<work::Outcome> SealUpkeep::Correct(const work::Claim& claim) {
  auto pending = world_.corrections.Pending();
  if (!pending.ok()) return pending.status();
  const auto found =
      std::find_if(pending->begin(), pending->end(),
                   [&](const seal::Correcting& one) { return one.backfill_id == claim.key; });
  if (found == pending->end()) return work::Outcome::Finished();
  auto detail = world_.backfills.Get(claim.key);
  if (!detail.ok()) return detail.status();
  const backfill::Backfill& backfill = detail->backfill;
  const Instant now = world_.store.Now();
  const bool over = backfill::IsOver(backfill.phase);
  if (!over) return work::Outcome::NextDue(now + times_.backfill);
  seal::Corrections::Work work;
  auto proven = ProvenOf(world_.backfills, claim.key);
  if (!proven.ok()) return proven.status();
  work.proven = *std::move(proven);
  ReadJob(backfill, work);
  auto stored = world_.corrections.Store(*found, work);
  if (!stored.ok()) return stored.status();
  for (const std::string& id : stored->broken_seals) {
    if (absl::Status status = LookAt(id, now); !status.ok()) return status;
  }
  const bool done = backfill.phase == backfill::Phase::kDone || now - found->created > kFailedFor;
  if (!done) return work::Outcome::NextDue(now + kFailedEvery);
  if (absl::Status status = world_.corrections.End(claim.key); !status.ok()) return status;
  return work::Outcome::Finished();
}

}  // namespace interlock::server
