#include "server/backfilling.h"

#include "server/backfill_options.h"
#include "server/conversions/time.h"
#include "server/lease_options.h"

namespace interlock::server {
namespace {

// The last bucket of streams' pauses, in seconds.
constexpr double kLongestPause = 3'600;

backfill::Runner::World WorldOf(const Backfilling::World& world, backfill::Changes& changes) {
  return {world.store, world.cluster, world.clock, changes};
}

template <class Worker>
void Handle(work::Loop& loop, const char* kind, Worker& worker) {
  loop.Handle(kind, [&worker](work::Claim& claim) { return worker.Step(claim); });
}

}  // namespace

Backfilling::Backfilling(const World& world, const config::v1::ServerConfig& config)
    : Backfilling(world, config, BackfillOptions(config, LeaseLimits(config))) {}

Backfilling::Backfilling(const World& world, const config::v1::ServerConfig& config,
                         const backfill::Options& options)
    : store_(world.store),
      metrics_(world.metrics),
      backfills_(world.store, world.cluster, options, changes_,
                 [&loop = world.loop] { loop.Wake(); }),
      jobs_(world.store, world.cluster),
      runner_({world.store, world.cluster, world.clock, changes_,
               [&metrics = world.metrics](absl::Duration taken) {
                 metrics.backfill_partition_seconds.Observe(absl::ToDoubleSeconds(taken));
               }},
              options),
      rollbacks_(WorldOf(world, changes_), options),
      handovers_(WorldOf(world, changes_), options,
                 {[&loop = world.loop] { loop.Wake(); },
                  [this](const backfill::Handover& handover) { Observe(handover); }}),
      retirements_(WorldOf(world, changes_), options),
      upkeep_(world.store, world.clock, FromProto(config.retention().history())),
      watcher_(backfills_) {
  Handle(world.loop, backfill::kWorkKind, runner_);
  Handle(world.loop, backfill::kRollbackWorkKind, rollbacks_);
  Handle(world.loop, backfill::kHandoverKind, handovers_);
  Handle(world.loop, backfill::kRetireWorkKind, retirements_);
  Handle(world.loop, BackfillUpkeep::kWorkKind, upkeep_);
}

void Backfilling::Observe(const backfill::Handover& handover) {
  metrics_.handover_seconds.Add({{"datasource", handover.datasource}}, SecondsUpTo(kLongestPause))
      .Observe(absl::ToDoubleSeconds(store_.Now() - *handover.suspended));
}

}  // namespace interlock::server
