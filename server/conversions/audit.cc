#include "server/conversions/audit.h"

#include "server/conversions/time.h"

namespace interlock::server {
namespace {

// A refusal that is kept as an event has its reason in place of OK; a request that joined what
// was there already was answered as one that made it.
void SetResult(const std::string& result, v1::AuditEvent* proto) {
  const bool ok = result == "OK" || result == "ATTACHED";
  proto->set_result(ok ? "OK" : "FAILED_PRECONDITION");
  if (result != "OK") proto->set_result_reason(result);
}

}  // namespace

void ToProto(const audit::RecordedEvent& recorded, v1::AuditEvent* proto) {
  const audit::Event& event = recorded.event;
  proto->set_sequence(recorded.position);
  ToProto(recorded.at, proto->mutable_event_time());
  proto->set_identity(event.caller.identity);
  proto->set_holder(recorded.holder);
  proto->set_action(event.method);
  proto->set_datasource(event.datasource);
  for (const std::string& interval : recorded.intervals) proto->add_intervals(interval);
  proto->set_resource_type(event.resource_type);
  proto->set_resource_id(event.subject);
  proto->set_reason(event.caller.reason);
  proto->set_request_id(event.caller.request_id);
  SetResult(event.result, proto);
  proto->set_before(event.before);
  proto->set_after(event.after);
  proto->set_peer(event.caller.peer);
  proto->set_chain_hash(recorded.chain_hash);
}

void ToProto(const audit::ChainReport& report, v1::VerifyAuditResponse* proto) {
  proto->set_intact(report.intact);
  proto->set_checked_count(report.checked);
  proto->set_first_broken_sequence(report.first_broken);
  proto->set_message(report.message);
  proto->set_unchained_count(report.unchained);
  proto->set_checkpoint_sequence(report.checkpoint);
  proto->set_chain_hash(report.hash);
}

absl::StatusOr<audit::Filter> FromProto(const v1::ListAuditEventsRequest& request) {
  audit::Filter filter;
  filter.datasource = request.datasource();
  auto interval = FromProto(request.interval(), "interval");
  if (!interval.ok()) return interval.status();
  filter.overlapping = *interval;
  if (request.has_since_time()) filter.since = FromProto(request.since_time());
  if (request.has_until_time()) filter.until = FromProto(request.until_time());
  filter.identity = request.identity();
  filter.method = request.action();
  filter.resource_type = request.resource_type();
  filter.subject = request.resource_id();
  filter.request_id = request.request_id();
  return filter;
}

}  // namespace interlock::server
