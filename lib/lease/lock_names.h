// The names of datasources' locks by what stands in a reservation's id, as far as they were
// seen: a call that only has an id can name its lock when its transaction begins. On
// PostgreSQL that costs least, and keeps to the one order in which all servers lock; one
// whose datasource is not known yet takes its lock on the way, and may have to begin anew.
//
// A datasource's number never gets another name, so what was learned stays true.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/lease/reservation.h"
#include "lib/time/mutex.h"

namespace interlock::lease {

class LockNames {
 public:
  // For WriteLockedAsync: empty where it is not known.
  std::vector<std::string> Of(const std::string& id) const;
  void Learn(const Reservation& reservation);

 private:
  mutable Mutex mutex_;
  std::map<int64_t, std::string> by_number_ INTERLOCK_GUARDED_BY(mutex_);
};

}  // namespace interlock::lease
