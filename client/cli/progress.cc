#include "client/cli/progress.h"

#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/cli/follow_backfill.h"
#include "lib/time/duration.h"

namespace interlock::cli {
namespace {

constexpr char kClearLine[] = "\r\x1b[K";

bool HasEnded(v1::Partition::State state) {
  return state == v1::Partition::DONE || state == v1::Partition::EMPTY ||
         state == v1::Partition::SKIPPED || state == v1::Partition::ROLLED_BACK;
}

bool IsRunning(v1::Partition::State state) {
  return state == v1::Partition::SUBMITTING || state == v1::Partition::RUNNING ||
         state == v1::Partition::PROVING;
}

bool HasFailed(v1::Partition::State state) {
  return state == v1::Partition::FAILED || state == v1::Partition::SUSPECT ||
         state == v1::Partition::UNDETERMINED || state == v1::Partition::CANCELLED;
}

}  // namespace

Progress::Counts Progress::Count() const {
  Counts counts;
  for (const auto& [partition, state] : partitions_) {
    ++counts.all;
    counts.ended += HasEnded(state) ? 1 : 0;
    counts.running += IsRunning(state) ? 1 : 0;
    counts.failed += HasFailed(state) ? 1 : 0;
  }
  return counts;
}

void Progress::Take(const v1::WatchBackfillResponse& change, std::chrono::nanoseconds now) {
  if (change.has_backfill()) id_ = change.backfill().backfill_id();
  if (change.has_partition()) {
    partitions_[change.partition().partition()] = change.partition().state();
  }
  if (begun_ || !change.current()) return;
  begun_ = now;
  ended_before_ = Count().ended;
}

std::string Progress::Line(std::chrono::nanoseconds now) const {
  const Counts counts = Count();
  std::string line = absl::StrCat(id_, ": ", counts.ended, " of ", counts.all, " done, ",
                                  counts.running, " running, ", counts.failed, " failed");
  const double seconds = begun_ ? absl::ToDoubleSeconds(absl::FromChrono(now - *begun_)) : 0;
  const int64_t ended = counts.ended - ended_before_;
  if (ended <= 0 || seconds <= 0) return line;
  const double rate = static_cast<double>(ended) / seconds;
  absl::StrAppend(&line, rate >= 1 ? absl::StrFormat(", %.1f/s", rate)
                                   : absl::StrFormat(", %.1f/min", rate * 60));
  const int64_t left = counts.all - counts.ended - counts.failed;
  if (left <= 0) return line;
  const absl::Duration rest = absl::Seconds(static_cast<double>(left) / rate);
  return absl::StrCat(line, ", ", interlock::FormatDuration(absl::Ceil(rest, absl::Seconds(1))),
                      " left");
}

void ProgressDisplay::Show(const v1::WatchBackfillResponse& change, Lines lines) {
  const std::string line = ChangeLine(change);
  if (session_.width == 0 || session_.output != Output::kTable) {
    if (lines == Lines::kOnStdout) session_.PrintLine(line);
    if (lines == Lines::kOnStderr) session_.Tell(line);
    return;
  }
  const auto now = session_.clock.Monotonic();
  progress_.Take(change, now);
  if (change.has_partition() && HasFailed(change.partition().state())) {
    End();
    session_.PrintLine(line);
  }
  session_.out << kClearLine << progress_.Line(now).substr(0, session_.width - 1) << std::flush;
  drawn_ = true;
}

void ProgressDisplay::End() {
  if (drawn_) session_.out << kClearLine << std::flush;
  drawn_ = false;
}

}  // namespace interlock::cli
