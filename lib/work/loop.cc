#include "lib/work/loop.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/time/mutex.h"
#include "lib/work/work_errors.h"

namespace interlock::work {
namespace {

// How long to leave a store alone that failed.
constexpr absl::Duration kAfterStoreFailure = absl::Seconds(1);

}  // namespace

class Loop::Threads {
 public:
  Threads(store::Store& store, const Clock& clock, LoopOptions options)
      : store_(store), clock_(clock), options_(std::move(options)), random_(options_.jitter_seed) {}
  ~Threads() { Stop(); }

  void Handle(const std::string& kind, Handler handler) {
    kinds_.push_back(kind);
    handlers_[kind] = std::move(handler);
  }

  void Start() {
    dispatcher_ = std::thread([this] { Dispatch(); });
    for (int i = 0; i < options_.threads; ++i) workers_.emplace_back([this] { Work(); });
  }

  void Wake() INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    woken_ = true;
    dispatch_.NotifyAll();
  }

  void Stop() INTERLOCK_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
      dispatch_.NotifyAll();
      claimed_.NotifyAll();
    }
    if (dispatcher_.joinable()) dispatcher_.join();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    GiveBackQueued();
  }

 private:
  // What a look at the table gave.
  struct Look {
    std::vector<Claim> claims;
    absl::Duration sleep;  // until the next look, if nothing happens
  };

  void Dispatch() INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (!stopping_) {
      const int64_t free =
          static_cast<int64_t>(options_.threads) - running_ - static_cast<int64_t>(queue_.size());
      if (free <= 0) {
        dispatch_.Wait(lock);
        continue;
      }
      woken_ = false;
      lock.Unlock();
      Look look = LookForWork(free);
      lock.Lock();
      const bool may_be_more = static_cast<int64_t>(look.claims.size()) == free;
      for (Claim& claim : look.claims) queue_.push_back(std::move(claim));
      claimed_.NotifyAll();
      if (!woken_ && !stopping_ && !may_be_more) {
        dispatch_.WaitFor(lock, absl::ToChronoNanoseconds(look.sleep));
      }
    }
  }

  // A read first: claiming is a write, and there is mostly nothing to claim.
  Look LookForWork(int64_t most) {
    std::optional<Instant> next;
    absl::Status status = store_.Read([&](store::Transaction& tx) {
      absl::StatusOr<std::optional<Instant>> due = NextDue(tx, kinds_);
      if (due.ok()) next = *due;
      return due.status();
    });
    if (!status.ok()) return {{}, kAfterStoreFailure};
    const absl::Duration until = next.has_value() ? *next - store_.Now() : absl::InfiniteDuration();
    if (until > absl::ZeroDuration()) return {{}, std::min(until, options_.slow_look)};
    absl::StatusOr<std::vector<Claim>> claims =
        ClaimDue(store_, clock_, options_.claimant, kinds_, most);
    if (!claims.ok()) return {{}, kAfterStoreFailure};
    // Fewer than asked for: what else there is may be due any time.
    return {*std::move(claims), absl::ZeroDuration()};
  }

  void Work() INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (!stopping_) {
      if (queue_.empty()) {
        claimed_.Wait(lock);
        continue;
      }
      Claim claim = std::move(queue_.front());
      queue_.pop_front();
      ++running_;
      lock.Unlock();
      Do(claim);
      lock.Lock();
      --running_;
      woken_ = true;
      dispatch_.NotifyAll();
    }
  }

  void Do(Claim& claim) {
    const absl::StatusOr<Outcome> outcome = CallHandler(claim);
    absl::Status status = outcome.status();
    if (outcome.ok()) status = Settle(claim, *outcome);
    if (status.ok()) return;
    if (options_.on_failure) options_.on_failure(claim, status);
    if (outcome.ok()) return;
    // Where this fails the step comes back by itself, when the claim ends.
    store_.Write([&](store::Transaction& tx) { return Retry(tx, claim, tx.now() + Delay(claim)); })
        .IgnoreError();
  }

  absl::StatusOr<Outcome> CallHandler(Claim& claim) {
    const auto handler = handlers_.find(claim.kind);
    if (handler == handlers_.end()) return NoHandler(claim.kind);
    try {
      return handler->second(claim);
    } catch (const std::exception& error) {
      return absl::InternalError(absl::StrCat("exception in a step: ", error.what()));
    }
  }

  absl::Status Settle(const Claim& claim, const Outcome& outcome) {
    switch (outcome.kind) {
      case Outcome::Kind::kSettled:
        return absl::OkStatus();
      case Outcome::Kind::kNextDue:
        return store_.Write(
            [&](store::Transaction& tx) { return Reschedule(tx, claim, outcome.due); });
      case Outcome::Kind::kFinished:
        return store_.Write([&](store::Transaction& tx) { return Finish(tx, claim); });
    }
    return absl::OkStatus();
  }

  absl::Duration Delay(const Claim& claim) INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return Backoff(options_, claim.attempts, random_());
  }

  // What was claimed and not begun is due for another replica at once.
  void GiveBackQueued() INTERLOCK_EXCLUDES(mutex_) {
    std::deque<Claim> queued;
    {
      MutexLock lock(mutex_);
      queued.swap(queue_);
    }
    for (const Claim& claim : queued) {
      store_.Write([&](store::Transaction& tx) { return Reschedule(tx, claim, claim.due); })
          .IgnoreError();
    }
  }

  store::Store& store_;
  const Clock& clock_;
  const LoopOptions options_;
  std::vector<std::string> kinds_;
  std::map<std::string, Handler> handlers_;
  std::thread dispatcher_;
  std::vector<std::thread> workers_;

  Mutex mutex_;
  CondVar dispatch_;
  CondVar claimed_;
  std::mt19937_64 random_ INTERLOCK_GUARDED_BY(mutex_);
  std::deque<Claim> queue_ INTERLOCK_GUARDED_BY(mutex_);
  int64_t running_ INTERLOCK_GUARDED_BY(mutex_) = 0;
  bool woken_ INTERLOCK_GUARDED_BY(mutex_) = false;
  bool stopping_ INTERLOCK_GUARDED_BY(mutex_) = false;
};

Loop::Loop(store::Store& store, const Clock& clock, LoopOptions options)
    : threads_(std::make_unique<Threads>(store, clock, std::move(options))) {}

Loop::~Loop() = default;

void Loop::Handle(const std::string& kind, Handler handler) {
  threads_->Handle(kind, std::move(handler));
}
void Loop::Start() { threads_->Start(); }
void Loop::Wake() { threads_->Wake(); }
void Loop::Stop() { threads_->Stop(); }

absl::Duration Loop::Backoff(const LoopOptions& options, int64_t attempts, uint64_t random) {
  absl::Duration delay = options.first_backoff;
  for (int64_t i = 0; i < attempts && delay < options.longest_backoff; ++i) delay *= 2;
  const double factor = 0.8 + 0.4 * static_cast<double>(random % 1000) / 999;
  return std::min(delay, options.longest_backoff) * factor;
}

}  // namespace interlock::work
