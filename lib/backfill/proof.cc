#include "lib/backfill/proof.h"

#include "lib/backfill/json_document.h"

namespace interlock::backfill {
namespace {

using Value = rapidjson::Value;
using Allocator = rapidjson::Document::AllocatorType;

// Writes members into one object.
class Out {
 public:
  Out() : document_(rapidjson::kObjectType) {}

  Allocator& allocator() { return document_.GetAllocator(); }
  void Put(const char* name, Value value) {
    document_.AddMember(rapidjson::StringRef(name), value, allocator());
  }
  void Text(const char* name, const std::string& text) {
    if (!text.empty()) Put(name, Value(text, allocator()));
  }
  void Texts(const char* name, const std::vector<std::string>& texts) {
    if (!texts.empty()) Put(name, List(texts));
  }
  void At(const char* name, Instant instant) { Put(name, Value(instant.millis())); }
  template <class T>
  void Maybe(const char* name, const std::optional<T>& value) {
    if (value) Put(name, Value(*value));
  }
  Value List(const std::vector<std::string>& texts) {
    Value list(rapidjson::kArrayType);
    for (const std::string& text : texts) list.PushBack(Value(text, allocator()), allocator());
    return list;
  }
  std::string ToString() const { return WriteJson(document_); }

 private:
  rapidjson::Document document_;
};

const Value* Find(const Value& object, const char* name) {
  if (!object.IsObject()) return nullptr;
  const auto it = object.FindMember(name);
  return it == object.MemberEnd() ? nullptr : &it->value;
}

std::string TextIn(const Value& object, const char* name) {
  const Value* value = Find(object, name);
  return value != nullptr && value->IsString() ? value->GetString() : "";
}

int64_t NumberIn(const Value& object, const char* name) {
  const Value* value = Find(object, name);
  return value != nullptr && value->IsInt64() ? value->GetInt64() : 0;
}

std::optional<int64_t> MaybeNumber(const Value& object, const char* name) {
  const Value* value = Find(object, name);
  if (value == nullptr || !value->IsInt64()) return std::nullopt;
  return value->GetInt64();
}

std::optional<double> MaybeDouble(const Value& object, const char* name) {
  const Value* value = Find(object, name);
  if (value == nullptr || !value->IsNumber()) return std::nullopt;
  return value->GetDouble();
}

template <class Visit>
void ForEach(const Value& object, const char* name, const Visit& visit) {
  const Value* list = Find(object, name);
  if (list == nullptr || !list->IsArray()) return;
  for (const Value& element : list->GetArray()) visit(element);
}

std::vector<std::string> TextsIn(const Value& object, const char* name) {
  std::vector<std::string> texts;
  ForEach(object, name, [&](const Value& value) {
    if (value.IsString()) texts.emplace_back(value.GetString());
  });
  return texts;
}

Interval IntervalIn(const Value& object, const char* name) {
  const auto interval = Interval::Parse(TextIn(object, name));
  return interval.ok() ? *interval : Interval();
}

Value PartitionsBefore(const BeforeLook& look, Out& out) {
  Value list(rapidjson::kArrayType);
  for (const PartitionBefore& before : look.partitions) {
    Value one(rapidjson::kObjectType);
    one.AddMember("partition", Value(before.partition.ToString(), out.allocator()),
                  out.allocator());
    one.AddMember("versions", out.List(before.versions), out.allocator());
    one.AddMember("had_rows", before.had_rows, out.allocator());
    list.PushBack(one, out.allocator());
  }
  return list;
}

Value NeighbourSegments(const BeforeLook& look, Out& out) {
  Value list(rapidjson::kArrayType);
  for (const verify::SeenSegment& segment : look.neighbour_segments) {
    Value one(rapidjson::kObjectType);
    one.AddMember("id", Value(segment.id, out.allocator()), out.allocator());
    one.AddMember("interval", Value(segment.interval.ToString(), out.allocator()), out.allocator());
    list.PushBack(one, out.allocator());
  }
  return list;
}

Value RowsOf(const TaskRows& rows, Allocator& allocator) {
  Value one(rapidjson::kObjectType);
  one.AddMember("processed", rows.processed, allocator);
  one.AddMember("processed_with_error", rows.processed_with_error, allocator);
  one.AddMember("thrown_away", rows.thrown_away, allocator);
  one.AddMember("unparseable", rows.unparseable, allocator);
  return one;
}

bool ParseObject(const std::string& json, rapidjson::Document* document) {
  document->Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag>(json);
  return !document->HasParseError() && document->IsObject();
}

}  // namespace

std::string ToJson(const BeforeLook& look) {
  Out out;
  out.At("taken", look.taken);
  out.Texts("used", look.used);
  out.Put("partitions", PartitionsBefore(look, out));
  std::vector<std::string> neighbours;
  for (const Interval& interval : look.neighbours) neighbours.push_back(interval.ToString());
  out.Texts("neighbours", neighbours);
  out.Put("neighbour_segments", NeighbourSegments(look, out));
  out.Text("neighbour_digest", look.neighbour_digest);
  Value sums(rapidjson::kArrayType);
  for (const double sum : look.source_sums) sums.PushBack(sum, out.allocator());
  out.Put("source_sums", std::move(sums));
  return out.ToString();
}

std::optional<BeforeLook> BeforeLookFrom(const std::string& json) {
  rapidjson::Document document;
  if (!ParseObject(json, &document)) return std::nullopt;
  BeforeLook look;
  look.taken = Instant::FromMillis(NumberIn(document, "taken"));
  look.used = TextsIn(document, "used");
  ForEach(document, "partitions", [&](const Value& one) {
    PartitionBefore before;
    before.partition = IntervalIn(one, "partition");
    before.versions = TextsIn(one, "versions");
    const Value* had = Find(one, "had_rows");
    before.had_rows = had != nullptr && had->IsTrue();
    look.partitions.push_back(std::move(before));
  });
  for (const std::string& text : TextsIn(document, "neighbours")) {
    if (const auto interval = Interval::Parse(text); interval.ok()) {
      look.neighbours.push_back(*interval);
    }
  }
  ForEach(document, "neighbour_segments", [&](const Value& one) {
    look.neighbour_segments.push_back({TextIn(one, "id"), IntervalIn(one, "interval")});
  });
  look.neighbour_digest = TextIn(document, "neighbour_digest");
  ForEach(document, "source_sums", [&](const Value& sum) {
    if (sum.IsNumber()) look.source_sums.push_back(sum.GetDouble());
  });
  return look;
}

std::string ToJson(const Proof& proof) {
  Out out;
  out.Text("level", proof.level);
  out.Text("task_id", proof.task_id);
  out.Text("version", proof.version);
  out.Text("attribution", proof.attribution);
  out.Texts("versions_before", proof.versions_before);
  out.Put("segments", Value(proof.segments));
  out.Maybe("rows", proof.rows);
  out.Maybe("stored_rows", proof.stored_rows);
  out.Text("row_rule", proof.row_rule);
  out.Maybe("rows_expected", proof.rows_expected);
  out.Maybe("rows_found", proof.rows_found);
  if (proof.task_rows) out.Put("task_rows", RowsOf(*proof.task_rows, out.allocator()));
  out.Text("neighbours_before", proof.neighbours_before);
  out.Text("neighbours_after", proof.neighbours_after);
  out.Texts("neighbour_changes", proof.neighbour_changes);
  out.At("snapshot", proof.snapshot);
  out.Texts("notes", proof.notes);
  out.Text("accepted_by", proof.accepted_by);
  out.Text("accept_reason", proof.accept_reason);
  return out.ToString();
}

std::optional<Proof> ProofFrom(const std::string& json) {
  rapidjson::Document document;
  if (!ParseObject(json, &document)) return std::nullopt;
  Proof proof;
  proof.level = TextIn(document, "level");
  proof.task_id = TextIn(document, "task_id");
  proof.version = TextIn(document, "version");
  proof.attribution = TextIn(document, "attribution");
  proof.versions_before = TextsIn(document, "versions_before");
  proof.segments = NumberIn(document, "segments");
  proof.rows = MaybeNumber(document, "rows");
  proof.stored_rows = MaybeNumber(document, "stored_rows");
  proof.row_rule = TextIn(document, "row_rule");
  proof.rows_expected = MaybeDouble(document, "rows_expected");
  proof.rows_found = MaybeDouble(document, "rows_found");
  if (const Value* rows = Find(document, "task_rows")) {
    proof.task_rows =
        TaskRows{NumberIn(*rows, "processed"), NumberIn(*rows, "processed_with_error"),
                 NumberIn(*rows, "thrown_away"), NumberIn(*rows, "unparseable")};
  }
  proof.neighbours_before = TextIn(document, "neighbours_before");
  proof.neighbours_after = TextIn(document, "neighbours_after");
  proof.neighbour_changes = TextsIn(document, "neighbour_changes");
  proof.snapshot = Instant::FromMillis(NumberIn(document, "snapshot"));
  proof.notes = TextsIn(document, "notes");
  proof.accepted_by = TextIn(document, "accepted_by");
  proof.accept_reason = TextIn(document, "accept_reason");
  return proof;
}

}  // namespace interlock::backfill
