#include "lib/backfill/units.h"

#include "absl/strings/str_cat.h"
#include "lib/backfill/json_document.h"
#include "lib/backfill/placeholder.h"
#include "lib/backfill/spec_input.h"
#include "lib/backfill/spec_node.h"
#include "lib/backfill/spec_tuning.h"
#include "lib/time/interval_set.h"
#include "lib/time/status_reason.h"
#include "rapidjson/pointer.h"

namespace interlock::backfill {
namespace {

using Allocator = rapidjson::Document::AllocatorType;

constexpr char kSource[] = "/spec/ioConfig/inputSource";
constexpr char kFilter[] = "/spec/dataSchema/transformSpec/filter";
// The time of rows that have none: of a running total, the unit's start.
constexpr char kMissingTime[] = "/spec/dataSchema/timestampSpec/missingValue";

absl::Status UnitTooLarge(size_t partitions, int64_t limit) {
  return WithReason(absl::OutOfRangeError(absl::StrCat(
                        "one task would replace ", partitions, " partitions, of at most ", limit,
                        ": ask for less, or narrow the input by {start}/{end} placeholders")),
                    "UNIT_TOO_LARGE");
}

// What the input of a unit is, as one text: equal texts read the same.
class InputTexts {
 public:
  explicit InputTexts(const std::string& spec_json) {
    document_.Parse(spec_json);
    Findings findings;
    const Node source(rapidjson::Pointer(kSource).Get(document_), kSource, &findings);
    Gather(source);
  }

  std::string Render(const Interval& unit) const {
    std::string all;
    for (const Template& text : texts_) absl::StrAppend(&all, text.Render(unit), "\n");
    return all;
  }

 private:
  void Gather(const Node& source) {
    ForEachInputText(source, [this](const Node& text) {
      // The interval of a druid source is narrowed whatever it says.
      const bool interval = text.pointer().size() > 9 &&
                            text.pointer().compare(text.pointer().size() - 9, 9, "/interval") == 0;
      auto parsed = Template::Parse(interval ? "{start}/{end}" : *text.String());
      if (parsed.ok()) texts_.push_back(*std::move(parsed));
    });
  }

  rapidjson::Document document_;
  std::vector<Template> texts_;
};

std::vector<Interval> AllPartitions(const Spec& spec) {
  std::vector<Interval> all;
  for (const Interval& interval : spec.intervals) {
    // The spec was checked with the same bound: it can't fail.
    const auto partitions = spec.granularity.Partitions(interval, kMaxPartitions);
    if (partitions.ok()) all.insert(all.end(), partitions->begin(), partitions->end());
  }
  return all;
}

Unit UnitOf(std::vector<Interval> partitions) {
  Unit unit;
  unit.intervals = Condense(partitions);
  unit.partitions = std::move(partitions);
  return unit;
}

// Neighbouring partitions with the same input go together.
std::vector<Unit> CutByInput(const Spec& spec, const std::vector<Interval>& partitions) {
  const InputTexts texts(spec.json);
  std::vector<Unit> units;
  std::vector<Interval> run;
  std::string run_input;
  for (const Interval& partition : partitions) {
    std::string input = texts.Render(partition);
    if (!run.empty() && (input != run_input || run.back().end() != partition.start())) {
      units.push_back(UnitOf(std::move(run)));
      run.clear();
    }
    run.push_back(partition);
    run_input = std::move(input);
  }
  if (!run.empty()) units.push_back(UnitOf(std::move(run)));
  return units;
}

void Explain(const Spec& spec, size_t partitions, Cut* cut) {
  if (partitions == 1) {
    cut->why = "one partition, one task";
  } else if (cut->units.size() == partitions) {
    cut->why = absl::StrCat("one task for each of the ", partitions,
                            " partitions: the input narrows with it");
  } else if (spec.narrows) {
    cut->why = absl::StrCat(cut->units.size(), " tasks for ", partitions,
                            " partitions: those that read the same input share a task");
    cut->finer =
        "a placeholder as fine as the segment granularity gives a task, and a restart "
        "point, for each partition";
  } else {
    cut->why = absl::StrCat("one task for all ", partitions,
                            " partitions: the input does not narrow, so a task for each would "
                            "read all of it ",
                            partitions, " times; it is all or nothing");
    cut->finer = absl::StrCat(
        "placeholders in the input's paths, such as "
        "dt={start:%Y-%m-%d}/h={start:%H}, give ",
        partitions, " tasks and restart points");
  }
}

// Fills in the texts of an input source; the interval of a druid source is the unit's.
void NarrowTexts(rapidjson::Value& value, const Interval& unit, Allocator& allocator) {
  if (value.IsString()) {
    const auto parsed =
        Template::Parse(absl::string_view(value.GetString(), value.GetStringLength()));
    if (!parsed.ok() || !parsed->has_placeholders()) return;
    value.SetString(parsed->Render(unit), allocator);
  } else if (value.IsArray()) {
    for (auto& element : value.GetArray()) NarrowTexts(element, unit, allocator);
  } else if (value.IsObject()) {
    const auto type = value.FindMember("type");
    const bool druid = type != value.MemberEnd() && type->value == "druid";
    for (auto& member : value.GetObject()) {
      if (druid && member.name == "interval") {
        member.value.SetString(unit.ToString(), allocator);
      } else if (HoldsInputText(member.name.GetString())) {
        NarrowTexts(member.value, unit, allocator);
      }
    }
  }
}

// Has druid sources read what was decided for them.
void Redirect(rapidjson::Value& value, const std::vector<SourceRead>& reads, Allocator& allocator) {
  if (value.IsArray()) {
    for (auto& element : value.GetArray()) Redirect(element, reads, allocator);
  }
  if (!value.IsObject()) return;
  const bool druid = value.HasMember("type") && value["type"] == "druid" &&
                     value.HasMember("interval") && value.HasMember("dataSource") &&
                     value["dataSource"].IsString();
  if (!druid) {
    for (auto& member : value.GetObject()) Redirect(member.value, reads, allocator);
    return;
  }
  for (const SourceRead& read : reads) {
    if (read.datasource != value["dataSource"].GetString()) continue;
    if (!read.corrected.empty()) {
      value["dataSource"].SetString(read.corrections_datasource, allocator);
    }
    value["interval"].SetString(read.interval.ToString(), allocator);
    return;
  }
}

void SetIntervals(rapidjson::Document& task, const Unit& unit) {
  rapidjson::Value list(rapidjson::kArrayType);
  for (const Interval& interval : unit.intervals) {
    list.PushBack(rapidjson::Value(interval.ToString(), task.GetAllocator()), task.GetAllocator());
  }
  rapidjson::Pointer("/spec/dataSchema/granularitySpec/intervals").Set(task, list);
}

void SetIdentity(rapidjson::Document& task, const TaskIdentity& identity) {
  Allocator& allocator = task.GetAllocator();
  rapidjson::Value ours(rapidjson::kObjectType);
  ours.AddMember("backfill", rapidjson::Value(identity.backfill_id, allocator), allocator);
  ours.AddMember("attempt", identity.attempt, allocator);
  ours.AddMember("nonce", rapidjson::Value(identity.nonce, allocator), allocator);
  rapidjson::Pointer(absl::StrCat("/context/", kContextMember)).Set(task, ours);
  rapidjson::Pointer("/id").Set(task, rapidjson::Value(identity.task_id, allocator));
}

}  // namespace

std::string Unit::key() const {
  std::string key;
  for (const Interval& interval : intervals) {
    absl::StrAppend(&key, key.empty() ? "" : ",", interval.ToString());
  }
  return key;
}

absl::StatusOr<Cut> CutIntoUnits(const Spec& spec, int64_t max_unit_partitions) {
  Cut cut;
  std::vector<Interval> partitions = AllPartitions(spec);
  const size_t count = partitions.size();
  if (spec.sql) {
    for (const Interval& partition : partitions) cut.units.push_back(UnitOf({partition}));
  } else if (spec.narrows) {
    cut.units = CutByInput(spec, partitions);
  } else {
    cut.units.push_back(UnitOf(std::move(partitions)));
  }
  for (const Unit& unit : cut.units) {
    if (static_cast<int64_t>(unit.partitions.size()) > max_unit_partitions) {
      return UnitTooLarge(unit.partitions.size(), max_unit_partitions);
    }
  }
  Explain(spec, count, &cut);
  return cut;
}

std::string RenderTask(const std::string& spec_json, const Unit& unit, const TaskIdentity& identity,
                       const std::vector<SourceRead>& reads) {
  rapidjson::Document task;
  task.Parse(spec_json);
  if (rapidjson::Value* source = rapidjson::Pointer(kSource).Get(task)) {
    NarrowTexts(*source, unit.hull(), task.GetAllocator());
    Redirect(*source, reads, task.GetAllocator());
  }
  if (rapidjson::Value* filter = rapidjson::Pointer(kFilter).Get(task)) {
    NarrowTexts(*filter, unit.hull(), task.GetAllocator());
  }
  if (rapidjson::Value* missing = rapidjson::Pointer(kMissingTime).Get(task)) {
    NarrowTexts(*missing, unit.hull(), task.GetAllocator());
  }
  SetIntervals(task, unit);
  SetIdentity(task, identity);
  return WriteJson(task);
}

std::string NonceIn(const std::string& context_member_json) {
  rapidjson::Document member;
  member.Parse(context_member_json);
  if (member.HasParseError() || !member.IsObject()) return "";
  const auto nonce = member.FindMember("nonce");
  if (nonce == member.MemberEnd() || !nonce->value.IsString()) return "";
  return nonce->value.GetString();
}

}  // namespace interlock::backfill
