#include "lib/backfill/sources.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/backfill/job_errors.h"
#include "lib/backfill/json_members.h"
#include "lib/druid/task_id.h"
#include "lib/time/interval_set.h"
#include "rapidjson/pointer.h"

namespace interlock::backfill {
namespace {

constexpr const char* kMappings[] = {"SAME", "COVERING", "FROM_START"};
constexpr char kInput[] = "/spec/ioConfig/inputSource";
constexpr char kMissingValue[] = "/spec/dataSchema/timestampSpec/missingValue";
constexpr char kTransform[] = "/spec/dataSchema/transformSpec";

Source::Mapping MappingOf(const std::string& name) {
  for (size_t i = 0; i < std::size(kMappings); ++i) {
    if (name == kMappings[i]) return static_cast<Source::Mapping>(i);
  }
  return Source::Mapping::kFromStart;  // the one that recomputes most
}

// Datasources that the spec's input reads by the interval of the unit.
void DruidSourcesIn(const JsonValue& value, std::set<std::string>* names) {
  if (value.IsArray()) {
    for (const JsonValue& element : value.GetArray()) DruidSourcesIn(element, names);
  }
  if (!value.IsObject()) return;
  if (TextIn(value, "type") == "druid" && MemberOf(value, "interval") != nullptr) {
    names->insert(TextIn(value, "dataSource"));
  }
  for (const auto& member : value.GetObject()) DruidSourcesIn(member.value, names);
}

class SourcesCheck {
 public:
  SourcesCheck(const std::string& work, bool sql) : sql_(sql) {
    if (sql || !ReadJsonObject(work, &work_)) return;
    if (const JsonValue* input = rapidjson::Pointer(kInput).Get(work_)) {
      DruidSourcesIn(*input, &read_);
    }
  }

  void Check(const Source& source, const std::string& at) {
    if (absl::Status named = druid::ValidateDruidName("datasource", source.datasource);
        !named.ok()) {
      Fault(at + "/datasource", std::string(named.message()), "name a datasource");
    } else if (!seen_.insert(source.datasource).second) {
      Fault(at + "/datasource", "is there twice", "name each source once");
    }
    CheckMapping(source, at);
    if (source.reads != Source::Reads::kCorrected) return;
    if (sql_) {
      Fault(at + "/reads", "is CORRECTED, and a query names its tables itself",
            absl::StrCat("read ", source.corrections_datasource,
                         " in the query too, and name it as a source of its own"));
    } else if (source.mapping != Source::Mapping::kSame) {
      Fault(at + "/reads",
            "is CORRECTED with another mapping than SAME, and Druid reads no two datasources in "
            "one task",
            "derive a table with SAME and CORRECTED, and this one from that");
    } else if (read_.count(source.datasource) == 0) {
      Fault(at + "/reads",
            absl::StrCat("is CORRECTED, and the spec has no druid input source with an interval "
                         "of ",
                         source.datasource),
            "corrected partitions are put in the place of such a source");
    }
  }

  std::vector<interlock::Fault> faults;

 private:
  void Fault(std::string pointer, std::string found, std::string would_do) {
    faults.push_back({std::move(pointer), std::move(found), std::move(would_do)});
  }

  void CheckMapping(const Source& source, const std::string& at) {
    if (source.mapping != Source::Mapping::kFromStart) {
      if (source.origin) Fault(at + "/origin", "is there without FROM_START", "take it out");
      return;
    }
    if (!source.origin) {
      Fault(at + "/origin", "is missing", "say where the running total begins");
    }
    if (sql_) return;  // it says itself what it reads
    if (read_.count(source.datasource) == 0) {
      Fault(at + "/mapping",
            absl::StrCat("is FROM_START, and the spec has no druid input source with an interval "
                         "of ",
                         source.datasource),
            "read it so, or write the job as a query");
    }
    if (rapidjson::Pointer(kMissingValue).Get(work_) == nullptr &&
        rapidjson::Pointer(kTransform).Get(work_) == nullptr) {
      Fault(
          at + "/mapping",
          "is FROM_START, and rows keep their own time: those before the unit would be thrown "
          "away",
          R"(give timestampSpec {"column":"at","missingValue":"{start}"}, where no column "at" is)");
    }
  }

  const bool sql_;
  rapidjson::Document work_;
  std::set<std::string> read_, seen_;
};

}  // namespace

Interval ReadBy(const Source& source, const Interval& unit) {
  if (source.mapping != Source::Mapping::kFromStart || !source.origin) return unit;
  return *Interval::Of(std::min(*source.origin, unit.start()), unit.end());
}

std::vector<Interval> TouchedBy(const Source& source, const Interval& changed,
                                const Granularity& derived, Instant end) {
  Interval all = changed;
  if (source.mapping == Source::Mapping::kFromStart) {
    if (source.origin && changed.end() <= *source.origin) return {};
    const Instant from =
        source.origin ? std::max(changed.start(), *source.origin) : changed.start();
    all = *Interval::Of(from, std::max(changed.end(), end));
  }
  return Condense({derived.Widen(all)});
}

std::set<std::string> AncestorsOf(const Derivations& derivations, const std::string& target) {
  std::set<std::string> found;
  std::vector<std::string> todo = {target};
  while (!todo.empty()) {
    const auto known = derivations.find(todo.back());
    todo.pop_back();
    if (known == derivations.end()) continue;
    for (const std::string& source : known->second) {
      if (found.insert(source).second) todo.push_back(source);
    }
  }
  return found;
}

std::string CycleFrom(const Derivations& derivations, const std::string& target) {
  std::map<std::string, std::string> reached_by;  // a datasource → what is derived from it
  std::vector<std::string> todo = {target};
  while (!todo.empty()) {
    const std::string one = todo.back();
    todo.pop_back();
    const auto known = derivations.find(one);
    if (known == derivations.end()) continue;
    for (const std::string& source : known->second) {
      if (!reached_by.insert({source, one}).second) continue;
      if (source != target) {
        todo.push_back(source);
        continue;
      }
      std::string way = target;
      for (std::string at = one; at != target; at = reached_by[at])
        way = absl::StrCat(at, " ← ", way);
      return absl::StrCat(target, " ← ", way);
    }
  }
  return "";
}

std::string ToJson(const std::vector<Source>& sources) {
  if (sources.empty()) return "";
  JsonWriter out;
  JsonValue list(rapidjson::kArrayType);
  for (const Source& source : sources) {
    JsonValue one(rapidjson::kObjectType);
    one.AddMember("datasource", out.Copy(source.datasource), out.allocator());
    one.AddMember("mapping", out.Copy(kMappings[static_cast<size_t>(source.mapping)]),
                  out.allocator());
    if (source.reads == Source::Reads::kCorrected) {
      one.AddMember("corrections", out.Copy(source.corrections_datasource), out.allocator());
    }
    if (source.origin) one.AddMember("origin", source.origin->millis(), out.allocator());
    list.PushBack(one, out.allocator());
  }
  out.Put("sources", std::move(list));
  return out.ToString();
}

std::vector<Source> SourcesFrom(const std::string& json) {
  std::vector<Source> sources;
  rapidjson::Document document;
  if (!ReadJsonObject(json, &document)) return sources;
  ForEachIn(document, "sources", [&](const JsonValue& one) {
    Source source;
    source.datasource = TextIn(one, "datasource");
    source.mapping = MappingOf(TextIn(one, "mapping"));
    source.corrections_datasource = TextIn(one, "corrections");
    if (!source.corrections_datasource.empty()) source.reads = Source::Reads::kCorrected;
    if (const auto origin = NumberIn(one, "origin")) source.origin = Instant::FromMillis(*origin);
    sources.push_back(std::move(source));
  });
  return sources;
}

absl::Status CheckSources(const std::vector<Source>& sources, const std::string& work, bool sql) {
  SourcesCheck check(work, sql);
  if (sources.size() > kMaxSources) {
    check.faults.push_back({"/job/sources", absl::StrCat("has ", sources.size(), " sources"),
                            absl::StrCat("at most ", kMaxSources)});
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    check.Check(sources[i], absl::StrCat("/job/sources/", i));
  }
  return check.faults.empty() ? absl::OkStatus() : SourcesInvalid(check.faults);
}

}  // namespace interlock::backfill
