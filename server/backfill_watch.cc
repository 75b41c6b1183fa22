#include "server/backfill_watch.h"

#include <chrono>
#include <string>

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

class BackfillWatch final : public Watch<v1::WatchBackfillResponse> {
 public:
  // `backfills` must outlive it.
  BackfillWatch(backfill::Backfills& backfills, const v1::WatchBackfillRequest& request)
      : backfills_(backfills),
        id_(request.backfill_id()),
        until_over_(request.until_over()),
        revision_(request.from_revision()) {}

 private:
  absl::StatusOr<News> Read() override {
    auto changes = backfills_.NewsSince(id_, revision_);
    if (!changes.ok()) return changes.status();
    revision_ = changes->revision;
    News news;
    if (changes->changed || first_) {
      ToProto(changes->detail, false, news.messages.emplace_back().mutable_backfill());
    }
    for (const auto& partition : changes->partitions) {
      ToProto(partition, news.messages.emplace_back().mutable_partition());
    }
    first_ = false;
    for (auto& message : news.messages) message.set_revision(revision_);
    if (!news.messages.empty()) news.messages.back().set_current(true);
    news.over = NothingMore(changes->detail.backfill, until_over_);
    return news;
  }

  backfill::Backfills& backfills_;
  const std::string id_;
  const bool until_over_;
  int64_t revision_;
  bool first_ = true;
};

}  // namespace

BackfillWatcher::BackfillWatcher(backfill::Backfills& backfills)
    : backfills_(backfills), thread_([this] { Run(); }) {}

BackfillWatcher::~BackfillWatcher() {
  End();
  thread_.join();
}

void BackfillWatcher::End() {
  watches_.End();
  backfills_.changes().Ring();
}

grpc::ServerWriteReactor<v1::WatchBackfillResponse>* BackfillWatcher::Watch(
    const v1::WatchBackfillRequest& request) {
  return watches_.Add(new BackfillWatch(backfills_, request));
}

void BackfillWatcher::Run() {
  int64_t seen = backfills_.changes().count();
  do {
    seen = backfills_.changes().Wait(seen, kSlowLook);
  } while (watches_.Look());
}

}  // namespace interlock::server
