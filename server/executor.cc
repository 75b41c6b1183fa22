#include "server/executor.h"

#include <utility>

namespace interlock::server {

Executor::Executor(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

Executor::~Executor() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
  }
  wake_.NotifyAll();
  for (auto& thread : threads_) thread.join();
}

bool Executor::Run(std::function<void()> work) {
  {
    MutexLock lock(mutex_);
    if (ending_ || queue_.size() >= kMaxWaiting) return false;
    queue_.push_back(std::move(work));
  }
  wake_.NotifyOne();
  return true;
}

void Executor::Loop() {
  MutexLock lock(mutex_);
  while (true) {
    while (queue_.empty() && !ending_) wake_.Wait(lock);
    if (queue_.empty()) return;
    auto work = std::move(queue_.front());
    queue_.pop_front();
    lock.Unlock();
    work();
    work = nullptr;  // what it holds goes before the lock is taken again
    lock.Lock();
  }
}

}  // namespace interlock::server
