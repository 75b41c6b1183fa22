// Who is to be called when a channel is notified.
//
// Threads: any. Once a Listening is gone its callback is not running and will not run.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lib/store/store.h"

namespace interlock::store {

class Listeners {
 public:
  Listeners();
  ~Listeners();

  // What it returns may outlive this.
  std::unique_ptr<Listening> Add(const std::string& channel, std::function<void()> wake);
  void Wake(const std::string& channel);
  // Some notification may have been missed.
  void WakeAll();

 private:
  class Table;
  class Entry;
  std::shared_ptr<Table> table_;
};

}  // namespace interlock::store
