// ioConfig: where rows come from, whether the input can be narrowed to a unit, and that
// nothing outside of the intervals is read.
#pragma once

#include <functional>
#include <string>

#include "lib/backfill/spec_granularity.h"
#include "lib/backfill/spec_node.h"

namespace interlock::backfill {

struct Input {
  bool appends = false;  // appendToExisting, wrong or not
  // Can be split into sub-tasks; false for inline, which range partitioning fails over.
  bool splits = true;
  // Every part of the input can be narrowed to a unit: its texts hold placeholders, or it
  // is a druid source with an interval.
  bool narrows = false;
  // Reads segments of this datasource (druid source); "" where it reads raw rows.
  std::string druid_source;
  bool pinned_segments = false;  // the druid source names segment ids, not an interval
  // Rows are given in the spec itself: an empty input can be seen before the submit.
  bool is_inline = false;
};

// Where the intervals are not known, nothing is said about what reaches outside of them.
Input CheckIoConfig(const Node& io, const std::string& datasource,
                    const Granularities& granularities);

// Whether what stands under this member of an input source is a text of that kind.
bool HoldsInputText(absl::string_view member);

// Calls `visit` for each text under `source` that a placeholder may stand in: all but
// inline data and credentials.
void ForEachInputText(const Node& source, const std::function<void(const Node&)>& visit);

}  // namespace interlock::backfill
