// Retention rules: whether a segment is to be loaded, and on how many historicals.
//
// Threads: none of its own; the simulator's one lock guards it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lib/simulator/json.h"
#include "lib/simulator/segment.h"
#include "lib/time/period.h"

namespace interlock::simulator {

class Rules {
 public:
  Rules();

  // A JSON array of rules: load/drop Forever, ByInterval, ByPeriod, in the forms that
  // Druid documents. INVALID_ARGUMENT for anything else; an empty array removes them.
  absl::Status Set(const std::string& datasource, absl::string_view json);

  // Counts what was set.
  int64_t revision() const { return revision_; }

  // As GET …/rules/DS answers; with `full` the defaults follow.
  std::string ToJson(const std::string& datasource, bool full) const;
  std::string AllToJson() const;

  // Of the first rule that applies, over all tiers; 0 too for a drop rule.
  int Replicas(const Segment& segment, Instant now) const;
  // Whether any of them is for the one tier that has historicals.
  bool Loads(const Segment& segment, Instant now) const;
  // True if the first rule that applies drops it: the coordinator marks it unused.
  bool Drops(const Segment& segment, Instant now) const;

 private:
  struct Rule {
    std::string json;
    bool load = true;
    int replicas = 0;
    bool known_tier = false;
    std::string span;  // "Forever", "ByInterval", "ByPeriod"
    Interval interval;
    Period period;
    bool include_future = true;
  };
  static absl::StatusOr<Rule> ParseRule(const JsonValue& json);
  static bool Applies(const Rule& rule, const Segment& segment, Instant now);
  const Rule* First(const Segment& segment, Instant now) const;

  std::map<std::string, std::vector<Rule>> rules_;
  int64_t revision_ = 0;
};

}  // namespace interlock::simulator
