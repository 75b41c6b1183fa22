#include "server/conversions/verdict.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/conversions/by_name.h"

namespace interlock::server {
namespace {

// From good to bad; a kind further down hides one further up.
constexpr v1::Verdict::Kind kFromGoodToBad[] = {v1::Verdict::KIND_UNSPECIFIED,
                                                v1::Verdict::ROWS_NOT_PROVABLE,
                                                v1::Verdict::EMPTY,
                                                v1::Verdict::SINGLE_VERSION,
                                                v1::Verdict::TOMBSTONED,
                                                v1::Verdict::UNDETERMINED,
                                                v1::Verdict::NOT_RETIRED,
                                                v1::Verdict::NOT_LOADED,
                                                v1::Verdict::NEVER_LOADS,
                                                v1::Verdict::PARTIALLY_COVERED,
                                                v1::Verdict::INCOMPLETE_PARTITION_SET,
                                                v1::Verdict::FOREIGN_WRITE,
                                                v1::Verdict::NEIGHBOUR_CHANGED,
                                                v1::Verdict::DOUBLE_VERSION,
                                                v1::Verdict::MISSING_ROWS,
                                                v1::Verdict::DUPLICATE_ROWS};

size_t Badness(v1::Verdict::Kind kind) {
  return static_cast<size_t>(std::find(std::begin(kFromGoodToBad), std::end(kFromGoodToBad), kind) -
                             std::begin(kFromGoodToBad));
}

v1::SegmentVersion* Version(const Interval& chunk, const std::string& version,
                            v1::SegmentVersion::Standing standing,
                            const std::vector<const druid::Segment*>& segments, bool ids,
                            google::protobuf::RepeatedPtrField<v1::SegmentVersion>* versions) {
  auto* proto = versions->Add();
  proto->set_interval(chunk.ToString());
  proto->set_version(version);
  proto->set_standing(standing);
  proto->set_segment_count(static_cast<int32_t>(segments.size()));
  for (const auto* segment : segments) {
    proto->set_size_bytes(proto->size_bytes() + segment->size_bytes);
    proto->set_core_partitions(std::max(proto->core_partitions(), segment->shard.core_partitions));
    if (segment->appended()) proto->set_appended_count(proto->appended_count() + 1);
    if (segment->tombstone()) proto->set_tombstone_count(proto->tombstone_count() + 1);
    if (segment->compacted) proto->set_by_compaction(true);
    if (ids) proto->add_segment_ids(segment->id);
  }
  return proto;
}

using Chunk = std::pair<Interval, std::string>;

v1::RowCheck::Result ToProto(verify::Comparison comparison) {
  switch (comparison) {
    case verify::Comparison::kEqual:
      return v1::RowCheck::EQUAL;
    case verify::Comparison::kMore:
      return v1::RowCheck::MORE;
    case verify::Comparison::kFewer:
      return v1::RowCheck::FEWER;
    case verify::Comparison::kNotProvable:
    case verify::Comparison::kPartOfTotal:  // alone it has nothing to be compared with
      return v1::RowCheck::NOT_PROVABLE;
    case verify::Comparison::kUnknown:
      break;
  }
  return v1::RowCheck::UNKNOWN;
}

v1::RowCheck::Source ToProto(verify::RowSource source) {
  switch (source) {
    case verify::RowSource::kCaller:
      return v1::RowCheck::CALLER;
    case verify::RowSource::kLastProof:
      return v1::RowCheck::LAST_PROOF;
    case verify::RowSource::kDatasource:
      return v1::RowCheck::DATASOURCE;
    case verify::RowSource::kNone:
      break;
  }
  return v1::RowCheck::SOURCE_UNSPECIFIED;
}

void ToProto(const std::string& measure, double value, bool whole, v1::MetricSum* proto) {
  proto->set_metric(measure);
  if (whole) {
    proto->set_long_value(std::llround(value));
  } else {
    proto->set_double_value(value);
  }
}

// Of the segments that a verdict names, the versions, each once.
void TellVersions(const druid::Timeline& timeline, v1::Verdict* proto) {
  std::set<std::string> versions;
  for (const auto& segment : timeline.segments()) {
    const auto& ids = proto->segment_ids();
    if (std::find(ids.begin(), ids.end(), segment.id) != ids.end()) {
      versions.insert(segment.version);
    }
  }
  for (const auto& version : versions) proto->add_versions(version);
}

// What queries read: how much of it is loaded, what never will be, its rows.
void TellServed(const verify::PartitionVerdict& verdict, v1::PartitionVerdict* proto) {
  std::set<std::string> never;
  for (const auto& finding : verdict.findings) {
    if (finding.verdict != verify::Verdict::kNeverLoads) continue;
    never.insert(finding.segments.begin(), finding.segments.end());
  }
  for (auto& version : *proto->mutable_versions()) {
    if (version.standing() != v1::SegmentVersion::VISIBLE) continue;
    const auto loaded = verify::LoadedSegments(verdict, version.segment_count());
    if (loaded) version.set_loaded_count(static_cast<int32_t>(*loaded));
    // One version is seen: what was counted is its own.
    if (verdict.visible_versions.size() == 1 && verdict.stored_rows &&
        version.interval() == proto->partition()) {
      version.set_row_count(*verdict.stored_rows);
    }
    if (!never.empty() && verdict.visible_versions.size() == 1) {
      version.set_never_loaded_count(static_cast<int32_t>(never.size()));
    }
  }
}

}  // namespace

v1::Verdict::Kind ToProto(verify::Verdict verdict) {
  const auto name = verify::NameOf(verdict);
  v1::Verdict::Kind kind = v1::Verdict::UNDETERMINED;
  v1::Verdict::Kind_Parse(std::string(name.data(), name.size()), &kind);
  return kind;
}

void ToProto(const verify::Finding& finding, v1::Verdict* proto) {
  proto->set_kind(ToProto(finding.verdict));
  proto->set_reason(finding.reason);
  proto->set_message(finding.evidence);
  proto->set_remedy(finding.next);
  for (const auto& id : finding.segments) proto->add_segment_ids(id);
  proto->set_score(finding.score);
}

void ToProto(const verify::NeighbourChange& change, v1::NeighbourChange* proto) {
  proto->set_interval(change.interval.ToString());
  proto->set_cause(ByName<v1::NeighbourChange::Cause>(verify::NameOf(change.cause),
                                                      v1::NeighbourChange::Cause_Parse));
  proto->set_version_before(change.version_before);
  proto->set_version_after(change.version_after);
  proto->set_attributed_to(change.attributed_to);
}

void ToProto(const verify::RowCheck& check, v1::RowCheck* proto) {
  proto->set_result(ToProto(check.result));
  proto->set_source(ToProto(check.source));
  proto->set_measure(check.measure);
  if (check.counted) {
    ToProto(check.measure, *check.counted, check.whole, proto->mutable_counted());
  }
  if (check.expected) {
    ToProto(check.measure, *check.expected, check.whole, proto->mutable_expected());
  }
}

void ToProto(const verify::PartitionVerdict& verdict, const druid::Timeline& timeline, bool ids,
             v1::PartitionVerdict* proto) {
  proto->set_partition(verdict.partition.ToString());
  for (const auto& finding : verdict.findings) {
    auto* told = proto->add_verdicts();
    ToProto(finding, told);
    if (!finding.segments.empty()) TellVersions(timeline, told);
  }
  std::stable_sort(proto->mutable_verdicts()->begin(), proto->mutable_verdicts()->end(),
                   [](const v1::Verdict& one, const v1::Verdict& other) {
                     return Badness(one.kind()) > Badness(other.kind());
                   });
  proto->set_good(verdict.good());
  AddVersions(timeline, verdict.partition, ids, proto->mutable_versions());
  TellServed(verdict, proto);
  for (const auto& check : verdict.checks) ToProto(check, proto->add_rows());
  if (!verdict.visible_versions.empty()) proto->set_generation(verdict.visible_versions.back());
}

void AddVersions(const druid::Timeline& timeline, const Interval& interval, bool ids,
                 google::protobuf::RepeatedPtrField<v1::SegmentVersion>* versions) {
  std::map<Chunk, bool> told;
  for (const auto& slice : timeline.Visible(interval)) {
    if (!told.emplace(Chunk(slice.chunk, slice.version), true).second) continue;
    Version(slice.chunk, slice.version, v1::SegmentVersion::VISIBLE, slice.segments, ids, versions);
  }
  for (const auto& generation : timeline.Incomplete()) {
    if (!generation.interval.Overlaps(interval)) continue;
    if (!told.emplace(Chunk(generation.interval, generation.version), true).second) continue;
    Version(generation.interval, generation.version, v1::SegmentVersion::INCOMPLETE,
            generation.segments, ids, versions);
  }
  std::map<Chunk, std::vector<const druid::Segment*>> hidden;
  const std::vector<druid::Segment> unread = timeline.Hidden();
  for (const auto& segment : unread) {
    const Chunk chunk(segment.interval, segment.version);
    if (segment.interval.Overlaps(interval) && told.count(chunk) == 0)
      hidden[chunk].push_back(&segment);
  }
  for (const auto& [chunk, segments] : hidden) {
    Version(chunk.first, chunk.second, v1::SegmentVersion::HIDDEN, segments, ids, versions);
  }
}

void AddUnused(const std::vector<druid::UnusedSegment>& unused, const Interval& interval, bool ids,
               google::protobuf::RepeatedPtrField<v1::SegmentVersion>* versions) {
  std::map<Chunk, std::vector<const druid::Segment*>> chunks;
  for (const auto& row : unused) {
    const druid::Segment& segment = row.segment;
    if (!segment.interval.Overlaps(interval)) continue;
    chunks[Chunk(segment.interval, segment.version)].push_back(&segment);
  }
  for (const auto& [chunk, segments] : chunks) {
    Version(chunk.first, chunk.second, v1::SegmentVersion::UNUSED, segments, ids, versions);
  }
}

v1::Verdict::Kind Worse(v1::Verdict::Kind one, v1::Verdict::Kind other) {
  return Badness(one) >= Badness(other) ? one : other;
}

}  // namespace interlock::server
