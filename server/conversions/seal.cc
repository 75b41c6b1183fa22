#include "server/conversions/seal.h"

#include "server/conversions/time.h"

namespace interlock::server {
namespace {

std::string Text(absl::string_view text) { return {text.data(), text.size()}; }

void ToProto(const seal::Value& value, v1::MetricSum* proto) {
  proto->set_metric(value.metric);
  if (value.is_double) {
    proto->set_double_value(value.broken);
  } else {
    proto->set_long_value(value.whole);
  }
}

void ToProto(const seal::SnapshotSpec& spec, v1::SnapshotSpec* proto) {
  for (const auto& dimension : spec.dimensions) proto->add_dimensions(dimension);
  for (const auto& aggregate : spec.aggregates) {
    auto* added = proto->add_aggregates();
    added->set_name(aggregate.name);
    added->set_expression(aggregate.expression);
  }
  proto->set_filter(spec.filter);
}

v1::Seal::State StateOf(seal::State state) {
  v1::Seal::State proto = v1::Seal::STATE_UNSPECIFIED;
  v1::Seal::State_Parse(Text(seal::NameOf(state)), &proto);
  return proto;
}

v1::Seal::Integrity IntegrityOf(seal::Integrity integrity) {
  v1::Seal::Integrity proto = v1::Seal::INTEGRITY_UNSPECIFIED;
  v1::Seal::Integrity_Parse(Text(seal::NameOf(integrity)), &proto);
  return proto;
}

}  // namespace

void ToProto(const seal::Seal& seal, v1::Seal* proto) {
  proto->set_seal_id(seal.id);
  proto->set_datasource(seal.datasource);
  proto->set_interval(seal.interval.ToString());
  proto->set_state(StateOf(seal.state));
  proto->set_reason(seal.reason);
  proto->set_label(seal.label);
  proto->set_sealed_by(seal.sealed_by);
  if (seal.number > 0) ToProto(seal.created, proto->mutable_create_time());
  proto->set_seal_policy(seal.policy);
  proto->set_ids_digest(seal.ids_digest);
  proto->set_content_digest(seal.content_digest);
  proto->set_integrity(IntegrityOf(seal.integrity));
  if (seal.checked) ToProto(*seal.checked, proto->mutable_check_time());
  if (!seal.snapshot.aggregates.empty()) ToProto(seal.snapshot, proto->mutable_snapshot());
  proto->set_snapshot_group_count(seal.group_count);
  proto->set_unsealed_by(seal.unsealed_by);
  proto->set_unseal_reason(seal.unseal_reason);
  if (seal.unseal_until) ToProto(*seal.unseal_until, proto->mutable_unseal_until_time());
  proto->set_corrections_datasource(seal.corrections_datasource);
  proto->set_correction_count(seal.correction_count);
}

void ToProto(const seal::Group& group, v1::SnapshotGroup* proto) {
  proto->mutable_group()->insert(group.key.begin(), group.key.end());
  for (const auto& value : group.values) ToProto(value, proto->add_values());
}

void ToProto(const seal::SealPolicy& policy, v1::SealPolicy* proto) {
  proto->set_name(policy.name);
  proto->set_datasource_pattern(policy.datasource_pattern);
  proto->set_unit(policy.unit);
  proto->set_age(policy.age);
  proto->set_time_zone(policy.time_zone.empty() ? "UTC" : policy.time_zone);
  proto->set_label(policy.label);
  if (!policy.snapshot.aggregates.empty()) ToProto(policy.snapshot, proto->mutable_snapshot());
  proto->set_corrections_datasource(policy.corrections_datasource);
  proto->set_accept_compaction(policy.accept_compaction);
  proto->set_updated_by(policy.updated_by);
  ToProto(policy.updated, proto->mutable_update_time());
}

void ToProto(const seal::Correction& correction, bool with_deltas, v1::Correction* proto) {
  proto->set_correction_id(correction.id);
  proto->set_number(correction.number);
  proto->set_datasource(correction.datasource);
  proto->set_interval(correction.interval.ToString());
  proto->set_seal_id(correction.seal_id);
  proto->set_seal_label(correction.seal_label);
  proto->set_backfill_id(correction.backfill_id);
  proto->set_job(correction.job);
  proto->set_job_version(correction.job_version);
  proto->set_requested_by(correction.requested_by);
  proto->set_reason(correction.reason);
  ToProto(correction.created, proto->mutable_create_time());
  proto->set_corrections_datasource(correction.corrections_datasource);
  proto->set_delta_count(correction.delta_count);
  if (!with_deltas) return;
  for (const seal::Delta& delta : correction.deltas) {
    auto* added = proto->add_deltas();
    added->mutable_group()->insert(delta.key.begin(), delta.key.end());
    if (delta.was) ToProto(*delta.was, added->mutable_was());
    if (delta.is_now) ToProto(*delta.is_now, added->mutable_is_now());
    ToProto(delta.delta, added->mutable_delta());
  }
}

void ToProto(const seal::CorrectionTotal& total, v1::CorrectionTotal* proto) {
  ToProto(total.was, proto->mutable_was());
  ToProto(total.is_now, proto->mutable_is_now());
  ToProto(total.delta, proto->mutable_delta());
}

seal::SnapshotSpec FromProto(const v1::SnapshotSpec& proto) {
  seal::SnapshotSpec spec;
  spec.dimensions.assign(proto.dimensions().begin(), proto.dimensions().end());
  for (const auto& aggregate : proto.aggregates()) {
    spec.aggregates.push_back({aggregate.name(), aggregate.expression()});
  }
  spec.filter = proto.filter();
  return spec;
}

seal::SealPolicy FromProto(const v1::SealPolicy& proto) {
  seal::SealPolicy policy;
  policy.name = proto.name();
  policy.datasource_pattern = proto.datasource_pattern();
  policy.unit = proto.unit();
  policy.age = proto.age();
  policy.time_zone = proto.time_zone();
  policy.label = proto.label();
  policy.snapshot = FromProto(proto.snapshot());
  policy.corrections_datasource = proto.corrections_datasource();
  policy.accept_compaction = proto.accept_compaction();
  return policy;
}

std::optional<seal::State> FromProto(v1::Seal::State state) {
  for (const seal::State known :
       {seal::State::kActive, seal::State::kUnsealed, seal::State::kResealing}) {
    if (StateOf(known) == state) return known;
  }
  return std::nullopt;
}

}  // namespace interlock::server
