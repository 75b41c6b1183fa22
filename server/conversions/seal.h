// Seals, policies and corrections between lib/seal and the wire.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interlock/v1/seal.pb.h"
#include "interlock/v1/seals.pb.h"
#include "lib/seal/corrections.h"
#include "lib/seal/policies.h"
#include "lib/seal/seal.h"

namespace interlock::server {

void ToProto(const seal::Seal& seal, v1::Seal* proto);
void ToProto(const seal::Group& group, v1::SnapshotGroup* proto);
void ToProto(const seal::SealPolicy& policy, v1::SealPolicy* proto);
void ToProto(const seal::Correction& correction, bool with_deltas, v1::Correction* proto);
void ToProto(const seal::CorrectionTotal& total, v1::CorrectionTotal* proto);

seal::SnapshotSpec FromProto(const v1::SnapshotSpec& proto);
seal::SealPolicy FromProto(const v1::SealPolicy& proto);
// Nothing for UNSPECIFIED and for numbers that are no state.
std::optional<seal::State> FromProto(v1::Seal::State state);

}  // namespace interlock::server
