#include "lib/sweep/paced_transport.h"

#include <algorithm>
#include <utility>

namespace interlock::sweep {

PacedTransport::PacedTransport(std::shared_ptr<druid::HttpTransport> inner, const Clock& clock,
                               double per_second)
    : inner_(std::move(inner)),
      clock_(clock),
      between_(static_cast<int64_t>(1e9 / per_second)),
      next_(clock.Monotonic()) {}

bool PacedTransport::WaitForTurn() {
  MutexLock lock(mutex_);
  const auto turn = std::max(next_, clock_.Monotonic());
  next_ = turn + between_;
  while (!stopping_) {
    const auto left = turn - clock_.Monotonic();
    if (left <= left.zero()) break;
    stopped_.WaitFor(lock, left);
  }
  return !stopping_;
}

druid::HttpReply PacedTransport::Send(const druid::HttpRequest& request) {
  if (WaitForTurn()) return inner_->Send(request);
  druid::HttpReply reply;
  reply.error = "not sent: the sweeper stops";
  return reply;
}

void PacedTransport::Stop() {
  MutexLock lock(mutex_);
  stopping_ = true;
  stopped_.NotifyAll();
}

}  // namespace interlock::sweep
