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
#include "lib/backfill/expectation.h"
#include "lib/backfill/options.h"
#include "lib/backfill/record.h"
#include "lib/backfill/spec.h"
#include "lib/backfill/tail_terms.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/time/interval.h"
#include "lib/verify/verdict.h"

namespace interlock::backfill {

struct BackfillRequest {
  std::string spec;                 // an index_parallel task, as JSON
  bool sql = false;                 // `spec` is a query and its context (sql_work.h)
  std::string job;                  // in place of a spec: "nightly", or "nightly@7"
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
  absl::Duration deadline;  // given up where it is not over after this; zero for never

  // Raw rows: over all of it, at least per partition, unparseable over all of it.
  std::optional<int64_t> expected_rows, min_rows, max_unparseable;
  // Sums of metrics over all of it, and what is expected of single partitions.
  std::vector<ExpectedSum> expected_sums;
  std::vector<ExpectedPartition> expected_partitions;
  // A datasource that must have the same rows and sums; "" for none.
  std::string same_as;
  // The column whose sum counts raw rows, in place of the spec's own count metric.
  std::string count_metric;

  // How long after its end it can be rolled back; the operator's where it is zero.
  absl::Duration rollback_window;
  // Run only if the world is as it was in this plan; "" for any.
  std::string plan_revision;
  // Run only over this generation, as a plan or a proof names it; "" for any.
  std::string expect_generation;

  // What is done about what streams may still write.
  TailTerms tails;

  // What the table is derived from; a job's own in place of these where one is named.
  std::vector<Source> sources;

  // Act under this reservation in place of one of our own.
  std::string reservation_id;
  int64_t token = 0;
};

// The request and what its spec was found to be.
struct CheckedRequest {
  BackfillRequest request;  // defaults filled in, and the job's work in place of its name
  std::string job;          // its name and version, where one was named
  int64_t job_version = 0;
  SpecCheck check;  // `check.spec` is there
  Cut cut;
  RowTerms terms;
  std::string digest;       // of the work: equal digests are equal work, whatever the interval
  std::string fingerprint;  // of all that was asked but `reprocess`
};

// SPEC_INVALID with every fault, LIMIT_EXCEEDED, those of CheckExpectations; UNKNOWN_JOB and
// INVALID_NAME where a job is named; those of CheckSql for a query. The store is only read.
absl::StatusOr<CheckedRequest> Checked(BackfillRequest request, const Options& options,
                                       store::Store& store, druid::Cluster& cluster);

// Of the work of a checked spec, whatever its intervals: equal digests are equal work.
std::string DigestOfWork(const std::string& spec_json);

// The caller's own id and reason can be stored: REQUEST_ID_INVALID, LIMIT_EXCEEDED.
absl::Status CheckCaller(const audit::Caller& caller);

}  // namespace interlock::backfill
