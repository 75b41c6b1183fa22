#include "lib/drop/retention_rows.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lib/drop/codec.h"
#include "lib/drop/columns.h"
#include "lib/drop/drop_errors.h"
#include "lib/drop/state.h"

namespace interlock::drop {
namespace {

#define POLICY_COLUMNS                                                                    \
  "name, pattern, age, schedule, time_zone, window_ms, floor_ms, approval, max_segments," \
  " max_bytes, max_share, dry_run, updated_by, updated_ms, next_run_ms, run_ms, run_message"

constexpr int64_t kNotGiven = -1;

int64_t Millis(const std::optional<absl::Duration>& length) {
  return length ? absl::ToInt64Milliseconds(*length) : kNotGiven;
}

std::optional<absl::Duration> Length(int64_t millis) {
  if (millis == kNotGiven) return std::nullopt;
  return absl::Milliseconds(millis);
}

absl::StatusOr<RetentionPolicy> PolicyFrom(const store::Row& row) {
  Columns in(row);
  RetentionPolicy policy;
  policy.name = in.Text();
  policy.datasource_pattern = in.Text();
  const absl::StatusOr<Period> age = Period::Parse(in.Text());
  const absl::StatusOr<Period> schedule = Period::Parse(in.Text());
  if (!age.ok() || !schedule.ok()) return DropCorrupt(policy.name, "a policy's period");
  policy.age = *age;
  policy.schedule = *schedule;
  policy.time_zone = in.Text();
  policy.window = Length(in.Int());
  policy.floor = Length(in.Int());
  policy.approval = in.Flag();
  policy.max_segments = in.Int();
  policy.max_bytes = in.Int();
  if (!absl::SimpleAtod(in.Text(), &policy.max_share)) {
    return DropCorrupt(policy.name, "a policy's share");
  }
  policy.dry_run = in.Flag();
  policy.updated_by = in.Text();
  policy.updated = in.At();
  policy.next_run = in.At();
  policy.run = in.MaybeAt();
  policy.run_message = in.Text();
  return policy;
}

}  // namespace

absl::StatusOr<RetentionPolicy> ReadPolicy(store::Transaction& tx, const std::string& name) {
  absl::StatusOr<store::Rows> rows =
      tx.Query("SELECT " POLICY_COLUMNS " FROM retention_policy WHERE name = :name", {name});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return UnknownPolicy(name);
  return PolicyFrom(rows->front());
}

absl::Status WritePolicy(store::Transaction& tx, const RetentionPolicy& policy) {
  absl::StatusOr<int64_t> removed =
      tx.Execute("DELETE FROM retention_policy WHERE name = :name", {policy.name});
  if (!removed.ok()) return removed.status();
  return tx
      .Execute("INSERT INTO retention_policy (" POLICY_COLUMNS
               ") VALUES (:name, :pattern, :age, :schedule, :zone, :window, :floor, :approval,"
               " :segments, :bytes, :share, :dry_run, :by, :updated, :next_run, :run, :message)",
               {policy.name, policy.datasource_pattern, policy.age.ToString(),
                policy.schedule.ToString(), policy.time_zone, Millis(policy.window),
                Millis(policy.floor), policy.approval, policy.max_segments, policy.max_bytes,
                absl::StrFormat("%.17g", policy.max_share), policy.dry_run, policy.updated_by,
                policy.updated, policy.next_run, policy.run, policy.run_message})
      .status();
}

absl::Status RemovePolicy(store::Transaction& tx, const std::string& name) {
  absl::StatusOr<int64_t> removed =
      tx.Execute("DELETE FROM retention_policy WHERE name = :name", {name});
  if (!removed.ok()) return removed.status();
  return *removed == 1 ? absl::OkStatus() : UnknownPolicy(name);
}

absl::StatusOr<std::vector<RetentionPolicy>> ReadPolicies(store::Transaction& tx,
                                                          const std::string& after, int64_t most) {
  absl::StatusOr<store::Rows> rows =
      tx.Query("SELECT " POLICY_COLUMNS
               " FROM retention_policy WHERE name > :after ORDER BY name LIMIT :most",
               {after, most});
  if (!rows.ok()) return rows.status();
  std::vector<RetentionPolicy> policies;
  for (const store::Row& row : *rows) {
    absl::StatusOr<RetentionPolicy> policy = PolicyFrom(row);
    if (!policy.ok()) return policy.status();
    policies.push_back(*std::move(policy));
  }
  return policies;
}

absl::StatusOr<Spent> SpentBy(store::Transaction& tx, const std::string& policy, Instant run) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT CAST(COALESCE(SUM(segment_count), 0) AS BIGINT),"
      " CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) FROM drops"
      " WHERE retention_policy = :policy AND retention_run_ms = :run AND state <> :given_up"
      " AND retention_policy <> ''",
      {policy, run, Name(State::kCancelled)});
  if (!rows.ok()) return rows.status();
  return Spent{rows->front().Int(0), rows->front().Int(1)};
}

absl::StatusOr<std::vector<Interval>> LeftAlone(store::Transaction& tx,
                                                const RetentionPolicy& policy,
                                                const std::string& datasource) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT intervals FROM drops WHERE retention_policy = :policy AND retention_policy <> ''"
      " AND datasource = :datasource AND (state IN (:planned, :reserved, :marking, :restoring)"
      " OR (state = :awaiting AND marked_store_ms IS NULL)"
      " OR (state IN (:cancelled, :restored, :partly) AND ended_ms >= :updated))",
      {policy.name, datasource, Name(State::kPlanned), Name(State::kReserved),
       Name(State::kMarking), Name(State::kRestoring), Name(State::kAwaitingApproval),
       Name(State::kCancelled), Name(State::kRestored), Name(State::kPartlyRestored),
       policy.updated});
  if (!rows.ok()) return rows.status();
  std::vector<Interval> all;
  for (const store::Row& row : *rows) {
    std::optional<std::vector<Interval>> intervals = DecodeIntervals(row.Text(0));
    if (!intervals) return DropCorrupt(policy.name, "the intervals of one of its drops");
    all.insert(all.end(), intervals->begin(), intervals->end());
  }
  return all;
}

}  // namespace interlock::drop
