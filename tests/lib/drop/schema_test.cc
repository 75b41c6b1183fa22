// Drops that an earlier version stored are read by this one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "lib/drop/drops.h"
#include "lib/store/sqlite.h"
#include "lib/time/fake_clock.h"
#include "tests/lib/drop/segments.h"

namespace interlock::drop {
namespace {

using ::testing::SizeIs;

store::Schema First(size_t steps) {
  store::Schema schema = DropSchema();
  schema.steps.resize(steps);
  return schema;
}

// A drop of the first version that has killed one segment of four, the rest marked, or sent.
absl::Status StoreOld(store::Transaction& tx) {
  absl::Status status =
      tx.Execute(
            "INSERT INTO drops (id, number, change_number, datasource, intervals, start_ms, end_ms,"
            " requested_by, holder, request_id, reason, labels, fingerprint, window_ms, floor_ms,"
            " needs_approval, accepts_kill_duty, accepts_partial_cover, state, hold, message,"
            " objections, notes, cancel, approved_by, approval_reason, restored_by, digest,"
            " segment_count, hidden_count, size_bytes, metrics, sums_before, created_ms,"
            " reservation_id, token, lent, reservations, refusals) VALUES ('drop-1', 1, 1,"
            " 'clicks', '[\"2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z\"]', 1, 2, 'ada', '',"
            " 'r1', 'GDPR', '{}', 'f', 1000, 1000, 0, 0, 0, 'FAILED', 'KILL_FAILED', 'm', '[]',"
            " '[]', 0, '', '', '', 'd', 4, 0, 400, '[]', '[]', 5, '', 0, 0, 0, 0)",
            {})
          .status();
  int place = 0;
  for (const char* phase : {"KILLED", "MARKED", "MARKED", "SENT"}) {
    if (!status.ok()) return status;
    status =
        tx.Execute(
              "INSERT INTO drop_segment (drop_id, place, segment_id, start_ms, end_ms, version,"
              " partition_num, size_bytes, load_spec, tombstone, hidden, phase, file,"
              " kill_task) VALUES ('drop-1', :place, :id, 1, 2, 'v1', 0, 100, '{}', 0, 0,"
              " :phase, 'UNCHECKED', '')",
              {place, absl::StrCat("s", place), phase})
            .status();
    ++place;
  }
  if (!status.ok()) return status;
  return tx
      .Execute(
          "INSERT INTO drop_kill (drop_id, number, task_id, nonce, json, start_ms, end_ms,"
          " versions, not_after_ms, segments, post, outcome, error, failure, reported,"
          " shutdown_asked, stored_ms, ended_ms) VALUES ('drop-1', 1, 't', 'n', '{}', 1, 2,"
          " '[\"v1\"]', 3, 4, 'ENDED', 'FAILED', 'e', 'OTHER', 1, 0, 4, 5)",
          {})
      .status();
}

// What a server of this version and later ones stores with it.
constexpr size_t kCountsRevivable = 3;
absl::Status StoreRevivable(store::Transaction& tx) {
  return tx.Execute("UPDATE drops SET revivable = 3", {}).status();
}

TEST(DropSchema, BringsUpTheDropsOfEveryEarlierVersion) {
  const FakeClock clock(At("2026-08-20T12:00Z"));
  const size_t all = DropSchema().steps.size();
  for (size_t known = 1; known < all; ++known) {
    SCOPED_TRACE(absl::StrCat("from step ", known));
    const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                         absl::StrCat("interlock-schema-", ::getpid(), "-", known);
    std::filesystem::create_directories(folder);
    store::SqliteOptions options;
    options.path = (folder / "store.db").string();
    options.schemas = {First(known)};
    options.durable = false;
    {
      auto old = store::OpenSqlite(options, clock);
      ASSERT_TRUE(old.ok()) << old.status();
      absl::Status stored = (*old)->Write(StoreOld);
      ASSERT_TRUE(stored.ok()) << stored;
      if (known >= kCountsRevivable) stored = (*old)->Write(StoreRevivable);
      ASSERT_TRUE(stored.ok()) << stored;
    }
    options.schemas = {DropSchema()};
    auto now = store::OpenSqlite(options, clock);
    ASSERT_TRUE(now.ok()) << now.status();
    const auto detail = ReadDetail(**now, "drop-1");
    ASSERT_TRUE(detail.ok()) << detail.status();
    EXPECT_EQ(detail->drop.revivable, 3) << "what a restore would bring back";
    EXPECT_EQ(detail->drop.state, State::kFailed);
    EXPECT_EQ(detail->drop.cap, "");
    EXPECT_THAT(detail->manifest, SizeIs(4));
    ASSERT_THAT(detail->kills, SizeIs(1));
    EXPECT_EQ(detail->kills[0].failure, "OTHER");
    EXPECT_FALSE(detail->kills[0].running.has_value());
    now->reset();
    std::filesystem::remove_all(folder);
  }
}

}  // namespace
}  // namespace interlock::drop
