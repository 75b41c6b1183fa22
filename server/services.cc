#include "server/services.h"

#include <string>

#include "server/audit_service.h"
#include "server/backfills_service.h"
#include "server/conversions/time.h"
#include "server/doctor.h"
#include "server/drop_call.h"
#include "server/drops_service.h"
#include "server/explain_call.h"
#include "server/findings_service.h"
#include "server/ingestion_coordinator.h"
#include "server/jobs_service.h"
#include "server/lease_options.h"
#include "server/reservation_watch.h"
#include "server/reservations_service.h"
#include "server/seals_service.h"
#include "server/server_service.h"
#include "server/submit_call.h"
#include "server/verify_call.h"
#include "server/waiting_line.h"

namespace interlock::server {
namespace {

VerifySettings VerifySettingsOf(const config::v1::ServerConfig& config) {
  return {FromProto(config.verification().grace()), config.limits().max_partitions_per_call()};
}

}  // namespace

class Services::Made {
 public:
  explicit Made(const World& world)
      : waiting_line(world.store),
        watcher(world.store),
        reserve(world.store, world.metrics, waiting_line, world.lease_settings),
        submit(world.backfilling.backfills(), world.correction_call, world.executor,
               world.config.limits().max_spec_bytes()),
        verify({world.store, world.cluster, world.backfilling.backfills(), world.executor},
               VerifySettingsOf(world.config)),
        drop(world.dropping.drops(), world.executor),
        explain({world.store, world.cluster, world.backfilling.backfills(), world.dropping.drops(),
                 world.seals, world.streaming.streams(), world.executor},
                VerifySettingsOf(world.config), LeaseLimits(world.config)),
        doctor(
            world.cluster, world.clock, world.access,
            {world.config.druid().router_urls().begin(), world.config.druid().router_urls().end()}),
        coordinator(reserve, submit, verify, drop),
        reservations(world.store, world.lease_settings, watcher),
        backfills(world.backfilling.backfills(), world.backfilling.watcher(), world.executor,
                  [&call = world.correction_call](const backfill::Backfill& retried) {
                    return call.FollowAgain(retried);
                  }),
        jobs(world.backfilling.jobs(), world.executor, world.config.limits().max_spec_bytes()),
        drops(world.dropping.drops(), world.dropping.retention(), world.executor),
        seals({world.store, world.cluster, world.seals, world.corrections, world.executor,
               [&upkeep = world.seal_upkeep](const std::string& id, Instant due) {
                 return upkeep.LookAt(id, due);
               },
               [&upkeep = world.seal_upkeep] { return upkeep.ApplyPolicies(); },
               world.dropping.drops()}),
        streams(*world.streaming.service()),
        findings(world.store, explain, world.executor),
        audit(world.store, world.executor),
        server(world.config, world.lease_settings, world.store, world.cluster, doctor,
               world.executor, world.state) {}

  WaitingLine waiting_line;
  ReservationWatcher watcher;
  ReserveIntervalCall reserve;
  SubmitCall submit;
  VerifyCall verify;
  DropCall drop;
  ExplainCall explain;
  Doctor doctor;
  IngestionCoordinatorService coordinator;
  ReservationsService reservations;
  BackfillsService backfills;
  JobsService jobs;
  DropsService drops;
  SealsService seals;
  grpc::Service& streams;
  FindingsService findings;
  AuditService audit;
  ServerService server;
};

Services::Services(const World& world) : made_(std::make_unique<Made>(world)) {}
Services::~Services() = default;

std::vector<grpc::Service*> Services::all() {
  return {&made_->coordinator, &made_->reservations, &made_->backfills, &made_->jobs,
          &made_->drops,       &made_->seals,        &made_->streams,   &made_->findings,
          &made_->audit,       &made_->server};
}

void Services::EndWaits() {
  made_->watcher.End();
  made_->waiting_line.End();
  made_->verify.EndWaits();
}

}  // namespace interlock::server
