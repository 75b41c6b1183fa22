#include "lib/backfill/proof.h"

#include "lib/backfill/json_members.h"

namespace interlock::backfill {
namespace {

using Value = JsonValue;

Value PartitionsBefore(const BeforeLook& look, JsonWriter& out) {
  Value list(rapidjson::kArrayType);
  for (const PartitionBefore& before : look.partitions) {
    Value one(rapidjson::kObjectType);
    one.AddMember("partition", Value(before.partition.ToString(), out.allocator()),
                  out.allocator());
    one.AddMember("versions", out.List(before.versions), out.allocator());
    one.AddMember("had_rows", before.had_rows, out.allocator());
    one.AddMember("segments", out.List(before.segments), out.allocator());
    list.PushBack(one, out.allocator());
  }
  return list;
}

Value NeighbourSegments(const BeforeLook& look, JsonWriter& out) {
  Value list(rapidjson::kArrayType);
  for (const verify::SeenSegment& segment : look.neighbour_segments) {
    Value one(rapidjson::kObjectType);
    one.AddMember("id", Value(segment.id, out.allocator()), out.allocator());
    one.AddMember("interval", Value(segment.interval.ToString(), out.allocator()), out.allocator());
    list.PushBack(one, out.allocator());
  }
  return list;
}

Value ReadsOf(const BeforeLook& look, JsonWriter& out) {
  Value list(rapidjson::kArrayType);
  for (const SourceRead& read : look.reads) {
    Value one(rapidjson::kObjectType);
    const auto text = [&](const char* name, const std::string& value) {
      one.AddMember(rapidjson::StringRef(name), out.Copy(value), out.allocator());
    };
    text("datasource", read.datasource);
    text("interval", read.interval.ToString());
    text("corrections", read.corrections_datasource);
    text("digest", read.digest);
    one.AddMember("segments", read.segments, out.allocator());
    one.AddMember("ids", out.List(read.ids), out.allocator());
    std::vector<std::string> corrected;
    for (const Interval& interval : read.corrected) corrected.push_back(interval.ToString());
    one.AddMember("corrected", out.List(corrected), out.allocator());
    list.PushBack(one, out.allocator());
  }
  return list;
}

SourceRead ReadOf(const Value& one) {
  SourceRead read;
  read.datasource = TextIn(one, "datasource");
  read.interval = IntervalIn(one, "interval");
  read.corrections_datasource = TextIn(one, "corrections");
  read.digest = TextIn(one, "digest");
  read.segments = NumberIn(one, "segments").value_or(0);
  read.ids = TextsIn(one, "ids");
  for (const std::string& text : TextsIn(one, "corrected")) {
    if (const auto interval = Interval::Parse(text); interval.ok()) {
      read.corrected.push_back(*interval);
    }
  }
  return read;
}

Value RowsOf(const TaskRows& rows, rapidjson::Document::AllocatorType& allocator) {
  Value one(rapidjson::kObjectType);
  one.AddMember("processed", rows.processed, allocator);
  one.AddMember("processed_with_error", rows.processed_with_error, allocator);
  one.AddMember("thrown_away", rows.thrown_away, allocator);
  one.AddMember("unparseable", rows.unparseable, allocator);
  one.AddMember("segments_published", rows.segments_published, allocator);
  return one;
}

Value ComparedOf(const std::vector<Compared>& all, JsonWriter& out) {
  Value list(rapidjson::kArrayType);
  for (const Compared& compared : all) {
    Value one(rapidjson::kObjectType);
    one.AddMember("measure", out.Copy(compared.measure), out.allocator());
    one.AddMember("expected", compared.expected, out.allocator());
    one.AddMember("found", compared.found, out.allocator());
    if (compared.by_twin) one.AddMember("by_twin", true, out.allocator());
    list.PushBack(one, out.allocator());
  }
  return list;
}

Value ChangesOf(const std::vector<verify::NeighbourChange>& changes, JsonWriter& out) {
  Value list(rapidjson::kArrayType);
  for (const verify::NeighbourChange& change : changes) {
    Value one(rapidjson::kObjectType);
    const auto text = [&](const char* name, const std::string& value) {
      if (value.empty()) return;
      one.AddMember(rapidjson::StringRef(name), out.Copy(value), out.allocator());
    };
    text("interval", change.interval.ToString());
    const auto cause = verify::NameOf(change.cause);
    text("cause", std::string(cause.data(), cause.size()));
    text("before", change.version_before);
    text("after", change.version_after);
    text("to", change.attributed_to);
    list.PushBack(one, out.allocator());
  }
  return list;
}

}  // namespace

TaskRows RowsIn(const druid::TaskReport& report) {
  return {report.processed, report.processed_with_error, report.thrown_away, report.unparseable,
          report.segments_published.value_or(0)};
}

std::string ToJson(const BeforeLook& look) {
  JsonWriter out;
  out.Number("taken", look.taken.millis());
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
  if (!look.reads.empty()) out.Put("reads", ReadsOf(look, out));
  return out.ToString();
}

std::optional<BeforeLook> BeforeLookFrom(const std::string& json) {
  rapidjson::Document document;
  if (!ReadJsonObject(json, &document)) return std::nullopt;
  BeforeLook look;
  look.taken = Instant::FromMillis(NumberIn(document, "taken").value_or(0));
  look.used = TextsIn(document, "used");
  ForEachIn(document, "partitions", [&](const Value& one) {
    PartitionBefore before;
    before.partition = IntervalIn(one, "partition");
    before.versions = TextsIn(one, "versions");
    before.segments = TextsIn(one, "segments");
    const Value* had = MemberOf(one, "had_rows");
    before.had_rows = had != nullptr && had->IsTrue();
    look.partitions.push_back(std::move(before));
  });
  for (const std::string& text : TextsIn(document, "neighbours")) {
    if (const auto interval = Interval::Parse(text); interval.ok()) {
      look.neighbours.push_back(*interval);
    }
  }
  ForEachIn(document, "neighbour_segments", [&](const Value& one) {
    look.neighbour_segments.push_back({TextIn(one, "id"), IntervalIn(one, "interval")});
  });
  look.neighbour_digest = TextIn(document, "neighbour_digest");
  ForEachIn(document, "source_sums", [&](const Value& sum) {
    if (sum.IsNumber()) look.source_sums.push_back(sum.GetDouble());
  });
  ForEachIn(document, "reads", [&](const Value& one) { look.reads.push_back(ReadOf(one)); });
  return look;
}

std::string ToJson(const Proof& proof) {
  JsonWriter out;
  out.Text("level", proof.level);
  out.Text("task_id", proof.task_id);
  out.Text("version", proof.version);
  out.Text("attribution", proof.attribution);
  out.Texts("versions_before", proof.versions_before);
  out.Number("segments", proof.segments);
  out.Texts("segment_ids", proof.segment_ids);
  out.Maybe("rows", proof.rows);
  out.Maybe("stored_rows", proof.stored_rows);
  out.Text("row_rule", proof.row_rule);
  out.Maybe("rows_expected", proof.rows_expected);
  out.Maybe("rows_found", proof.rows_found);
  out.Put("compared", ComparedOf(proof.compared, out));
  if (proof.task_rows) out.Put("task_rows", RowsOf(*proof.task_rows, out.allocator()));
  out.Text("neighbours_before", proof.neighbours_before);
  out.Text("neighbours_after", proof.neighbours_after);
  out.Texts("neighbour_changes", proof.neighbour_changes);
  if (!proof.changes.empty()) out.Put("changes", ChangesOf(proof.changes, out));
  out.Number("snapshot", proof.snapshot.millis());
  out.Texts("notes", proof.notes);
  out.Text("accepted_by", proof.accepted_by);
  out.Text("accept_reason", proof.accept_reason);
  out.Maybe("gap_ms", proof.gap_ms);
  return out.ToString();
}

std::optional<Proof> ProofFrom(const std::string& json) {
  rapidjson::Document document;
  if (!ReadJsonObject(json, &document)) return std::nullopt;
  Proof proof;
  proof.level = TextIn(document, "level");
  proof.task_id = TextIn(document, "task_id");
  proof.version = TextIn(document, "version");
  proof.attribution = TextIn(document, "attribution");
  proof.versions_before = TextsIn(document, "versions_before");
  proof.segments = NumberIn(document, "segments").value_or(0);
  proof.segment_ids = TextsIn(document, "segment_ids");
  proof.rows = NumberIn(document, "rows");
  proof.stored_rows = NumberIn(document, "stored_rows");
  proof.row_rule = TextIn(document, "row_rule");
  proof.rows_expected = DoubleIn(document, "rows_expected");
  proof.rows_found = DoubleIn(document, "rows_found");
  ForEachIn(document, "compared", [&](const Value& one) {
    proof.compared.push_back({TextIn(one, "measure"), DoubleIn(one, "expected").value_or(0),
                              DoubleIn(one, "found").value_or(0),
                              MemberOf(one, "by_twin") != nullptr});
  });
  if (const Value* rows = MemberOf(document, "task_rows")) {
    const auto count = [&](const char* name) { return NumberIn(*rows, name).value_or(0); };
    proof.task_rows =
        TaskRows{count("processed"), count("processed_with_error"), count("thrown_away"),
                 count("unparseable"), count("segments_published")};
  }
  proof.neighbours_before = TextIn(document, "neighbours_before");
  proof.neighbours_after = TextIn(document, "neighbours_after");
  proof.neighbour_changes = TextsIn(document, "neighbour_changes");
  ForEachIn(document, "changes", [&](const Value& one) {
    proof.changes.push_back({IntervalIn(one, "interval"), verify::CauseOf(TextIn(one, "cause")),
                             TextIn(one, "before"), TextIn(one, "after"), TextIn(one, "to")});
  });
  proof.snapshot = Instant::FromMillis(NumberIn(document, "snapshot").value_or(0));
  proof.notes = TextsIn(document, "notes");
  proof.accepted_by = TextIn(document, "accepted_by");
  proof.accept_reason = TextIn(document, "accept_reason");
  proof.gap_ms = NumberIn(document, "gap_ms");
  return proof;
}

}  // namespace interlock::backfill
