// The guard's tables. Functions on a transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/guard/stream.h"
#include "lib/store/schema.h"
#include "lib/store/store.h"

namespace interlock::guard {

store::Schema GuardSchema();

absl::StatusOr<std::optional<Stream>> FindStream(store::Transaction& tx,
                                                 const std::string& datasource,
                                                 const std::string& name);
// Of a datasource, or of all (""), by datasource and name, after (`datasource`, `name`).
absl::StatusOr<std::vector<Stream>> StreamsOf(store::Transaction& tx,
                                              const std::string& datasource);
struct StreamKey {
  std::string datasource, name;
};
absl::StatusOr<std::vector<Stream>> StreamsAfter(store::Transaction& tx,
                                                 const std::string& datasource,
                                                 const StreamKey& after, int64_t most);
absl::Status PutStream(store::Transaction& tx, const Stream& stream);
absl::Status DeleteStream(store::Transaction& tx, const std::string& datasource,
                          const std::string& name);

// A stream's task, and what it has counted so far.
struct TaskRow {
  std::string id;
  std::string datasource, stream;
  druid::StreamCounts counts;
  Instant first_seen;
  std::optional<Instant> ended;
  bool failed = false;  // what it had read and not published is read again
};
absl::StatusOr<std::vector<TaskRow>> LiveTaskRows(store::Transaction& tx);
absl::Status PutTaskRow(store::Transaction& tx, const TaskRow& row);
// What all its tasks have counted since it was first seen.
absl::StatusOr<druid::StreamCounts> SumCounts(store::Transaction& tx, const std::string& datasource,
                                              const std::string& stream);
// Whether a task of the datasource's streams failed at or after that instant.
absl::StatusOr<bool> AnyTaskFailedSince(store::Transaction& tx, const std::string& datasource,
                                        Instant since);

}  // namespace interlock::guard
