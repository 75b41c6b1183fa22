// The Backfills service: backfills after they were submitted.
#pragma once

#include <functional>
#include <utility>

#include "interlock/v1/backfills.grpc.pb.h"
#include "lib/backfill/backfills.h"
#include "server/backfill_watch.h"
#include "server/executor.h"

namespace interlock::server {

class BackfillsService final : public v1::Backfills::CallbackService {
 public:
  // What is done with a backfill that was retried, besides running it again.
  using Retried = std::function<absl::Status(const backfill::Backfill&)>;

  // All must outlive the service.
  BackfillsService(backfill::Backfills& backfills, BackfillWatcher& watcher, Executor& executor,
                   Retried retried)
      : backfills_(backfills),
        watcher_(watcher),
        executor_(executor),
        retried_(std::move(retried)) {}

  grpc::ServerUnaryReactor* GetBackfill(grpc::CallbackServerContext* context,
                                        const v1::GetBackfillRequest* request,
                                        v1::GetBackfillResponse* response) override;
  grpc::ServerUnaryReactor* ListBackfills(grpc::CallbackServerContext* context,
                                          const v1::ListBackfillsRequest* request,
                                          v1::ListBackfillsResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchBackfillResponse>* WatchBackfill(
      grpc::CallbackServerContext* /*context*/, const v1::WatchBackfillRequest* request) override {
    return watcher_.Watch(*request);
  }
  grpc::ServerUnaryReactor* PauseBackfill(grpc::CallbackServerContext* context,
                                          const v1::PauseBackfillRequest* request,
                                          v1::PauseBackfillResponse* response) override;
  grpc::ServerUnaryReactor* ResumeBackfill(grpc::CallbackServerContext* context,
                                           const v1::ResumeBackfillRequest* request,
                                           v1::ResumeBackfillResponse* response) override;
  grpc::ServerUnaryReactor* RollbackBackfill(grpc::CallbackServerContext* context,
                                             const v1::RollbackBackfillRequest* request,
                                             v1::RollbackBackfillResponse* response) override;
  grpc::ServerUnaryReactor* RetryBackfill(grpc::CallbackServerContext* context,
                                          const v1::RetryBackfillRequest* request,
                                          v1::RetryBackfillResponse* response) override;
  grpc::ServerUnaryReactor* CancelBackfill(grpc::CallbackServerContext* context,
                                           const v1::CancelBackfillRequest* request,
                                           v1::CancelBackfillResponse* response) override;
  grpc::ServerUnaryReactor* AcceptPartitions(grpc::CallbackServerContext* context,
                                             const v1::AcceptPartitionsRequest* request,
                                             v1::AcceptPartitionsResponse* response) override;
  grpc::ServerUnaryReactor* AbandonAttempt(grpc::CallbackServerContext* context,
                                           const v1::AbandonAttemptRequest* request,
                                           v1::AbandonAttemptResponse* response) override;

 private:
  absl::Status Get(const v1::GetBackfillRequest& request, v1::GetBackfillResponse& response);
  absl::Status List(const v1::ListBackfillsRequest& request, v1::ListBackfillsResponse& response);
  // Answers with the backfill as it is after `change`.
  absl::Status After(const absl::StatusOr<backfill::Backfill>& changed, v1::Backfill* response);

  backfill::Backfills& backfills_;
  BackfillWatcher& watcher_;
  Executor& executor_;
  const Retried retried_;
};

}  // namespace interlock::server
