// Moves committed pages from SQLite's write-ahead log into the database file, on a thread
// and a connection of its own, so that no commit waits for it.
//
// Under steady load the log never stands still, so such a pass never quite empties it and
// it would grow without end. Past a bound passes follow one another until little is left;
// that little the writer is asked to move itself, between two batches.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

#include "lib/store/connection.h"
#include "lib/time/mutex.h"

namespace interlock::store {

class Checkpointer {
 public:
  // Frames of 4 KiB each. A pass costs two fsyncs, whatever it moves: rarely is better.
  static constexpr int64_t kPassAt = 16'384;
  static constexpr int64_t kFinishAt = 65'536;
  // Moved in a few milliseconds.
  static constexpr int64_t kLittle = 512;

  explicit Checkpointer(std::unique_ptr<Connection> connection);
  // Waits for a pass under way.
  ~Checkpointer();

  // After a commit: the log has so many frames. True when the log is too long and little
  // of it is left to move: then the writer calls Pass.
  bool Notice(int64_t wal_frames) INTERLOCK_EXCLUDES(mutex_);

  // One pass, on `connection`; gives the frames of the log that are in the database file.
  // What it can't move it leaves for the next.
  static int64_t Pass(Connection& connection);

 private:
  void Loop() INTERLOCK_EXCLUDES(mutex_);

  Mutex mutex_;
  CondVar changed_;
  bool wanted_ INTERLOCK_GUARDED_BY(mutex_) = false;
  int64_t moved_ INTERLOCK_GUARDED_BY(mutex_) = 0;  // frames, by the last pass
  bool closing_ INTERLOCK_GUARDED_BY(mutex_) = false;
  const std::unique_ptr<Connection> connection_;  // of the thread
  std::thread thread_;
};

}  // namespace interlock::store
