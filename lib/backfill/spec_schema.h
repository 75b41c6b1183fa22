// dataSchema without its granularities: datasource, timestamp, dimensions, metrics.
#pragma once

#include <string>
#include <vector>

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

}  // namespace interlock::backfill
