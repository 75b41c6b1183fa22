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

absl::Status Store::Write(Body body) {
  struct Waiting {
    Mutex mutex;
    CondVar done;
    std::optional<absl::Status> status;
  };
  // Shared: the store's thread may still hold the lock when this one wakes and leaves.
  auto waiting = std::make_shared<Waiting>();
  WriteAsync(std::move(body), [waiting](const absl::Status& status) {
    MutexLock lock(waiting->mutex);
    waiting->status = status;
    waiting->done.NotifyOne();
  });
  MutexLock lock(waiting->mutex);
  while (!waiting->status.has_value()) waiting->done.Wait(lock);
  return *waiting->status;
}

}  // namespace interlock::store
