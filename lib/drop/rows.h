// Drops in the store's tables: reading and writing whole records.
//
// Threads: functions on a transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/drop/manifest.h"
#include "lib/drop/record.h"
#include "lib/store/schema.h"
#include "lib/store/store.h"

namespace interlock::drop {

store::Schema DropSchema();

// UNKNOWN_DROP where there is none.
absl::StatusOr<Drop> ReadDrop(store::Transaction& tx, const std::string& id);
absl::StatusOr<std::optional<Drop>> FindByRequest(store::Transaction& tx,
                                                  const std::string& requested_by,
                                                  const std::string& holder,
                                                  const std::string& request_id);
// Gives `drop` its id, number and change, and stores it with its manifest.
absl::Status InsertDrop(store::Transaction& tx, Drop& drop, const Manifest& rows);
// Stores what can change, with the next change number.
absl::Status UpdateDrop(store::Transaction& tx, Drop& drop);

// True the first time that the request id comes with this subject, a drop or a policy
// ("retention/NAME"); "" always is new. REQUEST_ID_REUSED where it came with another method,
// or asked for something else (`what`: the arguments that count, as text).
absl::StatusOr<bool> IsNewRequest(store::Transaction& tx, const std::string& subject,
                                  const char* method, const std::string& what,
                                  const std::string& request_id);

// What is empty does not filter.
struct Filter {
  std::string datasource;
  std::optional<Interval> overlapping;
  std::vector<State> states;
  std::optional<Instant> since;  // created at or after
  std::optional<Instant> until;  // created before
};
struct Listed {
  std::vector<Drop> drops;  // newest first
  int64_t next = 0;         // `before` of the next page; 0 at the end
};
// `before` is a drop's number, 0 for the newest. A page can be short and have a next one:
// a call looks at kMostLooked drops at most.
absl::StatusOr<Listed> ListDrops(store::Transaction& tx, const Filter& filter, int64_t size,
                                 int64_t before);
inline constexpr int64_t kMostLooked = 5'000;

// Drops that changed after `change`, in the order of their changes: for watching.
absl::StatusOr<std::vector<Drop>> ChangedAfter(store::Transaction& tx, int64_t change,
                                               int64_t most);

absl::Status InsertManifest(store::Transaction& tx, const std::string& id, const Manifest& rows);
// The manifest in the order of marking.
absl::StatusOr<Manifest> ReadManifest(store::Transaction& tx, const std::string& id);
// `place` is the row's index in what ReadManifest gave.
absl::Status UpdateManifestRow(store::Transaction& tx, const std::string& id, size_t place,
                               const ManifestRow& row);

// Kills, oldest first.
absl::StatusOr<std::vector<Kill>> ReadKills(store::Transaction& tx, const std::string& id);
// When the last kill task of all drops was stored.
absl::StatusOr<std::optional<Instant>> LastKillStored(store::Transaction& tx);
absl::Status InsertKill(store::Transaction& tx, const std::string& id, const Kill& kill);
absl::Status UpdateKill(store::Transaction& tx, const std::string& id, const Kill& kill);

}  // namespace interlock::drop
