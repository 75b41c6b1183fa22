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

class ReservationWatch final : public Watch<v1::WatchReservationsResponse> {
 public:
  // `store` must outlive it.
  ReservationWatch(store::Store& store, const v1::WatchReservationsRequest& request)
      : store_(store), datasource_(request.datasource()), revision_(request.from_revision()) {
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

 private:
  using Messages = std::deque<v1::WatchReservationsResponse>;
  using Time = std::chrono::steady_clock::time_point;

  absl::StatusOr<News> Read() override {
    if (!refusal_.ok()) return refusal_;
    News news;
    const absl::Status read = store_.Read([&](store::Transaction& tx) {
      news.messages.clear();
      if (snapshot_) return ReadPage(tx, news.messages);
      return datasource_.empty() ? ReadAll(tx, news.messages) : ReadNews(tx, news.messages);
    });
    if (!read.ok()) return read;
    const Time now = std::chrono::steady_clock::now();
    if (news.messages.empty() && now - told_ > kSignOfLife) {
      news.messages.emplace_back().set_revision(datasource_.empty() ? 0 : revision_);
    }
    if (!news.messages.empty()) told_ = now;
    return news;
  }

  // What is so, a page at a time. Until its last message there is no revision to resume
  // from: who breaks off begins anew.
  absl::Status ReadPage(store::Transaction& tx, Messages& messages) {
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
      AddSnapshot(reservation, v1::WatchReservationsResponse::GRANTED, tx.now(), messages);
    }
    page_ = listed->next;
    snapshot_ = !page_.empty();
    if (snapshot_) return absl::OkStatus();
    auto line = lease::ListWaiters(tx, datasource_, overlapping_, "", kPage);
    if (!line.ok()) return line.status();
    for (const auto& waiter : *line) {
      AddSnapshot(waiter, v1::WatchReservationsResponse::WAITING, tx.now(), messages);
    }
    if (messages.empty()) messages.emplace_back();
    if (!datasource_.empty()) messages.back().set_revision(revision_);
    return absl::OkStatus();
  }

  static void AddSnapshot(const lease::Reservation& reservation,
                          v1::WatchReservationsResponse::Event event, Instant now,
                          Messages& messages) {
    v1::WatchReservationsResponse& message = messages.emplace_back();
    message.set_event(event);
    ToProto(reservation, now, message.mutable_reservation());
    ToProto(reservation.created, message.mutable_event_time());
  }

  absl::Status ReadNews(store::Transaction& tx, Messages& messages) {
    auto told = lease::EventsAfter(tx, datasource_, revision_, overlapping_);
    if (!told.ok()) return told.status();
    Add(*told, tx.now(), messages);
    return absl::OkStatus();
  }

  absl::Status ReadAll(store::Transaction& tx, Messages& messages) {
    auto told = lease::EventsOfAllAfter(tx, revision_, known_);
    if (!told.ok()) return told.status();
    Add(*told, tx.now(), messages);
    return absl::OkStatus();
  }

  void Add(const lease::Told& told, Instant now, Messages& messages) {
    revision_ = told.revision;
    for (const lease::Event& event : told.events) {
      v1::WatchReservationsResponse& message = messages.emplace_back();
      message.set_event(ToProto(event.kind));
      ToProto(event.reservation, now, message.mutable_reservation());
      message.set_revision(event.revision);
      ToProto(event.at, message.mutable_event_time());
    }
  }

  store::Store& store_;
  const std::string datasource_;
  std::optional<Interval> overlapping_;
  absl::Status refusal_;
  int64_t revision_;
  bool snapshot_ = false;  // what is so is still to be told
  std::string page_;       // of the snapshot
  std::map<std::string, int64_t> known_;
  Time told_ = std::chrono::steady_clock::now();
};

}  // namespace

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

grpc::ServerWriteReactor<v1::WatchReservationsResponse>* ReservationWatcher::Watch(
    const v1::WatchReservationsRequest& request) {
  return watches_.Add(new ReservationWatch(store_, request));
}

void ReservationWatcher::Run() {
  while (bell_.Wait(kSlowLook) && watches_.Look() && bell_.Pause(kApart)) {
  }
}

}  // namespace interlock::server
