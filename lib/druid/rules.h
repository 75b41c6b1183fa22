// Retention rules: whether a segment will ever be loaded, and why not
// (apache/druid, server/…/server/coordinator/rules/Rules.java and the rules beside it).
//
// The first rule that applies decides. Load rules apply to what overlaps their interval or
// period, drop rules to what lies wholly inside. A segment that no rule is for stays
// unloaded and used.
//
// Threads: const after Parse.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"
#include "lib/time/period.h"

namespace interlock::druid {

enum class Fate {
  kLoads,         // some tier is to have at least one replica
  kZeroReplicas,  // a load rule without replicas: kept, and not served by historicals
  kDropped,       // a drop rule: the coordinator will mark it unused
  kNoRule,        // no rule applies
  kUnknown,       // a rule stands before it whose kind we don't know
};

struct RuleVerdict {
  Fate fate = Fate::kUnknown;
  std::string rule;  // its JSON; "" for kNoRule
};

class Rules {
 public:
  // What Cluster::GetRules gives: the datasource's rules, then the defaults. A rule that
  // can't be read is kept as one of an unknown kind. INVALID_ARGUMENT for what is no array.
  static absl::StatusOr<Rules> Parse(absl::string_view json);

  RuleVerdict Of(const Interval& segment, Instant now) const;

 private:
  enum class Span { kForever, kInterval, kPeriod, kBeforePeriod, kUnknown };
  struct Rule {
    std::string json;
    bool loads = false;
    int64_t replicas = 0;
    Span span = Span::kUnknown;
    Interval interval;
    Period period;
    bool include_future = true;
  };

  static bool Applies(const Rule& rule, const Interval& segment, Instant now);

  std::vector<Rule> rules_;
};

}  // namespace interlock::druid
