#include "server/sweeping.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/conversions/time.h"
#include "server/log.h"

namespace interlock::server {
namespace {

constexpr int kThreads = 2;

std::string Text(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

}  // namespace

Sweeping::Sweeping(World world, const config::v1::Verification& config,
                   const druid::ClusterOptions& options,
                   std::shared_ptr<druid::HttpTransport> transport)
    : world_(world),
      transport_(std::make_shared<sweep::PacedTransport>(std::move(transport), world.clock,
                                                         config.sweep_requests_per_second())),
      cluster_(options, transport_) {
  sweep::SweeperOptions own;
  own.every = FromProto(config.sweep_interval());
  own.datasources = {config.sweep_datasources().begin(), config.sweep_datasources().end()};
  own.grace = FromProto(config.grace());
  // Replicas share a store, and not a moment of starting.
  const uint64_t seed = std::hash<std::string>()(world.store.incarnation()) ^
                        static_cast<uint64_t>(world.clock.Monotonic().count());
  own.jitter_seed = seed;
  own.on_open = [this](const sweep::Finding& finding) {
    Count(finding.datasource, finding.observed);
  };
  own.drop_is_live = [this](const std::string& id) {
    const auto drop = world_.drops.Get(id);
    return !drop.ok() || !drop->ended.has_value();
  };
  sweeper_ = std::make_unique<sweep::Sweeper>(world_.store, cluster_, world_.clock, std::move(own));
  work::LoopOptions loop;
  loop.threads = kThreads;
  loop.claimant.owner = absl::StrCat(world_.store.incarnation(), "/sweeper");
  loop.claimant.lease = absl::Minutes(5);
  loop.jitter_seed = seed;
  loop.on_failure = [](const work::Claim& claim, const absl::Status& status) {
    Log(LogLevel::kWarning, "a sweep is not whole, and comes again",
        {{"datasource", claim.key}, {"error", Text(status)}});
  };
  loop_ = std::make_unique<work::Loop>(world_.store, world_.clock, std::move(loop));
  const auto step = [this](work::Claim& claim) { return sweeper_->Step(claim); };
  loop_->Handle(sweep::kListKind, step);
  loop_->Handle(sweep::kSweepKind, step);
}

absl::Status Sweeping::Start() {
  if (auto status = sweeper_->Begin(); !status.ok()) return status;
  loop_->Start();
  return absl::OkStatus();
}

void Sweeping::Stop() {
  transport_->Stop();
  loop_->Stop();
}

void Sweeping::Count(const std::string& datasource, const sweep::Observed& opened) {
  if (opened.kind == sweep::kForeignWriter || opened.verdict == "FOREIGN_WRITE") {
    world_.metrics.foreign_writes.Add({{"datasource", datasource}}).Increment();
  }
  if (opened.kind == sweep::kForeignDrop) {
    world_.metrics.foreign_drops.Add({{"datasource", datasource}}).Increment();
  }
  Log(LogLevel::kWarning, "something is wrong: a finding is open",
      {{"datasource", datasource},
       {"kind", opened.kind},
       {"reason", opened.reason},
       {"interval", opened.interval.ToString()},
       {"message", opened.message}});
}

void Sweeping::Note(const drop::Drop& drop, const char* kind, const std::string& reason,
                    const std::string& message, const std::string& remedy) {
  sweep::Observed observed;
  observed.kind = kind;
  observed.interval =
      Interval::Between(drop.intervals.front().start(), drop.intervals.back().end());
  observed.subject = drop.id;
  observed.reason = reason;
  observed.message = message;
  observed.remedy = remedy;
  bool fresh = false;
  const auto status = world_.store.Write([&](store::Transaction& tx) {
    auto opened = sweep::Open(tx, drop.datasource, observed);
    fresh = opened.ok() && *opened;
    return opened.status();
  });
  if (status.ok() && fresh) Count(drop.datasource, observed);
}

void Sweeping::NoteForeignChange(const drop::Drop& drop, const std::string& reason) {
  Note(drop, sweep::kForeignDrop, reason,
       absl::StrCat("somebody else changed segments of drop ", drop.id),
       "find out who from Druid's audit and request logs; interlockctl drops get ID says which");
}

void Sweeping::NoteKillFailure(const drop::Drop& drop, const std::string& reason) {
  Note(drop, sweep::kKillFailed, reason, absl::StrCat("a kill task of drop ", drop.id, " failed"),
       "interlockctl drops get ID lists what is left");
}

}  // namespace interlock::server
