// What a derived table is computed from: read before its task is posted, and again when its
// effect is proven. Nothing is held in a source meanwhile; a source that has changed makes
// the attempt count as not applied, whatever it wrote.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/backfill/derived_rows.h"
#include "lib/backfill/pass.h"
#include "lib/backfill/source_reads.h"
#include "lib/time/interval_set.h"

namespace interlock::backfill {
absl::StatusOr<std::vector<Interval>> Pass::CorrectedIn(const Source& source,
                                                        const Interval& read) {
  std::vector<Interval> corrected;
  if (source.reads != Source::Reads::kCorrected) return corrected;
  absl::Status status = world_.store.Read([&](store::Transaction& tx) {
    auto proven = ProvenIn(tx, source.corrections_datasource, read);
    if (proven.ok()) corrected = std::move(*proven);
    return proven.status();
  });
  if (!status.ok()) return status;
  return corrected;
}

// What queries see there, by segment id.
Pass::Sight Pass::LookAtSource(SourceRead* read) {
  std::vector<std::string> ids;
  for (const ReadPart& part : PartsOf(*read)) {
    auto used = world_.cluster.ListUsedSegments(part.datasource, part.intervals);
    if (!used.done()) return Away(used);
    const auto timeline = druid::Timeline::Of(std::move(used.value()));
    for (auto& segment : verify::VisibleSetOf(timeline, part.intervals).segments) {
      ids.push_back(std::move(segment.id));
    }
  }
  std::sort(ids.begin(), ids.end());
  read->segments = static_cast<int64_t>(ids.size());
  read->digest = DigestOfIds(ids);
  if (ids.size() > kMaxKeptIds) ids.resize(kMaxKeptIds);
  read->ids = std::move(ids);
  return {Seen::kClear, "", "", {}};
}

absl::StatusOr<Pass::Sight> Pass::LookAtSources(const StoredUnit& unit,
                                                std::vector<SourceRead>* reads) {
  for (const Source& source : backfill_.sources) {
    SourceRead read;
    read.datasource = source.datasource;
    read.interval = ReadBy(source, unit.unit.hull());
    auto corrected = CorrectedIn(source, read.interval);
    if (!corrected.ok()) return corrected.status();
    read.corrected = *std::move(corrected);
    if (!read.corrected.empty() && read.corrected != std::vector<Interval>{read.interval}) {
      return Sight{
          Seen::kBlocked, "PARTLY_CORRECTED",
          absl::StrCat("only a part of ", read.interval.ToString(), " of ", source.datasource,
                       " is corrected, and one task reads no two datasources: correct "
                       "all of it"),
          options_.slow_look};
    }
    if (source.reads == Source::Reads::kCorrected) {
      read.corrections_datasource = source.corrections_datasource;
    }
    Sight sight = LookAtSource(&read);
    if (sight.seen != Seen::kClear) return sight;
    reads->push_back(std::move(read));
  }
  return Sight{Seen::kClear, "", "", {}};
}

absl::StatusOr<Pass::Sight> Pass::CompareSources(const Attempt& attempt) {
  for (const SourceRead& before : attempt.before.reads) {
    SourceRead now = before;
    for (const Source& source : backfill_.sources) {
      if (source.datasource != before.datasource) continue;
      auto corrected = CorrectedIn(source, before.interval);
      if (!corrected.ok()) return corrected.status();
      now.corrected = *std::move(corrected);
    }
    Sight sight = LookAtSource(&now);
    if (sight.seen != Seen::kClear) {
      return Sight{Seen::kNotYet, sight.reason, sight.message, sight.again};
    }
    if (now.digest == before.digest && now.corrected == before.corrected) continue;
    return Sight{Seen::kNoEffect,
                 "SOURCE_CHANGED",
                 absl::StrCat(before.datasource, " is not what the task was submitted over in ",
                              before.interval.ToString(), ": ", before.segments,
                              " segments then, now ", now.segments, ", with other ids"),
                 {}};
  }
  return Sight{Seen::kClear, "", "", {}};
}

Pass::Sight Pass::SumSource(const StoredUnit& unit, BeforeLook* look) {
  std::vector<ReadPart> parts = {{backfill_.druid_source, unit.unit.intervals}};
  for (const SourceRead& one : look->reads) {
    if (one.datasource == backfill_.druid_source) parts = PartsOf(one);
  }
  std::vector<std::string> fields;
  for (const auto& [source, target] : backfill_.terms.sums) fields.push_back(source);
  look->source_sums.assign(fields.size(), 0);
  for (const ReadPart& part : parts) {
    // What is not loaded would be missing from the sums, and not from what the task reads.
    const auto load =
        world_.cluster.GetLoadStatus(part.datasource, Hull(part.intervals), /*refresh=*/true);
    if (!load.done()) return Away(load);
    if (load.value().unavailable_segments > 0) {
      return {Seen::kBlocked, "SOURCE_NOT_LOADED",
              absl::StrCat(load.value().unavailable_segments, " segments of ", part.datasource,
                           " are not loaded"),
              options_.blocked_every};
    }
    const auto sums = world_.cluster.SumRows(part.datasource, part.intervals, fields);
    if (!sums.done()) return Away(sums);
    for (const druid::RowSums& one : sums.value()) {
      for (size_t i = 0; i < fields.size(); ++i) {
        if (const auto it = one.sums.find(fields[i]); it != one.sums.end()) {
          look->source_sums[i] += it->second;
        }
      }
    }
  }
  return {Seen::kClear, "", "", {}};
}

}  // namespace interlock::backfill
