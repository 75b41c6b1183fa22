#include "server/lease_housekeeper.h"

#include <chrono>
#include <optional>

#include "lib/lease/events.h"
#include "lib/lease/reservations.h"
#include "lib/lease/waiting.h"

namespace interlock::server {
namespace {

// How late a watcher hears of an expiry, at most.
constexpr std::chrono::seconds kEvery{1};
// Of those, every so many also tidies.
constexpr int kTidyEvery = 10;
// Pieces of one round; the rest waits for the next one.
constexpr int kMostPieces = 20;

}  // namespace

LeaseHousekeeper::LeaseHousekeeper(store::Store& store, Kept kept)
    : store_(store), kept_(kept), thread_([this] { Run(); }) {}

LeaseHousekeeper::~LeaseHousekeeper() { Stop(); }

void LeaseHousekeeper::Stop() {
  {
    MutexLock lock(mutex_);
    ending_ = true;
    wake_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void LeaseHousekeeper::Run() {
  for (int round = 1;; ++round) {
    {
      MutexLock lock(mutex_);
      if (!ending_) wake_.WaitFor(lock, kEvery);
      if (ending_) return;
    }
    NoteExpiries();
    if (round % kTidyEvery == 0) Tidy();
  }
}

// Errors of the store show in its health; the next round tries again.
void LeaseHousekeeper::NoteExpiries() {
  for (int piece = 0; piece < kMostPieces; ++piece) {
    std::optional<Instant> next;
    store_
        .Read([&](store::Transaction& tx) {
          auto due = lease::NextExpiry(tx);
          if (due.ok() && *due && **due <= tx.now()) next = *due;
          return due.status();
        })
        .IgnoreError();
    if (!next) return;
    const absl::Status noted =
        store_.Write([](store::Transaction& tx) { return lease::NoteExpiries(tx).status(); });
    if (!noted.ok()) return;
  }
}

void LeaseHousekeeper::Tidy() {
  std::string next;
  const absl::Status tidied = store_.Write([&](store::Transaction& tx) -> absl::Status {
    auto waiters = lease::SweepWaiters(tx);
    if (!waiters.ok()) return waiters.status();
    auto swept = lease::Sweep(tx, tx.now() - kept_.reservations, swept_up_to_, kept_.request_ids);
    if (!swept.ok()) return swept.status();
    next = swept->next;
    return absl::OkStatus();
  });
  if (tidied.ok()) swept_up_to_ = next;
  TrimEvents();
}

void LeaseHousekeeper::TrimEvents() {
  int64_t from = 0;
  for (int piece = 0; piece < kMostPieces; ++piece) {
    const absl::Status trimmed = store_.Write([&](store::Transaction& tx) -> absl::Status {
      auto next = lease::TrimEvents(tx, tx.now() - kept_.events, from);
      if (!next.ok()) return next.status();
      from = *next;
      return absl::OkStatus();
    });
    if (!trimmed.ok() || from == 0) return;
  }
}

}  // namespace interlock::server
