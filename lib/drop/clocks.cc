#include "lib/drop/clocks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lib/time/duration.h"

namespace interlock::drop {
namespace {

constexpr absl::Duration kDateHeaderGrain = absl::Seconds(1);

std::string Apart(absl::string_view what, absl::Duration by, absl::Duration max_skew) {
  return absl::StrCat(what, " are ", interlock::FormatDuration(absl::AbsDuration(by)),
                      " apart, and up to ", interlock::FormatDuration(max_skew), " is allowed");
}

}  // namespace

std::string Disagreement(const Readings& now, absl::Duration max_skew) {
  if (!now.druid) return "Druid's replies carry no Date header";
  const absl::Duration own = now.wall - now.store;
  if (absl::AbsDuration(own) > max_skew) {
    return Apart("our clock and the store's", own, max_skew);
  }
  const absl::Duration druid = *now.druid - now.store;
  if (druid > max_skew || druid < -max_skew - kDateHeaderGrain) {
    return Apart("Druid's clock and the store's", druid, max_skew);
  }
  return "";
}

Window JudgeWindow(const Readings& marked, absl::Duration length, const Readings& now,
                   absl::Duration max_skew, std::string* why) {
  *why = Disagreement(now, max_skew);
  if (why->empty() && !marked.druid) *why = "Druid's clock was not read when the mark was proven";
  if (!why->empty()) return Window::kUnclear;
  const absl::Duration store = now.store - marked.store;
  const absl::Duration wall = now.wall - marked.wall;
  const absl::Duration druid = *now.druid - *marked.druid;
  const auto [shortest, longest] = std::minmax({store, wall, druid});
  // Each of the two moments had its own allowed skew.
  const absl::Duration allowed = 2 * max_skew + kDateHeaderGrain;
  if (longest - shortest > allowed) {
    *why = Apart("the clocks' lengths of the time since the mark", longest - shortest, allowed);
    return Window::kUnclear;
  }
  return shortest >= length ? Window::kOver : Window::kRuns;
}

Window JudgeWindowByAll(const Readings& marked, absl::Duration length, const Readings& now) {
  if (!now.druid || !marked.druid) return Window::kUnclear;
  const bool over = now.store - marked.store >= length && now.wall - marked.wall >= length &&
                    *now.druid - *marked.druid >= length;
  return over ? Window::kOver : Window::kRuns;
}

bool OlderThan(Instant end, absl::Duration floor, const Readings& now) {
  Instant earliest = std::min(now.store, now.wall);
  if (now.druid) earliest = std::min(earliest, *now.druid);
  return end + floor <= earliest;
}

}  // namespace interlock::drop
