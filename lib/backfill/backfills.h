// Backfills, as the server offers them: an interval of one datasource recomputed by a
// replacing job, cut by partition, done when it is proven (SubmitBackfill and the service
// Backfills).
//
// Every function that changes something does so in one transaction, with an audit event;
// the runner (runner.h) does the rest. Where a caller gives a request id, the same call
// again changes nothing and gives the backfill as it is.
//
// Guarantee (P3): nothing that these functions are asked makes a second task for an attempt
// that may still write.
//
// Threads: any.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/audit/caller.h"
#include "lib/backfill/changes.h"
#include "lib/backfill/handover.h"
#include "lib/backfill/options.h"
#include "lib/backfill/plan.h"
#include "lib/backfill/record.h"
#include "lib/backfill/request.h"
#include "lib/backfill/rows.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"

namespace interlock::backfill {

// The step's kind in lib/work, whose key is the backfill's id.
inline constexpr char kWorkKind[] = "backfill";

class Backfills {
 public:
  // All must outlive this. `wake` is called after a commit that made a step due
  // (work::Loop::Wake); it may be empty.
  Backfills(store::Store& store, druid::Cluster& cluster, Options options, Changes& changes,
            std::function<void()> wake);

  // What it would do, and what stands in its way. Changes nothing, sends nothing that
  // changes Druid. Errors: SPEC_INVALID with every fault, LIMIT_EXCEEDED,
  // EXPECTATION_NOT_CHECKABLE. A Druid that does not answer is a notice of the plan.
  // PLAN_STALE, GENERATION_MOVED, DRUID_UNAVAILABLE where a plan or generation is named.
  absl::StatusOr<Plan> MakePlan(const BackfillRequest& request) const;
  // Its spec mended as far as each fault has one answer; what was right stays as it was.
  absl::StatusOr<SpecCorrection> CorrectionOf(const BackfillRequest& request) const;

  struct Submitted {
    Backfill backfill;
    bool attached = false;             // it was there already
    std::vector<std::string> notices;  // what of the request it goes on without
  };
  // Reserves its time and stores it; the runner begins at once. The same caller, holder and
  // request id attach to what they made, and, when that is over, run again what
  // `reprocess` says; another id over the same work and intervals attaches to what runs.
  // Errors: those of MakePlan, nothing is stored then; and
  //   OBSERVE_ONLY;
  //   HELD: others hold some of the time (all of it, with skip_held); its blockers say who;
  //   TAIL, UNBOUNDED_TAIL: streams may still write there, and what was asked to be done
  //   about that can't be, or nothing was (tails_at_submit.h);
  //   STALE_TOKEN, EXPIRED …: of the reservation it was to act under;
  //   PLAN_STALE, GENERATION_MOVED (ABORTED): what was named is no longer so;
  //   OTHER_EXPECTATION: equal work is there that expects other rows;
  //   REQUEST_ID_REUSED, REQUEST_ID_INVALID.
  absl::StatusOr<Submitted> Submit(const BackfillRequest& request, const audit::Caller& caller);

  struct Detail {
    Backfill backfill;
    std::map<State, int64_t> counts;  // of partitions
    Totals totals;
    TailTerms tails;
    std::optional<Handover> handover;  // it has, or had
  };
  // UNKNOWN_BACKFILL, here and below.
  absl::StatusOr<Detail> Get(const std::string& id) const;

  struct PartitionPage {
    std::vector<StoredPartition> partitions;  // in order of time
    std::string next;                         // token of the next page; "" at the end
  };
  // `size` 0 is 100. BAD_PAGE_TOKEN.
  absl::StatusOr<PartitionPage> ListPartitions(const std::string& id, const PartitionFilter& filter,
                                               int64_t size, const std::string& token) const;
  // The attempts of the unit that covers a partition, oldest first.
  absl::StatusOr<std::vector<Attempt>> ListAttempts(const std::string& id, int64_t unit) const;

  // UNKNOWN_ATTEMPT, also for one of another backfill.
  absl::StatusOr<Attempt> GetAttempt(const std::string& id, const std::string& task_id) const;

  // What is empty does not filter.
  struct Filter {
    std::string datasource;
    std::optional<Interval> overlapping;
    std::vector<Phase> phases;
    std::string requested_by;
    std::optional<Instant> since, until;  // created at or after, before
    std::string job;
    std::vector<std::string> labels;  // `key=value` or `key`; all must be there
  };
  struct Page {
    std::vector<Detail> backfills;  // newest first
    std::string next;
  };
  // `size` 0 is 50. BAD_PAGE_TOKEN. A page can be short, or empty, and have a next one.
  absl::StatusOr<Page> List(const Filter& filter, int64_t size, const std::string& token) const;

  struct News {
    Detail detail;
    bool changed = false;                     // the backfill itself, since `revision`
    std::vector<StoredPartition> partitions;  // that changed since
    int64_t revision = 0;                     // ask on from here
  };
  // What changed after `revision`; 0 for all of it. For watching: wait() in between.
  absl::StatusOr<News> NewsSince(const std::string& id, int64_t revision) const;
  Changes& changes() const { return changes_; }

  // ALREADY_OVER.
  absl::StatusOr<Backfill> Pause(const std::string& id, const audit::Caller& caller);
  // NOT_PAUSED.
  absl::StatusOr<Backfill> Resume(const std::string& id, const audit::Caller& caller);
  // Gives up what is not done: tasks are shut down, and what they left is proven.
  // ALREADY_OVER.
  absl::StatusOr<Backfill> Cancel(const std::string& id, const audit::Caller& caller);
  struct Retried {
    Backfill backfill;
    int64_t units = 0;
  };
  // Puts units in these states (FAILED, CANCELLED, SUSPECT, SKIPPED; by default the first
  // two) back, with attempts anew; where intervals are given, those that they overlap.
  // NOTHING_TO_RETRY.
  absl::StatusOr<Retried> Retry(const std::string& id, const std::vector<State>& states,
                                const std::vector<Interval>& intervals,
                                const audit::Caller& caller);
  struct RollbackRequest {
    std::vector<Interval> partitions;  // empty: all that it has changed
    bool accept_foreign_rows = false;
    bool validate_only = false;
  };
  struct RollbackReply {
    Backfill backfill;
    std::vector<StoredPartition> partitions;  // `message`: what happens, or would
  };
  // Brings the generation before it back, in whole partitions. Errors: REASON_REQUIRED,
  // UNKNOWN_PARTITION; and FAILED_PRECONDITION with
  //   STILL_AT_WORK, NOTHING_TO_ROLL_BACK, ALREADY_ROLLED_BACK, ROLLBACK_WINDOW_OVER,
  //   NOT_NEWEST_GENERATION: somebody has written there since,
  //   FOREIGN_ROWS: others have added to what would go, and that was not consented to,
  //   OLD_GENERATION_KILLED, OLD_GENERATION_UNKNOWN,
  //   HELD, OBSERVE_ONLY;
  // UNAVAILABLE, DRUID_UNAVAILABLE.
  absl::StatusOr<RollbackReply> Rollback(const std::string& id, const RollbackRequest& request,
                                         const audit::Caller& caller);
  // A person takes SUSPECT or UNDETERMINED partitions as done: those of the intervals, or
  // within them. REASON_REQUIRED, UNKNOWN_PARTITION, NOT_ACCEPTABLE.
  absl::StatusOr<Backfill> Accept(const std::string& id, const std::vector<Interval>& partitions,
                                  const audit::Caller& caller);
  // An admin declares an attempt over that can't be proven to be. REASON_REQUIRED,
  // UNKNOWN_ATTEMPT, ATTEMPT_SETTLED.
  absl::StatusOr<Backfill> Abandon(const std::string& id, const std::string& task_id,
                                   const audit::Caller& caller);

 private:
  using Change = std::function<absl::Status(store::Transaction& tx, Backfill& backfill)>;
  // Reads the backfill, lets `change` change it, and stores an audit event with it; makes
  // its step due.
  absl::StatusOr<Backfill> Mutate(const std::string& id, const char* method,
                                  const audit::Caller& caller, const Change& change);
  // The plan or generation that the request names: PLAN_STALE, GENERATION_MOVED.
  absl::Status CheckAgainstPlan(const CheckedRequest& checked, const audit::Caller& caller) const;
  absl::StatusOr<Submitted> SubmitIn(store::Transaction& tx, const CheckedRequest& checked,
                                     const audit::Caller& caller) const;

  store::Store& store_;
  druid::Cluster& cluster_;
  const Options options_;
  Changes& changes_;
  const std::function<void()> wake_;
};

// Brings phase, reason and message in line with the units' states, and stores the backfill
// where that changed something. Gives whether nothing is left to do for the runner.
absl::StatusOr<bool> UpdatePhase(store::Transaction& tx, Backfill& backfill);

// Puts a unit that is over back to PENDING, with attempts anew.
absl::Status PutBack(store::Transaction& tx, StoredUnit& unit);

}  // namespace interlock::backfill
