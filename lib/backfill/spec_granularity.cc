#include "lib/backfill/spec_granularity.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/backfill/json_document.h"
#include "lib/backfill/spec_members.h"
#include "lib/time/interval_set.h"

namespace interlock::backfill {
namespace {

constexpr char kWouldDo[] =
    "e.g. \"HOUR\", or {\"type\":\"period\",\"period\":\"P1D\",\"timeZone\":\"UTC\"}";

std::optional<Granularity> Taken(const Node& node, const absl::StatusOr<Granularity>& granularity,
                                 std::optional<std::string> correction = std::nullopt) {
  if (granularity.ok()) return *granularity;
  node.Fault(std::string(granularity.status().message()), kWouldDo, std::move(correction));
  return std::nullopt;
}

std::optional<Granularity> ReadName(const Node& node, const std::string& name) {
  const absl::StatusOr<Granularity> granularity = Granularity::FromName(name);
  // HOURS for HOUR is the common one; Druid's answer to it is a Java exception's text.
  std::optional<std::string> correction;
  if (!granularity.ok() && absl::EndsWithIgnoreCase(name, "s") &&
      Granularity::FromName(name.substr(0, name.size() - 1)).ok()) {
    correction = JsonQuoted(absl::AsciiStrToUpper(name.substr(0, name.size() - 1)));
  }
  return Taken(node, granularity, correction);
}

// An origin, or a fault; `ok` turns false with the fault.
std::optional<Instant> ReadOrigin(const Node& node, bool* ok) {
  const std::optional<std::string> text = node.String();
  if (!text) {
    *ok = *ok && !node.present();
    return std::nullopt;
  }
  const absl::StatusOr<Instant> origin = Instant::Parse(*text);
  if (origin.ok()) return *origin;
  node.Fault(std::string(origin.status().message()), "an instant, e.g. 1970-01-01T00:00:00Z");
  *ok = false;
  return std::nullopt;
}

std::optional<Granularity> ReadPeriod(const Node& node) {
  const auto text = node.At("period").RequiredString("an ISO period, e.g. \"P1D\"");
  const Node zone_node = node.At("timeZone");
  const std::optional<std::string> zone = zone_node.String();
  bool ok = text.has_value() && (zone.has_value() || !zone_node.present());
  const std::optional<Instant> origin = ReadOrigin(node.At("origin"), &ok);
  if (!ok) return std::nullopt;
  const absl::StatusOr<Period> period = Period::Parse(*text);
  if (!period.ok()) {
    node.At("period").Fault(std::string(period.status().message()), "an ISO period, e.g. \"P1D\"");
    return std::nullopt;
  }
  return Taken(node, Granularity::OfPeriod(*period, zone.value_or("UTC"), origin));
}

std::optional<Granularity> ReadDuration(const Node& node) {
  const Node millis = node.At("duration");
  bool ok = true;
  const std::optional<Instant> origin = ReadOrigin(node.At("origin"), &ok);
  if (!millis.present()) millis.Fault("is missing", "milliseconds, e.g. 3600000");
  const std::optional<int64_t> value = millis.Int();
  if (!ok || !value) return std::nullopt;
  return Taken(node, Granularity::OfDuration(*value, origin.value_or(Instant())));
}

constexpr char kOpenInterval[] = "{start}/{end}";

bool IsOpenInterval(const rapidjson::Value& value) {
  return value.IsString() && value == kOpenInterval;
}

class IntervalCheck {
 public:
  IntervalCheck(const Node& node, const Granularity* granularity, const CheckOptions& options,
                Granularities* result)
      : node_(node), granularity_(granularity), options_(options), result_(result) {}

  void Run();

 private:
  // The parsed interval; a fault when it is none, or empty.
  std::optional<Interval> ReadOne(const Node& node) const;
  bool AllOpen() const {
    const auto& list = node_.value()->GetArray();
    return std::all_of(list.begin(), list.end(), IsOpenInterval);
  }
  void ReadDeclared();
  void Narrow();
  // Aligns what is asked: as it stands, widened with consent, or a fault at `node`.
  void Align(const Node& node, const Interval& interval);
  void Refuse(const Node& node, const Interval& interval, const Interval& widened);
  // False, with a fault, when there are more partitions than may be; by arithmetic alone.
  bool Bounded() const;
  // What Druid would cut otherwise than its own calendar says is refused too.
  void CheckCut() const;

  const Node& node_;
  const Granularity* granularity_;  // nullptr when it is not known
  const CheckOptions& options_;
  Granularities* result_;
  std::vector<std::pair<Node, Interval>> parsed_;
};

std::optional<Interval> IntervalCheck::ReadOne(const Node& node) const {
  if (!node.present()) {
    node.Fault("is null, not an interval", "take it out");
    return std::nullopt;
  }
  const std::optional<std::string> text = node.String();
  if (!text) return std::nullopt;
  const absl::StatusOr<Interval> interval = Interval::Parse(*text);
  if (!interval.ok()) {
    node.Fault(std::string(interval.status().message()),
               "start/end, e.g. 2026-07-16T13:00:00Z/2026-07-16T14:00:00Z");
    return std::nullopt;
  }
  if (interval->empty()) {
    node.Fault(absl::StrCat(interval->ToString(), " is empty"), "let it end after its start");
    return std::nullopt;
  }
  return *interval;
}

void IntervalCheck::ReadDeclared() {
  for (const Node& element : node_.Elements()) {
    if (element.is_string() && IsOpenInterval(*element.value())) continue;
    const std::optional<Interval> interval = ReadOne(element);
    if (!interval) continue;
    for (const auto& [other_node, other] : parsed_) {
      if (!interval->Overlaps(other)) continue;
      element.Fault(absl::StrCat(interval->ToString(), " overlaps ", other.ToString(), " at ",
                                 other_node.pointer()),
                    "name each time once");
      break;
    }
    parsed_.emplace_back(element, *interval);
    result_->declared.push_back(*interval);
  }
  result_->declared = Condense(result_->declared);
}

void IntervalCheck::Narrow() {
  const std::vector<Interval> wanted = Condense(options_.intervals);
  std::string text;
  for (const Interval& interval : options_.intervals) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", interval.ToString());
  }
  if (wanted.empty()) {
    node_.Fault(absl::StrCat("the interval asked for, ", text, ", is empty"),
                "let it end after its start");
    parsed_.clear();
    return;
  }
  if (!parsed_.empty() && !Covers(result_->declared, wanted)) {
    node_.Fault(
        absl::StrCat("the interval asked for, ", text, ", reaches outside of the spec's intervals"),
        "ask for a part of them, or take them out of the spec");
    return;
  }
  parsed_.clear();
  for (const Interval& interval : wanted) parsed_.emplace_back(node_, interval);
}

void IntervalCheck::Refuse(const Node& node, const Interval& interval, const Interval& widened) {
  const std::optional<Interval> inner = granularity_->Shrink(interval);
  const std::string quoted = JsonQuoted(widened.ToString());
  // A supplied interval has no element of its own in the spec's list.
  const std::string correction =
      node.pointer() == node_.pointer() ? absl::StrCat("[", quoted, "]") : quoted;
  node.Fault(
      absl::StrCat(interval.ToString(), " splits partitions of ", granularity_->ToString(),
                   ": Druid would replace whole ones, and the rows outside of the interval would "
                   "be lost"),
      absl::StrCat("widen it to ", widened.ToString(), " (needs consent, and input for all of it)",
                   inner ? absl::StrCat(", or shrink it to ", inner->ToString())
                         : std::string("; no whole partition lies inside of it")),
      correction);
}

void IntervalCheck::Align(const Node& node, const Interval& interval) {
  if (granularity_->Aligned(interval)) {
    result_->intervals.push_back(interval);
    return;
  }
  const Interval widened = granularity_->Widen(interval);
  if (options_.accept_widening) {
    result_->intervals.push_back(widened);
  } else {
    Refuse(node, interval, widened);
  }
}

bool IntervalCheck::Bounded() const {
  int64_t total = 0;
  for (const Interval& interval : result_->asked) {
    const auto count = granularity_->Count(interval, options_.max_partitions - total);
    if (!count.ok()) {
      node_.Fault(absl::StrCat("cover more than ", options_.max_partitions, " partitions of ",
                               granularity_->ToString()),
                  "split the backfill");
      return false;
    }
    total += *count;
  }
  return true;
}

void IntervalCheck::CheckCut() const {
  for (const Interval& interval : result_->intervals) {
    const auto cut = granularity_->Partitions(interval, options_.max_partitions);
    if (!cut.ok()) node_.Fault(std::string(cut.status().message()), "choose other intervals");
  }
}

void IntervalCheck::Run() {
  ReadDeclared();
  if (!options_.intervals.empty()) {
    Narrow();
  } else if (!node_.present() || (node_.is_array() && parsed_.empty() && AllOpen())) {
    node_.Fault(
        !node_.present()    ? "is missing"
        : node_.size() == 0 ? "is empty"
                            : "is a placeholder, and no interval was given to fill it",
        "name what is to be replaced, e.g. [\"2026-07-16T13:00:00Z/2026-07-16T14:00:00Z\"], "
        "or give an interval beside the spec");
    result_->missing_intervals = true;
  }
  for (const auto& [node, interval] : parsed_) result_->asked.push_back(interval);
  result_->asked = Condense(result_->asked);
  if (granularity_ == nullptr || !Bounded()) return;
  for (const auto& [node, interval] : parsed_) Align(node, interval);
  result_->intervals = Condense(result_->intervals);
  CheckCut();
}

void CheckQueryGranularity(const Node& node) {
  if (!node.present()) return;
  // What is only cut for queries need not be a calendar that work can be split by.
  Findings findings;
  ReadGranularity(Node(node.value(), node.pointer(), &findings));
  const bool name = node.is_string();
  for (const SpecFault& fault : findings.faults()) {
    if (name || fault.pointer != node.pointer()) node.findings()->Add(fault);
  }
}

}  // namespace

std::optional<Granularity> ReadGranularity(const Node& node) {
  if (node.is_string()) return ReadName(node, *node.String());
  if (!node.RequiredObject(kWouldDo)) return std::nullopt;
  const Node type_node = node.At("type");
  const auto type = type_node.RequiredString("period or duration");
  if (!type) return std::nullopt;
  if (*type == "period") return ReadPeriod(node);
  if (*type == "duration") return ReadDuration(node);
  if (*type == "all" || *type == "none") return *Granularity::FromName(*type);
  type_node.Fault(absl::StrCat("is ", type_node.Found(), ", no granularity of Druid's"),
                  "period or duration");
  return std::nullopt;
}

bool HasOpenIntervals(const rapidjson::Value& granularity_spec) {
  if (!granularity_spec.IsObject()) return false;
  const auto member = granularity_spec.FindMember("intervals");
  if (member == granularity_spec.MemberEnd() || member->value.IsNull()) return true;
  if (!member->value.IsArray()) return false;
  const auto& list = member->value.GetArray();
  return std::all_of(list.begin(), list.end(), IsOpenInterval);
}

Granularities CheckGranularitySpec(const Node& spec, const CheckOptions& options) {
  Granularities result;
  if (!spec.RequiredObject("give type, segmentGranularity and intervals")) return result;
  CheckMembers(spec, Place::kGranularitySpec);
  const Node type = spec.At("type");
  if (const auto name = type.String(); name && *name != "uniform") {
    type.Fault(absl::StrCat("is ", type.Found(), ": only uniform segments have a calendar"),
               "write \"uniform\"", JsonQuoted("uniform"));
  }
  const Node segment = spec.At("segmentGranularity");
  result.segment = ReadGranularity(segment);
  if (result.segment && result.segment->is_none()) {
    segment.Fault(
        "is NONE: with dropExisting Druid makes a segment, or a tombstone, for each millisecond of "
        "the intervals, and runs out of memory over them",
        "write HOUR or DAY, or what the datasource has; queryGranularity may be NONE");
    result.segment.reset();
  }
  CheckQueryGranularity(spec.At("queryGranularity"));
  result.rollup = spec.At("rollup").Bool().value_or(true);
  IntervalCheck(spec.At("intervals"), result.segment ? &*result.segment : nullptr, options, &result)
      .Run();
  return result;
}

}  // namespace interlock::backfill
