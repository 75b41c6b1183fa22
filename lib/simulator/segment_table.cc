#include "lib/simulator/segment_table.h"

#include <utility>

namespace interlock::simulator {

const Segment* SegmentTable::Find(const std::string& datasource, const std::string& id) const {
  const auto of = segments_.find(datasource);
  if (of == segments_.end()) return nullptr;
  const auto found = of->second.by_id.find(id);
  return found == of->second.by_id.end() ? nullptr : &found->second;
}

Segment* SegmentTable::Find(const std::string& datasource, const std::string& id) {
  return const_cast<Segment*>(std::as_const(*this).Find(datasource, id));
}

std::vector<std::string> SegmentTable::Datasources() const {
  std::vector<std::string> names;
  for (const auto& [name, datasource] : segments_) names.push_back(name);
  return names;
}

std::vector<const Segment*> SegmentTable::Used(const std::string& datasource) const {
  std::vector<const Segment*> used;
  const auto of = segments_.find(datasource);
  if (of == segments_.end()) return used;
  for (const auto& [id, segment] : of->second.by_id) {
    if (segment.used) used.push_back(&segment);
  }
  return used;
}

std::vector<const Segment*> SegmentTable::Unused(const std::string& datasource) const {
  std::vector<const Segment*> unused;
  const auto of = segments_.find(datasource);
  if (of == segments_.end()) return unused;
  for (const auto& [id, segment] : of->second.by_id) {
    if (!segment.used) unused.push_back(&segment);
  }
  return unused;
}

std::vector<Segment*> SegmentTable::All(const std::string& datasource) {
  std::vector<Segment*> all;
  const auto of = segments_.find(datasource);
  if (of == segments_.end()) return all;
  for (auto& [id, segment] : of->second.by_id) all.push_back(&segment);
  return all;
}

const std::vector<Slice>& SegmentTable::VisibleUsed(const std::string& datasource) const {
  static const std::vector<Slice> kNone;
  const auto of = segments_.find(datasource);
  if (of == segments_.end()) return kNone;
  if (!of->second.visible) of->second.visible = VisibleSlices(Used(datasource));
  return *of->second.visible;
}

void SegmentTable::Insert(Segment segment) {
  Datasource& datasource = segments_[segment.datasource];
  const std::string id = segment.id;
  datasource.by_id.emplace(id, std::move(segment));
  Changed(datasource);
}

void SegmentTable::Remove(const std::string& datasource, const std::string& id) {
  const auto of = segments_.find(datasource);
  if (of == segments_.end() || of->second.by_id.erase(id) == 0) return;
  if (of->second.by_id.empty()) {
    segments_.erase(of);
    ++revision_;
  } else {
    Changed(of->second);
  }
}

void SegmentTable::Mark(Segment& segment, bool used, Instant now) {
  segment.used = used;
  segment.status_updated = now;
  Changed(segments_[segment.datasource]);
}

void SegmentTable::Changed(Datasource& datasource) {
  datasource.visible.reset();
  ++revision_;
}

Snapshot TakeSnapshot(const SegmentTable& table, const std::string& datasource) {
  const std::vector<Slice>& visible = table.VisibleUsed(datasource);
  std::vector<Snapshot::Entry> entries;
  for (const Segment* segment : table.Used(datasource)) {
    entries.push_back(
        {segment->id, segment->interval, ToJson(*segment), Overshadowed(*segment, visible)});
  }
  Snapshot snapshot;
  if (!entries.empty()) snapshot.used[datasource] = std::move(entries);
  return snapshot;
}

Snapshot TakeSnapshot(const SegmentTable& table) {
  Snapshot snapshot;
  for (const std::string& datasource : table.Datasources()) {
    snapshot.used.merge(TakeSnapshot(table, datasource).used);
  }
  return snapshot;
}

}  // namespace interlock::simulator
