#include "server/drop_call.h"

#include <utility>

#include "server/caller.h"
#include "server/conversions/drop.h"
#include "server/conversions/time.h"
#include "server/unary.h"

namespace interlock::server {
namespace {

drop::DropRequest RequestOf(const v1::DropAndKillRequest& request, ReadIntervals read) {
  drop::DropRequest drop;
  drop.datasource = request.datasource();
  drop.intervals = std::move(read.intervals);
  drop.holder = request.holder();
  drop.labels.insert(request.labels().begin(), request.labels().end());
  if (request.has_window()) drop.window = FromProto(request.window());
  if (request.has_floor()) drop.floor = FromProto(request.floor());
  drop.approval = request.approval();
  drop.accept_kill_duty = request.accept_kill_duty();
  drop.accept_partial_cover = request.accept_partial_cover();
  drop.plan_revision = request.plan_revision();
  drop.reservation_id = request.reservation_id();
  drop.token = request.fencing_token();
  return drop;
}

}  // namespace

grpc::ServerUnaryReactor* DropCall::Call(grpc::CallbackServerContext* context,
                                         const v1::DropAndKillRequest* request,
                                         v1::DropAndKillResponse* response) {
  return Unary(context, request, executor_,
               [this, context, request, response] { return Drop(*context, *request, *response); });
}

absl::Status DropCall::Drop(const grpc::CallbackServerContext& context,
                            const v1::DropAndKillRequest& request,
                            v1::DropAndKillResponse& response) {
  auto read = FromProto(request.intervals(), "intervals");
  if (!read.ok()) return read.status();
  for (const auto& reading : read->readings) *response.add_readings() = reading;
  const drop::DropRequest drop = RequestOf(request, *std::move(read));
  if (request.validate_only()) {
    auto plan = drops_.MakePlan(drop);
    if (!plan.ok()) return plan.status();
    ToProto(*plan, request.include_segments(), response.mutable_plan());
    return absl::OkStatus();
  }
  auto submitted = drops_.Submit(drop, CallerOf(context, request.request_id(), request.reason()));
  if (!submitted.ok()) return submitted.status();
  ToProto(submitted->drop, response.mutable_drop());
  response.set_attached(submitted->attached);
  return absl::OkStatus();
}

}  // namespace interlock::server
