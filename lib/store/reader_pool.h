// Connections for reads beside the writer; made when first needed, a few at most.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/store/connection.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"
#include "lib/time/mutex.h"

namespace interlock::store {

// Threads: any. A read waits while all connections are taken.
class ReaderPool {
 public:
  // Readers share the CPU with the writer: more would only wait for it.
  static constexpr size_t kMostReaders = 4;
  // What is an engine's own.
  struct Engine {
    std::function<absl::StatusOr<std::unique_ptr<Connection>>()> open;
    const char* begin = "BEGIN";
    // The first query of a read: fixes its snapshot, and gives the time that goes with it.
    std::function<absl::StatusOr<Instant>(Connection&)> time;
    size_t most = kMostReaders;
  };
  explicit ReaderPool(Engine engine) : engine_(std::move(engine)) {}

  // One snapshot for all of the body's queries. An error of the database is returned as
  // it is (IsStoreFailure). A connection that was lost is made anew, once.
  absl::Status Read(const Store::Body& body) INTERLOCK_EXCLUDES(mutex_);

 private:
  absl::StatusOr<std::unique_ptr<Connection>> Take() INTERLOCK_EXCLUDES(mutex_);
  // A null connection: one less is there.
  void GiveBack(std::unique_ptr<Connection> connection) INTERLOCK_EXCLUDES(mutex_);

  absl::Status ReadOn(Connection& connection, const Store::Body& body);

  const Engine engine_;
  Mutex mutex_;
  CondVar given_back_;
  std::vector<std::unique_ptr<Connection>> idle_ INTERLOCK_GUARDED_BY(mutex_);
  size_t made_ INTERLOCK_GUARDED_BY(mutex_) = 0;
};

}  // namespace interlock::store
