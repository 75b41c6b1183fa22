#include "lib/store/checkpointer.h"

#include <utility>

namespace interlock::store {

Checkpointer::Checkpointer(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)), thread_([this] { Loop(); }) {}

Checkpointer::~Checkpointer() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

bool Checkpointer::Notice(int64_t wal_frames) {
  if (wal_frames < kPassAt) return false;
  MutexLock lock(mutex_);
  if (wal_frames < moved_) moved_ = 0;  // the log was begun anew
  const int64_t left = wal_frames - moved_;
  if (wal_frames >= kFinishAt && left <= kLittle) return true;
  if (!wanted_ && (left >= kPassAt || wal_frames >= kFinishAt)) {
    wanted_ = true;
    changed_.NotifyAll();
  }
  return false;
}

int64_t Checkpointer::Pass(Connection& connection) {
  // PASSIVE waits for nobody. A failure shows where it matters: at the next commit.
  const absl::StatusOr<Rows> result = connection.Query("PRAGMA wal_checkpoint(PASSIVE)", {});
  return result.ok() && !result->empty() ? result->front().Int(2) : 0;
}

void Checkpointer::Loop() {
  MutexLock lock(mutex_);
  while (!closing_) {
    if (!wanted_) {
      changed_.Wait(lock);
      continue;
    }
    lock.Unlock();
    const int64_t moved = Pass(*connection_);
    lock.Lock();
    moved_ = moved;
    wanted_ = false;
  }
}

}  // namespace interlock::store
