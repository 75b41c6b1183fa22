#include "lib/drop/drop_errors.h"
#include "server/conversions/drop.h"
#include "server/conversions/time.h"

namespace interlock::server {

void ToProto(const drop::RetentionPolicy& policy, v1::RetentionPolicy* proto) {
  proto->set_name(policy.name);
  proto->set_datasource_pattern(policy.datasource_pattern);
  proto->set_age(policy.age.ToString());
  proto->set_schedule(policy.schedule.ToString());
  if (policy.window) ToProto(*policy.window, proto->mutable_window());
  if (policy.floor) ToProto(*policy.floor, proto->mutable_floor());
  proto->set_approval(policy.approval);
  proto->set_max_segments(policy.max_segments);
  proto->set_max_bytes(policy.max_bytes);
  proto->set_max_share(policy.max_share);
  proto->set_dry_run(policy.dry_run);
  proto->set_time_zone(policy.time_zone);
  proto->set_updated_by(policy.updated_by);
  ToProto(policy.updated, proto->mutable_update_time());
  if (policy.run) ToProto(*policy.run, proto->mutable_run_time());
  proto->set_run_message(policy.run_message);
}

absl::StatusOr<drop::RetentionPolicy> FromProto(const v1::RetentionPolicy& proto) {
  drop::RetentionPolicy policy;
  policy.name = proto.name();
  policy.datasource_pattern = proto.datasource_pattern();
  const auto age = Period::Parse(proto.age());
  if (!age.ok()) return drop::InvalidPeriod("age", proto.age(), "a period, like P2Y");
  policy.age = *age;
  if (!proto.schedule().empty()) {
    const auto schedule = Period::Parse(proto.schedule());
    if (!schedule.ok()) {
      return drop::InvalidPeriod("schedule", proto.schedule(), "a period, like P1D");
    }
    policy.schedule = *schedule;
  }
  if (!proto.time_zone().empty()) policy.time_zone = proto.time_zone();
  if (proto.has_window()) policy.window = FromProto(proto.window());
  if (proto.has_floor()) policy.floor = FromProto(proto.floor());
  policy.approval = proto.approval();
  if (proto.max_segments() != 0) policy.max_segments = proto.max_segments();
  policy.max_bytes = proto.max_bytes();
  if (proto.max_share() != 0) policy.max_share = proto.max_share();
  policy.dry_run = proto.dry_run();
  return policy;
}

}  // namespace interlock::server
