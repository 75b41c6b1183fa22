#include "server/backfill_watch.h"

#include <chrono>
#include <deque>
#include <utility>

#include "server/conversions/backfill.h"
#include "server/status_conversion.h"

namespace interlock::server {
namespace {

// How late a change may be told that rang no bell here.
constexpr std::chrono::seconds kSlowLook{2};

bool NothingMore(const backfill::Backfill& backfill, bool until_over) {
  if (backfill::IsOver(backfill.phase)) return true;
  return !until_over && backfill.phase == backfill::Phase::kNeedsAttention;
}

}  // namespace

class BackfillWatch final : public grpc::ServerWriteReactor<v1::WatchBackfillResponse> {
 public:
  BackfillWatch(BackfillWatcher& watcher, const v1::WatchBackfillRequest& request)
      : watcher_(watcher),
        id_(request.backfill_id()),
        until_over_(request.until_over()),
        revision_(request.from_revision()) {}

  // Reads what is new and sends it; called by the watcher and after each message.
  void Look() {
    MutexLock lock(mutex_);
    if (writing_ || finished_) return;
    if (waiting_.empty()) Read();
    SendNext();
  }

  void End(const grpc::Status& status) {
    MutexLock lock(mutex_);
    FinishOnce(status);
  }

  void OnWriteDone(bool ok) override {
    {
      MutexLock lock(mutex_);
      writing_ = false;
      if (!waiting_.empty()) waiting_.pop_front();
      if (!ok) return FinishOnce(grpc::Status::CANCELLED);
    }
    Look();
  }
  void OnCancel() override { End(grpc::Status::CANCELLED); }
  void OnDone() override {
    watcher_.Remove(this);
    delete this;
  }

 private:
  void Read() INTERLOCK_REQUIRES(mutex_) {
    auto news = watcher_.backfills_.NewsSince(id_, revision_);
    if (!news.ok()) return FinishOnce(ToGrpc(news.status()));
    revision_ = news->revision;
    if (news->changed || first_) {
      v1::WatchBackfillResponse message;
      ToProto(news->detail, false, message.mutable_backfill());
      waiting_.push_back(std::move(message));
    }
    for (const auto& partition : news->partitions) {
      v1::WatchBackfillResponse message;
      ToProto(partition, message.mutable_partition());
      waiting_.push_back(std::move(message));
    }
    first_ = false;
    if (!waiting_.empty()) {
      for (auto& message : waiting_) message.set_revision(revision_);
      waiting_.back().set_current(true);
    }
    over_ = NothingMore(news->detail.backfill, until_over_);
  }

  void SendNext() INTERLOCK_REQUIRES(mutex_) {
    if (finished_) return;
    if (!waiting_.empty()) {
      writing_ = true;
      StartWrite(&waiting_.front());
    } else if (over_) {
      FinishOnce(grpc::Status::OK);
    }
  }

  void FinishOnce(const grpc::Status& status) INTERLOCK_REQUIRES(mutex_) {
    if (finished_) return;
    finished_ = true;
    Finish(status);
  }

  BackfillWatcher& watcher_;
  const std::string id_;
  const bool until_over_;
  Mutex mutex_;
  int64_t revision_ INTERLOCK_GUARDED_BY(mutex_);
  bool first_ INTERLOCK_GUARDED_BY(mutex_) = true;
  bool over_ INTERLOCK_GUARDED_BY(mutex_) = false;
  bool writing_ INTERLOCK_GUARDED_BY(mutex_) = false;
  bool finished_ INTERLOCK_GUARDED_BY(mutex_) = false;
  std::deque<v1::WatchBackfillResponse> waiting_ INTERLOCK_GUARDED_BY(mutex_);
};

BackfillWatcher::BackfillWatcher(backfill::Backfills& backfills)
    : backfills_(backfills), thread_([this] { Run(); }) {}

BackfillWatcher::~BackfillWatcher() {
  End();
  thread_.join();
}

void BackfillWatcher::End() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
    for (auto* watch : watches_) watch->End(ToGrpc(Draining("watch again")));
  }
  backfills_.changes().Ring();
}

grpc::ServerWriteReactor<v1::WatchBackfillResponse>* BackfillWatcher::Watch(
    const v1::WatchBackfillRequest& request) {
  auto* watch = new BackfillWatch(*this, request);
  MutexLock lock(mutex_);
  watches_.insert(watch);
  if (ending_) {
    watch->End(ToGrpc(Draining("watch again")));
  } else {
    watch->Look();
  }
  return watch;
}

void BackfillWatcher::Run() {
  int64_t seen = backfills_.changes().count();
  while (true) {
    seen = backfills_.changes().Wait(seen, kSlowLook);
    MutexLock lock(mutex_);
    if (ending_) return;
    // Held while they look, so that none is deleted under it: OnDone waits in Remove.
    for (auto* watch : watches_) watch->Look();
  }
}

void BackfillWatcher::Remove(BackfillWatch* watch) {
  MutexLock lock(mutex_);
  watches_.erase(watch);
}

}  // namespace interlock::server
