// A mutex and a condition variable that clang's thread-safety analysis understands.
//
// Here because the two at hand do not serve: std::mutex carries no annotations, and
// absl's timed waits follow the wall clock, so that a clock jump could end a lease early.
// WaitFor counts on the steady clock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define INTERLOCK_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define INTERLOCK_THREAD_ANNOTATION(x)
#endif

#define INTERLOCK_CAPABILITY(name) INTERLOCK_THREAD_ANNOTATION(capability(name))
#define INTERLOCK_SCOPED_CAPABILITY INTERLOCK_THREAD_ANNOTATION(scoped_lockable)
#define INTERLOCK_GUARDED_BY(mutex) INTERLOCK_THREAD_ANNOTATION(guarded_by(mutex))
#define INTERLOCK_PT_GUARDED_BY(mutex) INTERLOCK_THREAD_ANNOTATION(pt_guarded_by(mutex))
#define INTERLOCK_REQUIRES(...) INTERLOCK_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define INTERLOCK_EXCLUDES(...) INTERLOCK_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define INTERLOCK_ACQUIRE(...) INTERLOCK_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define INTERLOCK_RELEASE(...) INTERLOCK_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define INTERLOCK_TRY_ACQUIRE(...) INTERLOCK_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define INTERLOCK_ACQUIRED_AFTER(...) INTERLOCK_THREAD_ANNOTATION(acquired_after(__VA_ARGS__))
#define INTERLOCK_RETURN_CAPABILITY(mutex) INTERLOCK_THREAD_ANNOTATION(lock_returned(mutex))
#define INTERLOCK_NO_THREAD_SAFETY_ANALYSIS INTERLOCK_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace interlock {

class INTERLOCK_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() INTERLOCK_ACQUIRE() { mutex_.lock(); }
  void Unlock() INTERLOCK_RELEASE() { mutex_.unlock(); }
  bool TryLock() INTERLOCK_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

// Holds the mutex while it lives, but for the time between Unlock and Lock.
class INTERLOCK_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) INTERLOCK_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~MutexLock() INTERLOCK_RELEASE() {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  // For a call that must not be made under the lock.
  void Unlock() INTERLOCK_RELEASE() { lock_.unlock(); }
  void Lock() INTERLOCK_ACQUIRE() { lock_.lock(); }

 private:
  friend class CondVar;
  std::unique_lock<std::mutex> lock_;
};

// Wakes without cause now and then: wait in a loop over the condition. (The loop stands
// in the caller, not in a predicate here, since the analysis does not see into lambdas.)
class CondVar {
 public:
  void Wait(MutexLock& lock) { condition_.wait(lock.lock_); }

  // False where `timeout` passed, on the steady clock, without a wake-up. A negative
  // timeout has passed already; one too long to count is as good as none.
  bool WaitFor(MutexLock& lock, std::chrono::nanoseconds timeout);

  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace interlock
