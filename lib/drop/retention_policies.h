// Retention policies as the server offers them, and their runs.
//
// A run asks Druid which datasources there are, takes those that the pattern fits, and
// submits one drop for each that has data old enough, under the policy's name and in the
// name of who stored it. It is due by the schedule, claimed like any step, and safe to
// begin again: a drop carries the id of its run, and one that is there is not made twice.
//
// Guarantee: a run makes nothing that its owner could not have asked for: floor, window
// and all refusals of a drop hold for it, and its caps as well.
//
// Threads: any; Step for different policies at the same time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/audit/caller.h"
#include "lib/drop/drops.h"
#include "lib/drop/plan.h"
#include "lib/drop/retention.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"
#include "lib/work/loop.h"
#include "lib/work/steps.h"

namespace interlock::drop {

// The step's kind in lib/work, whose key is the policy's name.
inline constexpr char kRetentionKind[] = "retention";

class RetentionPolicies {
 public:
  // All must outlive this. `wake` as in Drops.
  RetentionPolicies(store::Store& store, druid::Cluster& cluster, const Clock& clock, Drops& drops,
                    std::function<void()> wake);

  // Stores it under its name, new or in place of the one before; its first run is due at
  // once. Errors of CheckPolicy. What the server keeps in it is not taken from `policy`.
  absl::StatusOr<RetentionPolicy> Put(RetentionPolicy policy, const audit::Caller& caller);
  // What a run would plan now: one plan for each datasource that has something old enough,
  // with what stands in its way (CAP_REACHED among it). Stores nothing.
  absl::StatusOr<std::vector<Plan>> Preview(const RetentionPolicy& policy);
  struct Page {
    std::vector<RetentionPolicy> policies;  // by name
    std::string next;                       // token of the next page; "" at the end
  };
  absl::StatusOr<Page> List(int64_t size, const std::string& token) const;
  // UNKNOWN_RETENTION_POLICY. The drops that it made stay.
  absl::Status Delete(const std::string& name, const audit::Caller& caller);

  // One run, for work::Loop::Handle(kRetentionKind, …).
  absl::StatusOr<work::Outcome> Step(work::Claim& claim);

 private:
  // What there is to drop of one datasource, and how much of it one drop takes.
  struct Candidate {
    Share share;
    std::string cap;
    bool any = false;
    bool left_alone = false;  // some is old, and not to be touched (again)
  };
  absl::StatusOr<Candidate> Find(const RetentionPolicy& policy, const std::string& datasource,
                                 const Spent& spent, bool look_back);
  absl::StatusOr<std::vector<std::string>> DatasourcesOf(const RetentionPolicy& policy);
  DropRequest RequestFor(const RetentionPolicy& policy, const std::string& datasource,
                         const Candidate& candidate) const;
  // One line of what came of it; sets `stop` where a cap of the whole run is reached.
  absl::StatusOr<std::string> RunOne(const RetentionPolicy& policy, const std::string& datasource,
                                     bool* stop);
  absl::StatusOr<std::string> RunAll(const RetentionPolicy& policy, work::Claim& claim);
  absl::Status EndRun(const RetentionPolicy& before, const std::string& message,
                      const work::Claim& claim);

  store::Store& store_;
  druid::Cluster& cluster_;
  const Clock& clock_;
  Drops& drops_;
  const std::function<void()> wake_;
};

}  // namespace interlock::drop
