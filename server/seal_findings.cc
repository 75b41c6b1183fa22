#include "server/seal_findings.h"

#include "absl/strings/str_cat.h"
#include "lib/sweep/findings.h"

namespace interlock::server {
namespace {

std::string NameOf(const seal::Seal& seal) {
  return absl::StrCat("seal ", seal.id, seal.label.empty() ? "" : " (", seal.label,
                      seal.label.empty() ? "" : ")", " of ", seal.sealed_by);
}

sweep::Observed Broken(const seal::Seal& seal) {
  sweep::Observed observed;
  observed.kind = sweep::kSealBroken;
  observed.reason = sweep::kSealBroken;
  observed.message = absl::StrCat("the content under ", NameOf(seal),
                                  " is not what was sealed: somebody wrote past Interlock");
  observed.remedy = absl::StrCat(
      "find the writer in Druid's task list; interlockctl seals get ", seal.id,
      " shows what was sealed, interlockctl explain what is there now; once it is right again "
      "this closes, or unseal it");
  return observed;
}

sweep::Observed Rewritten(const seal::Seal& seal) {
  sweep::Observed observed;
  observed.kind = sweep::kSealRewritten;
  observed.reason = sweep::kSealRewritten;
  observed.message = absl::StrCat("the segments under ", NameOf(seal),
                                  " are others, with equal content: ", "compaction, most likely");
  observed.remedy = "nothing, unless nobody should compact there: then turn it off";
  return observed;
}

absl::Status Keep(store::Transaction& tx, const seal::Seal& seal, sweep::Observed observed) {
  observed.interval = seal.interval;
  observed.subject = seal.id;
  return sweep::Open(tx, seal.datasource, observed).status();
}

}  // namespace

absl::Status CloseSealFindings(store::Transaction& tx, const std::string& seal_id) {
  absl::Status status = sweep::CloseAbout(tx, sweep::kSealBroken, seal_id);
  return status.ok() ? sweep::CloseAbout(tx, sweep::kSealRewritten, seal_id) : status;
}

absl::Status KeepSealFinding(store::Transaction& tx, const seal::Seal& seal) {
  const seal::State state = seal::StateAt(seal, tx.now());
  if (state == seal::State::kUnsealed) return CloseSealFindings(tx, seal.id);
  if (state != seal::State::kActive) return absl::OkStatus();
  switch (seal.integrity) {
    case seal::Integrity::kIntact:
      return CloseSealFindings(tx, seal.id);
    case seal::Integrity::kBroken: {
      absl::Status status = sweep::CloseAbout(tx, sweep::kSealRewritten, seal.id);
      return status.ok() ? Keep(tx, seal, Broken(seal)) : status;
    }
    case seal::Integrity::kRewritten: {
      absl::Status status = sweep::CloseAbout(tx, sweep::kSealBroken, seal.id);
      return status.ok() ? Keep(tx, seal, Rewritten(seal)) : status;
    }
    case seal::Integrity::kUnspecified:
    case seal::Integrity::kUnknown:
      break;
  }
  return absl::OkStatus();
}

}  // namespace interlock::server
