// The simulated cluster's state, and the passing of its time.
//
// Nothing happens by itself: AdvanceTo does, in order, all that was due up to a moment.
// So the same requests at the same times always give the same answers.
//
// Threads: none of its own; the simulator's one lock guards it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/simulator/deep_storage.h"
#include "lib/simulator/historicals.h"
#include "lib/simulator/lock_box.h"
#include "lib/simulator/rules.h"
#include "lib/simulator/segment_table.h"
#include "lib/simulator/streams.h"
#include "lib/simulator/task_queue.h"
#include "lib/simulator/traits.h"
#include "lib/time/instant.h"

namespace interlock::simulator {

struct WorldOptions {
  Moment task_duration{5};  // of a plain one; parallel ones take 20 times as long
  int worker_slots = 3;
  Moment load_delay{20};
  Moment drop_delay{50};
  // How stale the lists answered from memory may be (druid.manager.segments.pollDuration).
  Moment poll_period{2'000};
  // The coordinator's duty that marks hidden segments unused, this long after they are
  // hidden; nullopt: off, as in a Druid's first quarter of an hour.
  std::optional<Moment> mark_overshadowed_after;
  // A supervisor's id is its spec's, and a datasource may have several: 34 and later, by
  // their documentation (not measured). Else it is the datasource, as measured on 33.
  bool supervisor_ids = false;
  std::string deep_storage;  // a folder; "": no files
};

// A restart of coordinator and overlord, as measured: refused, then redirects to itself,
// then 503, then right. Each moment ends its phase.
struct Restart {
  Moment refused_until{0};
  Moment redirect_until{0};
  Moment unavailable_until{0};
};

class World {
 public:
  enum class Leadership { kRefused, kRedirect, kUnavailable, kLeader };

  World(WorldOptions options, Traits traits);

  // Times: `now` is Druid's wall clock, `tick` the clock by which things are due.
  Instant now() const { return now_; }
  Moment tick() const { return tick_; }
  void AdvanceTo(Moment tick, Instant now);
  std::optional<Moment> NextDue() const;

  // Runs `action` at `at`, with the clock standing there.
  void Schedule(Moment at, std::function<void()> action);

  // The date of one call that marks segments: now, and never that of the call before,
  // since no real Druid does two in one millisecond.
  Instant MarkTime();
  // After every change of a datasource's segments or rules.
  void SegmentsChanged(const std::string& datasource);
  // What the coordinator's lists show: the segments at the last poll.
  const Snapshot& polled() const { return polled_; }
  void Poll();

  // Changes with everything that a saved state holds.
  int64_t revision() const { return segments.revision() + tasks.revision() + rules.revision(); }

  void BeginRestart(Restart restart);
  Leadership leadership() const;
  // The moment from which the overlord works; in the past while it does.
  Moment overlord_back() const { return restart_.unavailable_until; }

  const WorldOptions options;
  const Traits traits;
  SegmentTable segments;
  LockBox locks;
  Rules rules;
  DeepStorage deep_storage;
  Historicals historicals;
  TaskQueue tasks;
  Streams streams;
  std::optional<Moment> mark_overshadowed_after;

 private:
  void SetTime(Moment tick);
  void RunScheduled();
  void DropByRule(const std::string& datasource);
  void MarkOvershadowed(const std::string& datasource);

  Instant now_;
  Moment tick_{0};
  // The wall clock that AdvanceTo was given, and the tick it was given for.
  Instant anchor_now_;
  Moment anchor_tick_{0};
  std::multimap<Moment, std::function<void()>> scheduled_;
  Snapshot polled_;
  std::optional<Moment> poll_due_;
  std::optional<Instant> last_mark_;
  Restart restart_;
};

}  // namespace interlock::simulator
