// Does the due steps of drops: looks, decides, and makes the one call that was decided.
//
// A call that changes Druid goes out only when its intent is stored and what is left of
// the claim, on a monotonic clock, is longer than the call may take: another worker that
// takes the step over finds the call either ended or written down. How a call ended is
// never taken from its answer alone: the next step reads the effect back.
//
// Threads: Step from any, for different drops at the same time.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/drop/drops.h"
#include "lib/drop/probe.h"
#include "lib/drop/step.h"
#include "lib/druid/cluster.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"
#include "lib/work/loop.h"
#include "lib/work/steps.h"

namespace interlock::drop {

struct WorkerOptions {
  // Of one call to Druid: ClusterOptions::call_deadline, or more.
  absl::Duration call_deadline = absl::Seconds(30);
  // Makes the nonces of kill tasks: unguessable, never the same twice.
  std::function<std::string()> nonce;
  // Looks for files after a kill; may be nothing.
  std::shared_ptr<const StorageProbe> probe;
  // A kill task failed, with KillFailure's reason: for metrics and alerts. May be empty.
  std::function<void(const Drop& drop, const std::string& failure)> on_kill_failure;
  // Somebody else marked or killed segments of a drop (FOREIGN_DROP, FOREIGN_KILL, …).
  std::function<void(const Drop& drop, const std::string& reason)> on_foreign_change;
};

class Worker {
 public:
  // All must outlive this.
  Worker(store::Store& store, druid::Cluster& cluster, const Clock& clock, Options options,
         WorkerOptions own);

  // For work::Loop::Handle(kWorkKind, …).
  absl::StatusOr<work::Outcome> Step(work::Claim& claim);

 private:
  struct Called {
    bool sent = true;
    bool known = false;  // the outcome: done, or refused without effect
    bool refused = false;
    std::string text;  // of what was refused or is unknown
    Kill kill;         // of a kill's post, as it stands now
  };

  absl::StatusOr<work::Outcome> StepOf(const Drops::Detail& detail, work::Claim& claim);
  absl::StatusOr<work::Outcome> LookForOrphans(Drops::Detail detail, work::Claim& claim);
  absl::Status MakeRoom(work::Claim& claim);
  Called Call(const Drops::Detail& detail, const Decision& decision, const work::Claim& claim);
  Called PostKill(const Drop& drop, Kill kill, const std::string& json);
  absl::Status Note(store::Transaction& tx, const work::Claim& claim, const Decision& decision,
                    const Called& called);
  void Tell(const Drops::Detail& detail, const View& view) const;
  Surroundings around() const;

  store::Store& store_;
  druid::Cluster& cluster_;
  const Clock& clock_;
  const Options options_;
  const WorkerOptions own_;
};

}  // namespace interlock::drop
