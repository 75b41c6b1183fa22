#include "lib/store/store.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/time/mutex.h"

namespace interlock::store {

int64_t Value::Int() const {
  if (const auto* number = std::get_if<int64_t>(&value_)) return *number;
  int64_t number = 0;
  if (const auto* text = std::get_if<std::string>(&value_)) {
    if (!absl::SimpleAtoi(*text, &number)) return 0;
  }
  return number;
}

std::string Value::Text() const {
  if (const auto* text = std::get_if<std::string>(&value_)) return *text;
  if (const auto* number = std::get_if<int64_t>(&value_)) return absl::StrCat(*number);
  return "";
}

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
