// Which of a look's verdicts are kept as findings.
#include <utility>

#include "lib/sweep/sweeper.h"
#include "lib/verify/neighbours.h"

namespace interlock::sweep {
namespace {

// What is wanted so, or a caller's own question.
bool IsKept(const verify::Finding& finding) {
  if (!verify::IsFault(finding)) return false;
  if (finding.verdict == verify::Verdict::kMissingRows) return false;
  if (finding.verdict == verify::Verdict::kNotRetired) return false;
  return finding.reason != "ZERO_REPLICAS";
}

std::string DigestOf(const druid::Timeline& timeline, const Interval& interval) {
  return verify::VisibleSetOf(timeline, {interval}).digest;
}

}  // namespace

std::vector<Observed> ToKeep(const Look& look) {
  std::vector<Observed> kept;
  for (const auto& verdict : look.verdicts) {
    for (const auto& finding : verdict.findings) {
      if (!IsKept(finding)) continue;
      Observed observed;
      const auto name = verify::NameOf(finding.verdict);
      observed.verdict = std::string(name.data(), name.size());
      observed.interval = verdict.partition;
      observed.reason = finding.reason;
      observed.message = finding.evidence;
      observed.remedy = finding.next;
      observed.segments = finding.segments;
      observed.score = finding.score;
      observed.digest = DigestOf(look.timeline, verdict.partition);
      kept.push_back(std::move(observed));
    }
  }
  return kept;
}

Scope ScopeOf(const std::string& datasource, const Interval& looked_at, const Look& look) {
  Scope scope;
  scope.datasource = datasource;
  scope.looked_at = looked_at;
  for (const auto& verdict : look.verdicts) {
    if (verify::Has(verdict.findings, verify::Verdict::kUndetermined)) {
      scope.untold.push_back(verdict.partition);
    }
  }
  // A temporary's: the look outlives the scope.
  const druid::Timeline* timeline = &look.timeline;
  scope.digest_of = [timeline](const Interval& interval) { return DigestOf(*timeline, interval); };
  return scope;
}

}  // namespace interlock::sweep
