// dataSchema without its granularities: datasource, timestamp, dimensions, metrics.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/backfill/spec_node.h"

namespace interlock::backfill {

struct Schema {
  std::string datasource;        // "" when it is missing or wrong
  std::string timestamp_column;  // as Druid defaults it: "timestamp"
  std::string count_metric;      // the first metric of type count; "" if none
  // Metrics whose stored column adds up: longSum, doubleSum, floatSum.
  std::vector<std::string> sum_metrics;
};

Schema CheckSchema(const Node& data_schema);

// What is wrong with a datasource's name by Druid's IdUtils.validateId, or "".
std::string DatasourceFault(absl::string_view name);

}  // namespace interlock::backfill
