#include "lib/drop/codec.h"

#include <utility>

#include "absl/status/statusor.h"
#include "rapidjson/document.h"
#include "rapidjson/stringbuffer.h"
#include "rapidjson/writer.h"

namespace interlock::drop {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;
using rapidjson::Value;

template <class Body>
std::string Write(Body body) {
  rapidjson::StringBuffer buffer;
  Writer writer(buffer);
  body(writer);
  return std::string(buffer.GetString(), buffer.GetSize());
}

template <class T, class One>
std::string WriteArray(const std::vector<T>& values, One one) {
  return Write([&](Writer& writer) {
    writer.StartArray();
    for (const T& value : values) one(writer, value);
    writer.EndArray();
  });
}

// `one` reads an element into its second argument, or says false.
template <class T, class One>
std::optional<std::vector<T>> ReadArray(const std::string& json, One one) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag>(json);
  if (document.HasParseError() || !document.IsArray()) return std::nullopt;
  std::vector<T> values;
  for (const Value& element : document.GetArray()) {
    T value;
    if (!one(element, value)) return std::nullopt;
    values.push_back(std::move(value));
  }
  return values;
}

bool ReadText(const Value& value, std::string& text) {
  if (!value.IsString()) return false;
  text.assign(value.GetString(), value.GetStringLength());
  return true;
}

bool ReadMember(const Value& object, const char* name, std::string& text) {
  if (!object.IsObject()) return false;
  const auto member = object.FindMember(name);
  return member != object.MemberEnd() && ReadText(member->value, text);
}

bool ReadInterval(const Value& value, Interval& interval) {
  std::string text;
  if (!ReadText(value, text)) return false;
  absl::StatusOr<Interval> parsed = Interval::Parse(text);
  if (!parsed.ok()) return false;
  interval = *parsed;
  return true;
}

void WriteMember(Writer& writer, const char* name, const std::string& text) {
  writer.Key(name);
  writer.String(text);
}

bool ReadSum(const Value& element, druid::RowSums& sum) {
  if (!element.IsObject()) return false;
  const auto interval = element.FindMember("interval");
  const auto rows = element.FindMember("rows");
  const auto sums = element.FindMember("sums");
  const auto end = element.MemberEnd();
  if (interval == end || rows == end || sums == end) return false;
  if (!ReadInterval(interval->value, sum.interval) || !rows->value.IsInt64()) return false;
  if (!sums->value.IsObject()) return false;
  sum.rows = rows->value.GetInt64();
  for (const auto& member : sums->value.GetObject()) {
    if (!member.value.IsNumber()) return false;
    sum.sums[member.name.GetString()] = member.value.GetDouble();
  }
  return true;
}

}  // namespace

std::string EncodeTexts(const std::vector<std::string>& texts) {
  return WriteArray(texts, [](Writer& writer, const std::string& text) { writer.String(text); });
}

std::optional<std::vector<std::string>> DecodeTexts(const std::string& json) {
  return ReadArray<std::string>(json, ReadText);
}

std::string EncodeIntervals(const std::vector<Interval>& intervals) {
  return WriteArray(intervals, [](Writer& writer, const Interval& interval) {
    writer.String(interval.ToString());
  });
}

std::optional<std::vector<Interval>> DecodeIntervals(const std::string& json) {
  return ReadArray<Interval>(json, ReadInterval);
}

std::string EncodeLabels(const std::map<std::string, std::string>& labels) {
  return Write([&](Writer& writer) {
    writer.StartObject();
    for (const auto& [key, value] : labels) WriteMember(writer, key.c_str(), value);
    writer.EndObject();
  });
}

std::optional<std::map<std::string, std::string>> DecodeLabels(const std::string& json) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(json);
  if (document.HasParseError() || !document.IsObject()) return std::nullopt;
  std::map<std::string, std::string> labels;
  for (const auto& member : document.GetObject()) {
    if (!ReadText(member.value, labels[member.name.GetString()])) return std::nullopt;
  }
  return labels;
}

std::string EncodeObjections(const std::vector<Objection>& objections) {
  return WriteArray(objections, [](Writer& writer, const Objection& objection) {
    writer.StartObject();
    WriteMember(writer, "reason", objection.reason);
    WriteMember(writer, "subject", objection.subject);
    WriteMember(writer, "text", objection.text);
    writer.EndObject();
  });
}

std::optional<std::vector<Objection>> DecodeObjections(const std::string& json) {
  return ReadArray<Objection>(json, [](const Value& element, Objection& objection) {
    return ReadMember(element, "reason", objection.reason) &&
           ReadMember(element, "subject", objection.subject) &&
           ReadMember(element, "text", objection.text);
  });
}

std::string EncodeNotes(const std::vector<Note>& notes) {
  return WriteArray(notes, [](Writer& writer, const Note& note) {
    writer.StartObject();
    WriteMember(writer, "reason", note.reason);
    WriteMember(writer, "text", note.text);
    writer.EndObject();
  });
}

std::optional<std::vector<Note>> DecodeNotes(const std::string& json) {
  return ReadArray<Note>(json, [](const Value& element, Note& note) {
    return ReadMember(element, "reason", note.reason) && ReadMember(element, "text", note.text);
  });
}

std::string EncodeSums(const Sums& sums) {
  return WriteArray(sums, [](Writer& writer, const druid::RowSums& sum) {
    writer.StartObject();
    WriteMember(writer, "interval", sum.interval.ToString());
    writer.Key("rows");
    writer.Int64(sum.rows);
    writer.Key("sums");
    writer.StartObject();
    for (const auto& [metric, value] : sum.sums) {
      writer.Key(metric.c_str(), static_cast<rapidjson::SizeType>(metric.size()));
      writer.Double(value);
    }
    writer.EndObject();
    writer.EndObject();
  });
}

std::optional<Sums> DecodeSums(const std::string& json) {
  return ReadArray<druid::RowSums>(json, ReadSum);
}

}  // namespace interlock::drop
