#include "server/later.h"

#include <utility>

namespace interlock::server {

Later::Later(Executor& executor) : executor_(executor), thread_([this] { Loop(); }) {}

Later::~Later() {
  End();
  thread_.join();
}

void Later::End() {
  std::multimap<Time, Item> items;
  {
    MutexLock lock(mutex_);
    ending_ = true;
    items.swap(items_);
    changed_.NotifyAll();
  }
  for (const auto& [due, item] : items) item.dropped();
}

void Later::Run(Time due, std::function<void()> work, std::function<void()> dropped) {
  {
    MutexLock lock(mutex_);
    if (!ending_) {
      items_.emplace(due, Item{std::move(work), std::move(dropped)});
      changed_.NotifyAll();
      return;
    }
  }
  dropped();
}

void Later::Loop() {
  // Longest sleep where nothing waits; whoever comes wakes it.
  constexpr std::chrono::hours kIdle{1};
  while (true) {
    Item item;
    {
      MutexLock lock(mutex_);
      while (!ending_) {
        const Time now = std::chrono::steady_clock::now();
        if (items_.empty()) {
          changed_.WaitFor(lock, kIdle);
        } else if (items_.begin()->first > now) {
          changed_.WaitFor(lock, items_.begin()->first - now);
        } else {
          break;
        }
      }
      if (ending_) return;
      item = std::move(items_.begin()->second);
      items_.erase(items_.begin());
    }
    if (!executor_.Run(std::move(item.work))) item.dropped();
  }
}

}  // namespace interlock::server
