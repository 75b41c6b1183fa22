#include "lib/guard/tail.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/time/duration.h"

namespace interlock::guard {
namespace {

struct SourceName {
  TailSource source;
  absl::string_view name;
};
constexpr SourceName kNames[] = {
    {TailSource::kSetting, "SETTING"},
    {TailSource::kReported, "REPORTED"},
    {TailSource::kRunningTasks, "RUNNING_TASKS"},
    {TailSource::kLateMessageBound, "LATE_MESSAGE_BOUND"},
    {TailSource::kSkipOffsetDeclared, "SKIP_OFFSET_DECLARED"},
    {TailSource::kUnbounded, "UNBOUNDED"},
};

// The bound that a spec gives the next task.
Bound NextTask(const druid::MessageBounds& bounds, absl::Duration druid_behind) {
  Bound next;
  if (bounds.late_start) {
    next.fixed = bounds.late_start;
  } else if (bounds.late_period) {
    next.length = *bounds.late_period + std::max(druid_behind, absl::ZeroDuration());
  }
  return next;
}

// The lowest of the running tasks; nothing where one of them has none.
Bound RunningTasks(const std::vector<druid::StreamTask>& tasks) {
  Bound lowest;
  for (const druid::StreamTask& task : tasks) {
    if (!task.minimum_message_time) return {};
    lowest.fixed = std::min(lowest.fixed.value_or(Instant::kMax), *task.minimum_message_time);
  }
  return lowest;
}

bool WritesNothing(const Seen& seen) { return !seen.supervisor && seen.tasks.empty(); }

// Whether Druid holds to `bound` by bounds of its own.
bool Enforces(const Seen* seen, const Bound& bound, Instant now) {
  if (seen == nullptr) return false;
  if (WritesNothing(*seen)) return true;
  const Bound own = DruidBound(*seen);
  return !own.unbounded() && own.StartAt(now) >= bound.StartAt(now) &&
         (!bound.length || !own.length || *own.length <= *bound.length);
}

const Declared* SettingOf(const Declared& declared, const Declared* of_datasource) {
  if (declared.tail) return &declared;
  return of_datasource != nullptr && of_datasource->tail ? of_datasource : nullptr;
}

std::optional<absl::Duration> SkipOffset(const Declared& declared, const Declared* of_datasource) {
  if (declared.skip_offset) return declared.skip_offset;
  return of_datasource != nullptr ? of_datasource->skip_offset : std::nullopt;
}

Tail OfDruid(const Seen& seen, Instant now) {
  Tail tail;
  tail.bound = DruidBound(seen);
  if (tail.bound.unbounded()) return tail;
  tail.enforced = true;
  const Bound running = RunningTasks(seen.tasks);
  const bool by_tasks = !seen.tasks.empty() && running.StartAt(now) <= tail.bound.StartAt(now);
  tail.source = by_tasks ? TailSource::kRunningTasks : TailSource::kLateMessageBound;
  return tail;
}

}  // namespace

absl::string_view NameOf(TailSource source) {
  for (const SourceName& known : kNames) {
    if (known.source == source) return known.name;
  }
  return "UNBOUNDED";
}

TailSource TailSourceOf(absl::string_view name) {
  for (const SourceName& known : kNames) {
    if (known.name == name) return known.source;
  }
  return TailSource::kUnbounded;
}

Instant Bound::StartAt(Instant now) const {
  if (unbounded()) return Instant::kMin;
  const Instant at = fixed.value_or(Instant::kMax);
  return length ? std::min(at, now - *length) : at;
}

Bound Bound::Widest(const Bound& one, const Bound& other) {
  if (one.unbounded() || other.unbounded()) return {};
  Bound both = one;
  if (other.fixed) both.fixed = std::min(both.fixed.value_or(Instant::kMax), *other.fixed);
  if (other.length) {
    both.length = std::max(both.length.value_or(absl::ZeroDuration()), *other.length);
  }
  return both;
}

Bound DruidBound(const Seen& seen) {
  const Bound running = RunningTasks(seen.tasks);
  // Without its supervisor a task is the last one.
  if (!seen.supervisor) return running;
  const Bound next = NextTask(seen.supervisor->bounds, seen.druid_behind);
  return seen.tasks.empty() ? next : Bound::Widest(running, next);
}

Tail ComputeTail(const Declared& declared, const Declared* of_datasource, const Seen* seen,
                 Instant now) {
  Tail tail;
  if (const Declared* setting = SettingOf(declared, of_datasource)) {
    tail.source = TailSource::kSetting;
    tail.bound.length = setting->tail;
    tail.enforced = Enforces(seen, tail.bound, now);
    return tail;
  }
  if (declared.reported_start) {
    tail.source = TailSource::kReported;
    tail.bound.fixed = declared.reported_start;
    tail.enforced = Enforces(seen, tail.bound, now);
    return tail;
  }
  if (seen != nullptr && !WritesNothing(*seen)) tail = OfDruid(*seen, now);
  if (!tail.bound.unbounded()) return tail;
  // What a spec says that Druid does not have counts only where Druid has none.
  const bool in_druid = seen != nullptr && !WritesNothing(*seen);
  if (!in_druid && declared.bounds.bounded()) {
    tail.source = TailSource::kLateMessageBound;
    tail.bound = NextTask(declared.bounds, absl::ZeroDuration());
    tail.enforced = true;
    return tail;
  }
  if (const auto skip = SkipOffset(declared, of_datasource)) {
    tail.source = TailSource::kSkipOffsetDeclared;
    tail.bound.length = *skip;
    return tail;
  }
  tail.any = in_druid || declared.has_spec || seen == nullptr;
  return tail;
}

std::vector<TailNotice> NoticesOf(const Tail& tail, const Declared& declared, const Seen* seen,
                                  const std::string& datasource) {
  std::vector<TailNotice> notices;
  const bool supervised = (seen != nullptr && seen->supervisor) || declared.has_spec;
  if (tail.source == TailSource::kSkipOffsetDeclared) {
    notices.push_back(
        {"TAIL_NOT_ENFORCED",
         absl::StrCat("skipOffsetFromLatest is no setting of a supervisor: Druid accepts the spec "
                      "and drops it; the tail of ",
                      interlock::FormatDuration(*tail.bound.length),
                      " is yours alone, and the stream still writes whatever comes"),
         absl::StrCat("set \"lateMessageRejectionPeriod\" in the supervisor's ioConfig (",
                      absl::FormatDuration(*tail.bound.length), " as an ISO period)")});
  } else if (supervised && !tail.bound.unbounded() && !tail.enforced) {
    notices.push_back({"TAIL_NOT_ENFORCED",
                       "Druid itself will not hold to this tail: the supervisor may write before "
                       "it, and rows that come late are found, not prevented",
                       "set \"lateMessageRejectionPeriod\" in the supervisor's ioConfig"});
  }
  if (tail.any && tail.bound.unbounded()) {
    notices.push_back({"TAIL_UNBOUNDED",
                       "the supervisor has no late-message bound, which is Druid's default: it "
                       "may still write any time, and plain backfills are refused",
                       absl::StrCat("interlockctl streams register ", datasource, " --tail P2D")});
  }
  return notices;
}

}  // namespace interlock::guard
