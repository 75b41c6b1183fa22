// Rows that were counted, and are not what was asked about: what to make of a difference then.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/verify/partition.h"

namespace interlock::verify {

void TellRealtimeApart(int64_t published, PartitionVerdict* verdict) {
  if (!verdict->rows || *verdict->rows == published) return;
  verdict->unpublished_rows = *verdict->rows - published;
  bool differs = false;
  auto& findings = verdict->findings;
  findings.erase(std::remove_if(findings.begin(), findings.end(),
                                [&](const Finding& finding) {
                                  const bool counted = finding.reason == "MORE_THAN_EXPECTED" ||
                                                       finding.reason == "FEWER_THAN_EXPECTED";
                                  differs = differs || counted;
                                  return counted;
                                }),
                 findings.end());
  if (!differs) return;
  findings.push_back(MakeFinding(
      Verdict::kUndetermined,
      absl::StrCat(*verdict->rows, " rows are served, ", published,
                   " of them in published segments: the rest is a stream's, which may serve rows "
                   "twice until it has handed them over"),
      {}, 1, "REALTIME_ROWS"));
  findings.back().next = "look again once the stream's tasks for this time have published";
  for (RowCheck& check : verdict->checks) {
    if (check.result != Comparison::kEqual) check.result = Comparison::kUnknown;
  }
}

void TellRolledUp(PartitionVerdict* verdict) {
  verdict->rolled_up = true;
  for (RowCheck& check : verdict->checks) {
    if (check.measure != kRows || check.result != Comparison::kFewer) continue;
    check.result = Comparison::kUnknown;
    for (Finding& finding : verdict->findings) {
      if (finding.verdict == Verdict::kMissingRows) finding = RolledUp(finding.evidence);
    }
  }
}

}  // namespace interlock::verify
