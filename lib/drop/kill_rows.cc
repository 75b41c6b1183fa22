// Kill tasks in the store's tables.
#include <utility>

#include "absl/strings/string_view.h"
#include "lib/drop/codec.h"
#include "lib/drop/drop_errors.h"
#include "lib/drop/rows.h"

namespace interlock::drop {
namespace {

constexpr std::pair<Kill::Post, const char*> kPosts[] = {
    {Kill::Post::kIntent, "INTENT"},
    {Kill::Post::kPosted, "POSTED"},
    {Kill::Post::kEnded, "ENDED"},
};

absl::StatusOr<Kill> KillFrom(const std::string& id, const store::Row& row) {
  Kill kill;
  kill.number = row.Int(0);
  kill.task_id = row.Text(1);
  kill.nonce = row.Text(2);
  kill.json = row.Text(3);
  const absl::StatusOr<Interval> interval = Interval::Of(row.At(4), row.At(5));
  std::optional<std::vector<std::string>> versions = DecodeTexts(row.Text(6));
  if (!interval.ok() || !versions) return DropCorrupt(id, kill.task_id);
  kill.interval = *interval;
  kill.versions = *std::move(versions);
  kill.not_after = row.At(7);
  kill.segments = row.Int(8);
  for (const auto& [post, name] : kPosts) {
    if (row.Text(9) == name) kill.post = post;
  }
  kill.outcome = row.Text(10);
  kill.error = row.Text(11);
  kill.failure = row.Text(12);
  kill.reported = row.Int(13);
  kill.shutdown_asked = row.Flag(14);
  kill.stored = row.At(15);
  kill.ended = row.MaybeAt(16);
  kill.running = row.MaybeAt(17);
  return kill;
}

}  // namespace

const char* Name(Kill::Post post) {
  for (const auto& [known, name] : kPosts) {
    if (known == post) return name;
  }
  return "";
}

absl::StatusOr<std::vector<Kill>> ReadKills(store::Transaction& tx, const std::string& id) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT number, task_id, nonce, json, start_ms, end_ms, versions, not_after_ms, segments,"
      " post, outcome, error, failure, reported, shutdown_asked, stored_ms, ended_ms, running_ms"
      " FROM drop_kill WHERE drop_id = :id ORDER BY number",
      {id});
  if (!rows.ok()) return rows.status();
  std::vector<Kill> kills;
  for (const store::Row& row : *rows) {
    absl::StatusOr<Kill> kill = KillFrom(id, row);
    if (!kill.ok()) return kill.status();
    kills.push_back(*std::move(kill));
  }
  return kills;
}

absl::StatusOr<std::optional<Instant>> LastKillStored(store::Transaction& tx) {
  absl::StatusOr<store::Rows> rows = tx.Query("SELECT MAX(stored_ms) FROM drop_kill", {});
  if (!rows.ok()) return rows.status();
  return rows->front().MaybeAt(0);
}

absl::Status InsertKill(store::Transaction& tx, const std::string& id, const Kill& kill) {
  return tx
      .Execute(
          "INSERT INTO drop_kill (drop_id, number, task_id, nonce, json, start_ms, end_ms,"
          " versions, not_after_ms, segments, post, outcome, error, failure, reported,"
          " shutdown_asked, stored_ms, ended_ms) VALUES (:id, :number, :task, :nonce, :json,"
          " :start, :end, :versions, :not_after, :segments, :post, :outcome, :error, :failure,"
          " :reported, :shutdown, :stored, :ended)",
          {id, kill.number, kill.task_id, kill.nonce, kill.json, kill.interval.start(),
           kill.interval.end(), EncodeTexts(kill.versions), kill.not_after, kill.segments,
           Name(kill.post), kill.outcome, kill.error, kill.failure, kill.reported,
           kill.shutdown_asked, kill.stored, kill.ended})
      .status();
}

absl::Status UpdateKill(store::Transaction& tx, const std::string& id, const Kill& kill) {
  return tx
      .Execute(
          "UPDATE drop_kill SET post = :post, outcome = :outcome, error = :error,"
          " failure = :failure, reported = :reported, shutdown_asked = :shutdown,"
          " ended_ms = :ended, running_ms = :running WHERE drop_id = :id AND number = :number",
          {Name(kill.post), kill.outcome, kill.error, kill.failure, kill.reported,
           kill.shutdown_asked, kill.ended, kill.running, id, kill.number})
      .status();
}

}  // namespace interlock::drop
