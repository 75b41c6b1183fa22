#include "lib/store/listeners.h"

#include <map>
#include <utility>

#include "lib/time/mutex.h"

namespace interlock::store {

class Listeners::Table {
 public:
  int64_t Add(const std::string& channel, std::function<void()> wake) INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    by_channel_[channel][++last_] = std::move(wake);
    return last_;
  }

  void Remove(const std::string& channel, int64_t id) INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto found = by_channel_.find(channel);
    found->second.erase(id);
    if (found->second.empty()) by_channel_.erase(found);
  }

  // Calls under the lock: so a callback never runs after its removal.
  void Wake(const std::string& channel) INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const auto found = by_channel_.find(channel);
    if (found == by_channel_.end()) return;
    for (const auto& [id, wake] : found->second) wake();
  }

  void WakeAll() INTERLOCK_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    for (const auto& [channel, callbacks] : by_channel_) {
      for (const auto& [id, wake] : callbacks) wake();
    }
  }

 private:
  Mutex mutex_;
  int64_t last_ INTERLOCK_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::map<int64_t, std::function<void()>>> by_channel_
      INTERLOCK_GUARDED_BY(mutex_);
};

class Listeners::Entry : public Listening {
 public:
  Entry(std::shared_ptr<Table> table, std::string channel, std::function<void()> wake)
      : table_(std::move(table)),
        channel_(std::move(channel)),
        id_(table_->Add(channel_, std::move(wake))) {}
  ~Entry() override { table_->Remove(channel_, id_); }

 private:
  const std::shared_ptr<Table> table_;
  const std::string channel_;
  const int64_t id_;
};

Listeners::Listeners() : table_(std::make_shared<Table>()) {}
Listeners::~Listeners() = default;

std::unique_ptr<Listening> Listeners::Add(const std::string& channel, std::function<void()> wake) {
  return std::make_unique<Entry>(table_, channel, std::move(wake));
}

void Listeners::Wake(const std::string& channel) { table_->Wake(channel); }
void Listeners::WakeAll() { table_->WakeAll(); }

}  // namespace interlock::store
