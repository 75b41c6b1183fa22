#include "lib/seal/rows.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/seal/figures_json.h"
#include "lib/seal/seal_errors.h"

// Statements must be literals; what those that read a seal share.
#define INTERLOCK_SEAL_COLUMNS                                                                \
  "number, datasource, start_ms, end_ms, state, reason, label, sealed_by, request_id,"        \
  " fingerprint, policy, created_ms, ids_digest, content_digest, seen_ids_digest, integrity," \
  " checked_ms, snapshot, group_count, unsealed_by, unseal_reason, unseal_until_ms,"          \
  " corrections_datasource, correction_count"

namespace interlock::seal {
namespace {

// Groups of a snapshot in one row.
constexpr size_t kGroupsInRow = 1000;

int64_t NumberOf(const std::string& id) {
  int64_t number = 0;
  const bool ours = id.size() > 1 && id[0] == 's' && absl::SimpleAtoi(id.substr(1), &number);
  return ours ? number : 0;
}

Seal SealFrom(const store::Row& row) {
  Seal seal;
  seal.number = row.Int(0);
  seal.id = absl::StrCat("s", seal.number);
  seal.datasource = row.Text(1);
  if (auto interval = Interval::Of(row.At(2), row.At(3)); interval.ok()) seal.interval = *interval;
  seal.state = StateOf(row.Text(4));
  seal.reason = row.Text(5);
  seal.label = row.Text(6);
  seal.sealed_by = row.Text(7);
  seal.request_id = row.Text(8);
  seal.fingerprint = row.Text(9);
  seal.policy = row.Text(10);
  seal.created = row.At(11);
  seal.ids_digest = row.Text(12);
  seal.content_digest = row.Text(13);
  seal.seen_ids_digest = row.Text(14);
  seal.integrity = IntegrityOf(row.Text(15));
  seal.checked = row.MaybeAt(16);
  seal.snapshot = SnapshotSpecFrom(row.Text(17));
  seal.group_count = row.Int(18);
  seal.unsealed_by = row.Text(19);
  seal.unseal_reason = row.Text(20);
  seal.unseal_until = row.MaybeAt(21);
  seal.corrections_datasource = row.Text(22);
  seal.correction_count = row.Int(23);
  return seal;
}

absl::StatusOr<std::vector<Seal>> SealsFrom(const absl::StatusOr<store::Rows>& rows) {
  if (!rows.ok()) return rows.status();
  std::vector<Seal> seals;
  for (const store::Row& row : *rows) seals.push_back(SealFrom(row));
  return seals;
}

std::string Text(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace

absl::Status InsertSeal(store::Transaction& tx, Seal& seal) {
  auto rows = tx.Query(
      "INSERT INTO seal (datasource, start_ms, end_ms, state, reason, label, sealed_by,"
      " request_id, fingerprint, policy, created_ms, ids_digest, content_digest, seen_ids_digest,"
      " integrity, checked_ms, snapshot, group_count, unsealed_by, unseal_reason, unseal_until_ms,"
      " corrections_datasource, correction_count) VALUES (:datasource, :start, :end, :state,"
      " :reason, :label, :by, :request, :fingerprint, :policy, :created, :ids, :content, :seen,"
      " :integrity, :checked, :snapshot, :groups, '', '', :until, :corrections, 0)"
      " RETURNING number",
      {seal.datasource,
       seal.interval.start(),
       seal.interval.end(),
       Text(NameOf(seal.state)),
       seal.reason,
       seal.label,
       seal.sealed_by,
       seal.request_id.empty() ? store::Value() : store::Value(seal.request_id),
       seal.fingerprint,
       seal.policy,
       seal.created,
       seal.ids_digest,
       seal.content_digest,
       seal.seen_ids_digest,
       Text(NameOf(seal.integrity)),
       seal.checked,
       ToJson(seal.snapshot),
       seal.group_count,
       seal.unseal_until,
       seal.corrections_datasource});
  if (!rows.ok()) return rows.status();
  seal.number = rows->front().Int(0);
  seal.id = absl::StrCat("s", seal.number);
  return absl::OkStatus();
}

absl::Status UpdateSeal(store::Transaction& tx, const Seal& seal) {
  return tx
      .Execute(
          "UPDATE seal SET state = :state, ids_digest = :ids, content_digest = :content,"
          " seen_ids_digest = :seen, integrity = :integrity, checked_ms = :checked,"
          " group_count = :groups, unsealed_by = :by, unseal_reason = :reason,"
          " unseal_until_ms = :until, correction_count = :corrections WHERE number = :number",
          {Text(NameOf(seal.state)), seal.ids_digest, seal.content_digest, seal.seen_ids_digest,
           Text(NameOf(seal.integrity)), seal.checked, seal.group_count, seal.unsealed_by,
           seal.unseal_reason, seal.unseal_until, seal.correction_count, seal.number})
      .status();
}

absl::Status DeleteSeal(store::Transaction& tx, const std::string& id) {
  const int64_t number = NumberOf(id);
  absl::Status status =
      tx.Execute("DELETE FROM seal_bucket WHERE seal = :number", {number}).status();
  if (status.ok()) status = tx.Execute("DELETE FROM seal_total WHERE seal = :n", {number}).status();
  if (status.ok()) status = tx.Execute("DELETE FROM seal WHERE number = :n", {number}).status();
  return status;
}

absl::StatusOr<Seal> ReadSeal(store::Transaction& tx, const std::string& id) {
  auto rows = tx.Query("SELECT " INTERLOCK_SEAL_COLUMNS " FROM seal WHERE number = :number",
                       {NumberOf(id)});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return UnknownSeal(id);
  return SealFrom(rows->front());
}

absl::StatusOr<std::optional<Seal>> FindByRequest(store::Transaction& tx,
                                                  const std::string& sealed_by,
                                                  const std::string& request_id) {
  if (request_id.empty()) return std::nullopt;
  auto rows = tx.Query("SELECT " INTERLOCK_SEAL_COLUMNS
                       " FROM seal WHERE sealed_by = :by AND request_id = :request",
                       {sealed_by, request_id});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return std::nullopt;
  return SealFrom(rows->front());
}

absl::StatusOr<std::vector<Seal>> SealsOver(store::Transaction& tx, const std::string& datasource,
                                            const Interval& interval) {
  // Seals of a datasource are disjoint: of those that start before it, only the last one
  // can reach in.
  return SealsFrom(tx.Query(
      "SELECT " INTERLOCK_SEAL_COLUMNS
      " FROM seal WHERE datasource = :datasource AND start_ms >= COALESCE((SELECT MAX(start_ms)"
      " FROM seal WHERE datasource = :datasource AND start_ms <= :start), :start)"
      " AND start_ms < :end AND end_ms > :start ORDER BY start_ms",
      {datasource, datasource, interval.start(), interval.start(), interval.end(),
       interval.start()}));
}

absl::StatusOr<std::vector<Seal>> SealsAfter(store::Transaction& tx, const std::string& datasource,
                                             const Place& after, int64_t most) {
  const std::string from = after.datasource.empty() ? datasource : after.datasource;
  if (!datasource.empty()) {
    return SealsFrom(tx.Query("SELECT " INTERLOCK_SEAL_COLUMNS
                              " FROM seal WHERE datasource = :datasource AND (:first = 1 OR"
                              " start_ms > :start) ORDER BY start_ms LIMIT :most",
                              {datasource, after.at_start, after.start, most}));
  }
  return SealsFrom(tx.Query(
      "SELECT " INTERLOCK_SEAL_COLUMNS
      " FROM seal WHERE :first = 1 OR datasource > :datasource OR (datasource = :datasource"
      " AND start_ms > :start) ORDER BY datasource, start_ms LIMIT :most",
      {after.at_start, from, from, after.start, most}));
}

absl::StatusOr<std::vector<std::string>> AllSealIds(store::Transaction& tx) {
  auto rows = tx.Query("SELECT number FROM seal ORDER BY number", {});
  if (!rows.ok()) return rows.status();
  std::vector<std::string> ids;
  for (const store::Row& row : *rows) ids.push_back(absl::StrCat("s", row.Int(0)));
  return ids;
}

absl::Status ReplaceBuckets(store::Transaction& tx, const std::string& seal_id,
                            const std::vector<Bucket>& buckets) {
  const int64_t number = NumberOf(seal_id);
  absl::Status status =
      tx.Execute("DELETE FROM seal_bucket WHERE seal = :number", {number}).status();
  for (const Bucket& bucket : buckets) {
    if (!status.ok()) return status;
    status = tx.Execute(
                   "INSERT INTO seal_bucket (seal, start_ms, end_ms, sums, snapshot) VALUES"
                   " (:seal, :start, :end, :sums, :snapshot)",
                   {number, bucket.interval.start(), bucket.interval.end(), ToJson(bucket.sums),
                    ToJson(bucket.snapshot)})
                 .status();
  }
  return status;
}

absl::StatusOr<std::vector<Bucket>> ReadBuckets(store::Transaction& tx,
                                                const std::string& seal_id) {
  auto rows = tx.Query(
      "SELECT start_ms, end_ms, sums, snapshot FROM seal_bucket WHERE seal = :seal"
      " ORDER BY start_ms",
      {NumberOf(seal_id)});
  if (!rows.ok()) return rows.status();
  std::vector<Bucket> buckets;
  for (const store::Row& row : *rows) {
    auto interval = Interval::Of(row.At(0), row.At(1));
    if (!interval.ok()) return interval.status();
    buckets.push_back({*interval, ValuesFrom(row.Text(2)), GroupsFrom(row.Text(3))});
  }
  return buckets;
}

absl::Status ReplaceTotals(store::Transaction& tx, const std::string& seal_id,
                           const std::vector<Group>& groups) {
  const int64_t number = NumberOf(seal_id);
  absl::Status status = tx.Execute("DELETE FROM seal_total WHERE seal = :n", {number}).status();
  for (size_t from = 0; from < groups.size() && status.ok(); from += kGroupsInRow) {
    const size_t to = std::min(groups.size(), from + kGroupsInRow);
    const std::vector<Group> part(groups.begin() + static_cast<std::ptrdiff_t>(from),
                                  groups.begin() + static_cast<std::ptrdiff_t>(to));
    status = tx.Execute(
                   "INSERT INTO seal_total (seal, place, groups_json) VALUES (:seal, :place,"
                   " :groups)",
                   {number, static_cast<int64_t>(from), ToJson(part)})
                 .status();
  }
  return status;
}

absl::StatusOr<std::vector<Group>> ReadTotals(store::Transaction& tx, const std::string& seal_id,
                                              int64_t from, int64_t most) {
  const auto in_row = static_cast<int64_t>(kGroupsInRow);
  auto rows = tx.Query(
      "SELECT place, groups_json FROM seal_total WHERE seal = :seal AND place > :before"
      " AND place < :end ORDER BY place",
      {NumberOf(seal_id), from - in_row, from + most});
  if (!rows.ok()) return rows.status();
  std::vector<Group> groups;
  for (const store::Row& row : *rows) {
    int64_t place = row.Int(0);
    for (Group& group : GroupsFrom(row.Text(1))) {
      if (place >= from && place < from + most) groups.push_back(std::move(group));
      ++place;
    }
  }
  return groups;
}

}  // namespace interlock::seal
