// The one writer: takes all that waits, up to a bound, and commits it together. The next
// batch is decided while the answers of the last one go out on a thread of their own.
//
// While commits fail it tries one now and then by itself: readiness that was lost comes
// back without a client's call.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "lib/store/batch_runner.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"
#include "lib/time/mutex.h"

namespace interlock::store {

// What one batch took, for metrics.
struct BatchReport {
  size_t size = 0;
  std::chrono::nanoseconds took{0};
  bool committed = false;
};

class GroupCommit {
 public:
  struct Options {
    // Bodies in one transaction: bounds how long the first of them waits.
    size_t largest_batch = 512;
    // Bodies that wait: beyond it callers are told to come again, at a few hundred bytes
    // each that is some megabytes.
    size_t most_waiting = 20000;
    std::function<void(const BatchReport&)> on_batch;
    // After each commit, on the writer's thread: for checkpoints.
    std::function<void()> after_commit;
  };

  // `runner` and `clock` must outlive this.
  GroupCommit(BatchRunner& runner, const Clock& clock, Options options);
  // Commits and answers what waits, then ends.
  ~GroupCommit();

  void Add(PendingWrite write) INTERLOCK_EXCLUDES(mutex_);
  // Also not OK while one batch takes longer than kStuck: a database that answers nothing.
  absl::Status Health() const INTERLOCK_EXCLUDES(mutex_);

 private:
  static constexpr std::chrono::seconds kProbeEvery{1};
  static constexpr std::chrono::seconds kStuck{10};

  // Moves it into the line, or says why not.
  absl::Status Queue(PendingWrite& write) INTERLOCK_EXCLUDES(mutex_);
  void WriterLoop();
  void AnswerLoop();
  // Waits for work; an empty batch is a call to probe. False when all is done.
  bool Take(std::vector<PendingWrite>& batch) INTERLOCK_EXCLUDES(mutex_);
  void RunBatch(std::vector<PendingWrite>& batch) INTERLOCK_EXCLUDES(mutex_);
  void NoteStart(std::optional<std::chrono::nanoseconds> start) INTERLOCK_EXCLUDES(mutex_);
  void Settle(std::vector<PendingWrite> batch) INTERLOCK_EXCLUDES(mutex_);

  BatchRunner& runner_;  // of the writer's thread
  const Clock& clock_;
  const Options options_;

  mutable Mutex mutex_;
  CondVar work_came_;
  CondVar answers_came_;
  std::vector<PendingWrite> waiting_ INTERLOCK_GUARDED_BY(mutex_);
  std::vector<PendingWrite> answers_ INTERLOCK_GUARDED_BY(mutex_);
  absl::Status health_ INTERLOCK_GUARDED_BY(mutex_);
  // Of the batch under way.
  std::optional<std::chrono::nanoseconds> started_ INTERLOCK_GUARDED_BY(mutex_);
  bool closing_ INTERLOCK_GUARDED_BY(mutex_) = false;
  bool writer_ended_ INTERLOCK_GUARDED_BY(mutex_) = false;

  std::thread writer_;
  std::thread answerer_;
};

}  // namespace interlock::store
