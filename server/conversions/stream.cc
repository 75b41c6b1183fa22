#include "server/conversions/stream.h"

#include <string>

#include "server/conversions/reservation.h"
#include "server/conversions/time.h"

namespace interlock::server {
namespace {

v1::Tail::Source SourceOf(guard::TailSource source) {
  switch (source) {
    case guard::TailSource::kSetting:
      return v1::Tail::SETTING;
    case guard::TailSource::kReported:
      return v1::Tail::REPORTED;
    case guard::TailSource::kRunningTasks:
      return v1::Tail::RUNNING_TASKS;
    case guard::TailSource::kLateMessageBound:
      return v1::Tail::LATE_MESSAGE_BOUND;
    case guard::TailSource::kSkipOffsetDeclared:
      return v1::Tail::SKIP_OFFSET_DECLARED;
    case guard::TailSource::kUnbounded:
      return v1::Tail::UNBOUNDED;
  }
  return v1::Tail::SOURCE_UNSPECIFIED;
}

void SetTail(const guard::Stream& stream, Instant now, v1::Tail* proto) {
  proto->set_source(SourceOf(stream.tail.source));
  proto->set_unbounded(stream.tail.bound.unbounded());
  if (!stream.tail.bound.unbounded()) {
    ToProto(stream.tail.bound.StartAt(now), proto->mutable_start_time());
  }
  if (stream.tail.bound.length) ToProto(*stream.tail.bound.length, proto->mutable_length());
  ToProto(stream.observed, proto->mutable_observe_time());
  proto->set_stale(stream.stale);
  proto->set_enforced(stream.tail.enforced);
}

void SetHealth(const guard::Health& health, bool ours, v1::SupervisorHealth* proto) {
  proto->set_state(health.state);
  proto->set_suspended(health.suspended);
  proto->set_suspended_by_interlock(ours && health.suspended);
  proto->set_healthy(health.healthy);
  if (health.lag) proto->set_lag(*health.lag);
  proto->set_thrown_away_rows(health.thrown_away);
  proto->set_unparseable_rows(health.unparseable);
  for (const auto& id : health.task_ids) proto->add_task_ids(id);
  for (const auto& error : health.recent_errors) proto->add_recent_errors(error);
  ToProto(health.observed, proto->mutable_observe_time());
}

v1::CheckAppendResponse::Decision DecisionOf(guard::Decision decision) {
  switch (decision) {
    case guard::Decision::kAllow:
      return v1::CheckAppendResponse::ALLOW;
    case guard::Decision::kHold:
      return v1::CheckAppendResponse::HOLD;
    case guard::Decision::kReject:
      return v1::CheckAppendResponse::REJECT;
  }
  return v1::CheckAppendResponse::DECISION_UNSPECIFIED;
}

}  // namespace

void ToProto(const guard::TailNotice& notice, v1::Notice* proto) {
  proto->set_reason(notice.reason);
  proto->set_message(notice.message);
  proto->set_remedy(notice.remedy);
}

void ToProto(const guard::Streams::Told& told, Instant now, v1::Stream* proto) {
  const guard::Stream& stream = told.stream;
  proto->set_datasource(stream.datasource);
  proto->set_stream(stream.name);
  proto->set_kind(stream.kind == guard::Kind::kSupervisor ? v1::Stream::SUPERVISOR
                                                          : v1::Stream::OUTSIDE);
  proto->set_supervisor_id(stream.supervisor_id);
  if (stream.tail.any) SetTail(stream, now, proto->mutable_tail());
  proto->set_discovered(!stream.is_declared);
  proto->set_accept_unbounded_tail(stream.accept_unbounded);
  if (stream.health) {
    SetHealth(*stream.health, !stream.suspended_for.empty(), proto->mutable_health());
  }
  proto->set_registered_by(stream.registered_by);
  ToProto(stream.created, proto->mutable_create_time());
  proto->set_reason(stream.reason);
  for (const auto& notice : told.notices) ToProto(notice, proto->add_notices());
}

guard::Registration FromProto(const v1::RegisterStreamRequest& request) {
  guard::Registration registration;
  registration.datasource = request.datasource();
  registration.name = request.stream();
  if (request.has_tail()) registration.tail = FromProto(request.tail());
  if (request.has_tail_start_time()) {
    registration.reported_start = FromProto(request.tail_start_time());
  }
  registration.supervisor_id = request.supervisor_id();
  registration.supervisor_spec = request.supervisor_spec();
  registration.accept_unbounded = request.accept_unbounded_tail();
  return registration;
}

guard::AppendQuestion FromProto(const v1::CheckAppendRequest& request) {
  guard::AppendQuestion question;
  question.datasource = request.datasource();
  question.stream = request.stream();
  question.instants.reserve(static_cast<size_t>(request.timestamps_ms_size()));
  for (const int64_t millis : request.timestamps_ms()) {
    question.instants.push_back(Instant::FromMillis(millis));
  }
  question.reservation_id = request.reservation_id();
  question.token = request.fencing_token();
  return question;
}

void ToProto(const guard::AppendAnswer& answer, v1::CheckAppendResponse* proto) {
  proto->set_decision(DecisionOf(answer.decision));
  for (const auto decision : answer.each) proto->add_decisions(DecisionOf(decision));
  ToProto(answer.valid_until, proto->mutable_valid_until_time());
  ToProto(answer.valid_for, proto->mutable_valid_for());
  if (answer.retry_after > absl::ZeroDuration()) {
    ToProto(answer.retry_after, proto->mutable_retry_after());
  }
  for (const auto& held : answer.blockers) ToProto(held, proto->add_blockers());
  proto->set_fencing_token(answer.token);
}

}  // namespace interlock::server
