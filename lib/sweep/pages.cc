#include "lib/sweep/pages.h"

#include <algorithm>
#include <utility>

namespace interlock::sweep {
namespace {

struct Partition {
  Interval interval;
  druid::IntervalContent content;
};

void Add(druid::IntervalContent* content, const druid::IntervalContent& more) {
  content->segments += more.segments;
  content->digest += more.digest;
}

// In order of start; each begins where no earlier segment reaches to.
std::vector<Partition> PartitionsOf(const druid::IntervalContents& contents) {
  std::vector<Partition> partitions;
  for (const auto& [interval, content] : contents) {
    if (!partitions.empty() && interval.start() < partitions.back().interval.end()) {
      Interval& last = partitions.back().interval;
      last = Interval::Between(last.start(), std::max(last.end(), interval.end()));
    } else {
      partitions.push_back({interval, {}});
    }
    Add(&partitions.back().content, content);
  }
  return partitions;
}

}  // namespace

std::vector<Page> PagesOf(const druid::IntervalContents& contents, int64_t most) {
  std::vector<Page> pages;
  for (const Partition& partition : PartitionsOf(contents)) {
    if (pages.empty() || pages.back().content.segments + partition.content.segments > most) {
      pages.push_back({partition.interval, {}, {}});
    }
    Page& page = pages.back();
    page.interval = Interval::Between(page.interval.start(), partition.interval.end());
    page.partitions.push_back(partition.interval);
    Add(&page.content, partition.content);
  }
  return pages;
}

}  // namespace interlock::sweep
