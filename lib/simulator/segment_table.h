// The simulated metadata store's segments, and the snapshot of them that a coordinator
// polls now and then.
//
// Threads: none of its own; the simulator's one lock guards it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/simulator/segment.h"
#include "lib/simulator/timeline.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::simulator {

class SegmentTable {
 public:
  // Null where there is none. Pointers hold until the segment is removed.
  Segment* Find(const std::string& datasource, const std::string& id);
  const Segment* Find(const std::string& datasource, const std::string& id) const;
  bool Knows(const std::string& datasource) const { return segments_.count(datasource) > 0; }
  std::vector<std::string> Datasources() const;

  // In order of id.
  std::vector<const Segment*> Used(const std::string& datasource) const;
  std::vector<const Segment*> Unused(const std::string& datasource) const;
  std::vector<Segment*> All(const std::string& datasource);

  // What the used segments would show if all were loaded.
  const std::vector<Slice>& VisibleUsed(const std::string& datasource) const;

  // The id must be new.
  void Insert(Segment segment);
  void Remove(const std::string& datasource, const std::string& id);

  // Sets the flag and, whether or not that changes it, the date, as Druid's marks by id
  // do (druid-measured 3).
  void Mark(Segment& segment, bool used, Instant now);

  // Counts changes to what is stored or used; loading is none.
  int64_t revision() const { return revision_; }

 private:
  struct Datasource {
    std::map<std::string, Segment> by_id;
    mutable std::optional<std::vector<Slice>> visible;
  };
  void Changed(Datasource& datasource);

  std::map<std::string, Datasource> segments_;
  int64_t revision_ = 0;
};

// Used segments by datasource at one moment, as JSON and where they lie: what the lists
// that Druid answers from memory are made of.
struct Snapshot {
  struct Entry {
    std::string id;
    Interval interval;
    std::string json;
    bool overshadowed = false;
  };
  std::map<std::string, std::vector<Entry>> used;  // in order of id
};

Snapshot TakeSnapshot(const SegmentTable& table);
// Of one datasource only.
Snapshot TakeSnapshot(const SegmentTable& table, const std::string& datasource);

}  // namespace interlock::simulator
