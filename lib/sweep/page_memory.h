// What this process saw of a datasource's pages in earlier sweeps: which need not be read again,
// and since when what is hidden now can have been hidden.
//
// Holds no page that is gone for longer than was asked for.
//
// Threads: any.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/sweep/pages.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"
#include "lib/time/mutex.h"

namespace interlock::sweep {

class PageMemory {
 public:
  // Nothing was wrong with it, and it has the ids that it had then: so nothing is hidden `now`.
  bool IsQuiet(const std::string& datasource, const Page& page, Instant now)
      INTERLOCK_EXCLUDES(mutex_);
  // `none_hidden`: when nothing of it was; nothing where something is.
  void Remember(const std::string& datasource, const Page& page, bool quiet,
                const std::optional<Instant>& none_hidden) INTERLOCK_EXCLUDES(mutex_);
  // When nothing in this partition was hidden, as was last seen.
  std::optional<Instant> NoneHiddenAt(const std::string& datasource,
                                      const Interval& partition) const INTERLOCK_EXCLUDES(mutex_);
  // All but `pages`, and what had nothing hidden since `since`; of a datasource without pages, all.
  void Forget(const std::string& datasource, const std::vector<Page>& pages, Instant since)
      INTERLOCK_EXCLUDES(mutex_);

 private:
  struct Remembered {
    druid::IntervalContent content;
    bool quiet = false;
    std::optional<Instant> none_hidden;
  };

  mutable Mutex mutex_;
  std::map<std::string, std::map<Interval, Remembered>> pages_ INTERLOCK_GUARDED_BY(mutex_);
};

}  // namespace interlock::sweep
