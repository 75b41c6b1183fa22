#include "lib/store/group_commit.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lib/store/store_errors.h"

namespace interlock::store {

GroupCommit::GroupCommit(BatchRunner& runner, const Clock& clock, Options options)
    : runner_(runner),
      clock_(clock),
      options_(std::move(options)),
      writer_([this] { WriterLoop(); }),
      answerer_([this] { AnswerLoop(); }) {}

GroupCommit::~GroupCommit() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
    work_came_.NotifyAll();
  }
  writer_.join();
  answerer_.join();
}

void GroupCommit::Add(PendingWrite write) {
  const absl::Status taken = Queue(write);
  if (!taken.ok()) write.done(taken);
}

absl::Status GroupCommit::Queue(PendingWrite& write) {
  MutexLock lock(mutex_);
  if (closing_) return StoreClosed();
  if (waiting_.size() >= options_.most_waiting) return StoreQueueFull(options_.most_waiting);
  waiting_.push_back(std::move(write));
  // The writer is awake while more than one waits.
  if (waiting_.size() == 1) work_came_.NotifyOne();
  return absl::OkStatus();
}

absl::Status GroupCommit::Health() const {
  MutexLock lock(mutex_);
  if (health_.ok() && started_.has_value() && clock_.Monotonic() - *started_ > kStuck) {
    return StoreUnavailable("the database has not answered for long");
  }
  return health_;
}

void GroupCommit::WriterLoop() {
  std::vector<PendingWrite> batch;
  while (Take(batch)) {
    RunBatch(batch);
    Settle(std::exchange(batch, {}));
  }
  MutexLock lock(mutex_);
  writer_ended_ = true;
  answers_came_.NotifyAll();
}

bool GroupCommit::Take(std::vector<PendingWrite>& batch) {
  MutexLock lock(mutex_);
  while (waiting_.empty()) {
    if (closing_) return false;
    if (health_.ok()) {
      work_came_.Wait(lock);
    } else if (!work_came_.WaitFor(lock, kProbeEvery)) {
      return true;
    }
  }
  const auto size = static_cast<ptrdiff_t>(std::min(waiting_.size(), options_.largest_batch));
  batch.assign(std::make_move_iterator(waiting_.begin()),
               std::make_move_iterator(waiting_.begin() + size));
  waiting_.erase(waiting_.begin(), waiting_.begin() + size);
  return true;
}

void GroupCommit::RunBatch(std::vector<PendingWrite>& batch) {
  const std::chrono::nanoseconds start = clock_.Monotonic();
  NoteStart(start);
  batch.empty() ? runner_.Probe() : runner_.Run(batch);
  NoteStart(std::nullopt);
  if (batch.empty()) return;
  if (options_.after_commit) options_.after_commit();
  if (options_.on_batch) {
    options_.on_batch({batch.size(), clock_.Monotonic() - start, runner_.health().ok()});
  }
}

void GroupCommit::NoteStart(std::optional<std::chrono::nanoseconds> start) {
  MutexLock lock(mutex_);
  started_ = start;
}

void GroupCommit::Settle(std::vector<PendingWrite> batch) {
  MutexLock lock(mutex_);
  health_ = runner_.health();
  if (answers_.empty()) {
    answers_ = std::move(batch);
  } else {
    std::move(batch.begin(), batch.end(), std::back_inserter(answers_));
  }
  answers_came_.NotifyOne();
}

void GroupCommit::AnswerLoop() {
  std::vector<PendingWrite> answers;
  while (true) {
    {
      MutexLock lock(mutex_);
      while (answers_.empty() && !writer_ended_) answers_came_.Wait(lock);
      if (answers_.empty()) return;
      answers.swap(answers_);
    }
    for (PendingWrite& answer : answers) answer.done(answer.result);
    answers.clear();
  }
}

}  // namespace interlock::store
