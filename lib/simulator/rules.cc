#include "lib/simulator/rules.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"

namespace interlock::simulator {
namespace {

constexpr char kDefault[] = "_default";
constexpr char kTier[] = "_default_tier";
constexpr char kLoadEverything[] =
    R"([{"tieredReplicants":{"_default_tier":2},"useDefaultTierForNull":true,"type":"loadForever"}])";

absl::Status BadRule(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("no such rule: ", why));
}

// Replicas by tier; without any, Druid's default (useDefaultTierForNull).
std::map<std::string, int> ReadTiers(const JsonValue& rule) {
  const JsonValue* tiers = Find(rule, "tieredReplicants");
  if (tiers == nullptr || !tiers->IsObject()) return {{kTier, 2}};
  std::map<std::string, int> replicas;
  for (const auto& tier : tiers->GetObject()) {
    if (tier.value.IsInt()) replicas[tier.name.GetString()] = tier.value.GetInt();
  }
  return replicas;
}

}  // namespace

Rules::Rules() { (void)Set(kDefault, kLoadEverything); }

absl::StatusOr<Rules::Rule> Rules::ParseRule(const JsonValue& json) {
  Rule rule;
  rule.json = ToText(json);
  const std::string type = FindString(json, "type");
  absl::string_view span = type;
  rule.load = absl::ConsumePrefix(&span, "load");
  if (!rule.load && !absl::ConsumePrefix(&span, "drop")) return BadRule(type);
  rule.span = std::string(span);
  if (rule.load) {
    for (const auto& [tier, replicas] : ReadTiers(json)) {
      rule.replicas += replicas;
      rule.known_tier |= tier == kTier && replicas > 0;
    }
  }
  rule.include_future = FindBool(json, "includeFuture", true);
  if (rule.span == "ByInterval") {
    absl::StatusOr<Interval> interval = Interval::Parse(FindString(json, "interval"));
    if (!interval.ok()) return interval.status();
    rule.interval = *interval;
  } else if (rule.span == "ByPeriod") {
    absl::StatusOr<Period> period = Period::Parse(FindString(json, "period"));
    if (!period.ok()) return period.status();
    rule.period = *period;
  } else if (rule.span != "Forever") {
    return BadRule(type);
  }
  return rule;
}

absl::Status Rules::Set(const std::string& datasource, absl::string_view json) {
  absl::StatusOr<JsonDocument> document = ParseJson(json);
  if (!document.ok()) return document.status();
  if (!document->IsArray()) return BadRule("not an array");
  std::vector<Rule> rules;
  for (const JsonValue& entry : document->GetArray()) {
    absl::StatusOr<Rule> rule = ParseRule(entry);
    if (!rule.ok()) return rule.status();
    rules.push_back(*std::move(rule));
  }
  ++revision_;
  if (rules.empty()) {
    rules_.erase(datasource);
  } else {
    rules_[datasource] = std::move(rules);
  }
  return absl::OkStatus();
}

std::string Rules::ToJson(const std::string& datasource, bool full) const {
  JsonWriter out;
  out.Array();
  for (const std::string& name : {datasource, std::string(kDefault)}) {
    if (name == kDefault && datasource != kDefault && !full) continue;
    const auto found = rules_.find(name);
    if (found == rules_.end()) continue;
    for (const Rule& rule : found->second) out.Raw(rule.json);
    if (datasource == kDefault) break;
  }
  out.End();
  return out.Take();
}

std::string Rules::AllToJson() const {
  JsonWriter out;
  out.Object();
  for (const auto& [name, rules] : rules_) out.RawMember(name, ToJson(name, false));
  out.End();
  return out.Take();
}

bool Rules::Applies(const Rule& rule, const Segment& segment, Instant now) {
  if (rule.span == "Forever") return true;
  if (rule.span == "ByInterval") return rule.interval.Contains(segment.interval);
  const Instant since = rule.period.AddTo(now, absl::UTCTimeZone(), -1);
  if (!rule.include_future && segment.interval.start() >= now) return false;
  // Load rules take what overlaps the period, drop rules what lies wholly inside.
  return rule.load ? segment.interval.end() > since : segment.interval.start() >= since;
}

const Rules::Rule* Rules::First(const Segment& segment, Instant now) const {
  for (const std::string& name : {segment.datasource, std::string(kDefault)}) {
    const auto found = rules_.find(name);
    if (found == rules_.end()) continue;
    for (const Rule& rule : found->second) {
      if (Applies(rule, segment, now)) return &rule;
    }
  }
  return nullptr;
}

int Rules::Replicas(const Segment& segment, Instant now) const {
  const Rule* rule = First(segment, now);
  return rule == nullptr ? 0 : rule->replicas;
}

bool Rules::Loads(const Segment& segment, Instant now) const {
  const Rule* rule = First(segment, now);
  return rule != nullptr && rule->known_tier;
}

bool Rules::Drops(const Segment& segment, Instant now) const {
  const Rule* rule = First(segment, now);
  return rule != nullptr && !rule->load;
}

}  // namespace interlock::simulator
