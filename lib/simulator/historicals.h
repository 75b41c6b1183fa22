// What the historicals serve: which segments are announced to the broker, and when they
// load and drop what the coordinator tells them to.
//
// Threads: none of its own; the simulator's one lock guards it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/simulator/rules.h"
#include "lib/simulator/segment_table.h"

namespace interlock::simulator {

class Historicals {
 public:
  Historicals(SegmentTable& table, const Rules& rules, Moment load_delay, Moment drop_delay)
      : table_(table), rules_(rules), load_delay_(load_delay), drop_delay_(drop_delay) {}

  // What the coordinator's duty would now have loaded and dropped is put down as due.
  // To be called after every change of the table or the rules.
  void Assign(const std::string& datasource, Moment now, Instant wall);

  // The earliest moment at which something is due, and doing all that is due by `now`.
  std::optional<Moment> NextDue() const;
  void DoDue(Moment now);

  // Nothing loads while paused: segments stay unavailable.
  void SetPaused(bool paused) { paused_ = paused; }
  bool paused() const { return paused_; }

  // What queries see.
  std::vector<Slice> Served(const std::string& datasource) const;
  std::vector<const Segment*> Announced(const std::string& datasource) const;

 private:
  void LoadDue(const std::string& datasource, Moment now);
  void DropDue(const std::string& datasource, Moment now);
  bool MayDrop(const Segment& segment, const std::vector<Slice>& served) const;
  bool HasDue(const std::string& datasource) const;

  SegmentTable& table_;
  const Rules& rules_;
  const Moment load_delay_;
  const Moment drop_delay_;
  bool paused_ = false;
  std::set<std::string> pending_;  // datasources in which something is due
  // Drops that were due by then and have to wait for a load are tried again with it.
  Moment done_until_{-1};
};

}  // namespace interlock::simulator
