#include "lib/drop/rows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/drop/codec.h"
#include "lib/drop/columns.h"
#include "lib/drop/drop_errors.h"

namespace interlock::drop {
namespace {

#define DROP_COLUMNS                                                                            \
  "id, number, change_number, datasource, intervals, requested_by, holder, request_id,"         \
  " reason, labels, fingerprint, window_ms, floor_ms, needs_approval, accepts_kill_duty,"       \
  " accepts_partial_cover, state, hold, message, objections, notes, cancel, approved_by,"       \
  " approval_reason, approved_ms, clock_accepted_ms, restored_by, digest, segment_count,"       \
  " hidden_count, size_bytes, metrics, sums_before, sums_after, created_ms, marked_store_ms,"   \
  " marked_wall_ms, marked_druid_ms, window_end_ms, kill_started_ms, restore_started_ms,"       \
  " ended_ms, reservation_id, token, lent, reservations, called_ms, intent_until_ms, refusals," \
  " retention_policy, retention_run_ms, cap, restore_reason, orphans, revivable"

void ReadRequest(Columns& in, Drop& drop) {
  drop.id = in.Text();
  drop.number = in.Int();
  drop.change = in.Int();
  drop.datasource = in.Text();
  drop.intervals = in.Decoded(DecodeIntervals, "intervals");
  drop.requested_by = in.Text();
  drop.holder = in.Text();
  drop.request_id = in.Text();
  drop.reason = in.Text();
  drop.labels = in.Decoded(DecodeLabels, "labels");
  drop.fingerprint = in.Text();
  drop.window = in.Length();
  drop.floor = in.Length();
  drop.needs_approval = in.Flag();
  drop.accepts_kill_duty = in.Flag();
  drop.accepts_partial_cover = in.Flag();
}

void ReadStanding(Columns& in, Drop& drop) {
  drop.state = in.Named(StateNamed, "state");
  drop.hold = in.Text();
  drop.message = in.Text();
  drop.objections = in.Decoded(DecodeObjections, "objections");
  drop.notes = in.Decoded(DecodeNotes, "notes");
  drop.cancel = in.Flag();
  drop.approved_by = in.Text();
  drop.approval_reason = in.Text();
  drop.approved = in.MaybeAt();
  drop.clock_accepted = in.MaybeAt();
  drop.restored_by = in.Text();
  drop.digest = in.Text();
  drop.segment_count = in.Int();
  drop.hidden_count = in.Int();
  drop.size_bytes = in.Int();
  drop.metrics = in.Decoded(DecodeTexts, "metrics");
  drop.sums_before = in.MaybeDecoded(DecodeSums, "sums_before");
  drop.sums_after = in.MaybeDecoded(DecodeSums, "sums_after");
}

void ReadTimes(Columns& in, Drop& drop) {
  drop.created = in.At();
  const std::optional<Instant> store = in.MaybeAt();
  const std::optional<Instant> wall = in.MaybeAt();
  const std::optional<Instant> druid = in.MaybeAt();
  if (store && wall) drop.marked = Readings{*store, *wall, druid};
  drop.window_end = in.MaybeAt();
  drop.kill_started = in.MaybeAt();
  drop.restore_started = in.MaybeAt();
  drop.ended = in.MaybeAt();
  drop.reservation_id = in.Text();
  drop.token = in.Int();
  drop.lent = in.Flag();
  drop.reservations = in.Int();
  drop.called = in.MaybeAt();
  drop.intent_until = in.MaybeAt();
  drop.refusals = in.Int();
}

void ReadOrigin(Columns& in, Drop& drop) {
  drop.retention_policy = in.Text();
  drop.retention_run = in.MaybeAt();
  drop.cap = in.Text();
  drop.restore_reason = in.Text();
  drop.orphans = in.Int();
  drop.revivable = in.Int();
}

absl::StatusOr<Drop> DropFrom(const store::Row& row) {
  Columns in(row);
  Drop drop;
  ReadRequest(in, drop);
  ReadStanding(in, drop);
  ReadTimes(in, drop);
  ReadOrigin(in, drop);
  if (!in.fault().empty()) return DropCorrupt(drop.id, in.fault());
  return drop;
}

absl::StatusOr<int64_t> NextNumber(store::Transaction& tx, const char* name) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "UPDATE drop_sequence SET value = value + 1 WHERE name = :name RETURNING value", {name});
  if (!rows.ok()) return rows.status();
  return rows->front().Int(0);
}

template <class T>
store::Value MaybeText(const std::optional<T>& value, std::string (*encode)(const T&)) {
  return value ? store::Value(encode(*value)) : store::Value();
}

store::Value Millis(absl::Duration length) { return absl::ToInt64Milliseconds(length); }

Interval Hull(const std::vector<Interval>& intervals) {
  return *Interval::Of(intervals.front().start(), intervals.back().end());
}

std::vector<store::Value> RequestValues(const Drop& drop) {
  return {drop.id,
          drop.number,
          drop.datasource,
          EncodeIntervals(drop.intervals),
          Hull(drop.intervals).start(),
          Hull(drop.intervals).end(),
          drop.requested_by,
          drop.holder,
          drop.request_id,
          drop.reason,
          EncodeLabels(drop.labels),
          drop.fingerprint,
          Millis(drop.window),
          Millis(drop.floor),
          drop.needs_approval,
          drop.accepts_kill_duty,
          drop.accepts_partial_cover,
          drop.created,
          drop.retention_policy,
          drop.retention_run};
}

// In the order of kUpdate's and kInsert's parameters.
std::vector<store::Value> StandingValues(const Drop& drop) {
  const auto& marked = drop.marked;
  return {
      drop.change,
      Name(drop.state),
      drop.hold,
      drop.message,
      EncodeObjections(drop.objections),
      EncodeNotes(drop.notes),
      drop.cancel,
      drop.approved_by,
      drop.approval_reason,
      drop.approved,
      drop.clock_accepted,
      drop.restored_by,
      drop.digest,
      drop.segment_count,
      drop.hidden_count,
      drop.size_bytes,
      EncodeTexts(drop.metrics),
      MaybeText(drop.sums_before, EncodeSums),
      MaybeText(drop.sums_after, EncodeSums),
      marked ? store::Value(marked->store) : store::Value(),
      marked ? store::Value(marked->wall) : store::Value(),
      marked ? store::Value(marked->druid) : store::Value(),
      drop.window_end,
      drop.kill_started,
      drop.restore_started,
      drop.ended,
      drop.reservation_id,
      drop.token,
      drop.lent,
      drop.reservations,
      drop.called,
      drop.intent_until,
      drop.refusals,
      drop.cap,
      drop.restore_reason,
      drop.orphans,
      drop.revivable,
  };
}

constexpr char kInsert[] =
    "INSERT INTO drops (id, number, datasource, intervals, start_ms, end_ms, requested_by, holder,"
    " request_id, reason, labels, fingerprint, window_ms, floor_ms, needs_approval,"
    " accepts_kill_duty, accepts_partial_cover, created_ms, retention_policy, retention_run_ms,"
    " change_number, state, hold, message,"
    " objections, notes, cancel, approved_by, approval_reason, approved_ms, clock_accepted_ms,"
    " restored_by, digest, segment_count, hidden_count, size_bytes, metrics, sums_before,"
    " sums_after, marked_store_ms, marked_wall_ms, marked_druid_ms, window_end_ms,"
    " kill_started_ms, restore_started_ms, ended_ms, reservation_id, token, lent, reservations,"
    " called_ms, intent_until_ms, refusals, cap, restore_reason, orphans, revivable)"
    " VALUES (:id, :number, "
    ":datasource, :intervals, :start,"
    " :end, :requested_by, :holder, :request_id, :reason, :labels, :fingerprint, :window, :floor,"
    " :needs_approval, :kill_duty, :partial_cover, :created, :policy, :policy_run,"
    " :change, :state, :hold, :message,"
    " :objections, :notes, :cancel, :approved_by, :approval_reason, :approved, :clock_accepted,"
    " :restored_by, :digest, :segments, :hidden, :bytes, :metrics, :sums_before, :sums_after,"
    " :marked_store, :marked_wall, :marked_druid, :window_end, :kill_started, :restore_started,"
    " :ended, :reservation, :token, :lent, :reservations, :called, :intent_until, :refusals, :cap,"
    " :restore_reason, :orphans, :revivable)";

constexpr char kUpdate[] =
    "UPDATE drops SET change_number = :change, state = :state, hold = :hold, message = :message,"
    " objections = :objections, notes = :notes, cancel = :cancel, approved_by = :approved_by,"
    " approval_reason = :approval_reason, approved_ms = :approved,"
    " clock_accepted_ms = :clock_accepted, restored_by = :restored_by, digest = :digest,"
    " segment_count = :segments, hidden_count = :hidden, size_bytes = :bytes,"
    " metrics = :metrics, sums_before = :sums_before, sums_after = :sums_after,"
    " marked_store_ms = :marked_store, marked_wall_ms = :marked_wall,"
    " marked_druid_ms = :marked_druid, window_end_ms = :window_end,"
    " kill_started_ms = :kill_started, restore_started_ms = :restore_started, ended_ms = :ended,"
    " reservation_id = :reservation, token = :token, lent = :lent, reservations = :reservations,"
    " called_ms = :called, intent_until_ms = :intent_until, refusals = :refusals, cap = :cap,"
    " restore_reason = :restore_reason, orphans = :orphans, revivable = :revivable WHERE id = :id";

bool Fits(const Filter& filter, const Drop& drop) {
  if (!filter.datasource.empty() && drop.datasource != filter.datasource) return false;
  if (filter.since && drop.created < *filter.since) return false;
  if (filter.until && drop.created >= *filter.until) return false;
  if (!filter.states.empty() &&
      std::count(filter.states.begin(), filter.states.end(), drop.state) == 0) {
    return false;
  }
  return !filter.overlapping ||
         std::any_of(drop.intervals.begin(), drop.intervals.end(), [&](const Interval& interval) {
           return interval.Overlaps(*filter.overlapping);
         });
}

absl::StatusOr<store::Rows> Before(store::Transaction& tx, const Filter& filter, int64_t before,
                                   int64_t most) {
  if (filter.datasource.empty()) {
    return tx.Query("SELECT " DROP_COLUMNS
                    " FROM drops WHERE number < :before ORDER BY number DESC LIMIT :most",
                    {before, most});
  }
  return tx.Query("SELECT " DROP_COLUMNS
                  " FROM drops WHERE datasource = :datasource AND number < :before"
                  " ORDER BY number DESC LIMIT :most",
                  {filter.datasource, before, most});
}

}  // namespace

absl::StatusOr<Drop> ReadDrop(store::Transaction& tx, const std::string& id) {
  absl::StatusOr<store::Rows> rows =
      tx.Query("SELECT " DROP_COLUMNS " FROM drops WHERE id = :id", {id});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return UnknownDrop(id);
  return DropFrom(rows->front());
}

absl::StatusOr<std::optional<Drop>> FindByRequest(store::Transaction& tx,
                                                  const std::string& requested_by,
                                                  const std::string& holder,
                                                  const std::string& request_id) {
  absl::StatusOr<store::Rows> rows =
      tx.Query("SELECT " DROP_COLUMNS
               " FROM drops WHERE requested_by = :by AND holder = :holder AND request_id = :id"
               " AND request_id <> ''",
               {requested_by, holder, request_id});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return std::optional<Drop>();
  absl::StatusOr<Drop> drop = DropFrom(rows->front());
  if (!drop.ok()) return drop.status();
  return std::optional<Drop>(*std::move(drop));
}

absl::Status InsertDrop(store::Transaction& tx, Drop& drop, const Manifest& rows) {
  absl::StatusOr<int64_t> number = NextNumber(tx, "number");
  if (!number.ok()) return number.status();
  absl::StatusOr<int64_t> change = NextNumber(tx, "change");
  if (!change.ok()) return change.status();
  drop.number = *number;
  drop.change = *change;
  drop.id = absl::StrCat("drop-", drop.number);
  std::vector<store::Value> values = RequestValues(drop);
  for (store::Value& value : StandingValues(drop)) values.push_back(std::move(value));
  absl::Status status = tx.Execute(kInsert, values).status();
  if (!status.ok()) return status;
  return InsertManifest(tx, drop.id, rows);
}

absl::Status UpdateDrop(store::Transaction& tx, Drop& drop) {
  absl::StatusOr<int64_t> change = NextNumber(tx, "change");
  if (!change.ok()) return change.status();
  drop.change = *change;
  std::vector<store::Value> values = StandingValues(drop);
  values.emplace_back(drop.id);
  absl::StatusOr<int64_t> changed = tx.Execute(kUpdate, values);
  if (!changed.ok()) return changed.status();
  return *changed == 1 ? absl::OkStatus() : UnknownDrop(drop.id);
}

absl::StatusOr<bool> IsNewRequest(store::Transaction& tx, const std::string& id, const char* method,
                                  const std::string& what, const std::string& request_id) {
  if (request_id.empty()) return true;
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT method, what FROM drop_request WHERE drop_id = :id AND request_id = :request",
      {id, request_id});
  if (!rows.ok()) return rows.status();
  if (!rows->empty()) {
    const bool same = rows->front().Text(0) == method && rows->front().Text(1) == what;
    if (!same) return RequestIdReused(request_id, id);
    return false;
  }
  absl::StatusOr<int64_t> inserted = tx.Execute(
      "INSERT INTO drop_request (drop_id, request_id, method, what)"
      " VALUES (:id, :request, :method, :what)",
      {id, request_id, method, what});
  if (!inserted.ok()) return inserted.status();
  return true;
}

absl::StatusOr<Listed> ListDrops(store::Transaction& tx, const Filter& filter, int64_t size,
                                 int64_t before) {
  constexpr int64_t kChunk = 100;
  Listed listed;
  int64_t looked = 0;
  int64_t next = before > 0 ? before : std::numeric_limits<int64_t>::max();
  while (true) {
    absl::StatusOr<store::Rows> rows = Before(tx, filter, next, kChunk);
    if (!rows.ok()) return rows.status();
    for (const store::Row& row : *rows) {
      absl::StatusOr<Drop> drop = DropFrom(row);
      if (!drop.ok()) return drop.status();
      next = drop->number;
      if (Fits(filter, *drop)) listed.drops.push_back(*std::move(drop));
      if (static_cast<int64_t>(listed.drops.size()) == size) {
        listed.next = next;
        return listed;
      }
    }
    if (static_cast<int64_t>(rows->size()) < kChunk) return listed;
    looked += kChunk;
    if (looked >= kMostLooked) {
      listed.next = next;
      return listed;
    }
  }
}

absl::StatusOr<std::vector<Drop>> ChangedAfter(store::Transaction& tx, int64_t change,
                                               int64_t most) {
  absl::StatusOr<store::Rows> rows =
      tx.Query("SELECT " DROP_COLUMNS
               " FROM drops WHERE change_number > :change ORDER BY change_number LIMIT :most",
               {change, most});
  if (!rows.ok()) return rows.status();
  std::vector<Drop> drops;
  for (const store::Row& row : *rows) {
    absl::StatusOr<Drop> drop = DropFrom(row);
    if (!drop.ok()) return drop.status();
    drops.push_back(*std::move(drop));
  }
  return drops;
}

}  // namespace interlock::drop
