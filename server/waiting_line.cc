#include "server/waiting_line.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/lease/events.h"
#include "lib/lease/reservations.h"
#include "lib/lease/waiting.h"
#include "lib/time/status_reason.h"
#include "server/status_conversion.h"

namespace interlock::server {
namespace {

constexpr char kKeepThePlace[] = "ask again with the same request id to keep the place in line";

std::chrono::nanoseconds Chrono(absl::Duration duration) {
  return absl::ToChronoNanoseconds(duration);
}

}  // namespace

// Ends with Finish, once, and only while no write of its own is under way: the last thing
// that a callback does with the call.
class WaitingCall final : public grpc::ServerUnaryReactor {
 public:
  WaitingCall(WaitingLine& line, lease::ReserveRequest request, audit::Caller caller,
              lease::Limits limits, std::function<void(const absl::StatusOr<lease::Grant>&)> told)
      : line_(line),
        request_(std::move(request)),
        caller_(std::move(caller)),
        limits_(std::move(limits)),
        told_(std::move(told)) {}

  void Begin() {
    lease::ReserveAsync(line_.store_, request_, caller_, limits_,
                        [this](absl::StatusOr<lease::Grant> grant) { Took(std::move(grant)); });
  }

  const std::string& datasource() const { return request_.datasource; }

  // When it is to be tried again, if nothing happens; nothing while it is being tried.
  std::optional<WaitingLine::Time> due() {
    MutexLock lock(mutex_);
    return busy_ || finished_ ? std::nullopt : std::optional(due_);
  }

  // Under the line's mutex, so that it is not deleted meanwhile.
  void Look(bool changed, bool ending) {
    MutexLock lock(mutex_);
    ending_ = ending_ || ending;
    if (busy_ || finished_ || !place_) return;
    if (ending_) {
      finished_ = true;
      lock.Unlock();
      return Finish(ToGrpc(Draining(kKeepThePlace)));
    }
    if (!changed && std::chrono::steady_clock::now() < due_) return;
    busy_ = true;
    const lease::Waiting place = *place_;
    // A store that refuses answers at once, on this thread.
    lock.Unlock();
    lease::WaitOnAsync(line_.store_, request_, place, caller_, limits_,
                       [this](absl::StatusOr<lease::Grant> grant) { Took(std::move(grant)); });
  }

  void OnCancel() override {
    MutexLock lock(mutex_);
    cancelled_ = true;
    if (busy_ || finished_) return;
    busy_ = true;
    const lease::Waiting place = *place_;
    lock.Unlock();
    GoAway(place);
  }
  void OnDone() override {
    line_.Remove(this);
    delete this;
  }

 private:
  // The answer of a try; on the store's thread.
  void Took(absl::StatusOr<lease::Grant> grant) {
    MutexLock lock(mutex_);
    busy_ = false;
    if (grant.ok() && grant->waiting && grant->waiting->over) {
      // Taken out first: it is a part of what it replaces.
      absl::Status why = grant->waiting->why;
      grant = std::move(why);
    }
    if (grant.ok() && grant->waiting) {
      place_ = grant->waiting;
      due_ = std::chrono::steady_clock::now() + Pause(*place_);
      if (cancelled_) {
        busy_ = true;
        lock.Unlock();
        return GoAway(*grant->waiting);
      }
      if (!ending_) return;
      grant = Draining(kKeepThePlace);
    } else if (cancelled_ && grant.ok() && request_.request_id.empty()) {
      // Nobody knows of it, and without a request id nobody can ask for it.
      busy_ = true;
      lock.Unlock();
      return GiveBack(grant->reservation);
    }
    finished_ = true;
    lock.Unlock();
    told_(grant);
    Finish(ToGrpc(grant.status()));
  }

  // Until the next try if nothing is heard of.
  std::chrono::nanoseconds Pause(const lease::Waiting& place) const {
    absl::Duration pause = lease::kWaitAgain;
    const Instant now = line_.store_.Now();
    pause = std::min(pause, place.until - now);
    if (place.look) pause = std::min(pause, *place.look - now);
    return Chrono(std::max(pause, absl::ZeroDuration()));
  }

  // Both while busy_: nobody else ends the call then.
  void GoAway(const lease::Waiting& place) {
    line_.store_.WriteAsync([place](store::Transaction& tx) { return lease::GiveUp(tx, place); },
                            [this](const absl::Status&) { Gone(); });
  }
  void GiveBack(const lease::Reservation& reservation) {
    lease::ReleaseAsync(line_.store_, reservation.id, reservation.token, {}, caller_,
                        [this](const absl::StatusOr<lease::Reservation>&) { Gone(); });
  }
  void Gone() {
    {
      MutexLock lock(mutex_);
      busy_ = false;
      finished_ = true;
    }
    Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the caller has gone"));
  }

  WaitingLine& line_;
  const lease::ReserveRequest request_;
  const audit::Caller caller_;
  const lease::Limits limits_;
  const std::function<void(const absl::StatusOr<lease::Grant>&)> told_;
  Mutex mutex_;
  std::optional<lease::Waiting> place_ INTERLOCK_GUARDED_BY(mutex_);
  WaitingLine::Time due_ INTERLOCK_GUARDED_BY(mutex_);
  bool busy_ INTERLOCK_GUARDED_BY(mutex_) = true;  // with its first try
  bool ending_ INTERLOCK_GUARDED_BY(mutex_) = false;
  bool cancelled_ INTERLOCK_GUARDED_BY(mutex_) = false;
  bool finished_ INTERLOCK_GUARDED_BY(mutex_) = false;
};

WaitingLine::WaitingLine(store::Store& store)
    : store_(store),
      listening_(store.Listen(lease::kChannel, [this] { bell_.Ring(); })),
      thread_([this] { Run(); }) {}

WaitingLine::~WaitingLine() {
  listening_.reset();
  End();
  bell_.Stop();
  thread_.join();
}

void WaitingLine::End() {
  MutexLock lock(mutex_);
  ending_ = true;
  for (WaitingCall* call : calls_) call->Look(false, true);
}

grpc::ServerUnaryReactor* WaitingLine::Serve(
    lease::ReserveRequest request, audit::Caller caller, lease::Limits limits,
    std::function<void(const absl::StatusOr<lease::Grant>&)> told) {
  auto* call = new WaitingCall(*this, std::move(request), std::move(caller), std::move(limits),
                               std::move(told));
  {
    MutexLock lock(mutex_);
    calls_.insert(call);
    if (ending_) call->Look(false, true);
  }
  call->Begin();
  return call;
}

void WaitingLine::Remove(WaitingCall* call) {
  MutexLock lock(mutex_);
  calls_.erase(call);
}

std::chrono::nanoseconds WaitingLine::UntilDue() {
  MutexLock lock(mutex_);
  const Time now = std::chrono::steady_clock::now();
  Time next = now + Chrono(lease::kWaitAgain);
  for (WaitingCall* call : calls_) {
    if (const auto due = call->due()) next = std::min(next, *due);
  }
  return next - now;
}

void WaitingLine::Run() {
  while (bell_.Wait(UntilDue())) {
    LookAll(Changed());
    // What comes meanwhile is gathered for the next round.
    if (!bell_.Pause(kApart)) return;
  }
}

std::set<std::string> WaitingLine::Changed() {
  std::set<std::string> names;
  {
    MutexLock lock(mutex_);
    for (const WaitingCall* call : calls_) names.insert(call->datasource());
  }
  std::set<std::string> changed;
  std::map<std::string, int64_t> now;
  if (!names.empty()) {
    const absl::Status read = store_.Read([&](store::Transaction& tx) {
      for (const std::string& name : names) {
        const auto revision = lease::RevisionOf(tx, name);
        if (!revision.ok()) return revision.status();
        now[name] = *revision;
      }
      return absl::OkStatus();
    });
    // A store that can't be read is tried again at the calls' own time.
    if (!read.ok()) return changed;
  }
  for (const auto& [name, revision] : now) {
    const auto known = revisions_.find(name);
    if (known == revisions_.end() || known->second != revision) changed.insert(name);
  }
  revisions_ = std::move(now);
  return changed;
}

void WaitingLine::LookAll(const std::set<std::string>& changed) {
  MutexLock lock(mutex_);
  for (WaitingCall* call : calls_) call->Look(changed.count(call->datasource()) > 0, ending_);
}

}  // namespace interlock::server
