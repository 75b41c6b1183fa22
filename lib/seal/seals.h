// Seals, as the server offers them.
//
// Guarantee (P6): a seal and a grant of its time are decided by one transaction each on the
// same rows: Barred is asked inside of every grant (lease::Obstacle), and a seal is stored
// only in a transaction in which nobody holds its time (Options::holders). From then on no
// write of Interlock's begins there, and only then are the figures read that are sealed. A
// seal whose figures never came is given up after kSealingFor.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/audit/caller.h"
#include "lib/druid/cluster.h"
#include "lib/seal/figures.h"
#include "lib/seal/seal.h"
#include "lib/store/store.h"

namespace interlock::seal {

inline constexpr absl::Duration kLongestUnseal = absl::Hours(24);
inline constexpr absl::Duration kSealingFor = absl::Minutes(10);
// Groups of one page of a snapshot, and seals of one page of a list.
inline constexpr int64_t kMostGroupsInPage = 10'000;
inline constexpr int64_t kMostInPage = 1000;

// Somebody who holds time: for a refusal.
struct Holder {
  std::string type;  // "HELD", "ORPHANED", "TAIL"
  Interval interval;
  std::string description;
};

struct Options {
  // Who holds a part of the interval, or may still write it: live leases, unsettled
  // attempts, tails. Inside of a write transaction; on a database that several servers
  // share it takes the datasource's lock first, as grants do.
  std::function<absl::StatusOr<std::vector<Holder>>(
      store::Transaction& tx, const std::string& datasource, const Interval& interval)>
      holders;
  // A compaction config that will rewrite what is sealed.
  std::function<absl::StatusOr<bool>(const std::string& datasource)> compacted;
};

struct SealRequest {
  std::string datasource;
  Interval interval;
  std::string label;
  SnapshotSpec snapshot;
  bool accept_compaction = false;
  std::string corrections_datasource;  // "": DATASOURCE__corrections
  std::string policy;                  // that asks for it; "" for a caller
};

struct Sealed {
  Seal seal;
  bool attached = false;  // the answer to an earlier request
  bool compacted = false;
};

class Seals {
 public:
  // All must outlive it.
  Seals(store::Store& store, druid::Cluster& cluster, Options options)
      : store_(store), cluster_(cluster), options_(std::move(options)) {}

  // Errors: seal_errors.h; HELD, TAIL with a blocker for each holder.
  absl::StatusOr<Sealed> SealInterval(const SealRequest& request, const audit::Caller& caller);
  // What would be sealed; nothing is stored, and figures are not read.
  absl::StatusOr<Sealed> Preview(const SealRequest& request);

  struct Detail {
    Seal seal;
    std::vector<Group> groups;
    std::string next;
  };
  // UNKNOWN_SEAL, BAD_PAGE_TOKEN. `groups` 0: without its snapshot.
  absl::StatusOr<Detail> Get(const std::string& id, int64_t groups, const std::string& token) const;

  // What is empty does not filter.
  struct Filter {
    std::string datasource;
    std::optional<Interval> overlapping;
    std::vector<State> states;
    std::string label;
  };
  struct Page {
    std::vector<Seal> seals;  // by datasource and start
    std::string next;
  };
  absl::StatusOr<Page> List(const Filter& filter, int64_t size, const std::string& token) const;

  // Lifts it for a while; again while it is lifted: from now on for so long. UNKNOWN_SEAL,
  // NOT_SEALED, REASON_REQUIRED, UNSEAL_TOO_LONG.
  absl::StatusOr<Seal> Unseal(const std::string& id, absl::Duration unseal_for,
                              const audit::Caller& caller);

  // One look at what lies under a seal, and, where its unseal is over, the attempt to seal
  // again. Gives when to look again; nothing where the seal is gone.
  struct Looked {
    Seal seal;
    bool broke = false;      // content differs, and did not at the last look
    bool rewritten = false;  // ids differ, and did not at the last look
    bool resealed = false;
    absl::Duration again;
  };
  absl::StatusOr<std::optional<Looked>> Look(const std::string& id, absl::Duration every);

 private:
  absl::StatusOr<Sealed> Begin(store::Transaction& tx, const SealRequest& request,
                               const audit::Caller& caller) const;
  absl::Status CheckRequest(const SealRequest& request) const;
  absl::StatusOr<Layout> CheckDruid(const SealRequest& request, bool* compacted);
  absl::StatusOr<Seal> Complete(Seal seal, const Layout& layout, const Figures& figures,
                                const audit::Caller& caller);
  absl::Status CheckFree(store::Transaction& tx, const std::string& datasource,
                         const Interval& interval) const;
  absl::StatusOr<std::pair<Layout, Figures>> ReadTwice(const Seal& seal, Layout layout);
  absl::StatusOr<Looked> Compare(Seal seal, absl::Duration every);
  absl::StatusOr<Looked> Reseal(Seal seal);

  store::Store& store_;
  druid::Cluster& cluster_;
  const Options options_;
};

// Whether Druid would take it as a datasource's name.
bool IsDatasource(const std::string& name);

// Where corrections of a datasource go unless its seals say otherwise.
std::string DefaultCorrections(const std::string& datasource);

// The seals that bar `interval` at tx.now(), by start: what a grant asks.
absl::StatusOr<std::vector<Seal>> Barred(store::Transaction& tx, const std::string& datasource,
                                         const Interval& interval);

// What an audit event says of a seal.
std::string Describe(const Seal& seal, Instant now);

}  // namespace interlock::seal
