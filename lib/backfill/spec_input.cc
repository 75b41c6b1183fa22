#include "lib/backfill/spec_input.h"

#include <algorithm>
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/backfill/path_time.h"
#include "lib/backfill/placeholder.h"
#include "lib/backfill/spec_members.h"
#include "lib/time/interval_set.h"

namespace interlock::backfill {
namespace {

constexpr char kType[] = "index_parallel";

// Objects in a store, named in one of three ways.
constexpr std::array<absl::string_view, 5> kObjectStores = {"s3", "google", "azure", "azureStorage",
                                                            "oss"};
// The other input sources of Druid and its extensions that read raw rows.
constexpr std::array<absl::string_view, 5> kOtherSources = {"local", "http", "hdfs", "inline",
                                                            "combining"};
// Tables that bring their own schema: no inputFormat.
constexpr std::array<absl::string_view, 3> kTableSources = {"sql", "delta", "iceberg"};

template <size_t N>
bool IsOneOf(absl::string_view name, const std::array<absl::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// What people write for a source that Druid calls otherwise.
std::string MeantSource(absl::string_view name) {
  if (name == "gs" || name == "gcs") return "google";
  if (name == "file") return "local";
  if (name == "https") return "http";
  std::vector<absl::string_view> known{"druid"};
  known.insert(known.end(), kObjectStores.begin(), kObjectStores.end());
  known.insert(known.end(), kOtherSources.begin(), kOtherSources.end());
  known.insert(known.end(), kTableSources.begin(), kTableSources.end());
  return LikelyMeant(name, known);
}

bool IsEmpty(const Node& node) {
  return !node.present() || (node.is_array() && node.size() == 0) ||
         (node.is_string() && node.value()->GetStringLength() == 0);
}

// Exactly one of `names` may be there, and something in it.
void CheckOneOf(const Node& source, std::initializer_list<const char*> names) {
  std::string first;
  for (const char* name : names) {
    const Node node = source.At(name);
    if (!node.present()) continue;
    if (!first.empty()) {
      node.Fault(absl::StrCat("is given beside ", first, "; Druid takes one of them"),
                 absl::StrCat("keep ", first, " or this"));
    }
    first = name;
    if (IsEmpty(node)) node.Fault("is empty: nothing would be read", "name what to read");
  }
  if (first.empty()) {
    std::string list;
    for (const char* name : names) absl::StrAppend(&list, list.empty() ? "" : ", ", name);
    source.Fault("names nothing to read", absl::StrCat("give one of: ", list));
  }
}

void CheckLocal(const Node& source) {
  const Node dir = source.At("baseDir");
  if (dir.present()) {
    dir.RequiredString("name the folder");
    source.At("filter").RequiredString("give a pattern of file names, e.g. \"*.json\"");
    if (source.At("files").present()) {
      source.At("files").Fault("is given beside baseDir; Druid takes one of them", "keep one");
    }
    return;
  }
  if (IsEmpty(source.At("files"))) {
    source.Fault("names nothing to read", "give baseDir and filter, or files");
  } else {
    source.At("files").Strings();
  }
}

Interval Hull(const std::vector<Interval>& condensed) {
  return *Interval::Of(condensed.front().start(), condensed.back().end());
}

constexpr size_t kMaxShownPath = 200;

void Outside(const Node& node, std::string found, std::string would_do) {
  node.findings()->Add({node.pointer(), std::move(found), std::move(would_do), std::nullopt, true});
}

class InputCheck {
 public:
  InputCheck(const std::string& datasource, const Granularities& granularities)
      : datasource_(datasource), granularities_(granularities) {}

  // Checks one source; true when what it reads needs an inputFormat.
  bool CheckSource(const Node& source, bool combined);
  void CheckTexts(const Node& source);
  Input input;

 private:
  void CheckDruid(const Node& source, bool combined);
  void CheckDruidInterval(const Node& node);
  void CheckText(const Node& text);
  void CheckPath(const Node& node, const Template& path);
  bool CheckCombining(const Node& source);

  const std::string& datasource_;
  const Granularities& granularities_;
};

bool InputCheck::CheckSource(const Node& source, bool combined) {
  if (!source.RequiredObject("e.g. {\"type\":\"s3\",\"prefixes\":[…]}")) return false;
  const Node type_node = source.At("type");
  const auto type = type_node.RequiredString("e.g. s3, local, http or druid");
  if (!type) return false;
  if (*type == "druid") {
    CheckDruid(source, combined);
    return false;
  }
  if (*type == "combining") return CheckCombining(source);
  if (*type == "inline") {
    source.At("data").RequiredString("Druid refuses empty data");
    input.splits = false;
    input.is_inline = true;
    return true;
  }
  if (*type == "local") {
    CheckLocal(source);
    return true;
  }
  if (*type == "http") {
    CheckOneOf(source, {"uris"});
    return true;
  }
  if (*type == "hdfs") {
    CheckOneOf(source, {"paths"});
    return true;
  }
  if (IsOneOf(*type, kObjectStores)) {
    CheckOneOf(source, {"uris", "prefixes", "objects"});
    return true;
  }
  if (*type == "sql") CheckOneOf(source, {"sqls"});
  if (IsOneOf(*type, kTableSources)) return false;
  if (const std::string meant = MeantSource(*type); !meant.empty()) {
    type_node.Fault(absl::StrCat("is ", type_node.Found(), ", no input source of Druid's"),
                    absl::StrCat("write \"", meant, "\""), JsonQuoted(meant));
  } else {
    type_node.Warn(
        absl::StrCat("is ", type_node.Found(), ", an input source that is not known here"),
        "what it reads can't be checked; make sure that your Druid has its extension");
  }
  return false;
}

bool InputCheck::CheckCombining(const Node& source) {
  const Node delegates = source.At("delegates");
  if (IsEmpty(delegates)) {
    delegates.Fault("is empty: nothing would be read", "list the input sources to combine");
    return false;
  }
  bool raw = false;
  for (const Node& delegate : delegates.Elements()) {
    raw = CheckSource(delegate, delegates.size() > 1) || raw;
    if (delegate.At("type").is_string() && *delegate.At("type").String() == "inline") {
      delegate.Fault("is inline; Druid combines only sources that it can split",
                     "put the rows into a file");
    }
  }
  return raw;
}

void InputCheck::CheckDruid(const Node& source, bool combined) {
  const auto name = source.At("dataSource").RequiredString("name the datasource to read");
  input.druid_source = name.value_or("");
  const Node interval = source.At("interval");
  const Node segments = source.At("segments");
  input.pinned_segments = segments.present();
  if (interval.present() == segments.present()) {
    source.Fault(interval.present() ? "has an interval and segments; Druid takes one of them"
                                    : "says not what to read",
                 "give an interval (or a list of segments)");
    return;
  }
  if (combined && name && *name == datasource_ && !segments.present()) {
    source.Fault(
        "combines the target's own rows with other input: a second run would read what "
        "the first has added, and add it again",
        "pin what is read by `segments`, or recompute from raw input alone");
  }
  if (interval.present()) CheckDruidInterval(interval);
}

void InputCheck::CheckDruidInterval(const Node& node) {
  const auto text = node.String();
  // Placeholders are checked with those of all other texts.
  if (!text || absl::StrContains(*text, "{")) return;
  const absl::StatusOr<Interval> interval = Interval::Parse(*text);
  if (!interval.ok()) {
    node.Fault(absl::StrCat("is no interval: ", interval.status().message()),
               "write start/end, or {start}/{end}");
    return;
  }
  const std::vector<Interval>& asked = granularities_.asked;
  if (asked.empty()) return;
  const Interval hull = Hull(asked);
  const std::string would_do = absl::StrCat("write ", hull.ToString(), ", or {start}/{end}");
  if (const auto& declared = granularities_.declared;
      !declared.empty() && !Covers({Hull(declared)}, {*interval})) {
    node.Fault(absl::StrCat("reads ", interval->ToString(), ", outside of the intervals ",
                            Hull(declared).ToString()),
               would_do, JsonQuoted(hull.ToString()));
  } else if (!Covers({*interval}, asked)) {
    node.Fault(absl::StrCat("reads only ", interval->ToString(), " of the intervals ",
                            hull.ToString(), ": the rest would be emptied"),
               would_do, JsonQuoted(hull.ToString()));
  }
}

void InputCheck::CheckText(const Node& node) {
  const auto text = node.String();
  if (!text) return;
  const absl::StatusOr<Template> parsed = Template::Parse(*text);
  if (!parsed.ok()) {
    node.Fault(std::string(parsed.status().message()),
               "use {start:%Y-%m-%d}-style placeholders, or no braces");
    return;
  }
  if (!parsed->has_placeholders()) return;
  if (absl::StrContains(*text, "../")) {
    node.Fault("leads outside of its own folder by `..`", "write the path in full");
  }
  const bool both =
      absl::StrContains(node.pointer(), "/sqls/") || absl::EndsWith(node.pointer(), "/interval");
  if (!parsed->uses_start()) {
    Outside(node,
            "names only the unit's end, which is the first moment after it: rows outside of the "
            "unit would be read",
            "use {start:…}, or both");
  } else if (const std::string only = parsed->only_of_end(); !only.empty()) {
    Outside(node,
            absl::StrCat("takes %", only.substr(0, 1),
                         " from the unit's end alone, which is the first moment after it: what "
                         "follows the unit would be read"),
            "take it from {start:…}, or give both");
  } else if (both && !parsed->uses_end()) {
    node.Fault("has no {end}: what is read would have no upper bound", "bound it with {end} too");
  }
  CheckPath(node, *parsed);
}

// A date that was left in the path names the same day for each unit, so the first and the
// last of them tell.
void InputCheck::CheckPath(const Node& node, const Template& path) {
  if (!granularities_.segment || granularities_.intervals.empty()) return;
  const Granularity& segments = *granularities_.segment;
  const Instant start = granularities_.intervals.front().start();
  const Instant last = granularities_.intervals.back().end() - absl::Milliseconds(1);
  for (const Instant instant : {start, last}) {
    const Interval unit = segments.Bucket(instant);
    const std::string rendered = OutsideOf(path, unit);
    if (rendered.empty()) continue;
    Outside(node,
            absl::StrCat("becomes `", rendered.substr(0, kMaxShownPath), "` for ", unit.ToString(),
                         ": another day's input, so that the unit would be emptied"),
            "take the date from {start:…} too");
    return;
  }
}

bool Narrows(const Node& source) {
  const Node type = source.At("type");
  if (type.is_string() && *type.String() == "combining") {
    bool all = source.At("delegates").size() > 0;
    for (const Node& delegate : source.At("delegates").Elements()) all = all && Narrows(delegate);
    return all;
  }
  if (type.is_string() && *type.String() == "druid") return source.At("interval").present();
  bool found = false;
  ForEachInputText(source, [&found](const Node& text) {
    const auto parsed = Template::Parse(*text.String());
    found = found || (parsed.ok() && parsed->has_placeholders());
  });
  return found;
}

void InputCheck::CheckTexts(const Node& source) {
  ForEachInputText(source, [this](const Node& text) { CheckText(text); });
}

void CheckReplaces(const Node& io, Input* input) {
  const Node append = io.At("appendToExisting");
  input->appends = append.Bool().value_or(false);
  if (input->appends) {
    append.Fault("is true: a second run would add its rows again, under the same version",
                 "set it to false", "false");
  }
  const Node drop = io.At("dropExisting");
  if (!drop.present() || drop.value()->IsFalse()) {
    drop.Fault(absl::StrCat(drop.present() ? "is false" : "is missing",
                            ": where the input has no rows, or segments are larger, the old rows "
                            "would stay visible"),
               "set it to true", "true");
  } else {
    drop.Bool();
  }
}

void CheckFormat(const Node& io, bool needed) {
  const Node format = io.At("inputFormat");
  if (!needed && !format.present()) return;
  if (!format.RequiredObject("e.g. {\"type\":\"json\"}")) return;
  format.At("type").RequiredString("e.g. json, csv, tsv, parquet, orc, avro_ocf");
}

}  // namespace

Input CheckIoConfig(const Node& io, const std::string& datasource,
                    const Granularities& granularities) {
  InputCheck check(datasource, granularities);
  if (!io.RequiredObject("give type, inputSource, inputFormat, dropExisting")) return check.input;
  CheckMembers(io, Place::kIoConfig);
  const Node type = io.At("type");
  const auto name = type.RequiredString("write \"index_parallel\"");
  if (name && *name != kType) {
    type.Fault(absl::StrCat("is ", type.Found(), " in an index_parallel task"),
               "write \"index_parallel\"", JsonQuoted(kType));
  }
  CheckReplaces(io, &check.input);
  if (io.At("firehose").present()) {
    io.At("firehose").Fault("is the old form of input, gone from Druid", "write an inputSource");
  }
  const Node source = io.At("inputSource");
  const bool raw = check.CheckSource(source, /*combined=*/false);
  check.CheckTexts(source);
  check.input.narrows = Narrows(source);
  CheckFormat(io, raw);
  return check.input;
}

bool HoldsInputText(absl::string_view member) {
  return member != "type" && member != "data" && member != "dataSource" && member != "properties" &&
         member != "database" && !absl::StartsWith(member, "httpAuthentication");
}

void ForEachInputText(const Node& source, const std::function<void(const Node&)>& visit) {
  if (source.is_string()) {
    visit(source);
  } else if (source.is_array()) {
    for (const Node& element : source.Elements()) ForEachInputText(element, visit);
  } else {
    for (const auto& [name, node] : source.Members()) {
      if (HoldsInputText(name)) ForEachInputText(node, visit);
    }
  }
}

}  // namespace interlock::backfill
