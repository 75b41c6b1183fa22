// Reads the rows that an ingestion spec names: inline text, local files, or the visible
// rows of a datasource.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/simulator/ingest_spec.h"
#include "lib/simulator/rows.h"
#include "lib/simulator/segment_table.h"

namespace interlock::simulator {

struct InputRow {
  Instant time;
  std::map<std::string, Cell> values;
};

// What Druid's report says of an input, and the rows that lie where they may.
struct Input {
  std::vector<InputRow> rows;
  int64_t bytes = 0;
  int64_t thrown_away = 0;
  int64_t unparseable = 0;
  int64_t with_error = 0;                // of the rows: a metric's input was no number
  std::optional<int64_t> segments_read;  // of a druid source
  // Set where more rows could not be parsed than the spec bears.
  std::string error;
};

// Rows outside `allowed` are thrown away; with `everything`, none is.
Input ReadInput(const IngestSpec& spec, const SegmentTable& table,
                const std::vector<Interval>& allowed, bool everything);

}  // namespace interlock::simulator
