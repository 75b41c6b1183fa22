// Rows that were counted, and are not what was asked about: what to make of a difference then.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/verify/partition.h"

namespace interlock::verify {

namespace {

// Takes away what was made of the count; false where nothing was.
bool TakeBack(PartitionVerdict* verdict) {
  auto& findings = verdict->findings;
  const auto kept = std::remove_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.reason == "MORE_THAN_EXPECTED" || finding.reason == "FEWER_THAN_EXPECTED";
  });
  const bool any = kept != findings.end();
  findings.erase(kept, findings.end());
  return any;
}

void Undetermined(const char* reason, const std::string& evidence, const char* next,
                  PartitionVerdict* verdict) {
  verdict->findings.push_back(MakeFinding(Verdict::kUndetermined, evidence, {}, 1, reason));
  verdict->findings.back().next = next;
}

}  // namespace

void TellRealtimeApart(int64_t published, PartitionVerdict* verdict) {
  if (!verdict->rows || *verdict->rows == published) return;
  verdict->unpublished_rows = *verdict->rows - published;
  const bool nothing_seen =
      Has(verdict->findings, Verdict::kEmpty) || Has(verdict->findings, Verdict::kTombstoned);
  if (!TakeBack(verdict) && !nothing_seen) return;
  Undetermined("REALTIME_ROWS",
               absl::StrCat(*verdict->rows, " rows are served, ", published,
                            " of them in published segments: the rest is a stream's, which may "
                            "serve rows twice until it has handed them over",
                            nothing_seen ? ", or was dropped a moment ago" : ""),
               "look again once the stream's tasks for this time have published", verdict);
  for (RowCheck& check : verdict->checks) {
    if (check.result != Comparison::kEqual || nothing_seen) check.result = Comparison::kUnknown;
  }
}

void TellBrokerBehind(PartitionVerdict* verdict) {
  TakeBack(verdict);
  Undetermined(
      "BROKER_BEHIND",
      absl::StrCat("the broker counts ", verdict->rows.value_or(0),
                   " rows here, none of them in the segments of version ",
                   verdict->visible_versions.empty() ? "" : verdict->visible_versions.back(),
                   ", which it does not know yet"),
      "look again in some seconds; if it lasts, look at the broker's view (sys.segments)", verdict);
  for (RowCheck& check : verdict->checks) check.result = Comparison::kUnknown;
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
