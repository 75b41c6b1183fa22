#include "lib/lease/lock_names.h"

#include <optional>

#include "lib/lease/tables.h"
#include "lib/lease/waiting.h"

namespace interlock::lease {
namespace {

std::optional<int64_t> NumberIn(const std::string& id) {
  std::optional<Key> key = KeyOf(id);
  if (!key) key = WaiterKeyOf(id);
  return key ? std::optional(key->datasource) : std::nullopt;
}

}  // namespace

std::vector<std::string> LockNames::Of(const std::string& id) const {
  const std::optional<int64_t> number = NumberIn(id);
  if (!number) return {};
  MutexLock lock(mutex_);
  const auto found = by_number_.find(*number);
  return found == by_number_.end() ? std::vector<std::string>()
                                   : std::vector<std::string>{found->second};
}

void LockNames::Learn(const Reservation& reservation) {
  const std::optional<int64_t> number = NumberIn(reservation.id);
  if (!number || reservation.datasource.empty()) return;
  MutexLock lock(mutex_);
  by_number_.try_emplace(*number, LockOf(reservation.datasource));
}

}  // namespace interlock::lease
