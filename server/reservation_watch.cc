#include "server/reservation_watch.h"

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "lib/lease/events.h"
#include "lib/lease/reservations.h"
#include "lib/lease/waiting.h"
#include "server/conversions/reservation.h"
#include "server/conversions/time.h"
#include "server/status_conversion.h"

namespace interlock::server {
namespace {

// How late something may be told that rang no bell here.
constexpr std::chrono::seconds kSlowLook{2};
// Looks are at least so far apart, however much happens.
constexpr std::chrono::milliseconds kApart{10};
constexpr std::chrono::seconds kSignOfLife{30};
constexpr int64_t kPage = 200;

}  // namespace

class ReservationWatch final : public grpc::ServerWriteReactor<v1::WatchReservationsResponse> {
 public:
  ReservationWatch(ReservationWatcher& watcher, const v1::WatchReservationsRequest& request)
      : watcher_(watcher), datasource_(request.datasource()), revision_(request.from_revision()) {
    snapshot_ = revision_ == 0;
    auto interval = FromProto(request.interval(), "interval");
    if (interval.ok()) {
      overlapping_ = *interval;
    } else {
      refusal_ = interval.status();
    }
    if (datasource_.empty() && revision_ != 0) {
      refusal_ = InvalidField("/from_revision", "revisions are of one datasource",
                              "name the datasource, or leave it out to begin anew");
    }
    if (datasource_.empty() && overlapping_) {
      refusal_ = InvalidField("/interval", "it is given without a datasource", "name one");
    }
  }

  // Reads what is new and sends it; called by the watcher and after each message.
  void Look() {
    MutexLock lock(mutex_);
    if (writing_ || finished_) return;
    if (!refusal_.ok()) return FinishOnce(ToGrpc(refusal_));
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
  using Time = std::chrono::steady_clock::time_point;

  void Read() INTERLOCK_REQUIRES(mutex_) {
    const absl::Status read = watcher_.store_.Read([this](store::Transaction& tx) {
      waiting_.clear();
      if (snapshot_) return ReadPage(tx);
      return datasource_.empty() ? ReadAll(tx) : ReadNews(tx);
    });
    if (!read.ok()) return FinishOnce(ToGrpc(read));
    if (waiting_.empty() && std::chrono::steady_clock::now() - sent_ > kSignOfLife) {
      waiting_.emplace_back().set_revision(datasource_.empty() ? 0 : revision_);
    }
  }

  // What is so, a page at a time. Until its last message there is no revision to resume
  // from: who breaks off begins anew.
  absl::Status ReadPage(store::Transaction& tx) {
    if (page_.empty()) {
      const auto newest =
          datasource_.empty() ? lease::NewestRevision(tx) : lease::RevisionOf(tx, datasource_);
      if (!newest.ok()) return newest.status();
      revision_ = *newest;
    }
    lease::Filter filter;
    filter.datasource = datasource_;
    filter.overlapping = overlapping_;
    auto listed = lease::List(tx, filter, {kPage, page_});
    if (!listed.ok()) return listed.status();
    for (const auto& reservation : listed->reservations) {
      AddSnapshot(reservation, v1::WatchReservationsResponse::GRANTED, tx.now());
    }
    page_ = listed->next;
    snapshot_ = !page_.empty();
    if (snapshot_) return absl::OkStatus();
    auto line = lease::ListWaiters(tx, datasource_, overlapping_, "", kPage);
    if (!line.ok()) return line.status();
    for (const auto& waiter : *line) {
      AddSnapshot(waiter, v1::WatchReservationsResponse::WAITING, tx.now());
    }
    if (waiting_.empty()) waiting_.emplace_back();
    if (!datasource_.empty()) waiting_.back().set_revision(revision_);
    return absl::OkStatus();
  }

  void AddSnapshot(const lease::Reservation& reservation,
                   v1::WatchReservationsResponse::Event event, Instant now) {
    v1::WatchReservationsResponse& message = waiting_.emplace_back();
    message.set_event(event);
    ToProto(reservation, now, message.mutable_reservation());
    ToProto(reservation.created, message.mutable_event_time());
  }

  absl::Status ReadNews(store::Transaction& tx) {
    auto told = lease::EventsAfter(tx, datasource_, revision_, overlapping_);
    if (!told.ok()) return told.status();
    Add(*told, tx.now());
    return absl::OkStatus();
  }

  absl::Status ReadAll(store::Transaction& tx) {
    auto told = lease::EventsOfAllAfter(tx, revision_, known_);
    if (!told.ok()) return told.status();
    Add(*told, tx.now());
    return absl::OkStatus();
  }

  void Add(const lease::Told& told, Instant now) {
    revision_ = told.revision;
    for (const lease::Event& event : told.events) {
      v1::WatchReservationsResponse& message = waiting_.emplace_back();
      message.set_event(ToProto(event.kind));
      ToProto(event.reservation, now, message.mutable_reservation());
      message.set_revision(event.revision);
      ToProto(event.at, message.mutable_event_time());
    }
  }

  void SendNext() INTERLOCK_REQUIRES(mutex_) {
    if (finished_ || waiting_.empty()) return;
    writing_ = true;
    sent_ = std::chrono::steady_clock::now();
    StartWrite(&waiting_.front());
  }

  void FinishOnce(const grpc::Status& status) INTERLOCK_REQUIRES(mutex_) {
    if (finished_) return;
    finished_ = true;
    Finish(status);
  }

  ReservationWatcher& watcher_;
  const std::string datasource_;
  std::optional<Interval> overlapping_;
  absl::Status refusal_;
  Mutex mutex_;
  int64_t revision_;
  bool snapshot_ = false;  // what is so is still to be told
  std::string page_;       // of the snapshot
  std::map<std::string, int64_t> known_;
  Time sent_ = std::chrono::steady_clock::now();
  bool writing_ INTERLOCK_GUARDED_BY(mutex_) = false;
  bool finished_ INTERLOCK_GUARDED_BY(mutex_) = false;
  std::deque<v1::WatchReservationsResponse> waiting_;
};

ReservationWatcher::ReservationWatcher(store::Store& store)
    : store_(store),
      listening_(store.Listen(lease::kChannel, [this] { bell_.Ring(); })),
      thread_([this] { Run(); }) {}

ReservationWatcher::~ReservationWatcher() {
  listening_.reset();
  End();
  bell_.Stop();
  thread_.join();
}

void ReservationWatcher::End() {
  MutexLock lock(mutex_);
  ending_ = true;
  for (ReservationWatch* watch : watches_) watch->End(ToGrpc(Draining("watch again")));
}

grpc::ServerWriteReactor<v1::WatchReservationsResponse>* ReservationWatcher::Watch(
    const v1::WatchReservationsRequest& request) {
  auto* watch = new ReservationWatch(*this, request);
  MutexLock lock(mutex_);
  watches_.insert(watch);
  if (ending_) {
    watch->End(ToGrpc(Draining("watch again")));
  } else {
    watch->Look();
  }
  return watch;
}

void ReservationWatcher::Run() {
  while (bell_.Wait(kSlowLook)) {
    {
      // Held while they look, so that none is deleted under it: OnDone waits in Remove.
      MutexLock lock(mutex_);
      for (ReservationWatch* watch : watches_) watch->Look();
    }
    if (!bell_.Pause(kApart)) return;
  }
}

void ReservationWatcher::Remove(ReservationWatch* watch) {
  MutexLock lock(mutex_);
  watches_.erase(watch);
}

}  // namespace interlock::server
