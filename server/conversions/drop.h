// Drops between lib/drop and the wire.
#pragma once

#include <vector>

#include "interlock/v1/drop.pb.h"
#include "interlock/v1/drops.pb.h"
#include "lib/drop/drops.h"
#include "lib/drop/retention.h"

namespace interlock::server {

v1::Drop::State ToProto(drop::State state);
// UNSPECIFIED is refused by the caller; unknown numbers give nothing.
std::optional<drop::State> FromProto(v1::Drop::State state);

void ToProto(const drop::Drop& drop, v1::Drop* proto);
// With its manifest's digest of states, its kills and what they left.
void ToProto(const drop::Drops::Detail& detail, v1::Drop* proto);
void ToProto(const drop::ManifestRow& row, v1::ManifestEntry* proto);
void ToProto(const drop::Plan& plan, bool with_segments, v1::DropPlan* proto);
void ToProto(const drop::RetentionPolicy& policy, v1::RetentionPolicy* proto);
// With the defaults filled in. INVALID_PERIOD for a period that is none; what it says is
// judged by drop::CheckPolicy.
absl::StatusOr<drop::RetentionPolicy> FromProto(const v1::RetentionPolicy& proto);

}  // namespace interlock::server
