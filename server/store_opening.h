// The store that the configuration names, opened.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "interlock/config/v1/config.pb.h"
#include "lib/store/group_commit.h"
#include "lib/store/postgres.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"

namespace interlock::server {

// On the store's threads.
struct StoreCallbacks {
  std::function<void(const store::BatchReport&)> batch;
  std::function<void(absl::Duration)> clock_jump;
  std::function<void(const store::StoreNotice&)> notice;
};

// `clock` must outlive the store.
absl::StatusOr<std::unique_ptr<store::Store>> OpenStore(const config::v1::Store& config,
                                                        StoreCallbacks callbacks,
                                                        const Clock& clock);

// INVALID_ARGUMENT where the folder of a store's file is not there: the file is made, its
// folder never, which may be one that was not mounted.
absl::Status CheckFolder(const std::string& path);

// With every module's tables.
store::PostgresOptions PostgresOptionsOf(const config::v1::Postgresql& config);

}  // namespace interlock::server
