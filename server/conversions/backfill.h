// Backfills between lib/backfill and the wire.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "interlock/v1/backfill.pb.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "interlock/v1/partition.pb.h"
#include "interlock/v1/plan.pb.h"
#include "lib/backfill/backfills.h"
#include "lib/backfill/spec_correction.h"

namespace interlock::server {

v1::Backfill::State ToProto(backfill::Phase phase);
std::optional<backfill::Phase> FromProto(v1::Backfill::State state);
v1::Partition::State ToProto(backfill::State state);
std::optional<backfill::State> FromProto(v1::Partition::State state);

void ToProto(const backfill::Backfills::Detail& detail, bool with_spec, v1::Backfill* proto);
void ToProto(const backfill::StoredPartition& partition, v1::Partition* proto);
void ToProto(const backfill::Attempt& attempt, v1::Attempt* proto);
void ToProto(const backfill::Obstacle& obstacle, v1::Blocker* proto);
void ToProto(const backfill::Plan& plan, v1::BackfillPlan* proto);

void ToProto(const backfill::SpecChange& change, v1::SpecChange* proto);
// The spec as it would be accepted, what was changed, and what only a person can mend.
void ToProto(const backfill::SpecCorrection& correction, v1::BackfillPlan* proto);

// What was accepted of a spec, and told all the same.
void ToProto(const backfill::SpecFault& warning, v1::Notice* proto);
// "REASON: text", as lib/backfill keeps notices.
void ToProto(const std::string& notice, v1::Notice* proto);

// What the request asks beyond its intervals, which are read apart.
absl::StatusOr<backfill::BackfillRequest> FromProto(const v1::SubmitBackfillRequest& request);

}  // namespace interlock::server
