// Backfills in the store's tables: reading and writing records.
//
// Threads: functions on a transaction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/backfill/record.h"
#include "lib/store/schema.h"
#include "lib/store/store.h"

namespace interlock::backfill {

store::Schema BackfillSchema();

// --- Backfills ---------------------------------------------------------------------------

// UNKNOWN_BACKFILL where there is none.
absl::StatusOr<Backfill> ReadBackfill(store::Transaction& tx, const std::string& id);
absl::StatusOr<std::optional<Backfill>> FindByRequest(store::Transaction& tx,
                                                      const std::string& requested_by,
                                                      const std::string& holder,
                                                      const std::string& request_id);
// What is empty does not filter.
struct BackfillFilter {
  std::string datasource;
  std::optional<Interval> overlapping;
  std::string requested_by;
  std::optional<Instant> since, until;  // created at or after, before
};
// Newest first, numbers below `before` (0: all); looks at no more than `most`.
absl::StatusOr<std::vector<Backfill>> ReadBackfills(store::Transaction& tx,
                                                    const BackfillFilter& filter, int64_t before,
                                                    int64_t most);
// The newest one over the same work and intervals.
absl::StatusOr<std::optional<Backfill>> FindSameWork(store::Transaction& tx,
                                                     const std::string& datasource,
                                                     const std::string& digest,
                                                     const std::string& intervals);
// Gives it its id, number and revision, and stores it.
absl::Status InsertBackfill(store::Transaction& tx, Backfill& backfill);
// Stores what its runner changes, with the next revision; not the wishes to pause or cancel.
absl::Status UpdateBackfill(store::Transaction& tx, Backfill& backfill);
// Stores the wishes and the deadline, with the next revision.
absl::Status SetWishes(store::Transaction& tx, Backfill& backfill);

// --- Units and partitions ----------------------------------------------------------------

absl::Status InsertUnit(store::Transaction& tx, const std::string& datasource,
                        const StoredUnit& unit);
// Stores the unit; its partitions, but for those that are proven or skipped one by one,
// stand where it stands.
absl::Status UpdateUnit(store::Transaction& tx, const StoredUnit& unit);
absl::Status UpdatePartition(store::Transaction& tx, const std::string& backfill_id,
                             StoredPartition partition);

absl::StatusOr<StoredUnit> ReadUnit(store::Transaction& tx, const std::string& backfill_id,
                                    int64_t number);
// Units in one of `states` that are due, in order of time or from the newest.
absl::StatusOr<std::vector<StoredUnit>> ReadUnits(store::Transaction& tx,
                                                  const std::string& backfill_id,
                                                  const std::vector<State>& states, Instant due,
                                                  bool newest_first, int64_t most);
absl::StatusOr<std::optional<Instant>> NextDue(store::Transaction& tx,
                                               const std::string& backfill_id,
                                               const std::vector<State>& states);
absl::StatusOr<bool> AnyUnitIn(store::Transaction& tx, const std::string& backfill_id,
                               const std::vector<State>& states);
absl::StatusOr<std::map<State, int64_t>> CountUnits(store::Transaction& tx,
                                                    const std::string& backfill_id);
absl::StatusOr<std::map<State, int64_t>> CountPartitions(store::Transaction& tx,
                                                         const std::string& backfill_id);
// Why units are SUSPECT or UNDETERMINED, each reason once; a message where all share it.
struct Doubt {
  std::string reason, message;
};
absl::StatusOr<std::vector<Doubt>> ReadDoubts(store::Transaction& tx,
                                              const std::string& backfill_id);
struct Totals {
  int64_t rows = 0;
  bool rows_known = true;  // of every unit
  int64_t unparseable = 0, thrown_away = 0;
};
absl::StatusOr<Totals> SumUnits(store::Transaction& tx, const std::string& backfill_id);
// Of what is expected over the whole; nothing where some unit's are not known.
absl::StatusOr<std::optional<std::map<std::string, double>>> SumMetrics(
    store::Transaction& tx, const std::string& backfill_id);
// Attempts that may write now: of the datasource, and in all.
struct OpenCounts {
  int64_t backfill = 0, datasource = 0, all = 0;
};
absl::StatusOr<OpenCounts> CountOpen(store::Transaction& tx, const std::string& backfill_id,
                                     const std::string& datasource);

// What is empty does not filter.
struct PartitionFilter {
  std::vector<State> states;
  std::optional<Interval> overlapping;
  int64_t after_revision = 0;
};
// By time, those that start at or after `from`; with `after_revision` by revision.
absl::StatusOr<std::vector<StoredPartition>> ReadPartitions(store::Transaction& tx,
                                                            const std::string& backfill_id,
                                                            const PartitionFilter& filter,
                                                            Instant from, int64_t most);

// --- Attempts ----------------------------------------------------------------------------

// The next number for this datasource and unit, over all backfills.
absl::StatusOr<int64_t> NextAttempt(store::Transaction& tx, const std::string& datasource,
                                    const std::string& unit_key);
absl::Status InsertAttempt(store::Transaction& tx, const Attempt& attempt, const Interval& hull);
absl::Status UpdateAttempt(store::Transaction& tx, const Attempt& attempt);
// UNKNOWN_ATTEMPT where there is none.
absl::StatusOr<Attempt> ReadAttempt(store::Transaction& tx, const std::string& task_id);
// Of one unit, oldest first.
absl::StatusOr<std::vector<Attempt>> ReadAttempts(store::Transaction& tx,
                                                  const std::string& backfill_id, int64_t unit);
// Units of the first and the last partition in `interval` that are DONE or EMPTY; one, where
// it is the same.
absl::StatusOr<std::vector<int64_t>> ProvenUnitsAtEdges(store::Transaction& tx,
                                                        const std::string& backfill_id,
                                                        const Interval& interval);
// What our own attempts may have written in `around` since `since`, but for one task's.
absl::StatusOr<std::vector<verify::KnownChange>> KnownAttempts(store::Transaction& tx,
                                                               const std::string& datasource,
                                                               const Interval& around,
                                                               Instant since,
                                                               const std::string& but_task);

// --- What was proven last ------------------------------------------------------------------

struct DoneBefore {
  std::string digest;   // of the work
  std::string version;  // "" where it left nothing
  std::string backfill_id;
};
// Jobs that are derived from the datasource have something to do then (derived_rows.h).
absl::Status RecordDone(store::Transaction& tx, const std::string& datasource,
                        const Interval& partition, const DoneBefore& done);
// Where it was this backfill that did it last.
absl::Status ForgetDone(store::Transaction& tx, const std::string& datasource,
                        const Interval& partition, const std::string& backfill_id);
absl::StatusOr<std::optional<DoneBefore>> FindDone(store::Transaction& tx,
                                                   const std::string& datasource,
                                                   const Interval& partition);

}  // namespace interlock::backfill
