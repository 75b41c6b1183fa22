#include "lib/store/store.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/time/mutex.h"

namespace interlock::store {

int64_t Value::Int() const {
  int64_t number = number_;
  if (kind_ == Kind::kText && !absl::SimpleAtoi(text_, &number)) return 0;
  return number;
}

std::string Value::Text() const { return kind_ == Kind::kNumber ? absl::StrCat(number_) : text_; }

namespace {

// What a waiting thread waits for. Shared: the store's thread may still hold the lock when
// that one wakes and leaves.
struct Waiting {
  Mutex mutex;
  CondVar done;
  std::optional<absl::Status> status;
};

Store::Done Answer(const std::shared_ptr<Waiting>& waiting) {
  return [waiting](const absl::Status& status) {
    MutexLock lock(waiting->mutex);
    waiting->status = status;
    waiting->done.NotifyOne();
  };
}

absl::Status WaitFor(Waiting& waiting) {
  MutexLock lock(waiting.mutex);
  while (!waiting.status.has_value()) waiting.done.Wait(lock);
  return *waiting.status;
}

}  // namespace

absl::Status Store::Write(Body body) {
  auto waiting = std::make_shared<Waiting>();
  WriteAsync(std::move(body), Answer(waiting));
  return WaitFor(*waiting);
}

absl::Status Store::WriteLocked(std::vector<std::string> locks, Body body) {
  auto waiting = std::make_shared<Waiting>();
  WriteLockedAsync(std::move(locks), std::move(body), Answer(waiting));
  return WaitFor(*waiting);
}

}  // namespace interlock::store
