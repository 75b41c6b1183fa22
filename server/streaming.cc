#include "server/streaming.h"

#include "server/guard_options.h"

namespace interlock::server {

Streaming::Streaming(const World& world, const config::v1::ServerConfig& config,
                     const lease::Limits& limits)
    : options_(GuardOptions(config)),
      streams_(world.store, world.cluster, options_, AuditRecorder()),
      watcher_(world.store, world.cluster, options_),
      service_(streams_, world.store, world.executor, options_, limits) {}

absl::Status Streaming::Start(store::Store& store, work::Loop& loop) {
  loop.Handle(guard::kWorkKind, [this](work::Claim& claim) { return watcher_.Step(claim); });
  return store.Write(guard::Watcher::Begin);
}

}  // namespace interlock::server
