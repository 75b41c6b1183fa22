// What a stream may still write, computed from all that is known of it. Pure: what was
// read and what was declared go in, the tail comes out.
//
// A tail starts at a fixed instant, or so long before now, the earlier of the two where
// both are known; or nowhere: then the stream may write any time, which is Druid's default.
// Best known first (design: Streams):
//
//   1. a setting of the stream, or of its datasource, by a person
//   2. the stream's own report
//   3. the supervisor's bounds: the lowest minimumMessageTime of its running tasks, or of
//      the next task to come, whichever is earlier
//   4. a declared skipOffsetFromLatest: Druid drops it from a spec and holds to nothing
//   5. none: unbounded
//
// A task's bound moves on while it lives (by taskDuration every taskDuration, measured),
// which its payload does not show; the payload's is the earlier one, so a tail that is
// computed from it never promises too much.
//
// Threads: values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/druid/supervisor.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::guard {

enum class TailSource {
  kSetting,
  kReported,
  kRunningTasks,
  kLateMessageBound,
  kSkipOffsetDeclared,
  kUnbounded,
};
// "SETTING" …, as stored and shown.
absl::string_view NameOf(TailSource source);
TailSource TailSourceOf(absl::string_view name);

// From where on. Neither: anywhere.
struct Bound {
  std::optional<Instant> fixed;
  std::optional<absl::Duration> length;  // before now

  bool unbounded() const { return !fixed && !length; }
  // Instant::kMin where it is unbounded.
  Instant StartAt(Instant now) const;
  // Both must hold: the earlier start.
  static Bound Widest(const Bound& one, const Bound& other);

  bool operator==(const Bound& other) const = default;
};

// What people, or the stream itself, have said. Whatever is empty was not said.
struct Declared {
  std::optional<absl::Duration> tail;
  std::optional<Instant> reported_start;
  // Of a spec that was shown, whether posted to Druid yet or not.
  druid::MessageBounds bounds;
  std::optional<absl::Duration> skip_offset;
  bool has_spec = false;

  bool operator==(const Declared& other) const = default;
};

// What one look at Druid showed of one supervisor.
struct Seen {
  std::optional<druid::Supervisor> supervisor;  // nothing: there is none (any more)
  std::vector<druid::StreamTask> tasks;         // that live, whatever the supervisor says
  // How far Druid's clock is behind ours; a task's bound is reckoned by Druid's.
  absl::Duration druid_behind;
};

struct Tail {
  TailSource source = TailSource::kUnbounded;
  Bound bound;
  // Druid itself will write nothing before it.
  bool enforced = false;
  // False: nobody writes here (a supervisor that is gone, with its tasks).
  bool any = true;

  bool operator==(const Tail& other) const = default;
};

// `of_datasource`: what was declared for all streams of the datasource that say nothing
// themselves. `seen`: null for a stream that Druid knows nothing of.
Tail ComputeTail(const Declared& declared, const Declared* of_datasource, const Seen* seen,
                 Instant now);

// What the caller should know of a tail: "REASON", a sentence, what would do; "" none.
struct TailNotice {
  std::string reason, message, remedy;
};
std::vector<TailNotice> NoticesOf(const Tail& tail, const Declared& declared, const Seen* seen,
                                  const std::string& datasource);

// The bounds of Druid's own: what its running tasks and its next one may write.
Bound DruidBound(const Seen& seen);

}  // namespace interlock::guard
