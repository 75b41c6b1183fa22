// Connections to a SQLite file, set up for what each is for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "lib/store/connection.h"

namespace interlock::store {

// `durable`: each commit waits for the disk. Off only for tests, where a crash of the
// machine does not matter (a crash of the process loses nothing either way).
// StoreUnavailable or StoreCorrupt where the file can't be opened or is no database.

// The connection that commits; never checkpoints by itself. `on_commit`, called inside
// COMMIT, is told the frames in the write-ahead log.
absl::StatusOr<std::unique_ptr<Connection>> OpenSqliteWriter(
    const std::string& path, bool durable, std::function<void(int64_t wal_frames)> on_commit);

// Refuses to change anything.
absl::StatusOr<std::unique_ptr<Connection>> OpenSqliteReader(const std::string& path);

// For checkpoints, backups and what is not an open store.
absl::StatusOr<std::unique_ptr<Connection>> OpenSqliteAside(const std::string& path, bool durable);

}  // namespace interlock::store
