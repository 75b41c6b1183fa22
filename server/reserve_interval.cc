#include "server/reserve_interval.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/lease/live_counts.h"
#include "lib/time/status_reason.h"
#include "server/caller.h"
#include "server/conversions/reservation.h"
#include "server/conversions/time.h"
#include "server/datasource_name.h"
#include "server/field_bounds.h"
#include "server/status_conversion.h"

namespace interlock::server {
namespace {

std::string ResultOf(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  return reason.empty() ? absl::StatusCodeToString(status.code()) : reason;
}

// MISALIGNED, with the aligned intervals around and inside of what was asked.
absl::Status Misaligned(const Granularity& calendar, const Interval& asked, const Interval& wide) {
  const auto inside = calendar.Shrink(asked);
  const std::string would_do =
      absl::StrCat("ask for ", wide.ToString(),
                   inside ? absl::StrCat(" or ", inside->ToString()) : std::string(),
                   ", or set accept_widening to lease the former");
  const std::string found =
      absl::StrCat(asked.ToString(), " splits a partition of ", calendar.ToString());
  Metadata nearest = {{"asked", asked.ToString()}, {"outer", wide.ToString()}};
  if (inside) nearest["inner"] = inside->ToString();
  absl::Status status =
      WithReason(absl::InvalidArgumentError(absl::StrCat("/intervals: ", found, "; ", would_do)),
                 "MISALIGNED", nearest);
  AddFault(status, "/intervals", found, would_do);
  return status;
}

}  // namespace

ReserveIntervalCall::ReserveIntervalCall(store::Store& store, Metrics& metrics, WaitingLine& line,
                                         const LeaseSettings& settings)
    : store_(store),
      metrics_(metrics),
      line_(line),
      settings_(settings),
      granted_(metrics.reservation_requests.Add({{"result", "granted"}})) {}

void ReserveIntervalCall::Count(const absl::Status& status) {
  if (status.ok()) return granted_.Increment();
  metrics_.reservation_requests.Add({{"result", ResultOf(status)}}).Increment();
}

absl::StatusOr<lease::ReserveRequest> ReserveIntervalCall::Validate(
    const grpc::CallbackServerContext& context, const v1::ReserveIntervalRequest& request,
    v1::ReserveIntervalResponse& response) const {
  if (absl::Status status = CheckBounds(request); !status.ok()) return status;
  const absl::Duration wait = FromProto(request.wait());
  if (wait < absl::ZeroDuration()) {
    return InvalidField("/wait", "it is below zero", "leave it out, or give a time to wait");
  }
  if (!request.datasource().empty()) {
    if (absl::Status named = CheckDatasource(request.datasource()); !named.ok()) return named;
  }
  auto read = FromProto(request.intervals(), "intervals");
  if (!read.ok()) return read.status();
  lease::ReserveRequest reserve;
  reserve.datasource = request.datasource();
  reserve.intervals = read->intervals;
  reserve.mode =
      request.mode() == v1::Reservation::APPEND ? lease::Mode::kAppend : lease::Mode::kReplace;
  reserve.ttl = request.has_ttl() ? FromProto(request.ttl()) : settings_.now()->default_ttl;
  reserve.holder = HolderOf(IdentityOf(context), request.holder());
  reserve.purpose = request.purpose();
  reserve.request_id = request.request_id();
  reserve.labels.insert(request.labels().begin(), request.labels().end());
  reserve.skip_held = request.skip_held();
  reserve.wait = wait;
  for (auto& reading : read->readings) *response.add_readings() = std::move(reading);
  if (!request.has_segment_granularity()) {
    if (request.accept_widening()) {
      return InvalidField("/accept_widening", "has no calendar to widen to",
                          "name segment_granularity");
    }
    return reserve;
  }
  if (request.segment_granularity().period().empty()) {
    return InvalidField("/segment_granularity/period", "is missing",
                        "name the calendar, like HOUR or P1D; a zone alone is none");
  }
  auto calendar = FromProto(request.segment_granularity(), "segment_granularity");
  if (!calendar.ok()) return calendar.status();
  reserve.partitions = *calendar;
  for (auto& interval : reserve.intervals) {
    if (calendar->Aligned(interval)) continue;
    const Interval wide = calendar->Widen(interval);
    if (!request.accept_widening()) return Misaligned(*calendar, interval, wide);
    interval = wide;
  }
  return reserve;
}

grpc::ServerUnaryReactor* ReserveIntervalCall::Call(grpc::CallbackServerContext* context,
                                                    const v1::ReserveIntervalRequest* request,
                                                    v1::ReserveIntervalResponse* response) {
  const auto begun = std::chrono::steady_clock::now();
  auto reserve = Validate(*context, *request, *response);
  if (!reserve.ok()) {
    Count(reserve.status());
    auto* reactor = context->DefaultReactor();
    reactor->Finish(ToGrpc(reserve.status()));
    return reactor;
  }
  if (request->validate_only()) {
    auto* reactor = context->DefaultReactor();
    Plan(*reserve, IdentityOf(*context), reactor, response);
    return reactor;
  }
  audit::Caller caller = CallerOf(*context, request->request_id(), request->reason());
  // The line hears of a caller who goes: what is granted without a request id is given back then.
  if (reserve->wait > absl::ZeroDuration() || caller.request_id.empty()) {
    return line_.Serve(*std::move(reserve), std::move(caller), settings_.now()->limits,
                       [this, response, begun](const absl::StatusOr<lease::Grant>& grant) {
                         Tell(grant, begun, response);
                       });
  }
  auto* reactor = context->DefaultReactor();
  lease::ReserveAsync(store_, *std::move(reserve), std::move(caller), settings_.now()->limits,
                      [this, reactor, response, begun](const absl::StatusOr<lease::Grant>& grant) {
                        Tell(grant, begun, response);
                        reactor->Finish(ToGrpc(grant.status()));
                      });
  return reactor;
}

void ReserveIntervalCall::Tell(const absl::StatusOr<lease::Grant>& grant,
                               std::chrono::steady_clock::time_point begun,
                               v1::ReserveIntervalResponse* response) {
  if (grant.ok()) {
    ToProto(grant->reservation, store_.Now(), response->mutable_reservation());
    for (const auto& held : grant->skipped) ToProto(held, response->add_skipped());
    response->set_attached(grant->repeated);
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
  metrics_.reservation_latency_seconds.Observe(taken.count());
  Count(grant.status());
}

// What would be granted and what would not, with nothing stored.
void ReserveIntervalCall::Plan(const lease::ReserveRequest& request, const std::string& identity,
                               grpc::ServerUnaryReactor* reactor,
                               v1::ReserveIntervalResponse* response) {
  reactor->Finish(ToGrpc(store_.Read([&](store::Transaction& tx) {
    const lease::Limits limits = settings_.now()->limits;
    auto planned = lease::Plan(tx, request, limits);
    if (!planned.ok()) return planned.status();
    if (!planned->repeated) {
      absl::Status room = lease::CheckRoom(tx, request, identity, limits);
      if (!room.ok()) return room;
    }
    response->clear_skipped();
    for (const auto& part : planned->skipped) ToProto(part, response->add_skipped());
    response->set_attached(planned->repeated);
    response->clear_reservation();
    if (planned->reservation.intervals.empty()) return absl::OkStatus();
    ToProto(planned->reservation, tx.now(), response->mutable_reservation());
    return absl::OkStatus();
  })));
}

}  // namespace interlock::server
