#include "server/interlock_server.h"

#include <atomic>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/backfill/derived_worker.h"
#include "lib/seal/corrections.h"
#include "lib/seal/seals.h"
#include "lib/store/store.h"
#include "lib/work/loop.h"
#include "server/admin_server.h"
#include "server/audit_upkeep.h"
#include "server/backfilling.h"
#include "server/clock_jumps.h"
#include "server/conversions/time.h"
#include "server/correction_call.h"
#include "server/dropping.h"
#include "server/druid_connection.h"
#include "server/executor.h"
#include "server/gauges.h"
#include "server/grpc_listener.h"
#include "server/lease_housekeeper.h"
#include "server/lease_options.h"
#include "server/lease_settings.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/presence.h"
#include "server/seal_obstacle.h"
#include "server/seal_upkeep.h"
#include "server/services.h"
#include "server/store_opening.h"
#include "server/streaming.h"
#include "server/sweeping.h"
#include "server/timeline.h"

namespace interlock::server {
namespace {

// Calls that wait for Druid, at a time.
constexpr int kThreads = 8;
// Between two tries to reach a store that does not answer.
constexpr absl::Duration kStoreTries = absl::Seconds(2);

std::string Text(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

std::string WithPort(const std::string& address, int port) {
  return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
}

}  // namespace

class InterlockServer::Parts {
 public:
  Parts(config::v1::ServerConfig config, const Clock& clock)
      : config_(std::move(config)), clock_(clock), lease_settings_(config_) {}

  absl::Status Start(const Pause& pause) {
    if (auto status = StartAdmin(); !status.ok()) return status;
    if (auto status = AwaitStore(pause); !status.ok()) return status;
    if (auto status = druid_.Connect(config_, clock_, metrics_); !status.ok()) return status;
    if (auto status = StartWork(); !status.ok()) return status;
    if (auto status = Listen(); !status.ok()) return status;
    serving_ = true;
    return absl::OkStatus();
  }

  void Drain() {
    draining_ = true;
    backfilling_->watcher().End();
    services_->EndWaits();
    grpc_->Drain(absl::ToChronoMilliseconds(FromProto(config_.listen().drain_timeout())));
    if (sweeping_) sweeping_->Stop();
    loop_->Stop();
    lease_housekeeper_->Stop();
    presence_.reset();
    jumps_.TellTo(nullptr);  // the executor goes before the store does
  }

  std::vector<std::string> Reload(const config::v1::ServerConfig& config) {
    config::v1::ServerConfig taken = config_;
    TakeLeaseSettings(config, taken);
    lease_settings_.Take(taken);
    return Differences(config, taken);
  }

  std::string address() const { return WithPort(config_.listen().address(), grpc_->port()); }
  std::string admin_address() const {
    return WithPort(config_.listen().admin_address(), admin_->port());
  }

 private:
  // Before all else: while the store is waited for, this process is alive and not ready.
  absl::Status StartAdmin() {
    auto admin = AdminServer::Start({config_.listen().admin_address(), [this] { return Ready(); },
                                     [this] {
                                       if (serving_) gauges_->Update();
                                     },
                                     [this](const std::string& name) { return Page(name); }},
                                    metrics_);
    if (!admin.ok()) return admin.status();
    admin_ = *std::move(admin);
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Page(const std::string& datasource) {
    if (!serving_) return absl::UnavailableError("starting");
    auto timeline =
        ReadTimeline({*store_, backfilling_->backfills(), dropping_->drops()}, datasource);
    if (!timeline.ok()) return timeline.status();
    return RenderTimeline(*timeline);
  }

  // A database that does not answer yet is tried again; any other fault is final.
  absl::Status AwaitStore(const Pause& pause) {
    const absl::Duration longest = FromProto(config_.store().postgresql().start_timeout());
    const auto begun = clock_.Monotonic();
    while (true) {
      absl::Status status = OpenStore();
      const absl::Duration waited = absl::FromChrono(clock_.Monotonic() - begun);
      if (status.ok() || !absl::IsUnavailable(status) || !config_.store().has_postgresql()) {
        return status;
      }
      if (!pause || waited >= longest) return status;
      Log(LogLevel::kWarning, "the store does not answer: not ready, trying again",
          {{"error", Text(status)},
           {"gives_up_in", absl::FormatDuration(absl::Trunc(longest - waited, absl::Seconds(1)))}});
      if (!pause(kStoreTries)) return absl::CancelledError("stopped while waiting for the store");
    }
  }

  absl::Status OpenStore() {
    StoreCallbacks on;
    on.batch = [this](const store::BatchReport& report) { Count(report); };
    on.clock_jump = [this](absl::Duration by) {
      metrics_.clock_jumps.Increment();
      Log(LogLevel::kWarning, "the wall clock jumped; leases are not touched",
          {{"by", absl::FormatDuration(by)}});
      jumps_.Add(by);
    };
    on.notice = [this](const store::StoreNotice& notice) {
      metrics_.store_notices.Add({{"reason", notice.reason}}).Increment();
      Log(LogLevel::kWarning, notice.message, {{"reason", notice.reason}});
    };
    auto store = server::OpenStore(config_.store(), std::move(on), clock_);
    if (!store.ok()) return store.status();
    store_ = *std::move(store);
    return absl::OkStatus();
  }

  absl::Status StartWork() {
    // Where this is the only process that has the store, what another one had claimed it
    // has left behind. Else claims end by themselves.
    if (!config_.store().has_postgresql()) {
      if (auto status = store_->Write(work::ForgetClaims); !status.ok()) return status;
    }
    work::LoopOptions options;
    options.claimant.owner = store_->incarnation();
    options.on_failure = [](const work::Claim& claim, const absl::Status& status) {
      Log(LogLevel::kWarning, "a step failed, and comes again",
          {{"kind", claim.kind}, {"key", claim.key}, {"error", Text(status)}});
    };
    loop_ = std::make_unique<work::Loop>(*store_, clock_, std::move(options));
    StartDrops();
    backfilling_ = std::make_unique<Backfilling>(
        Backfilling::World{*store_, druid_.cluster(), clock_, metrics_, *loop_}, config_);
    if (auto status = StartAudit(); !status.ok()) return status;
    if (auto status = StartSeals(); !status.ok()) return status;
    streaming_ = std::make_unique<Streaming>(Streaming::World{*store_, druid_.cluster(), executor_},
                                             config_, LeaseLimits(config_));
    if (auto status = streaming_->Start(*store_, *loop_); !status.ok()) return status;
    if (auto status = StartSweeper(); !status.ok()) return status;
    loop_->Start();
    return absl::OkStatus();
  }

  // Negative: no sweeper.
  absl::Status StartSweeper() {
    if (FromProto(config_.verification().sweep_interval()) < absl::ZeroDuration()) {
      return absl::OkStatus();
    }
    druid::ClusterOptions options = druid_.options();
    options.access = druid::Access::kObserve;
    sweeping_ =
        std::make_unique<Sweeping>(Sweeping::World{*store_, dropping_->drops(), clock_, metrics_},
                                   config_.verification(), std::move(options), druid_.transport());
    return sweeping_->Start();
  }

  absl::Status StartSeals() {
    seal::Options options;
    options.holders = HoldersOf;
    options.compacted = [this](const std::string& datasource) -> absl::StatusOr<bool> {
      const auto config = druid_.cluster().GetCompactionConfig(datasource);
      if (config.done()) return config.value().has_value();
      return config.refused() ? absl::StatusOr<bool>(false) : absl::UnavailableError(config.text());
    };
    seals_ = std::make_unique<seal::Seals>(*store_, druid_.cluster(), std::move(options));
    corrections_ = std::make_unique<seal::Corrections>(*store_, druid_.cluster());
    SealUpkeep::Times times;
    const auto& sweep = config_.verification().sweep_interval();
    if (sweep.seconds() > 0) times.look = FromProto(sweep);
    seal_upkeep_ = std::make_unique<SealUpkeep>(
        SealUpkeep::World{*store_, druid_.cluster(), backfilling_->backfills(), *seals_,
                          *corrections_, [this] { loop_->Wake(); }},
        times, *metrics_.registry());
    seal_upkeep_->Handle(*loop_);
    correction_call_ = std::make_unique<CorrectionCall>(
        backfilling_->backfills(), backfilling_->jobs(), *corrections_, *seal_upkeep_);
    StartDerived();
    return seal_upkeep_->Schedule();
  }

  void StartDerived() {
    backfill::DerivedWorker::World world{
        *store_, druid_.cluster(), backfilling_->backfills(), SealedIn,
        [this](const backfill::BackfillRequest& request,
               const audit::Caller& caller) -> absl::StatusOr<backfill::Backfills::Submitted> {
          auto redirected = correction_call_->Redirect(request);
          if (!redirected.ok()) return redirected.status();
          return correction_call_->Submit(*redirected, caller);
        }};
    derived_worker_ = std::make_unique<backfill::DerivedWorker>(
        std::move(world), FromProto(config_.backfills().gather()));
    loop_->Handle(backfill::kDerivedWorkKind,
                  [this](work::Claim& claim) { return derived_worker_->Step(claim); });
  }

  absl::Status StartAudit() {
    audit_upkeep_ =
        std::make_unique<AuditUpkeep>(*store_, clock_, FromProto(config_.retention().audit()));
    loop_->Handle(AuditUpkeep::kWorkKind,
                  [this](work::Claim& claim) { return audit_upkeep_->Step(claim); });
    const absl::Status status = backfilling_->Schedule();
    return status.ok() ? audit_upkeep_->Schedule() : status;
  }

  void StartDrops() {
    Dropping::Callbacks on;
    on.on_kill_failure = [this](const drop::Drop& drop, const std::string& reason) {
      if (sweeping_) sweeping_->NoteKillFailure(drop, reason);
    };
    on.on_foreign_change = [this](const drop::Drop& drop, const std::string& reason) {
      if (sweeping_) sweeping_->NoteForeignChange(drop, reason);
    };
    dropping_ = std::make_unique<Dropping>(
        Dropping::World{*store_, druid_.cluster(), clock_, *loop_}, config_, std::move(on));
    jumps_.TellTo(
        [this](absl::Duration by) { executor_.Run([this, by] { dropping_->NoteClockJump(by); }); });
  }

  absl::Status Listen() {
    lease_housekeeper_ = std::make_unique<LeaseHousekeeper>(
        *store_, LeaseHousekeeper::Kept{FromProto(config_.retention().events()),
                                        FromProto(config_.retention().reservations()),
                                        FromProto(config_.retention().request_ids())});
    gauges_ = std::make_unique<Gauges>(*store_, druid_.cluster(), executor_, metrics_);
    services_ = std::make_unique<Services>(Services::World{
        config_, lease_settings_, clock_, metrics_, *store_, druid_.cluster(), druid_.access(),
        executor_, *backfilling_, *dropping_, *streaming_, *seals_, *corrections_, *seal_upkeep_,
        *correction_call_, [this] { return State(); }});
    auto grpc = GrpcListener::Start(config_, services_->all(), metrics_);
    if (!grpc.ok()) return grpc.status();
    grpc_ = *std::move(grpc);
    if (config_.store().has_postgresql()) {
      presence_ = std::make_unique<Presence>(*store_, address());
    }
    return absl::OkStatus();
  }

  absl::Status Ready() const {
    if (draining_) return absl::UnavailableError("draining");
    if (!serving_) return absl::UnavailableError("starting");
    return store_->Health();
  }

  ProcessState State() const {
    ProcessState state;
    state.ready = Ready();
    state.draining = draining_;
    const auto took = last_commit_.load();
    if (took > std::chrono::nanoseconds(0)) state.last_commit = took;
    return state;
  }

  void Count(const store::BatchReport& report) {
    last_commit_ = report.took;
    const std::chrono::duration<double> took = report.took;
    metrics_.store_commit_seconds.Observe(took.count());
    metrics_.store_batch_size.Observe(static_cast<double>(report.size));
  }

  const config::v1::ServerConfig config_;  // as it was at the start
  const Clock& clock_;
  LeaseSettings lease_settings_;
  Metrics metrics_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> serving_{false};  // all parts are there
  std::atomic<std::chrono::nanoseconds> last_commit_{std::chrono::nanoseconds(0)};
  ClockJumps jumps_;  // of the store's, which tells them from its own thread
  std::unique_ptr<store::Store> store_;
  DruidConnection druid_;
  // The loop's handlers use the workers, and the workers what stands above them: members
  // go in the other order.
  std::unique_ptr<Backfilling> backfilling_;
  std::unique_ptr<Dropping> dropping_;
  std::unique_ptr<AuditUpkeep> audit_upkeep_;
  std::unique_ptr<Streaming> streaming_;
  std::unique_ptr<seal::Seals> seals_;
  std::unique_ptr<seal::Corrections> corrections_;
  std::unique_ptr<SealUpkeep> seal_upkeep_;
  std::unique_ptr<CorrectionCall> correction_call_;
  std::unique_ptr<backfill::DerivedWorker> derived_worker_;
  std::unique_ptr<Sweeping> sweeping_;
  std::unique_ptr<work::Loop> loop_;
  std::unique_ptr<Gauges> gauges_;
  Executor executor_{kThreads};
  std::unique_ptr<LeaseHousekeeper> lease_housekeeper_;
  std::unique_ptr<Presence> presence_;
  std::unique_ptr<Services> services_;
  std::unique_ptr<GrpcListener> grpc_;
  std::unique_ptr<AdminServer> admin_;
};

absl::StatusOr<std::unique_ptr<InterlockServer>> InterlockServer::Start(
    const config::v1::ServerConfig& config, const Clock& clock, const Pause& pause) {
  auto parts = std::make_unique<Parts>(config, clock);
  if (auto status = parts->Start(pause); !status.ok()) return status;
  return std::unique_ptr<InterlockServer>(new InterlockServer(std::move(parts)));
}

InterlockServer::InterlockServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
InterlockServer::~InterlockServer() = default;
void InterlockServer::Drain() { parts_->Drain(); }
std::vector<std::string> InterlockServer::Reload(const config::v1::ServerConfig& config) {
  return parts_->Reload(config);
}
std::string InterlockServer::address() const { return parts_->address(); }
std::string InterlockServer::admin_address() const { return parts_->admin_address(); }

}  // namespace interlock::server
