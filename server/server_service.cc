#include "server/server_service.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/backfill/counts.h"
#include "lib/drop/counts.h"
#include "lib/lease/counts.h"
#include "lib/work/replicas.h"
#include "server/caller.h"
#include "server/conversions/time.h"
#include "server/datasource_name.h"
#include "server/method_roles.h"
#include "server/store_schemas.h"
#include "server/unary.h"
#include "server/version.h"

namespace interlock::server {
namespace {

void AddLimits(const config::v1::ServerConfig& config, const LeaseSettings::Values& leases,
               v1::GetStatusResponse& response) {
  auto& limits = *response.mutable_limits();
  const auto duration = [](const google::protobuf::Duration& d) {
    return absl::FormatDuration(FromProto(d));
  };
  limits["default_ttl"] = absl::FormatDuration(leases.default_ttl);
  limits["max_ttl"] = absl::FormatDuration(leases.limits.longest_ttl);
  limits["min_ttl"] = absl::FormatDuration(leases.limits.shortest_ttl);
  limits["max_wait"] = absl::FormatDuration(leases.limits.longest_wait);
  limits["lock_delay"] = absl::FormatDuration(leases.limits.lock_delay);
  if (leases.limits.longest_interval != absl::InfiniteDuration()) {
    limits["max_interval"] = absl::FormatDuration(leases.limits.longest_interval);
  }
  limits["max_reservations_per_holder"] = std::to_string(leases.limits.live_per_holder);
  limits["max_reservations_per_datasource"] = std::to_string(leases.limits.live_per_datasource);
  limits["max_request_bytes"] = std::to_string(config.limits().max_request_bytes());
  limits["max_spec_bytes"] = std::to_string(config.limits().max_spec_bytes());
  limits["max_intervals_per_call"] = std::to_string(leases.limits.intervals_per_call);
  limits["max_partitions_per_unit"] = std::to_string(config.limits().max_partitions_per_unit());
  limits["max_partitions_per_call"] = std::to_string(config.limits().max_partitions_per_call());
  limits["min_window"] = duration(config.drops().min_window());
  limits["max_window"] = duration(config.drops().max_window());
  limits["floor"] = duration(config.drops().floor());
}

template <class Count>
void AddCounts(const char* kind, const std::vector<Count>& counts,
               google::protobuf::Map<std::string, int64_t>& all) {
  for (const Count& one : counts) all[absl::StrCat(kind, ".", one.state)] += one.count;
}

absl::Status ReadReplicas(store::Transaction& tx, v1::GetStatusResponse& response) {
  const auto replicas = work::ListReplicas(tx);
  if (!replicas.ok()) return replicas.status();
  response.clear_replicas();
  for (const work::Replica& replica : *replicas) {
    auto* proto = response.add_replicas();
    proto->set_replica(replica.name);
    proto->set_version(replica.version);
    ToProto(replica.seen, proto->mutable_seen_time());
  }
  return absl::OkStatus();
}

absl::Status ReadCounts(store::Transaction& tx, google::protobuf::Map<std::string, int64_t>& all) {
  const auto reservations = lease::CountBlocking(tx);
  if (!reservations.ok()) return reservations.status();
  const auto partitions = backfill::CountPartitionsAtWork(tx);
  if (!partitions.ok()) return partitions.status();
  const auto drops = drop::CountDrops(tx);
  if (!drops.ok()) return drops.status();
  AddCounts("reservations", *reservations, all);
  AddCounts("partitions", *partitions, all);
  AddCounts("drops", *drops, all);
  return absl::OkStatus();
}

v1::DruidServiceStatus::State StateOf(const druid::ServiceHealth& health) {
  if (health.refused) return v1::DruidServiceStatus::REFUSED;
  return health.up ? v1::DruidServiceStatus::UP : v1::DruidServiceStatus::DOWN;
}

}  // namespace

ServerService::ServerService(const config::v1::ServerConfig& config, const LeaseSettings& settings,
                             store::Store& store, druid::Cluster& cluster, Doctor& doctor,
                             Executor& executor, std::function<ProcessState()> state)
    : config_(config),
      settings_(settings),
      store_(store),
      cluster_(cluster),
      doctor_(doctor),
      executor_(executor),
      state_(std::move(state)),
      started_(store.Now()) {}

void ServerService::AddDruid(v1::GetStatusResponse& response) {
  for (const auto& service : cluster_.CheckServices()) {
    auto* proto = response.add_druid();
    proto->set_service(service.service);
    proto->set_url(service.address);
    proto->set_state(StateOf(service));
    if (service.leader) proto->set_leader(service.address);
    proto->set_message(service.text);
    ToProto(store_.Now(), proto->mutable_observe_time());
  }
  const auto capabilities = cluster_.GetCapabilities();
  if (!capabilities.done()) return;
  const auto& has = capabilities.value();
  for (auto& service : *response.mutable_druid()) service.set_version(has.version);
  const std::pair<bool, const char*> names[] = {{has.overlord_marks, "overlord.marks"},
                                                {has.unused_segments_list, "segments.unused"},
                                                {has.active_locks, "locks.active"},
                                                {has.locked_intervals_v2, "locks.v2"},
                                                {has.kill_bounded, "kill.bounded"}};
  for (const auto& [there, name] : names) {
    if (there) response.add_druid_capabilities(name);
  }
}

grpc::ServerUnaryReactor* ServerService::GetStatus(grpc::CallbackServerContext* context,
                                                   const v1::GetStatusRequest* request,
                                                   v1::GetStatusResponse* response) {
  return Unary(context, request, executor_, [this, context, response] {
    response->set_version(kVersion);
    response->set_commit(kCommit);
    response->set_incarnation(store_.incarnation());
    ToProto(started_, response->mutable_start_time());
    ToProto(store_.Now(), response->mutable_store_time());
    const ProcessState state = state_();
    response->set_ready(state.ready.ok());
    response->set_not_ready_reason(
        std::string(state.ready.message().data(), state.ready.message().size()));
    response->set_draining(state.draining);
    auto* store = response->mutable_store();
    const store::StoreDescription described = store_.Describe();
    store->set_engine(described.engine);
    store->set_schema_version(StoreSchemaVersion());
    if (state.last_commit) {
      ToProto(absl::FromChrono(*state.last_commit), store->mutable_commit_latency());
    }
    if (described.synchronous.has_value()) store->set_synchronous(*described.synchronous);
    for (const store::StoreNotice& one : described.notices) {
      auto* notice = response->add_notices();
      notice->set_reason(one.reason);
      notice->set_message(one.message);
    }
    const absl::Status health = store_.Health();
    store->set_writable(health.ok());
    store->set_message(std::string(health.message().data(), health.message().size()));
    response->set_druid_access(config_.druid().access() == config::v1::Druid::OBSERVE
                                   ? v1::GetStatusResponse::OBSERVE
                                   : v1::GetStatusResponse::MANAGE);
    response->set_clock_jump_count(store_.clock_jumps());
    response->set_caller_identity(IdentityOf(*context));
    AddLimits(config_, *settings_.now(), *response);
    AddDruid(*response);
    // A store that can't be read is told by `store` above; the counts are left out then.
    store_
        .Read([&](store::Transaction& tx) {
          response->clear_counts();
          const absl::Status counted = ReadCounts(tx, *response->mutable_counts());
          return counted.ok() ? ReadReplicas(tx, *response) : counted;
        })
        .IgnoreError();
    if (config_.druid().simulated()) {
      auto* notice = response->add_notices();
      notice->set_reason("SIMULATED_DRUID");
      notice->set_message("Druid is simulated: a small one in this process");
    }
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* ServerService::Diagnose(grpc::CallbackServerContext* context,
                                                  const v1::DiagnoseRequest* request,
                                                  v1::DiagnoseResponse* response) {
  return Unary(context, request, executor_, [this, request, response]() -> absl::Status {
    for (int i = 0; i < request->datasources_size(); ++i) {
      absl::Status named =
          CheckDatasource(request->datasources(i), absl::StrCat("/datasources/", i));
      if (!named.ok()) return named;
    }
    doctor_.Diagnose({request->datasources().begin(), request->datasources().end()}, *response);
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* ServerService::TestPolicy(grpc::CallbackServerContext* context,
                                                    const v1::TestPolicyRequest* request,
                                                    v1::TestPolicyResponse* response) {
  return Unary(context, request, executor_, [request, response]() -> absl::Status {
    auto method = RoleOf(request->method());
    if (!method.ok()) return method.status();
    if (method->on_datasource && request->datasource().empty()) {
      return InvalidField("/datasource", "is missing", "say on which datasource it would act");
    }
    response->set_needed_role(std::string(method->role.data(), method->role.size()));
    // Bindings are refused by this version, and without any nobody is kept from anything.
    for (const std::string& role : AllRoles()) response->add_roles(role);
    response->set_allowed(true);
    return absl::OkStatus();
  });
}

}  // namespace interlock::server
