// Does the due steps of handovers: looks, calls the machine, stores, and makes the calls
// that were decided.
//
// What is stored says what may have been sent: the intent of each call is stored before it,
// and a crash between the two is made good by the next look, which reads the supervisor
// back. A call goes out only while the claim outlasts its deadline, so that no other worker
// acts meanwhile. What the machine is shown of the backfill's units is read in the
// transaction that stores its step: no unit is posted between the two.
//
// Threads: Step from any, for different backfills at the same time.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/backfill/handover.h"
#include "lib/backfill/options.h"
#include "lib/backfill/record.h"
#include "lib/backfill/runner.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/work/loop.h"
#include "lib/work/steps.h"

namespace interlock::backfill {

// The step's kind in lib/work, whose key is the backfill's id.
inline constexpr char kHandoverKind[] = "handover";

// Of a backfill that asked for one, in the transaction that stores it or that has it go on:
// one that is over begins anew.
absl::Status BeginHandover(store::Transaction& tx, const Backfill& backfill);

class HandoverWorker {
 public:
  struct Callbacks {
    std::function<void()> wake;                       // something of another kind may be due
    std::function<void(const Handover&)> on_resumed;  // a pause is over: for metrics
  };
  // All of `world` must outlive it.
  HandoverWorker(const Runner::World& world, Options options, Callbacks callbacks = {})
      : world_(world), options_(std::move(options)), callbacks_(std::move(callbacks)) {}

  // For work::Loop::Handle(kHandoverKind, …).
  absl::StatusOr<work::Outcome> Step(work::Claim& claim);

 private:
  struct Standing {
    Handover handover;
    Backfill backfill;
    HandoverSight sight;
    std::vector<Interval> inside;  // of open units in the tail
  };
  absl::StatusOr<Standing> ReadStanding(store::Transaction& tx, const std::string& id);
  // All supervisors of the datasource, chosen or not.
  struct DruidSight {
    bool known = false;
    bool tasks_gone = false;
    std::map<std::string, SupervisorSight> supervisors;
    // Where their tasks started, by partition.
    std::map<std::string, std::map<std::string, std::string>> offsets;
  };
  void LookAtDruid(const Standing& standing, DruidSight* druid);
  absl::Status Join(store::Transaction& tx, const DruidSight& druid, Standing* standing);
  bool LocksAreGone(const Standing& standing);
  // Whether rows came to what was proven while the streams were suspended.
  absl::Status LookForLateRows();
  absl::Status Enter(store::Transaction& tx, const Standing& standing, Handover* after);
  absl::Status Store(store::Transaction& tx, const Standing& standing, const HandoverStep& step);
  // `before`: as it was before the step was stored.
  absl::Status Act(const Handover& before, const HandoverStep& step, work::Claim& claim);
  absl::Status CallOne(const Handover& before, const std::string& id, HandoverAct act,
                       const work::Claim& claim);
  absl::Status Outlast(work::Claim& claim);
  bool Settled(const Supervised& one, Instant now) const;

  const Runner::World world_;
  const Options options_;
  const Callbacks callbacks_;
};

}  // namespace interlock::backfill
