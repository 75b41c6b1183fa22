// Corrections: what would have changed sealed data, kept beside it.
//
// A backfill that runs as a correction writes a side datasource; its sealed target is not
// touched. Once it is proven, each sealed partition that it covers is compared with what
// was given out, group by group, and the difference is stored, numbered, for good.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/druid/cluster.h"
#include "lib/seal/seal.h"
#include "lib/store/store.h"

namespace interlock::seal {

// A backfill whose difference is to be stored once it is proven.
struct Correcting {
  std::string backfill_id;
  std::string datasource;  // the sealed one
  std::string requested_by;
  std::string reason;
  Instant created;
  std::string corrections_datasource;
};

// What is empty does not filter.
struct CorrectionFilter {
  std::string datasource;
  std::optional<Interval> overlapping;
  std::string seal_id;
  std::optional<Instant> since, until;  // created at or after, before
};

struct CorrectionTotal {
  Value was, is_now, delta;
};

class Corrections {
 public:
  // Both must outlive it.
  Corrections(store::Store& store, druid::Cluster& cluster) : store_(store), cluster_(cluster) {}

  // Where a correction of these intervals goes. NOT_SEALED where a part is not sealed, and
  // CORRECTIONS_DIFFER where their seals name different places.
  absl::StatusOr<std::string> TargetOf(const std::string& datasource,
                                       const std::vector<Interval>& intervals) const;

  // Remembers it; again, as after a retry, it is pending again.
  absl::Status Begin(const Correcting& correcting);
  // Those that are not over.
  absl::StatusOr<std::vector<Correcting>> Pending() const;
  absl::Status End(const std::string& backfill_id);

  struct Work {
    std::vector<Interval> proven;  // partitions of the side datasource
    std::string job;
    int64_t job_version = 0;
  };
  struct Stored {
    std::vector<Correction> corrections;  // new ones
    // Seals whose live data is not what was given out: somebody else changed it.
    std::vector<std::string> broken_seals;
  };
  // Compares what is proven and stores the differences; one that is stored already, with the
  // same figures, is not stored again. DRUID_UNAVAILABLE.
  absl::StatusOr<Stored> Store(const Correcting& correcting, const Work& work);

  struct Page {
    std::vector<Correction> corrections;  // oldest first
    std::vector<CorrectionTotal> totals;  // on the first page
    std::string next;
  };
  // `size` 0 is 50. BAD_PAGE_TOKEN.
  absl::StatusOr<Page> List(const CorrectionFilter& filter, int64_t size,
                            const std::string& token) const;

 private:
  struct Piece {
    Seal seal;
    Interval interval;
    std::optional<Bucket> sealed;  // as it was given out; nothing of a part of a bucket
  };
  absl::StatusOr<std::vector<Piece>> PiecesOf(const Correcting& correcting, const Work& work) const;
  absl::StatusOr<Correction> Compare(const Piece& piece, const Correcting& correcting,
                                     bool* live_differs);

  store::Store& store_;
  druid::Cluster& cluster_;
};

// Of two sets of groups: where they differ, and by how much.
std::vector<Delta> DifferenceOf(const std::vector<Group>& was, const std::vector<Group>& is_now);
// Each aggregate over all groups.
std::vector<Value> TotalsOf(const std::vector<Group>& groups);

}  // namespace interlock::seal
