// A job: a named spec template in numbered versions. The regular run and a backfill of it
// are the same job over another interval.
//
// Guarantee: a version never changes. It is one row, written once; there is no statement
// that updates or removes one.
//
// Threads: values, and functions on a transaction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/backfill/sources.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"

namespace interlock::backfill {

// What rows are expected of each run, unless a request says otherwise.
struct JobExpectation {
  std::optional<int64_t> min_rows, max_unparseable;
  std::string count_metric;

  bool operator==(const JobExpectation& other) const = default;
};

struct Job {
  std::string name;
  int64_t version = 0;  // from 1; 0 before it is stored
  bool sql = false;     // `work` is a query with its context, not a task spec
  std::string work;     // JSON; as it came in, but for white space
  JobExpectation expect;
  std::map<std::string, std::string> labels;
  // What its table is derived from, and how long changes there are gathered (the operator's
  // time where it does not say).
  std::vector<Source> sources;
  std::optional<absl::Duration> gather;
  std::string corrections_datasource;  // "" for where the seals say

  // Told from the work.
  std::string datasource;
  std::string granularity_json;
  std::string digest;  // equal digests are equal work

  std::string created_by, request_id;
  Instant created;

  // Whether a put of the one would leave the other as it is.
  bool SameAs(const Job& other) const {
    return sql == other.sql && work == other.work && expect == other.expect &&
           labels == other.labels && sources == other.sources && gather == other.gather &&
           corrections_datasource == other.corrections_datasource;
  }
};

inline constexpr size_t kMaxJobNameBytes = 128;

// INVALID_ARGUMENT, INVALID_NAME: 1 to 128 characters of [A-Za-z0-9._-].
absl::Status CheckJobName(const std::string& name);

// A job as a request names it: "nightly", or "nightly@7" for its version 7.
struct JobName {
  std::string name;
  int64_t version = 0;  // 0: the newest
};
// INVALID_NAME.
absl::StatusOr<JobName> ParseJobName(const std::string& text);

// --- Rows --------------------------------------------------------------------------------

// Version 0 is the newest. UNKNOWN_JOB where there is none.
absl::StatusOr<Job> ReadJob(store::Transaction& tx, const JobName& name);
// What this caller has put under that request id.
absl::StatusOr<std::optional<Job>> FindJobByRequest(store::Transaction& tx,
                                                    const std::string& created_by,
                                                    const std::string& request_id);
// Stores it as the next version, and fills in version and time.
absl::Status InsertJob(store::Transaction& tx, Job& job);
// By name, newest version first; those after `after` in that order. An empty datasource does
// not filter.
absl::StatusOr<std::vector<Job>> ReadJobs(store::Transaction& tx, const std::string& datasource,
                                          bool all_versions, const JobName& after, int64_t most);

}  // namespace interlock::backfill
