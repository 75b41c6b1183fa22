// Listens to what other servers notify, notifies them, and looks at how the database does,
// on a thread and a connection of its own. Notifying is not part of the commits that it
// tells of: PostgreSQL lets commits that notify follow each other, all of a database's.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "lib/store/listeners.h"
#include "lib/store/postgres_session.h"
#include "lib/time/mutex.h"

struct pg_conn;

namespace interlock::store {

class PostgresWatch {
 public:
  // Both must outlive this.
  PostgresWatch(PostgresSession& session, Listeners& listeners);
  ~PostgresWatch();

  // Notifies all servers, this one too, soon. What can't be sent is lost: a wake is a hint.
  void Notify(const std::set<std::string>& channels) INTERLOCK_EXCLUDES(mutex_);

  // OK while its connection serves.
  absl::Status Health() const INTERLOCK_EXCLUDES(mutex_);
  std::optional<bool> synchronous() const INTERLOCK_EXCLUDES(mutex_);
  std::vector<StoreNotice> notices() const INTERLOCK_EXCLUDES(mutex_);

 private:
  // Between two looks at the replication, and two tries to connect.
  static constexpr std::chrono::seconds kLookEvery{5};
  static constexpr std::chrono::seconds kConnectEvery{1};
  struct Look {
    absl::Status health;
    std::optional<bool> synchronous;
    std::vector<StoreNotice> notices;
  };

  void Loop();
  // Until the connection is lost or this ends.
  void Listen(pg_conn* connection);
  // Sends what waits to be sent. False where the connection is lost.
  bool Send(pg_conn* connection) INTERLOCK_EXCLUDES(mutex_);
  // Waits for something to come in or to go out; false when this ends.
  bool Wait(int socket, std::chrono::nanoseconds longest) INTERLOCK_EXCLUDES(mutex_);
  void WakeUp();
  void Note(Look look) INTERLOCK_EXCLUDES(mutex_);

  PostgresSession& session_;
  Listeners& listeners_;
  const int wakeup_;  // an eventfd
  mutable Mutex mutex_;
  Look look_ INTERLOCK_GUARDED_BY(mutex_);
  std::set<std::string> to_send_ INTERLOCK_GUARDED_BY(mutex_);
  bool ending_ INTERLOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace interlock::store
