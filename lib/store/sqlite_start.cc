#include "lib/store/sqlite_start.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/store/facts.h"
#include "lib/store/migrations.h"

namespace interlock::store {
namespace {

// More things that must not come again than a store makes in the second after which the mark
// file is synced.
constexpr int64_t kMostInASecond = int64_t{1} << 20;

std::string MarkPath(const SqliteOptions& options) { return options.path + ".mark"; }

// What is known of the file when it is opened.
struct Found {
  Facts facts;
  std::optional<KnownPast> past;  // of the mark file
  int64_t newest = 0;
};

// What it was found to be, where it is not simply what it was.
std::optional<StoreNotice> Judge(const SqliteOptions& options, const Found& found,
                                 const std::string& boot_id) {
  const std::string restored =
      absl::StrCat(options.path,
                   " goes on as a restored store, with another incarnation and "
                   "tokens above all that were handed out: ");
  if (found.facts.is_backup) {
    return StoreNotice{"STORE_RESTORED", absl::StrCat(restored, "it is a backup")};
  }
  if (!found.past.has_value()) {
    if (!found.facts.has_mark_file) return std::nullopt;  // new, or an older version's
    return StoreNotice{"STORE_RESTORED",
                       absl::StrCat(restored, MarkPath(options), " is not beside it")};
  }
  const KnownPast& past = *found.past;
  if (past.incarnation != found.facts.incarnation) {
    return StoreNotice{"STORE_RESTORED",
                       absl::StrCat(restored, MarkPath(options), " is another file's")};
  }
  const bool older_clock = !found.facts.clock || found.facts.clock->mark < past.mark;
  if (found.newest < past.newest || older_clock) {
    return StoreNotice{
        "STORE_RESTORED",
        absl::StrCat(restored, "it is older than what was acknowledged from it (it knows ",
                     found.newest, " of ", past.newest,
                     " events); reservations granted since then are not in it")};
  }
  if (!past.closed && past.boot_id != boot_id) {
    return StoreNotice{
        "STORE_CUT_OFF",
        absl::StrCat(options.path, " was not closed before the machine went down: tokens go on ",
                     kMostInASecond, " above the last one that is known")};
  }
  return std::nullopt;
}

// Tokens handed out from now on are above it.
int64_t FloorFor(const StoreNotice& notice, const Found& found, Instant wall) {
  const int64_t known = std::max(found.newest, found.past ? found.past->newest : 0);
  if (notice.reason == "STORE_CUT_OFF") return known + kMostInASecond;
  return std::max(TokenFloorAt(wall), known + kMostInASecond);
}

absl::Status Lift(Connection& connection, const std::vector<Schema>& schemas, int64_t floor,
                  bool restored) {
  absl::Status status = WriteIsBackup(connection, false);
  if (status.ok()) status = WriteTokenFloor(connection, floor);
  for (const Schema& schema : schemas) {
    for (const std::string& statement : restored ? schema.on_restore : schema.on_failover) {
      const std::optional<std::string> text = RenderSchema(statement, Engine::kSqlite);
      if (status.ok() && text.has_value()) status = connection.Run(*text);
    }
  }
  return status;
}

absl::StatusOr<Found> Find(Connection& connection, const SqliteOptions& options) {
  Found found;
  absl::StatusOr<Facts> facts = ReadFacts(connection);
  if (!facts.ok()) return facts.status();
  absl::StatusOr<std::optional<KnownPast>> past = MarkFile::Read(MarkPath(options));
  if (!past.ok()) return past.status();
  absl::StatusOr<int64_t> newest = ReadNewest(connection, NewestQueries(options.schemas));
  if (!newest.ok()) return newest.status();
  found.facts = *std::move(facts);
  found.past = *std::move(past);
  found.newest = *newest;
  return found;
}

// The file's time goes on above what the one that stood in its place has shown.
void RaiseClock(Found& found) {
  if (!found.past.has_value() || !found.facts.clock.has_value()) return;
  found.facts.clock->mark = std::max(found.facts.clock->mark, found.past->mark);
}

absl::Status StartClock(Connection& connection, const SqliteOptions& options, const Clock& clock,
                        const Found& found, SqliteStart& start) {
  start.clock = std::make_unique<StoreClock>(clock, found.facts.clock, options.on_clock_jump);
  const auto mark = start.clock->MarkFor(start.clock->Now());
  if (!mark.has_value()) return absl::OkStatus();
  absl::Status status = WriteClock(connection, *mark);
  if (status.ok()) start.clock->Stored(*mark);
  return status;
}

// Inside a transaction; gives what the mark file is to say.
absl::StatusOr<KnownPast> Initialize(Connection& connection, const SqliteOptions& options,
                                     const Clock& clock, SqliteStart& start) {
  absl::Status status = Migrate(connection, Engine::kSqlite, options.schemas, clock.Now());
  if (!status.ok()) return status;
  absl::StatusOr<Found> found = Find(connection, options);
  if (!found.ok()) return found.status();
  start.incarnation = found->facts.incarnation;
  const auto notice = Judge(options, *found, clock.BootId());
  const bool restored = notice && notice->reason == "STORE_RESTORED";
  if (notice) {
    status = Lift(connection, options.schemas, FloorFor(*notice, *found, clock.Now()), restored);
    start.notices.push_back(*notice);
  }
  if (status.ok() && (restored || start.incarnation.empty())) {
    start.incarnation = NewIncarnation();
    status = WriteIncarnation(connection, start.incarnation);
  }
  if (status.ok()) status = WriteHasMarkFile(connection);
  RaiseClock(*found);
  if (status.ok()) status = StartClock(connection, options, clock, *found, start);
  if (!status.ok()) return status;
  absl::StatusOr<int64_t> newest = ReadNewest(connection, NewestQueries(options.schemas));
  absl::StatusOr<Facts> facts = ReadFacts(connection);
  if (!newest.ok() || !facts.ok()) return newest.ok() ? facts.status() : newest.status();
  return KnownPast{start.incarnation, clock.BootId(), false, *newest,
                   facts->clock ? facts->clock->mark : Instant::kMin};
}

}  // namespace

std::vector<std::string> NewestQueries(const std::vector<Schema>& schemas) {
  std::vector<std::string> queries;
  for (const Schema& schema : schemas) {
    if (!schema.newest.empty()) queries.push_back(schema.newest);
  }
  return queries;
}

absl::StatusOr<int64_t> ReadNewest(Connection& connection,
                                   const std::vector<std::string>& queries) {
  int64_t newest = 0;
  for (const std::string& query : queries) {
    const absl::StatusOr<Rows> rows = connection.Query(query.c_str(), {});
    if (!rows.ok()) return rows.status();
    newest += rows->front().Int(0);
  }
  return newest;
}

absl::StatusOr<SqliteStart> StartSqlite(Connection& connection, const SqliteOptions& options,
                                        const Clock& clock) {
  absl::Status status = connection.Execute("BEGIN IMMEDIATE", {}).status();
  if (!status.ok()) return status;
  SqliteStart start;
  absl::StatusOr<KnownPast> known = Initialize(connection, options, clock, start);
  status = known.ok() ? connection.Execute("COMMIT", {}).status() : known.status();
  if (!status.ok()) {
    connection.Execute("ROLLBACK", {}).IgnoreError();
    return status;
  }
  auto file = MarkFile::Open(MarkPath(options), *std::move(known), options.durable);
  if (!file.ok()) return file.status();
  start.mark_file = *std::move(file);
  if (options.on_notice)
    std::for_each(start.notices.begin(), start.notices.end(), options.on_notice);
  return start;
}

}  // namespace interlock::store
