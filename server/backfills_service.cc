#include "server/backfills_service.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/caller.h"
#include "server/conversions/backfill.h"
#include "server/conversions/time.h"
#include "server/page_token.h"
#include "server/unary.h"

namespace interlock::server {
namespace {

absl::StatusOr<std::vector<backfill::State>> StatesOf(
    const google::protobuf::RepeatedField<int>& protos) {
  std::vector<backfill::State> states;
  for (int i = 0; i < protos.size(); ++i) {
    const auto state = FromProto(static_cast<v1::Partition::State>(protos[i]));
    if (!state) return InvalidField(absl::StrCat("/states/", i), "is no state of a partition", "");
    states.push_back(*state);
  }
  return states;
}

// Units' attempts, each read once however many partitions they cover.
class Attempts {
 public:
  Attempts(backfill::Backfills& backfills, std::string id)
      : backfills_(backfills), id_(std::move(id)) {}

  absl::StatusOr<const std::vector<backfill::Attempt>*> Of(int64_t unit) {
    auto found = known_.find(unit);
    if (found == known_.end()) {
      auto attempts = backfills_.ListAttempts(id_, unit);
      if (!attempts.ok()) return attempts.status();
      found = known_.emplace(unit, *std::move(attempts)).first;
    }
    return &found->second;
  }

 private:
  backfill::Backfills& backfills_;
  const std::string id_;
  std::map<int64_t, std::vector<backfill::Attempt>> known_;
};

absl::StatusOr<backfill::Backfills::Filter> FilterOf(const v1::ListBackfillsRequest& request) {
  backfill::Backfills::Filter filter;
  filter.datasource = request.datasource();
  auto interval = FromProto(request.interval(), "interval");
  if (!interval.ok()) return interval.status();
  filter.overlapping = *interval;
  for (int i = 0; i < request.states_size(); ++i) {
    const auto phase = FromProto(request.states(i));
    if (!phase) return InvalidField(absl::StrCat("/states/", i), "is no state of a backfill", "");
    filter.phases.push_back(*phase);
  }
  filter.requested_by = request.requested_by();
  filter.job = request.job();
  filter.labels.assign(request.labels().begin(), request.labels().end());
  if (request.has_created_since_time()) filter.since = FromProto(request.created_since_time());
  if (request.has_created_until_time()) filter.until = FromProto(request.created_until_time());
  return filter;
}

}  // namespace

absl::Status BackfillsService::Get(const v1::GetBackfillRequest& request,
                                   v1::GetBackfillResponse& response) {
  auto detail = backfills_.Get(request.backfill_id());
  if (!detail.ok()) return detail.status();
  ToProto(*detail, request.include_spec(), response.mutable_backfill());
  backfill::PartitionFilter filter;
  auto states = StatesOf(request.states());
  if (!states.ok()) return states.status();
  filter.states = *std::move(states);
  auto interval = FromProto(request.interval(), "interval");
  if (!interval.ok()) return interval.status();
  filter.overlapping = *interval;
  const auto place = PagePlace(request);
  if (!place.ok()) return place.status();
  auto page = backfills_.ListPartitions(request.backfill_id(), filter, request.page_size(), *place);
  if (!page.ok()) return page.status();
  Attempts attempts(backfills_, request.backfill_id());
  for (const auto& stored : page->partitions) {
    auto* partition = response.add_partitions();
    ToProto(stored, partition);
    auto of_unit = attempts.Of(stored.unit);
    if (!of_unit.ok()) return of_unit.status();
    partition->set_attempt_count(static_cast<int32_t>((*of_unit)->size()));
    if ((*of_unit)->empty()) continue;
    partition->set_task_id((*of_unit)->back().task_id);
    partition->set_unit((*of_unit)->back().unit_key);
    if (!request.include_attempts()) continue;
    for (const auto& attempt : **of_unit) ToProto(attempt, partition->add_attempts());
  }
  response.set_next_page_token(PageToken(request, page->next));
  return absl::OkStatus();
}

absl::Status BackfillsService::List(const v1::ListBackfillsRequest& request,
                                    v1::ListBackfillsResponse& response) {
  auto filter = FilterOf(request);
  if (!filter.ok()) return filter.status();
  const auto place = PagePlace(request);
  if (!place.ok()) return place.status();
  auto page = backfills_.List(*filter, request.page_size(), *place);
  if (!page.ok()) return page.status();
  for (const auto& detail : page->backfills) ToProto(detail, false, response.add_backfills());
  response.set_next_page_token(PageToken(request, page->next));
  return absl::OkStatus();
}

absl::Status BackfillsService::After(const absl::StatusOr<backfill::Backfill>& changed,
                                     v1::Backfill* response) {
  if (!changed.ok()) return changed.status();
  auto detail = backfills_.Get(changed->id);
  if (detail.ok()) ToProto(*detail, false, response);
  return detail.status();
}

grpc::ServerUnaryReactor* BackfillsService::GetBackfill(grpc::CallbackServerContext* context,
                                                        const v1::GetBackfillRequest* request,
                                                        v1::GetBackfillResponse* response) {
  return Unary(context, request, executor_,
               [this, request, response] { return Get(*request, *response); });
}

grpc::ServerUnaryReactor* BackfillsService::ListBackfills(grpc::CallbackServerContext* context,
                                                          const v1::ListBackfillsRequest* request,
                                                          v1::ListBackfillsResponse* response) {
  return Unary(context, request, executor_,
               [this, request, response] { return List(*request, *response); });
}

grpc::ServerUnaryReactor* BackfillsService::PauseBackfill(grpc::CallbackServerContext* context,
                                                          const v1::PauseBackfillRequest* request,
                                                          v1::PauseBackfillResponse* response) {
  return Unary(context, request, executor_, [this, context, request, response] {
    return After(backfills_.Pause(request->backfill_id(),
                                  CallerOf(*context, request->request_id(), request->reason())),
                 response->mutable_backfill());
  });
}

grpc::ServerUnaryReactor* BackfillsService::ResumeBackfill(grpc::CallbackServerContext* context,
                                                           const v1::ResumeBackfillRequest* request,
                                                           v1::ResumeBackfillResponse* response) {
  return Unary(context, request, executor_, [this, context, request, response] {
    return After(backfills_.Resume(request->backfill_id(),
                                   CallerOf(*context, request->request_id(), request->reason())),
                 response->mutable_backfill());
  });
}

grpc::ServerUnaryReactor* BackfillsService::CancelBackfill(grpc::CallbackServerContext* context,
                                                           const v1::CancelBackfillRequest* request,
                                                           v1::CancelBackfillResponse* response) {
  return Unary(context, request, executor_, [this, context, request, response] {
    return After(backfills_.Cancel(request->backfill_id(),
                                   CallerOf(*context, request->request_id(), request->reason())),
                 response->mutable_backfill());
  });
}

grpc::ServerUnaryReactor* BackfillsService::RetryBackfill(grpc::CallbackServerContext* context,
                                                          const v1::RetryBackfillRequest* request,
                                                          v1::RetryBackfillResponse* response) {
  return Unary(context, request, executor_, [this, context, request, response]() -> absl::Status {
    auto states = StatesOf(request->states());
    if (!states.ok()) return states.status();
    auto read = FromProto(request->partitions(), "partitions", true);
    if (!read.ok()) return read.status();
    auto retried = backfills_.Retry(request->backfill_id(), *states, read->intervals,
                                    CallerOf(*context, request->request_id(), request->reason()));
    if (!retried.ok()) return retried.status();
    if (absl::Status status = retried_(retried->backfill); !status.ok()) return status;
    response->set_retried_count(retried->units);
    return After(retried->backfill, response->mutable_backfill());
  });
}

grpc::ServerUnaryReactor* BackfillsService::RollbackBackfill(
    grpc::CallbackServerContext* context, const v1::RollbackBackfillRequest* request,
    v1::RollbackBackfillResponse* response) {
  return Unary(context, request, executor_, [this, context, request, response]() -> absl::Status {
    auto read = FromProto(request->partitions(), "partitions", true);
    if (!read.ok()) return read.status();
    auto reply = backfills_.Rollback(
        request->backfill_id(),
        {read->intervals, request->accept_foreign_rows(), request->validate_only()},
        CallerOf(*context, request->request_id(), request->reason()));
    if (!reply.ok()) return reply.status();
    for (const auto& partition : reply->partitions) ToProto(partition, response->add_partitions());
    return After(reply->backfill, response->mutable_backfill());
  });
}

grpc::ServerUnaryReactor* BackfillsService::AcceptPartitions(
    grpc::CallbackServerContext* context, const v1::AcceptPartitionsRequest* request,
    v1::AcceptPartitionsResponse* response) {
  return Unary(context, request, executor_, [this, context, request, response]() -> absl::Status {
    auto read = FromProto(request->partitions(), "partitions");
    if (!read.ok()) return read.status();
    auto status =
        After(backfills_.Accept(request->backfill_id(), read->intervals,
                                CallerOf(*context, request->request_id(), request->reason())),
              response->mutable_backfill());
    if (!status.ok()) return status;
    for (const auto& interval : read->intervals) {
      backfill::PartitionFilter filter;
      filter.overlapping = interval;
      auto page = backfills_.ListPartitions(request->backfill_id(), filter, 0, "");
      if (!page.ok()) return page.status();
      for (const auto& partition : page->partitions) ToProto(partition, response->add_partitions());
    }
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* BackfillsService::AbandonAttempt(grpc::CallbackServerContext* context,
                                                           const v1::AbandonAttemptRequest* request,
                                                           v1::AbandonAttemptResponse* response) {
  return Unary(context, request, executor_, [this, context, request, response]() -> absl::Status {
    absl::Status status =
        After(backfills_.Abandon(request->backfill_id(), request->task_id(),
                                 CallerOf(*context, request->request_id(), request->reason())),
              response->mutable_backfill());
    if (!status.ok()) return status;
    auto attempt = backfills_.GetAttempt(request->backfill_id(), request->task_id());
    if (attempt.ok()) ToProto(*attempt, response->mutable_attempt());
    return attempt.status();
  });
}

}  // namespace interlock::server
