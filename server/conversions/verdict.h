// Verdicts between lib/verify and the wire.
#pragma once

#include <vector>

#include "interlock/v1/proof.pb.h"
#include "interlock/v1/rows.pb.h"
#include "interlock/v1/verdict.pb.h"
#include "lib/druid/timeline.h"
#include "lib/verify/neighbours.h"
#include "lib/verify/partition.h"
#include "lib/verify/verdict.h"

namespace interlock::server {

v1::Verdict::Kind ToProto(verify::Verdict verdict);
void ToProto(const verify::Finding& finding, v1::Verdict* proto);
void ToProto(const verify::NeighbourChange& change, v1::NeighbourChange* proto);
void ToProto(const verify::RowCheck& check, v1::RowCheck* proto);

// With the versions that `timeline` has there; with `ids`, their segments by name.
void ToProto(const verify::PartitionVerdict& verdict, const druid::Timeline& timeline, bool ids,
             v1::PartitionVerdict* proto);

// What queries see and what they don't, of one interval.
void AddVersions(const druid::Timeline& timeline, const Interval& interval, bool ids,
                 google::protobuf::RepeatedPtrField<v1::SegmentVersion>* versions);

// What is marked unused of one interval.
void AddUnused(const std::vector<druid::UnusedSegment>& unused, const Interval& interval, bool ids,
               google::protobuf::RepeatedPtrField<v1::SegmentVersion>* versions);

// The worst of two kinds; UNDETERMINED is worse than what is good, and better than what is
// known to be bad.
v1::Verdict::Kind Worse(v1::Verdict::Kind one, v1::Verdict::Kind other);

}  // namespace interlock::server
