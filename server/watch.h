// What all server-streaming watches have in common: they look, send what is new one message
// at a time, and look again when that is sent. A watch keeps no queue beyond one look, so a
// caller that reads slowly costs nothing and is told of fewer, later states.
//
// Threads: any. gRPC's threads send; whoever knows of news calls Watches::Look.
#pragma once

#include <deque>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "grpcpp/support/server_callback.h"
#include "lib/time/mutex.h"
#include "server/status_conversion.h"

namespace interlock::server {

template <class Message>
class Watches;

// One caller's. Made with new and handed to Watches::Add; deletes itself when gRPC is done.
template <class Message>
class Watch : public grpc::ServerWriteReactor<Message> {
 public:
  struct News {
    std::deque<Message> messages;
    // Nothing more will come: the watch ends with OK once these are sent.
    bool over = false;
  };

  void OnWriteDone(bool ok) override {
    {
      MutexLock lock(mutex_);
      writing_ = false;
      if (!news_.messages.empty()) news_.messages.pop_front();
      if (!ok) return FinishOnce(grpc::Status::CANCELLED);
    }
    Look();
  }
  void OnCancel() override { End(grpc::Status::CANCELLED); }
  void OnDone() override {
    among_->Remove(this);
    delete this;
  }

 protected:
  // What came since the last call, in the order in which it is told; none is an answer. An
  // error ends the watch with it. Called by one thread at a time.
  virtual absl::StatusOr<News> Read() = 0;

 private:
  friend class Watches<Message>;

  void Look() INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (writing_ || finished_) return;
    if (news_.messages.empty() && !news_.over) {
      auto read = Read();
      if (!read.ok()) return FinishOnce(ToGrpc(read.status()));
      news_ = *std::move(read);
    }
    SendNext();
  }

  void End(const grpc::Status& status) INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    FinishOnce(status);
  }

  void SendNext() INTERLOCK_REQUIRES(mutex_) {
    if (!news_.messages.empty()) {
      writing_ = true;
      this->StartWrite(&news_.messages.front());
    } else if (news_.over) {
      FinishOnce(grpc::Status::OK);
    }
  }

  void FinishOnce(const grpc::Status& status) INTERLOCK_REQUIRES(mutex_) {
    if (finished_) return;
    finished_ = true;
    this->Finish(status);
  }

  Watches<Message>* among_ = nullptr;  // set before anything else happens to it
  Mutex mutex_;
  bool writing_ INTERLOCK_GUARDED_BY(mutex_) = false;
  bool finished_ INTERLOCK_GUARDED_BY(mutex_) = false;
  News news_ INTERLOCK_GUARDED_BY(mutex_);
};

// All watches of one kind. Must outlive them: End, then let gRPC shut down.
template <class Message>
class Watches {
 public:
  // Takes it over, and lets it look at once.
  grpc::ServerWriteReactor<Message>* Add(Watch<Message>* watch) INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    watch->among_ = this;
    watches_.insert(watch);
    if (ending_) {
      watch->End(ToGrpc(Draining("watch again")));
    } else {
      watch->Look();
    }
    return watch;
  }

  // Lets all of them look. False once they were ended.
  bool Look() INTERLOCK_EXCLUDES(mutex_) {
    // Held while they look, so that none is deleted under it: OnDone waits in Remove.
    MutexLock lock(mutex_);
    if (ending_) return false;
    for (auto* watch : watches_) watch->Look();
    return true;
  }

  // Ends all of them, and those that still come, with UNAVAILABLE: they would hold up a
  // drain until its deadline.
  void End() INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ending_ = true;
    for (auto* watch : watches_) watch->End(ToGrpc(Draining("watch again")));
  }

 private:
  friend class Watch<Message>;

  void Remove(Watch<Message>* watch) INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    watches_.erase(watch);
  }

  Mutex mutex_;
  bool ending_ INTERLOCK_GUARDED_BY(mutex_) = false;
  std::set<Watch<Message>*> watches_ INTERLOCK_GUARDED_BY(mutex_);
};

}  // namespace interlock::server
