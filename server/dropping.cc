#include "server/dropping.h"

#include <utility>

#include "lib/backfill/runner.h"
#include "server/conversions/time.h"
#include "server/drop_options.h"
#include "server/lease_options.h"
#include "server/log.h"

namespace interlock::server {
namespace {

drop::Options OptionsOf(const config::v1::ServerConfig& config) {
  drop::Options options = DropOptions(config);
  options.lease = LeaseLimits(config);
  return options;
}

}  // namespace

Dropping::Dropping(const World& world, const config::v1::ServerConfig& config, Callbacks callbacks)
    : callbacks_(std::move(callbacks)),
      drops_(world.store, world.cluster, world.clock, OptionsOf(config),
             [&loop = world.loop] { loop.Wake(); }),
      worker_(world.store, world.cluster, world.clock, OptionsOf(config),
              WorkerOptions(world, config)),
      retention_(world.store, world.cluster, world.clock, drops_,
                 [&loop = world.loop] { loop.Wake(); }) {
  world.loop.Handle(drop::kWorkKind, [this](work::Claim& claim) { return worker_.Step(claim); });
  world.loop.Handle(drop::kRetentionKind,
                    [this](work::Claim& claim) { return retention_.Step(claim); });
}

drop::WorkerOptions Dropping::WorkerOptions(const World& world,
                                            const config::v1::ServerConfig& config) {
  drop::WorkerOptions options;
  options.call_deadline = FromProto(config.druid().call_timeout());
  options.nonce = backfill::RandomNonce;
  options.probe = DropProbe(config.drops(), world.clock);
  options.on_kill_failure = [this](const drop::Drop& drop, const std::string& reason) {
    Log(LogLevel::kWarning, "a kill task failed", {{"drop_id", drop.id}, {"reason", reason}});
    callbacks_.on_kill_failure(drop, reason);
  };
  options.on_foreign_change = [this](const drop::Drop& drop, const std::string& reason) {
    Log(LogLevel::kWarning, "somebody else changed segments of a drop",
        {{"drop_id", drop.id}, {"reason", reason}});
    callbacks_.on_foreign_change(drop, reason);
  };
  return options;
}

void Dropping::NoteClockJump(absl::Duration by) {
  const absl::Status status = drops_.NoteClockJump(by);
  if (status.ok()) return;
  Log(LogLevel::kWarning, "the jump could not be stored; drops go by the clocks alone",
      {{"error", std::string(status.message())}});
}

}  // namespace interlock::server
