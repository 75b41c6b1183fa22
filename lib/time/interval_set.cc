#include "lib/time/interval_set.h"

#include <algorithm>
#include <cstddef>

namespace interlock {
namespace {

void Append(std::vector<Interval>& out, Instant start, Instant end) {
  if (start < end) out.push_back(Interval::Between(start, end));
}

}  // namespace

std::vector<Interval> Condense(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& i) { return i.empty(); });
  std::sort(intervals.begin(), intervals.end());
  std::vector<Interval> out;
  for (const Interval& next : intervals) {
    if (out.empty() || out.back().end() < next.start()) {
      out.push_back(next);
    } else if (out.back().end() < next.end()) {
      out.back() = Interval::Between(out.back().start(), next.end());
    }
  }
  return out;
}

bool IsCondensed(const std::vector<Interval>& intervals) {
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (intervals[i].empty()) return false;
    if (i > 0 && intervals[i - 1].end() >= intervals[i].start()) return false;
  }
  return true;
}

std::vector<Interval> Subtract(const std::vector<Interval>& from,
                               const std::vector<Interval>& minus) {
  std::vector<Interval> out;
  size_t m = 0;
  for (const Interval& whole : from) {
    Instant at = whole.start();
    while (m < minus.size() && minus[m].end() <= at) ++m;
    // One that sticks out at the end may cut the next interval too: it is kept.
    for (size_t k = m; k < minus.size() && minus[k].start() < whole.end(); ++k) {
      Append(out, at, minus[k].start());
      at = std::max(at, minus[k].end());
    }
    Append(out, at, whole.end());
    while (m < minus.size() && minus[m].end() <= whole.end()) ++m;
  }
  return out;
}

std::vector<Interval> Intersect(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> out;
  for (size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (const auto common = a[i].Intersect(b[k])) out.push_back(*common);
    if (a[i].end() < b[k].end()) {
      ++i;
    } else {
      ++k;
    }
  }
  return out;
}

bool Covers(const std::vector<Interval>& outer, const std::vector<Interval>& inner) {
  size_t o = 0;
  for (const Interval& wanted : inner) {
    while (o < outer.size() && outer[o].end() < wanted.end()) ++o;
    if (o == outer.size() || !outer[o].Contains(wanted)) return false;
  }
  return true;
}

int64_t TotalMillis(const std::vector<Interval>& intervals) {
  int64_t total = 0;
  for (const Interval& i : intervals) total += i.millis();
  return total;
}

}  // namespace interlock
