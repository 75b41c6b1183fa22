#include "lib/seal/figures_json.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lib/druid/json.h"

namespace interlock::seal {
namespace {

using druid::Member;
using druid::QuoteJson;
using druid::TextMember;
using Json = rapidjson::Value;

// A number keeps its kind: a double always has a point or an exponent.
std::string ToJson(const Value& value) {
  return absl::StrCat("{\"m\":", QuoteJson(value.metric),
                      value.is_double ? absl::StrFormat(",\"d\":%.17g}", value.broken)
                                      : absl::StrCat(",\"w\":", value.whole, "}"));
}

std::string ToJson(const std::optional<Value>& value) {
  return value ? ToJson(*value) : std::string("null");
}

Value ValueFrom(const Json& json) {
  Value value;
  value.metric = TextMember(json, "m");
  if (const Json* broken = Member(json, "d"); broken != nullptr && broken->IsNumber()) {
    value.is_double = true;
    value.broken = broken->GetDouble();
  } else {
    value.whole = druid::IntMember(json, "w").value_or(0);
  }
  return value;
}

std::vector<Value> ValuesIn(const Json* list) {
  std::vector<Value> values;
  if (list == nullptr || !list->IsArray()) return values;
  for (const Json& one : list->GetArray()) values.push_back(ValueFrom(one));
  return values;
}

GroupKey KeyIn(const Json& json) {
  GroupKey key;
  const Json* object = Member(json, "k");
  if (object == nullptr || !object->IsObject()) return key;
  for (const auto& member : object->GetObject()) {
    if (member.value.IsString()) key[member.name.GetString()] = member.value.GetString();
  }
  return key;
}

std::optional<Value> MaybeIn(const Json& json, const char* name) {
  const Json* value = Member(json, name);
  if (value == nullptr) return std::nullopt;
  return ValueFrom(*value);
}

// The elements of a list; none of what is no list.
template <class T, class Read>
std::vector<T> Listed(const std::string& text, const Read& read) {
  std::vector<T> elements;
  rapidjson::Document document;
  std::string why;
  if (!druid::ParseJson(text, &document, &why) || !document.IsArray()) return elements;
  for (const Json& one : document.GetArray()) elements.push_back(read(one));
  return elements;
}

}  // namespace

std::string ToJson(const GroupKey& key) {
  return absl::StrCat("{",
                      absl::StrJoin(key, ",",
                                    [](std::string* out, const auto& member) {
                                      absl::StrAppend(out, QuoteJson(member.first), ":",
                                                      QuoteJson(member.second));
                                    }),
                      "}");
}

std::string ToJson(const std::vector<Value>& values) {
  return absl::StrCat("[",
                      absl::StrJoin(values, ",",
                                    [](std::string* out, const Value& value) {
                                      absl::StrAppend(out, ToJson(value));
                                    }),
                      "]");
}

std::string ToJson(const std::vector<Group>& groups) {
  return absl::StrCat("[",
                      absl::StrJoin(groups, ",",
                                    [](std::string* out, const Group& group) {
                                      absl::StrAppend(out, "{\"k\":", ToJson(group.key),
                                                      ",\"v\":", ToJson(group.values), "}");
                                    }),
                      "]");
}

std::string ToJson(const std::vector<Delta>& deltas) {
  return absl::StrCat("[",
                      absl::StrJoin(deltas, ",",
                                    [](std::string* out, const Delta& delta) {
                                      absl::StrAppend(out, "{\"k\":", ToJson(delta.key),
                                                      ",\"was\":", ToJson(delta.was),
                                                      ",\"is\":", ToJson(delta.is_now),
                                                      ",\"delta\":", ToJson(delta.delta), "}");
                                    }),
                      "]");
}

std::string ToJson(const SnapshotSpec& spec) {
  const auto quoted = [](std::string* out, const std::string& text) {
    absl::StrAppend(out, QuoteJson(text));
  };
  const auto aggregate = [](std::string* out, const Aggregate& one) {
    absl::StrAppend(out, "{\"n\":", QuoteJson(one.name), ",\"e\":", QuoteJson(one.expression), "}");
  };
  return absl::StrCat("{\"dimensions\":[", absl::StrJoin(spec.dimensions, ",", quoted),
                      "],\"aggregates\":[", absl::StrJoin(spec.aggregates, ",", aggregate),
                      "],\"filter\":", QuoteJson(spec.filter), "}");
}

std::vector<Value> ValuesFrom(const std::string& json) { return Listed<Value>(json, ValueFrom); }

std::vector<Group> GroupsFrom(const std::string& json) {
  return Listed<Group>(json, [](const Json& one) {
    return Group{KeyIn(one), ValuesIn(Member(one, "v"))};
  });
}

std::vector<Delta> DeltasFrom(const std::string& json) {
  return Listed<Delta>(json, [](const Json& one) {
    Delta delta;
    delta.key = KeyIn(one);
    delta.was = MaybeIn(one, "was");
    delta.is_now = MaybeIn(one, "is");
    delta.delta = MaybeIn(one, "delta").value_or(Value());
    return delta;
  });
}

SnapshotSpec SnapshotSpecFrom(const std::string& json) {
  SnapshotSpec spec;
  rapidjson::Document document;
  std::string why;
  if (!druid::ParseJson(json, &document, &why) || !document.IsObject()) return spec;
  if (const Json* list = Member(document, "dimensions"); list != nullptr && list->IsArray()) {
    for (const Json& one : list->GetArray()) {
      if (one.IsString()) spec.dimensions.emplace_back(one.GetString());
    }
  }
  if (const Json* list = Member(document, "aggregates"); list != nullptr && list->IsArray()) {
    for (const Json& one : list->GetArray()) {
      spec.aggregates.push_back({TextMember(one, "n"), TextMember(one, "e")});
    }
  }
  spec.filter = TextMember(document, "filter");
  return spec;
}

}  // namespace interlock::seal
