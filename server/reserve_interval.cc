#include "server/reserve_interval.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/time/status_reason.h"
#include "server/caller.h"
#include "server/conversions/reservation.h"
#include "server/conversions/time.h"
#include "server/field_not_built.h"
#include "server/status_conversion.h"

namespace interlock::server {
namespace {

std::string ResultOf(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  return reason.empty() ? absl::StatusCodeToString(status.code()) : reason;
}

}  // namespace

ReserveIntervalCall::ReserveIntervalCall(store::Store& store, Metrics& metrics,
                                         lease::Limits limits, absl::Duration default_ttl)
    : store_(store),
      metrics_(metrics),
      limits_(limits),
      default_ttl_(default_ttl),
      granted_(metrics.reservation_requests.Add({{"result", "granted"}})) {}

void ReserveIntervalCall::Count(const absl::Status& status) {
  if (status.ok()) return granted_.Increment();
  metrics_.reservation_requests.Add({{"result", ResultOf(status)}}).Increment();
}

absl::StatusOr<lease::ReserveRequest> ReserveIntervalCall::Validate(
    const grpc::CallbackServerContext& context, const v1::ReserveIntervalRequest& request,
    v1::ReserveIntervalResponse& response) const {
  if (request.has_wait() && FromProto(request.wait()) > absl::ZeroDuration())
    return FieldNotBuilt("wait");
  auto read = FromProto(request.intervals(), "intervals");
  if (!read.ok()) return read.status();
  lease::ReserveRequest reserve;
  reserve.datasource = request.datasource();
  reserve.intervals = read->intervals;
  reserve.mode =
      request.mode() == v1::Reservation::APPEND ? lease::Mode::kAppend : lease::Mode::kReplace;
  reserve.ttl = request.has_ttl() ? FromProto(request.ttl()) : default_ttl_;
  reserve.holder = HolderOf(IdentityOf(context), request.holder());
  reserve.purpose = request.purpose();
  reserve.request_id = request.request_id();
  reserve.labels.insert(request.labels().begin(), request.labels().end());
  reserve.skip_held = request.skip_held();
  for (auto& reading : read->readings) *response.add_readings() = std::move(reading);
  if (!request.has_segment_granularity()) {
    if (request.accept_widening()) {
      return InvalidField("/accept_widening", "has no calendar to widen to",
                          "name segment_granularity");
    }
    return reserve;
  }
  auto calendar = FromProto(request.segment_granularity(), "segment_granularity");
  if (!calendar.ok()) return calendar.status();
  reserve.partitions = *calendar;
  for (auto& interval : reserve.intervals) {
    if (calendar->Aligned(interval)) continue;
    const Interval wide = calendar->Widen(interval);
    if (!request.accept_widening()) {
      return InvalidField("/intervals", absl::StrCat(interval.ToString(), " splits a partition"),
                          absl::StrCat("ask for ", wide.ToString(), ", or set accept_widening"));
    }
    interval = wide;
  }
  return reserve;
}

grpc::ServerUnaryReactor* ReserveIntervalCall::Call(grpc::CallbackServerContext* context,
                                                    const v1::ReserveIntervalRequest* request,
                                                    v1::ReserveIntervalResponse* response) {
  auto* reactor = context->DefaultReactor();
  const auto begun = std::chrono::steady_clock::now();
  auto reserve = Validate(*context, *request, *response);
  if (!reserve.ok()) {
    Count(reserve.status());
    reactor->Finish(ToGrpc(reserve.status()));
    return reactor;
  }
  if (request->validate_only()) {
    Plan(*reserve, reactor, response);
    return reactor;
  }
  lease::ReserveAsync(
      store_, *std::move(reserve), CallerOf(*context, request->request_id(), request->reason()),
      limits_, [this, reactor, response, begun](absl::StatusOr<lease::Grant> grant) {
        if (grant.ok()) {
          ToProto(grant->reservation, store_.Now(), response->mutable_reservation());
          for (const auto& held : grant->skipped) ToProto(held, response->add_skipped());
          response->set_attached(grant->repeated);
        }
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
        metrics_.reservation_latency_seconds.Observe(taken.count());
        Count(grant.status());
        reactor->Finish(ToGrpc(grant.status()));
      });
  return reactor;
}

// What would be granted and what would not, with nothing stored.
void ReserveIntervalCall::Plan(const lease::ReserveRequest& request,
                               grpc::ServerUnaryReactor* reactor,
                               v1::ReserveIntervalResponse* response) {
  reactor->Finish(ToGrpc(store_.Read([&](store::Transaction& tx) {
    auto held = lease::FindHeld(tx, request.datasource, request.mode, request.intervals);
    if (!held.ok()) return held.status();
    response->clear_skipped();
    for (const auto& part : *held) ToProto(part, response->add_skipped());
    return absl::OkStatus();
  })));
}

}  // namespace interlock::server
