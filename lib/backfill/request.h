// What a caller asks for when it asks for a backfill.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/audit/caller.h"
#include "lib/backfill/options.h"
#include "lib/backfill/record.h"
#include "lib/backfill/spec.h"
#include "lib/time/interval.h"
#include "lib/verify/verdict.h"

namespace interlock::backfill {

struct BackfillRequest {
  std::string spec;                 // an index_parallel task, as JSON
  std::vector<Interval> intervals;  // supply or narrow the spec's own
  std::string holder;               // a name below the caller's identity; may be empty
  std::string purpose;              // shown to those who are refused; default: the label
  std::map<std::string, std::string> labels;
  Reprocess reprocess = Reprocess::kNone;
  int64_t max_parallel = 0;  // 0 here and below: the operator's
  int64_t max_attempts = 0;
  bool newest_first = false;
  // Leave alone what others hold, and report it, instead of refusing the whole.
  bool skip_held = false;
  bool accept_widening = false;
  verify::Level level = verify::Level::kServed;
  absl::Duration waiting_deadline, run_deadline;

  // Raw rows: over all of it, at least per partition, unparseable over all of it.
  std::optional<int64_t> expected_rows, min_rows, max_unparseable;
  // The column whose sum counts raw rows, in place of the spec's own count metric.
  std::string count_metric;

  // Act under this reservation in place of one of our own.
  std::string reservation_id;
  int64_t token = 0;
};

// The request and what its spec was found to be.
struct CheckedRequest {
  BackfillRequest request;  // defaults filled in
  SpecCheck check;          // `check.spec` is there
  Cut cut;
  RowTerms terms;
  std::string digest;       // of the work: equal digests are equal work, whatever the interval
  std::string fingerprint;  // of all that was asked but `reprocess`
};

// Asks nobody. SPEC_INVALID with every fault, LIMIT_EXCEEDED, EXPECTATION_NOT_CHECKABLE.
absl::StatusOr<CheckedRequest> Checked(BackfillRequest request, const Options& options);

// The caller's own id and reason can be stored: REQUEST_ID_INVALID, LIMIT_EXCEEDED.
absl::Status CheckCaller(const audit::Caller& caller);

}  // namespace interlock::backfill
