#include "lib/druid/timeline.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace interlock::druid {
namespace {

// PartitionChunk.java of the segment's shardSpec, by what its chunks answer.
bool IsStart(const ShardSpec& shard) {
  return shard.type == "tombstone" || shard.core_partitions == 0 || shard.partition_num == 0;
}

bool IsEnd(const ShardSpec& shard) {
  return shard.type == "tombstone" || shard.core_partitions == 0 ||
         shard.partition_num == shard.core_partitions - 1;
}

bool Abuts(const ShardSpec& shard, const ShardSpec& next) {
  if (shard.type == "tombstone" || next.type == "tombstone") return false;
  if (next.partition_num < next.core_partitions) {
    return next.partition_num == shard.partition_num + 1;
  }
  return next.partition_num > shard.partition_num;
}

bool InOrder(const Segment& a, const Segment& b) {
  return std::tie(a.interval, a.version, a.shard.partition_num, a.id) <
         std::tie(b.interval, b.version, b.shard.partition_num, b.id);
}

bool StandTogether(const Segment& a, const Segment& b) {
  return a.interval == b.interval && a.version == b.version;
}

Interval Between(Instant start, Instant end) { return *Interval::Of(start, end); }

}  // namespace

bool Slice::tombstone() const {
  return !segments.empty() && std::all_of(segments.begin(), segments.end(),
                                          [](const Segment* s) { return s->tombstone(); });
}

Timeline Timeline::Of(std::vector<Segment> segments) { return Timeline(std::move(segments)); }

Timeline::Timeline(std::vector<Segment> segments) : segments_(std::move(segments)) {
  // Druid mostly lists them so; a segment is dear to move.
  if (!std::is_sorted(segments_.begin(), segments_.end(), InOrder)) {
    std::sort(segments_.begin(), segments_.end(), InOrder);
  }
  const auto same_id = [](const Segment& a, const Segment& b) { return a.id == b.id; };
  segments_.erase(std::unique(segments_.begin(), segments_.end(), same_id), segments_.end());
  MakeGroups();
  seen_ = Sweep(/*with_unknown=*/true);
  certain_ = Sweep(/*with_unknown=*/false);
}

void Timeline::MakeGroups() {
  for (size_t begin = 0; begin < segments_.size();) {
    Group group;
    group.interval = segments_[begin].interval;
    group.begin = begin;
    group.end = begin;
    while (group.end < segments_.size() && StandTogether(segments_[begin], segments_[group.end])) {
      group.unknown = group.unknown || !segments_[group.end].shard.known;
      ++group.end;
    }
    group.complete = !group.unknown && CoreIsThere(group);
    begin = group.end;
    groups_.push_back(group);
  }
}

// From a chunk that starts, through chunks that abut, to one that ends.
bool Timeline::CoreIsThere(const Group& group) const {
  const ShardSpec* current = &segments_[group.begin].shard;
  if (!IsStart(*current)) return false;
  for (size_t i = group.begin + 1; !IsEnd(*current); ++i) {
    if (i == group.end || !Abuts(*current, segments_[i].shard)) return false;
    current = &segments_[i].shard;
  }
  return true;
}

const std::string& Timeline::VersionOf(size_t group) const {
  return segments_[groups_[group].begin].version;
}

std::vector<const Segment*> Timeline::SegmentsOf(const Group& group) const {
  std::vector<const Segment*> segments;
  segments.reserve(group.end - group.begin);
  for (size_t i = group.begin; i < group.end; ++i) segments.push_back(&segments_[i]);
  return segments;
}

// Walks over all ends of intervals in order of time, with the groups under way sorted by
// version: the last of them is what is seen until the next end.
std::vector<Timeline::Piece> Timeline::Sweep(bool with_unknown) const {
  struct Turn {
    Instant at;
    bool opens;
    size_t group;
  };
  std::vector<Turn> turns;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    const bool counts = group.complete || (with_unknown && group.unknown);
    if (!counts || group.interval.empty()) continue;
    turns.push_back({group.interval.start(), true, i});
    turns.push_back({group.interval.end(), false, i});
  }
  std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) { return a.at < b.at; });

  const auto by_version = [this](size_t a, size_t b) {
    return std::tie(VersionOf(a), a) < std::tie(VersionOf(b), b);
  };
  std::set<size_t, decltype(by_version)> open(by_version);
  std::vector<Piece> pieces;
  for (size_t i = 0; i < turns.size();) {
    const Instant now = turns[i].at;
    for (; i < turns.size() && turns[i].at == now; ++i) {
      if (turns[i].opens) {
        open.insert(turns[i].group);
      } else {
        open.erase(turns[i].group);
      }
    }
    if (open.empty()) continue;
    const auto top = open.rbegin();
    const auto second = std::next(top);
    const bool contested = second != open.rend() && VersionOf(*second) == VersionOf(*top);
    const Instant next = turns[i].at;  // something is open, so something will close
    Piece* last = pieces.empty() ? nullptr : &pieces.back();
    if (last != nullptr && last->group == *top && last->contested == contested &&
        last->interval.end() == now) {
      last->interval = Between(last->interval.start(), next);
    } else {
      pieces.push_back({Between(now, next), *top, contested});
    }
  }
  return pieces;
}

std::vector<Slice> Timeline::Visible(const Interval& interval) const& {
  std::vector<Slice> slices;
  auto piece = std::partition_point(seen_.begin(), seen_.end(), [&](const Piece& p) {
    return p.interval.end() <= interval.start();
  });
  for (; piece != seen_.end() && piece->interval.start() < interval.end(); ++piece) {
    const std::optional<Interval> part = piece->interval.Intersect(interval);
    if (!part.has_value()) continue;
    const Group& group = groups_[piece->group];
    Slice slice;
    slice.interval = *part;
    slice.chunk = group.interval;
    slice.version = VersionOf(piece->group);
    slice.segments = SegmentsOf(group);
    slice.complete = group.complete;
    slice.has_unknown_shards = group.unknown || piece->contested;
    slices.push_back(std::move(slice));
  }
  return slices;
}

bool Timeline::IsHidden(const Group& group) const {
  const std::string& version = segments_[group.begin].version;
  auto piece = std::partition_point(certain_.begin(), certain_.end(), [&](const Piece& p) {
    return p.interval.end() <= group.interval.start();
  });
  Instant covered = group.interval.start();
  while (covered < group.interval.end()) {
    if (piece == certain_.end() || piece->interval.start() > covered) return false;
    if (VersionOf(piece->group) <= version) return false;
    covered = piece->interval.end();
    ++piece;
  }
  return true;
}

std::vector<Segment> Timeline::Hidden() const {
  std::vector<Segment> hidden;
  for (const Group& group : groups_) {
    if (group.interval.empty() || !IsHidden(group)) continue;
    hidden.insert(hidden.end(), segments_.begin() + static_cast<ptrdiff_t>(group.begin),
                  segments_.begin() + static_cast<ptrdiff_t>(group.end));
  }
  return hidden;
}

std::vector<Generation> Timeline::Incomplete() const& {
  std::vector<Generation> generations;
  for (const Group& group : groups_) {
    if (group.complete || group.unknown) continue;
    generations.push_back({group.interval, segments_[group.begin].version, SegmentsOf(group)});
  }
  return generations;
}

}  // namespace interlock::druid
