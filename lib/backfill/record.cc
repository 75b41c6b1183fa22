#include "lib/backfill/record.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/backfill/json_members.h"

namespace interlock::backfill {
namespace {

constexpr std::array<absl::string_view, 10> kPhases = {
    "PENDING", "RUNNING",    "PAUSED",    "NEEDS_ATTENTION", "DONE",
    "FAILED",  "CANCELLING", "CANCELLED", "ROLLING_BACK",    "ROLLED_BACK"};
constexpr std::array<absl::string_view, 8> kAttemptStates = {
    "INTENDED", "UNKNOWN", "WAITING", "RUNNING", "ENDED", "SETTLED", "ABANDONED", "NOT_SUBMITTED"};

template <class Enum, size_t N>
Enum Named(const std::array<absl::string_view, N>& names, absl::string_view name, Enum otherwise) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return otherwise;
}

JsonValue SumsOf(const std::vector<ExpectedSum>& sums, JsonWriter& out) {
  JsonValue list(rapidjson::kArrayType);
  for (const ExpectedSum& sum : sums) {
    JsonValue one(rapidjson::kObjectType);
    one.AddMember("metric", out.Copy(sum.metric), out.allocator());
    one.AddMember("value", sum.value, out.allocator());
    one.AddMember("whole", sum.whole, out.allocator());
    list.PushBack(one, out.allocator());
  }
  return list;
}

std::vector<ExpectedSum> SumsIn(const JsonValue& object) {
  std::vector<ExpectedSum> sums;
  ForEachIn(object, "expected_sums", [&](const JsonValue& one) {
    const JsonValue* whole = MemberOf(one, "whole");
    sums.push_back({TextIn(one, "metric"), DoubleIn(one, "value").value_or(0),
                    whole != nullptr && whole->IsTrue()});
  });
  return sums;
}

JsonValue PartitionsOf(const std::vector<ExpectedPartition>& partitions, JsonWriter& out) {
  JsonValue list(rapidjson::kArrayType);
  for (const ExpectedPartition& partition : partitions) {
    JsonValue one(rapidjson::kObjectType);
    one.AddMember("interval", out.Copy(partition.interval.ToString()), out.allocator());
    if (partition.rows) one.AddMember("rows", *partition.rows, out.allocator());
    one.AddMember("expected_sums", SumsOf(partition.sums, out), out.allocator());
    list.PushBack(one, out.allocator());
  }
  return list;
}

}  // namespace

absl::string_view NameOf(Phase phase) { return kPhases[static_cast<size_t>(phase)]; }

Phase PhaseOf(absl::string_view name) { return Named(kPhases, name, Phase::kRunning); }

bool IsOver(Phase phase) {
  return phase == Phase::kDone || phase == Phase::kFailed || phase == Phase::kCancelled ||
         phase == Phase::kRolledBack;
}

absl::string_view NameOf(AttemptState state) { return kAttemptStates[static_cast<size_t>(state)]; }

AttemptState AttemptStateOf(absl::string_view name) {
  return Named(kAttemptStates, name, AttemptState::kUnknown);
}

std::string ToJson(const RowTerms& terms) {
  JsonWriter out;
  out.Number("rule", static_cast<int64_t>(terms.rule));
  out.Text("rule_reason", terms.rule_reason);
  out.Text("count_metric", terms.count_metric);
  JsonValue sums(rapidjson::kArrayType);
  for (const auto& [source, target] : terms.sums) {
    sums.PushBack(out.List({source, target}), out.allocator());
  }
  out.Put("sums", std::move(sums));
  out.Maybe("min_rows", terms.min_rows);
  out.Number("max_unparseable", terms.max_unparseable);
  out.Put("expected_sums", SumsOf(terms.expected_sums, out));
  out.Put("expected_partitions", PartitionsOf(terms.expected_partitions, out));
  if (!terms.same_as.empty()) out.Text("same_as", terms.same_as);
  if (!terms.twin_metrics.empty()) out.Texts("twin_metrics", terms.twin_metrics);
  return out.ToString();
}

RowTerms RowTermsFrom(const std::string& json) {
  RowTerms terms;
  rapidjson::Document document;
  if (!ReadJsonObject(json, &document)) return terms;
  terms.rule = static_cast<RowRule>(
      NumberIn(document, "rule").value_or(static_cast<int64_t>(RowRule::kNotProvable)));
  terms.rule_reason = TextIn(document, "rule_reason");
  terms.count_metric = TextIn(document, "count_metric");
  ForEachIn(document, "sums", [&](const JsonValue& pair) {
    if (pair.IsArray() && pair.Size() == 2 && pair[0].IsString() && pair[1].IsString()) {
      terms.sums.emplace_back(pair[0].GetString(), pair[1].GetString());
    }
  });
  terms.min_rows = NumberIn(document, "min_rows");
  terms.max_unparseable = NumberIn(document, "max_unparseable").value_or(0);
  terms.expected_sums = SumsIn(document);
  ForEachIn(document, "expected_partitions", [&](const JsonValue& one) {
    terms.expected_partitions.push_back(
        {IntervalIn(one, "interval"), NumberIn(one, "rows"), SumsIn(one)});
  });
  terms.same_as = TextIn(document, "same_as");
  terms.twin_metrics = TextsIn(document, "twin_metrics");
  return terms;
}

std::string LocksToJson(const std::vector<std::pair<Interval, std::string>>& locks) {
  JsonWriter out;
  JsonValue list(rapidjson::kArrayType);
  for (const auto& [interval, version] : locks) {
    JsonValue one(rapidjson::kObjectType);
    one.AddMember("interval", out.Copy(interval.ToString()), out.allocator());
    one.AddMember("version", out.Copy(version), out.allocator());
    list.PushBack(one, out.allocator());
  }
  out.Put("locks", std::move(list));
  return out.ToString();
}

std::vector<std::pair<Interval, std::string>> LocksFrom(const std::string& json) {
  std::vector<std::pair<Interval, std::string>> locks;
  rapidjson::Document document;
  if (!ReadJsonObject(json, &document)) return locks;
  ForEachIn(document, "locks", [&](const JsonValue& one) {
    locks.emplace_back(IntervalIn(one, "interval"), TextIn(one, "version"));
  });
  return locks;
}

std::string IntervalsToText(const std::vector<Interval>& intervals) {
  std::string text;
  for (const Interval& interval : intervals) {
    absl::StrAppend(&text, text.empty() ? "" : ",", interval.ToString());
  }
  return text;
}

std::vector<Interval> IntervalsFrom(const std::string& text) {
  std::vector<Interval> intervals;
  for (const absl::string_view one : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    if (const auto interval = Interval::Parse(one); interval.ok()) intervals.push_back(*interval);
  }
  return intervals;
}

std::string TextsToJson(const std::vector<std::string>& texts) {
  JsonWriter out;
  out.Texts("texts", texts);
  return out.ToString();
}

std::vector<std::string> TextsFrom(const std::string& json) {
  rapidjson::Document document;
  if (!ReadJsonObject(json, &document)) return {};
  return TextsIn(document, "texts");
}

std::string LabelsToJson(const std::map<std::string, std::string>& labels) {
  JsonWriter out;
  JsonValue all(rapidjson::kObjectType);
  for (const auto& [name, value] : labels) {
    all.AddMember(out.Copy(name), out.Copy(value), out.allocator());
  }
  out.Put("labels", std::move(all));
  return out.ToString();
}

std::map<std::string, std::string> LabelsFrom(const std::string& json) {
  std::map<std::string, std::string> labels;
  rapidjson::Document document;
  if (!ReadJsonObject(json, &document)) return labels;
  const JsonValue* all = MemberOf(document, "labels");
  if (all == nullptr || !all->IsObject()) return labels;
  for (const auto& member : all->GetObject()) {
    if (member.value.IsString()) labels[member.name.GetString()] = member.value.GetString();
  }
  return labels;
}

std::string SumsToJson(const std::map<std::string, double>& sums) {
  JsonWriter out;
  JsonValue all(rapidjson::kObjectType);
  for (const auto& [metric, sum] : sums)
    all.AddMember(out.Copy(metric), JsonValue(sum), out.allocator());
  out.Put("sums", std::move(all));
  return out.ToString();
}

std::map<std::string, double> SumsFrom(const std::string& json) {
  std::map<std::string, double> sums;
  rapidjson::Document document;
  if (!ReadJsonObject(json, &document)) return sums;
  const JsonValue* all = MemberOf(document, "sums");
  if (all == nullptr || !all->IsObject()) return sums;
  for (const auto& member : all->GetObject()) {
    if (member.value.IsNumber()) sums[member.name.GetString()] = member.value.GetDouble();
  }
  return sums;
}

std::string ToJson(const TaskRows& rows) {
  JsonWriter out;
  out.Number("processed", rows.processed);
  out.Number("processed_with_error", rows.processed_with_error);
  out.Number("thrown_away", rows.thrown_away);
  out.Number("unparseable", rows.unparseable);
  out.Number("segments_published", rows.segments_published);
  return out.ToString();
}

TaskRows TaskRowsFrom(const std::string& json) {
  rapidjson::Document document;
  if (!ReadJsonObject(json, &document)) return {};
  const auto count = [&](const char* name) { return NumberIn(document, name).value_or(0); };
  return {count("processed"), count("processed_with_error"), count("thrown_away"),
          count("unparseable"), count("segments_published")};
}

}  // namespace interlock::backfill
