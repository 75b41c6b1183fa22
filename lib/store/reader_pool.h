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
#include "lib/store/store_clock.h"
#include "lib/time/mutex.h"

namespace interlock::store {

// Threads: any. A read waits while all connections are taken.
class ReaderPool {
 public:
  // Readers share the CPU with the writer: more would only wait for it.
  static constexpr size_t kMostReaders = 4;
  using Open = std::function<absl::StatusOr<std::unique_ptr<Connection>>()>;

  // `clock` must outlive this.
  ReaderPool(Open open, const StoreClock& clock) : open_(std::move(open)), clock_(clock) {}

  // One snapshot for all of the body's queries. An error of the database is returned as
  // it is (IsStoreFailure).
  absl::Status Read(const Store::Body& body) INTERLOCK_EXCLUDES(mutex_);

 private:
  absl::StatusOr<std::unique_ptr<Connection>> Take() INTERLOCK_EXCLUDES(mutex_);
  // A null connection: one less is there.
  void GiveBack(std::unique_ptr<Connection> connection) INTERLOCK_EXCLUDES(mutex_);

  const Open open_;
  const StoreClock& clock_;
  Mutex mutex_;
  CondVar given_back_;
  std::vector<std::unique_ptr<Connection>> idle_ INTERLOCK_GUARDED_BY(mutex_);
  size_t made_ INTERLOCK_GUARDED_BY(mutex_) = 0;
};

}  // namespace interlock::store
