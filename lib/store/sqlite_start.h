// What a SQLite store does when it is opened: schema, incarnation, clock, and whether the
// file is what it was.
//
// Guarantee: a fencing token that was handed out is never handed out again, whatever file is
// put in the place of the store's: a backup (it is marked as one), an older copy of the file
// itself (PATH.mark is ahead of it, or is another incarnation's), a file that came without
// its PATH.mark. Each is taken for a restored one: another incarnation, and tokens above all
// that can have been handed out. Only a copy of both files, put back together, can't be told
// from the original: who restores a whole folder or disk removes PATH.mark.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/store/connection.h"
#include "lib/store/mark_file.h"
#include "lib/store/schema.h"
#include "lib/store/sqlite.h"
#include "lib/store/store_clock.h"
#include "lib/time/clock.h"

namespace interlock::store {

struct SqliteStart {
  std::string incarnation;
  std::unique_ptr<StoreClock> clock;
  std::unique_ptr<MarkFile> mark_file;
  std::vector<StoreNotice> notices;
};

absl::StatusOr<SqliteStart> StartSqlite(Connection& connection, const SqliteOptions& options,
                                        const Clock& clock);

// The queries of Schema::newest, and what they give, added.
std::vector<std::string> NewestQueries(const std::vector<Schema>& schemas);
absl::StatusOr<int64_t> ReadNewest(Connection& connection, const std::vector<std::string>& queries);

}  // namespace interlock::store
