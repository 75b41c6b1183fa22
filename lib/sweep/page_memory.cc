#include "lib/sweep/page_memory.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace interlock::sweep {
namespace {

// Pages of one sweep are apart; of several sweeps so many at most are looked at.
constexpr int kMostAlike = 8;

}  // namespace

bool PageMemory::IsQuiet(const std::string& datasource, const Page& page, Instant now) {
  MutexLock lock(mutex_);
  const auto pages = pages_.find(datasource);
  if (pages == pages_.end()) return false;
  const auto found = pages->second.find(page.interval);
  if (found == pages->second.end() || !found->second.quiet) return false;
  if (!(found->second.content == page.content)) return false;
  found->second.none_hidden = now;
  return true;
}

void PageMemory::Remember(const std::string& datasource, const Page& page, bool quiet,
                          const std::optional<Instant>& none_hidden) {
  MutexLock lock(mutex_);
  Remembered& remembered = pages_[datasource][page.interval];
  remembered.content = page.content;
  remembered.quiet = quiet;
  if (none_hidden) remembered.none_hidden = none_hidden;
}

std::optional<Instant> PageMemory::NoneHiddenAt(const std::string& datasource,
                                                const Interval& partition) const {
  MutexLock lock(mutex_);
  std::optional<Instant> newest;
  const auto pages = pages_.find(datasource);
  if (pages == pages_.end()) return newest;
  auto page = pages->second.upper_bound(Interval::Between(partition.start(), Instant::kMax));
  for (int i = 0; i < kMostAlike && page != pages->second.begin(); ++i) {
    --page;
    const auto& none_hidden = page->second.none_hidden;
    if (!page->first.Contains(partition) || !none_hidden) continue;
    newest = std::max(newest.value_or(*none_hidden), *none_hidden);
  }
  return newest;
}

void PageMemory::Forget(const std::string& datasource, const std::vector<Page>& pages,
                        Instant since) {
  std::set<Interval> there;
  for (const Page& page : pages) there.insert(page.interval);
  MutexLock lock(mutex_);
  const auto all = pages_.find(datasource);
  if (all == pages_.end()) return;
  for (auto one = all->second.begin(); one != all->second.end();) {
    const auto& none_hidden = one->second.none_hidden;
    const bool says = !there.empty() && none_hidden && *none_hidden > since;
    one = there.count(one->first) != 0 || says ? std::next(one) : all->second.erase(one);
  }
  if (all->second.empty()) pages_.erase(all);
}

}  // namespace interlock::sweep
