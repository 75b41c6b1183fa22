// How far a backfill is, in one line: what is done, runs, failed, how fast, how long still.
//
// Threads: one object, one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "client/cli/session.h"
#include "interlock/v1/backfills.pb.h"

namespace interlock::cli {

// Reckons; no terminal in it.
class Progress {
 public:
  // `now` by a monotonic clock, here and below.
  void Take(const v1::WatchBackfillResponse& change, std::chrono::nanoseconds now);

  // "bf-7: 23 of 60 done, 4 running, 0 failed, 2.1/s, 18s left". Rate and rest are left out
  // until something has ended since the watch began.
  std::string Line(std::chrono::nanoseconds now) const;

 private:
  struct Counts {
    int64_t ended = 0, running = 0, failed = 0, all = 0;
  };
  Counts Count() const;

  std::string id_;
  std::map<std::string, v1::Partition::State> partitions_;
  // Where it stood when all that was so at the start had been told.
  std::optional<std::chrono::nanoseconds> begun_;
  int64_t ended_before_ = 0;
};

// On a terminal the line is drawn anew with each change, below lines for what needs a look;
// elsewhere each change is a line of its own.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(Session& session) : session_(session) {}
  // Where there is no terminal: changes as lines on stderr (for people alone) or stdout.
  enum class Lines { kOnStderr, kOnStdout };

  void Show(const v1::WatchBackfillResponse& change, Lines lines);
  // Takes the line away, so that what follows begins at the margin.
  void End();

 private:
  Session& session_;
  Progress progress_;
  bool drawn_ = false;
};

}  // namespace interlock::cli
