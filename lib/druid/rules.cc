#include "lib/druid/rules.h"

#include <utility>

#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "lib/druid/json.h"

namespace interlock::druid {
namespace {

// What a load rule without `tieredReplicants` means, unless it says otherwise
// (LoadRule.java, useDefaultTierForNull).
constexpr int64_t kDefaultReplicas = 2;

int64_t ReplicasOf(const rapidjson::Value& rule) {
  const rapidjson::Value* tiers = Member(rule, "tieredReplicants");
  if (tiers == nullptr) {
    return BoolMember(rule, "useDefaultTierForNull").value_or(true) ? kDefaultReplicas : 0;
  }
  int64_t replicas = 0;
  if (!tiers->IsObject()) return replicas;
  for (const auto& tier : tiers->GetObject()) {
    if (tier.value.IsInt64()) replicas += tier.value.GetInt64();
  }
  return replicas;
}

}  // namespace

absl::StatusOr<Rules> Rules::Parse(absl::string_view json) {
  rapidjson::Document document;
  std::string why;
  if (!ParseJson(json, &document, &why)) return absl::InvalidArgumentError(why);
  if (!document.IsArray()) return absl::InvalidArgumentError("rules that are no array");
  Rules rules;
  for (const auto& entry : document.GetArray()) {
    Rule rule;
    rule.json = WriteJson(entry);
    const std::string type = TextMember(entry, "type");
    absl::string_view span = type;
    const bool broadcasts = absl::ConsumePrefix(&span, "broadcast");
    rule.loads = broadcasts || absl::ConsumePrefix(&span, "load");
    const bool drops = !rule.loads && absl::ConsumePrefix(&span, "drop");
    rule.replicas = broadcasts ? 1 : ReplicasOf(entry);
    rule.include_future = BoolMember(entry, "includeFuture").value_or(true);
    const auto interval = Interval::Parse(TextMember(entry, "interval"));
    const auto period = Period::Parse(TextMember(entry, "period"));
    if (interval.ok()) rule.interval = *interval;
    if (period.ok()) rule.period = *period;
    if (!rule.loads && !drops) {
      rule.span = Span::kUnknown;
    } else if (span == "Forever") {
      rule.span = Span::kForever;
    } else if (span == "ByInterval" && interval.ok()) {
      rule.span = Span::kInterval;
    } else if (span == "ByPeriod" && period.ok()) {
      rule.span = Span::kPeriod;
    } else if (span == "BeforeByPeriod" && period.ok() && drops) {
      rule.span = Span::kBeforePeriod;
    }
    rules.rules_.push_back(std::move(rule));
  }
  return rules;
}

bool Rules::Applies(const Rule& rule, const Interval& segment, Instant now) {
  if (rule.span == Span::kForever) return true;
  if (rule.span == Span::kInterval) {
    return rule.loads ? rule.interval.Overlaps(segment) : rule.interval.Contains(segment);
  }
  const Instant since = rule.period.AddTo(now, absl::UTCTimeZone(), -1);
  if (rule.span == Span::kBeforePeriod) return segment.end() <= since;
  if (rule.include_future) {
    return rule.loads ? since < segment.end() : since <= segment.start();
  }
  const Interval span = Interval::Between(since, now);
  return rule.loads ? span.Overlaps(segment) : span.Contains(segment);
}

RuleVerdict Rules::Of(const Interval& segment, Instant now) const {
  for (const Rule& rule : rules_) {
    if (rule.span == Span::kUnknown) return {Fate::kUnknown, rule.json};
    if (!Applies(rule, segment, now)) continue;
    if (!rule.loads) return {Fate::kDropped, rule.json};
    return {rule.replicas > 0 ? Fate::kLoads : Fate::kZeroReplicas, rule.json};
  }
  return {Fate::kNoRule, ""};
}

}  // namespace interlock::druid
