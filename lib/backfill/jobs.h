// Jobs, as the server offers them (the service Jobs).
//
// Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/audit/caller.h"
#include "lib/backfill/job.h"
#include "lib/backfill/spec_fault.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"

namespace interlock::backfill {

class Jobs {
 public:
  // Both must outlive it. Druid is only asked what a query would do.
  Jobs(store::Store& store, druid::Cluster& cluster) : store_(store), cluster_(cluster) {}

  struct PutRequest {
    Job job;  // name, kind, work, expectation, labels, sources
    bool validate_only = false;
    // Store only over this newest version; 0 only where there is none.
    std::optional<int64_t> expect_version;
  };
  struct Put {
    Job job;
    bool unchanged = false;  // the newest version is equal: nothing was stored
    std::vector<SpecFault> warnings;
  };
  // Stores it as a new version, or gives the newest where nothing differs. The work is
  // checked as at a submit, over one partition in place of an interval to come. Errors:
  // SPEC_INVALID with every fault (PATH_OUTSIDE_UNIT where all are of that kind),
  // INVALID_NAME, SOURCE_INVALID, CYCLE, REQUEST_ID_REUSED, VERSION_MOVED, LIMIT_EXCEEDED.
  absl::StatusOr<Put> PutJob(const PutRequest& request, const audit::Caller& caller);

  struct Found {
    Job job;
    int64_t newest = 0;
    std::vector<std::string> dependents;  // jobs that read what this one writes
  };
  // UNKNOWN_JOB.
  absl::StatusOr<Found> GetJob(const JobName& name) const;

  struct Page {
    std::vector<Job> jobs;  // by name, newest version first
    std::string next;
  };
  // `size` 0 is 100. BAD_PAGE_TOKEN.
  absl::StatusOr<Page> ListJobs(const std::string& datasource, bool all_versions, int64_t size,
                                const std::string& token) const;

 private:
  absl::Status PutIn(store::Transaction& tx, const PutRequest& request, const audit::Caller& caller,
                     Put* put) const;

  store::Store& store_;
  druid::Cluster& cluster_;
};

// What the work of a job is: its target, calendar and digest, filled into `job`.
// SPEC_INVALID, PATH_OUTSIDE_UNIT. With `warnings` those are told.
absl::Status CheckJobWork(druid::Cluster& cluster, Job* job, std::vector<SpecFault>* warnings);

}  // namespace interlock::backfill
