#include "lib/backfill/spec.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/backfill/json_document.h"
#include "lib/backfill/placeholder.h"
#include "lib/backfill/spec_granularity.h"
#include "lib/backfill/spec_input.h"
#include "lib/backfill/spec_members.h"
#include "lib/backfill/spec_node.h"
#include "lib/backfill/spec_schema.h"
#include "lib/backfill/spec_secrets.h"
#include "lib/backfill/spec_tuning.h"
#include "lib/backfill/units.h"
#include "lib/druid/json.h"
#include "lib/time/status_reason.h"
#include "rapidjson/pointer.h"

namespace interlock::backfill {
namespace {

constexpr char kType[] = "index_parallel";

// What to do with a task or supervisor of another kind, or "" for one that is unknown.
std::string InsteadOf(absl::string_view type) {
  if (type == "kafka" || type == "kinesis" || type == "rabbit") {
    return "this is a stream's supervisor: register it as a stream; a backfill is an "
           "index_parallel task";
  }
  if (type == "kill") return "use DropAndKill, which can be undone until it kills";
  if (type == "compact" || type == "autocompact") return "leave compaction to Druid";
  if (type == "query_controller") return "submit the SQL itself";
  if (type == "index_hadoop") return "write it as index_parallel, with an hdfs input source";
  return "";
}

// False when the task is of a known other kind, whose members would only make noise.
bool CheckType(const Node& task) {
  const Node type = task.At("type");
  const auto name = type.RequiredString("write \"index_parallel\"");
  if (!name || *name == kType) return true;
  const std::string instead = InsteadOf(*name);
  type.Fault(absl::StrCat("is ", type.Found(), ", not \"index_parallel\""),
             instead.empty() ? "write \"index_parallel\"" : instead,
             instead.empty() ? std::optional<std::string>(JsonQuoted(kType)) : std::nullopt);
  return instead.empty();
}

void CheckTask(const Node& task, const std::string& datasource) {
  CheckMembers(task, Place::kTask);
  if (task.At("groupId").present()) {
    task.At("groupId").Fault(
        "is given: tasks of one group share their locks, so another could "
        "write beside this one",
        "take it out", "");
  }
  task.At("resource").Object();
  const Node name = task.At("dataSource");
  if (const auto text = name.String(); text && !datasource.empty() && *text != datasource) {
    name.Fault(absl::StrCat("is ", name.Found(), ", but /spec/dataSchema/dataSource is \"",
                            datasource, "\""),
               "take it out", "");
  }
}

// The label is free text for people, but it goes into lists and logs.
std::string CheckLabel(const Node& id) {
  constexpr size_t kMaxLabelBytes = 255;
  const auto label = id.String();
  if (!label) return "";
  if (label->size() > kMaxLabelBytes) {
    id.Fault(absl::StrCat("is longer than ", kMaxLabelBytes, " bytes"),
             "shorten it; it is kept as a label, the task's own id is made at submit", "");
  }
  return *label;
}

// A row filter may hold the unit's bounds too; it narrows nothing that is read.
void CheckFilterTexts(const Node& filter) {
  ForEachInputText(filter, [](const Node& text) {
    const auto parsed = Template::Parse(*text.String());
    if (!parsed.ok()) {
      text.Fault(std::string(parsed.status().message()), "use {start} and {end}, or no braces");
    }
  });
}

// Column of the source → column of the target, of the metrics that add up.
std::vector<std::pair<std::string, std::string>> SumColumns(const Node& metrics,
                                                            const Schema& schema) {
  std::vector<std::pair<std::string, std::string>> sums;
  for (size_t i = 0; i < metrics.size(); ++i) {
    const Node name = metrics.At(i).At("name");
    const Node field = metrics.At(i).At("fieldName");
    if (!name.is_string() || !field.is_string()) continue;
    const std::string target = name.value()->GetString();
    const auto& known = schema.sum_metrics;
    if (std::find(known.begin(), known.end(), target) == known.end()) continue;
    sums.emplace_back(field.value()->GetString(), target);
  }
  return sums;
}

void SetRowRule(const Node& data_schema, const Schema& schema, bool rollup, Spec* spec) {
  spec->count_metric = schema.count_metric;
  spec->metrics = schema.sum_metrics;
  if (!schema.count_metric.empty()) spec->metrics.push_back(schema.count_metric);
  if (!spec->druid_source.empty() && !data_schema.At("transformSpec").present()) {
    spec->sums = SumColumns(data_schema.At("metricsSpec"), schema);
    if (!spec->sums.empty()) {
      spec->row_rule = RowRule::kSourceSums;
      return;
    }
  }
  if (!schema.count_metric.empty()) {
    spec->row_rule = RowRule::kCountMetric;
  } else if (!rollup) {
    spec->row_rule = RowRule::kStoredRows;
  } else {
    spec->row_rule_reason =
        "roll-up without a metric of type count: stored rows say nothing about rows read";
  }
}

// With a `druid` source the timestamp is __time; another column exists only if a
// dimension of that name was stored.
void WarnAboutTime(const Node& data_schema, const Input& input, const Schema& schema) {
  if (input.druid_source.empty() || schema.timestamp_column == "__time") return;
  // Meant: all rows have the time that stands in for a missing one.
  if (data_schema.At("timestampSpec").At("missingValue").present()) return;
  data_schema.At("timestampSpec")
      .At("column")
      .Warn(absl::StrCat("is \"", schema.timestamp_column,
                         "\", and segments keep their time in "
                         "`__time`: rows without that column have no time, and the task would "
                         "publish nothing"),
            "write {\"column\":\"__time\",\"format\":\"millis\"}");
}

// The document with intervals spelled out as they are meant, and without the id.
std::string Normalized(const rapidjson::Document& document,
                       const std::vector<Interval>& intervals) {
  rapidjson::Document copy;
  copy.CopyFrom(document, copy.GetAllocator());
  copy.RemoveMember("id");
  rapidjson::Value list(rapidjson::kArrayType);
  for (const Interval& interval : intervals) {
    list.PushBack(rapidjson::Value(interval.ToString(), copy.GetAllocator()), copy.GetAllocator());
  }
  rapidjson::Pointer("/spec/dataSchema/granularitySpec/intervals").Set(copy, list);
  return WriteJson(copy);
}

// Puts each correction in its place, deepest last so that no place moves before its turn.
std::string Corrected(const rapidjson::Document& document, const std::vector<SpecFault>& faults) {
  rapidjson::Document copy;
  copy.CopyFrom(document, copy.GetAllocator());
  bool changed = false;
  for (const SpecFault& fault : faults) {
    if (!fault.correction) continue;
    const rapidjson::Pointer place(fault.pointer);
    if (!place.IsValid()) continue;
    if (fault.correction->empty()) {
      changed = place.Erase(copy) || changed;
      continue;
    }
    rapidjson::Document value(&copy.GetAllocator());
    value.Parse(*fault.correction);
    place.Set(copy, value);
    changed = true;
  }
  return changed ? WriteJson(copy) : "";
}

std::optional<Spec> CheckDocument(const rapidjson::Document& document, const CheckOptions& options,
                                  Findings* findings) {
  const Node task(&document, "", findings);
  if (!CheckType(task)) return std::nullopt;
  const Node inner = task.At("spec");
  if (!inner.RequiredObject("give dataSchema, ioConfig and tuningConfig")) return std::nullopt;
  CheckMembers(inner, Place::kSpec);
  const Node data_schema = inner.At("dataSchema");
  Schema schema;
  Granularities granularities;
  if (data_schema.RequiredObject("give dataSource, timestampSpec, dimensionsSpec, "
                                 "granularitySpec")) {
    schema = CheckSchema(data_schema);
    granularities = CheckGranularitySpec(data_schema.At("granularitySpec"), options);
    CheckFilterTexts(data_schema.At("transformSpec").At("filter"));
    CheckFilterTexts(data_schema.At("timestampSpec").At("missingValue"));
  }
  CheckTask(task, schema.datasource);
  const std::string label = CheckLabel(task.At("id"));
  const Node io = inner.At("ioConfig");
  Input input = CheckIoConfig(io, schema.datasource, granularities);
  if (granularities.missing_intervals) {
    io.At("dropExisting")
        .Fault("has no defined region while the intervals are missing: Druid refuses it",
               "give granularitySpec.intervals");
  }
  CheckTuningConfig(inner.At("tuningConfig"), {input.appends, input.splits});
  CheckContext(task.At("context"), options.accept_concurrent_locks);
  WarnAboutTime(data_schema, input, schema);
  if (!findings->clean()) return std::nullopt;

  Spec spec(*granularities.segment);
  spec.datasource = schema.datasource;
  spec.granularity_json =
      WriteJson(*data_schema.At("granularitySpec").At("segmentGranularity").value());
  spec.intervals = granularities.intervals;
  spec.widened = granularities.intervals != granularities.asked;
  spec.label = label;
  spec.narrows = input.narrows;
  spec.druid_source = input.druid_source;
  spec.json = Normalized(document, spec.intervals);
  SetRowRule(data_schema, schema, granularities.rollup, &spec);
  return spec;
}

void CheckUnits(const Spec& spec, Findings* findings) {
  const absl::StatusOr<Cut> cut = CutIntoUnits(spec);
  if (cut.ok()) return;
  findings->Add({"/spec/dataSchema/granularitySpec/intervals", std::string(cut.status().message()),
                 "", std::nullopt});
}

}  // namespace

SpecCheck CheckSpec(const std::string& json, const CheckOptions& options) {
  SpecCheck check;
  Findings findings;
  rapidjson::Document document;
  const bool readable = ParseJsonObject(json, &document, &findings);
  if (readable) TakeSecretsOut(&document, &findings);
  if (readable) check.spec = CheckDocument(document, options, &findings);
  if (check.spec) CheckUnits(*check.spec, &findings);
  if (!findings.clean()) check.spec.reset();
  check.faults = findings.faults();
  check.warnings = findings.warnings();
  if (readable) check.corrected = Corrected(document, check.faults);
  return check;
}

std::optional<Granularity> ParseGranularity(const std::string& json) {
  rapidjson::Document document;
  std::string why_not;
  if (!druid::ParseJson(json, &document, &why_not)) return std::nullopt;
  Findings findings;
  return ReadGranularity(Node(&document, "", &findings));
}

absl::Status SpecStatus(const SpecCheck& check) {
  if (check.faults.empty()) return absl::OkStatus();
  const SpecFault& first = check.faults.front();
  std::string text =
      absl::StrCat("the spec has ", check.faults.size(),
                   check.faults.size() == 1 ? " fault: " : " faults, the first: ",
                   first.pointer.empty() ? "the spec" : first.pointer, " ", first.found);
  const bool paths = std::all_of(check.faults.begin(), check.faults.end(),
                                 [](const SpecFault& fault) { return fault.path_outside; });
  absl::Status status =
      WithReason(absl::InvalidArgumentError(text), paths ? "PATH_OUTSIDE_UNIT" : "SPEC_INVALID");
  for (const SpecFault& fault : check.faults) {
    AddFault(status, fault.pointer, fault.found, fault.would_do);
  }
  return status;
}

}  // namespace interlock::backfill
