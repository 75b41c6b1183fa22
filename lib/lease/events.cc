#include "lib/lease/events.h"

#include <algorithm>
#include <utility>

#include "lib/lease/lease_errors.h"
#include "lib/lease/packed.h"
#include "lib/lease/waiting.h"
#include "lib/time/interval_set.h"

namespace interlock::lease {
namespace {

constexpr EventKind kAllKinds[] = {EventKind::kGranted, EventKind::kRenewed,  EventKind::kReleased,
                                   EventKind::kExpired, EventKind::kOrphaned, EventKind::kForced,
                                   EventKind::kSettled, EventKind::kWaiting,  EventKind::kGaveUp};
// Events removed in one piece: some milliseconds of the writer's time.
constexpr int64_t kTrimmedAtOnce = 2000;

#define EVENT_COLUMNS                                                                   \
  "SELECT e.number, e.datasource, e.subject, e.at_ms, e.event, e.state, e.deadline_ms," \
  " e.detail, d.name FROM lease_event e JOIN lease_datasource d ON d.number = e.datasource "

EventKind KindOf(absl::string_view name) {
  for (const EventKind kind : kAllKinds) {
    if (NameOf(kind) == name) return kind;
  }
  return EventKind::kGranted;
}

// The reservation as it is now, set back to how the event left it.
absl::StatusOr<std::optional<Event>> FromRow(store::Transaction& tx, const store::Row& row) {
  Event event;
  event.revision = row.Int(0);
  event.at = row.At(3);
  event.kind = KindOf(row.Text(4));
  const Key key{row.Int(1), row.Int(2)};
  if (event.kind == EventKind::kWaiting || event.kind == EventKind::kGaveUp) {
    event.reservation = WaiterOfDetail(key, row.Text(7));
    event.reservation.datasource = row.Text(8);
  } else {
    absl::StatusOr<std::optional<Stored>> stored = FindStored(tx, key);
    if (!stored.ok()) return stored.status();
    if (!stored->has_value()) return std::nullopt;
    absl::StatusOr<Reservation> now = Complete(tx, **stored);
    if (!now.ok()) return now.status();
    event.reservation = *std::move(now);
    Reservation& then = event.reservation;
    std::vector<Interval> all = then.intervals;
    all.insert(all.end(), then.released.begin(), then.released.end());
    all = Condense(std::move(all));
    then.intervals = row.Text(7).empty() ? all : UnpackIntervals(row.Text(7));
    then.released = row.Text(7).empty() ? std::vector<Interval>() : Subtract(all, then.intervals);
    if (StateOf(row.Text(5)) == State::kActive) then.ended.reset();
  }
  event.reservation.state = StateOf(row.Text(5));
  event.reservation.deadline = row.At(6);
  event.reservation.revision = event.revision;
  return event;
}

bool Overlaps(const Event& event, const std::optional<Interval>& overlapping) {
  if (!overlapping) return true;
  return !Intersect(event.reservation.intervals, {*overlapping}).empty() ||
         !Intersect(event.reservation.released, {*overlapping}).empty();
}

absl::StatusOr<int64_t> NumberOf(const absl::StatusOr<store::Rows>& rows) {
  if (!rows.ok()) return rows.status();
  return rows->empty() ? 0 : rows->front().Int(0);
}

absl::Status Forget(store::Transaction& tx, int64_t datasource, int64_t up_to) {
  absl::Status status = LockDatasource(tx, datasource).status();
  if (status.ok()) {
    status = tx.Execute(
                   "UPDATE lease_datasource SET trimmed_revision = :up_to"
                   " WHERE number = :number AND trimmed_revision < :least",
                   {up_to, datasource, up_to})
                 .status();
  }
  if (!status.ok()) return status;
  return tx
      .Execute("DELETE FROM lease_event WHERE datasource = :datasource AND number <= :up_to",
               {datasource, up_to})
      .status();
}

}  // namespace

absl::string_view NameOf(EventKind kind) {
  switch (kind) {
    case EventKind::kGranted:
      return "GRANTED";
    case EventKind::kRenewed:
      return "RENEWED";
    case EventKind::kReleased:
      return "RELEASED";
    case EventKind::kExpired:
      return "EXPIRED";
    case EventKind::kOrphaned:
      return "ORPHANED";
    case EventKind::kForced:
      return "FORCED";
    case EventKind::kSettled:
      return "SETTLED";
    case EventKind::kWaiting:
      return "WAITING";
    case EventKind::kGaveUp:
      return "GAVE_UP";
  }
  return "";
}

absl::StatusOr<int64_t> Append(store::Transaction& tx, const Key& key, EventKind kind, Instant at,
                               State state, Instant deadline, const std::string& detail) {
  absl::Status status = tx.Notify(kChannel);
  if (!status.ok()) return status;
  return NumberOf(
      tx.Query("INSERT INTO lease_event (datasource, subject, at_ms, event, state, deadline_ms,"
               " detail) VALUES (:datasource, :subject, :at, :event, :state, :deadline, :detail)"
               " RETURNING number",
               {key.datasource, key.token, at, std::string(NameOf(kind)),
                std::string(NameOf(state)), deadline, detail}));
}

absl::StatusOr<int64_t> RevisionOf(store::Transaction& tx, const std::string& datasource) {
  absl::StatusOr<std::optional<DatasourceRow>> row = FindDatasource(tx, datasource);
  if (!row.ok()) return row.status();
  if (!row->has_value()) return 0;
  absl::StatusOr<int64_t> newest =
      NumberOf(tx.Query("SELECT COALESCE(MAX(number), 0) FROM lease_event"
                        " WHERE datasource = :datasource",
                        {(*row)->number}));
  if (!newest.ok()) return newest;
  // After a restore nothing may have happened yet, but its past is cut off all the same.
  return std::max(*newest, (*row)->trimmed);
}

absl::StatusOr<int64_t> NewestRevision(store::Transaction& tx) {
  return NumberOf(tx.Query("SELECT COALESCE(MAX(number), 0) FROM lease_event", {}));
}

namespace {

// Nothing would ever be told to who waits for what comes after a revision that is not there.
absl::Status CheckReached(store::Transaction& tx, const std::string& datasource, int64_t after) {
  absl::StatusOr<int64_t> newest = RevisionOf(tx, datasource);
  if (!newest.ok()) return newest.status();
  return after > *newest ? RevisionUnknown(after, *newest) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<Told> EventsAfter(store::Transaction& tx, const std::string& datasource,
                                 int64_t after, const std::optional<Interval>& overlapping) {
  Told told;
  told.revision = after;
  absl::StatusOr<std::optional<DatasourceRow>> row = FindDatasource(tx, datasource);
  if (!row.ok()) return row.status();
  if (!row->has_value()) {
    if (after > 0) return RevisionUnknown(after, 0);
    return told;
  }
  if (after < (*row)->trimmed) return RevisionTooOld(after, (*row)->trimmed);
  absl::StatusOr<store::Rows> rows =
      tx.Query(EVENT_COLUMNS
               "WHERE e.datasource = :datasource AND e.number > :after"
               " ORDER BY e.number LIMIT :most",
               {(*row)->number, after, kMostTold});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) {
    absl::Status status = CheckReached(tx, datasource, after);
    if (!status.ok()) return status;
  }
  for (const store::Row& next : *rows) {
    absl::StatusOr<std::optional<Event>> event = FromRow(tx, next);
    if (!event.ok()) return event.status();
    told.revision = next.Int(0);
    if (event->has_value() && Overlaps(**event, overlapping)) {
      told.events.push_back(**std::move(event));
    }
  }
  told.more = static_cast<int64_t>(rows->size()) == kMostTold;
  return told;
}

absl::StatusOr<Told> EventsOfAllAfter(store::Transaction& tx, int64_t after,
                                      std::map<std::string, int64_t>& told) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      EVENT_COLUMNS "WHERE e.number > :after ORDER BY e.number LIMIT :most", {after, kMostTold});
  if (!rows.ok()) return rows.status();
  Told all;
  all.revision = after;
  for (const store::Row& next : *rows) {
    if (next.At(3) < tx.now() - kSettling) all.revision = next.Int(0);
    int64_t& known = told[next.Text(8)];
    if (next.Int(0) <= known) continue;
    absl::StatusOr<std::optional<Event>> event = FromRow(tx, next);
    if (!event.ok()) return event.status();
    known = next.Int(0);
    if (event->has_value()) all.events.push_back(**std::move(event));
  }
  all.more = static_cast<int64_t>(rows->size()) == kMostTold;
  // More than a page of it is young: then the page itself has to move.
  if (all.more && all.revision == after) all.revision = rows->back().Int(0);
  return all;
}

absl::StatusOr<int64_t> TrimEvents(store::Transaction& tx, Instant before, int64_t from) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT e.number, e.datasource, e.at_ms,"
      " (SELECT MAX(n.number) FROM lease_event n WHERE n.datasource = e.datasource)"
      " FROM lease_event e WHERE e.number >= :from ORDER BY e.number LIMIT :most",
      {from, kTrimmedAtOnce});
  absl::StatusOr<int64_t> newest = NewestRevision(tx);
  if (!rows.ok() || !newest.ok()) return rows.ok() ? newest.status() : rows.status();
  // The newest of each datasource stays: its number is the datasource's revision, and must
  // not come again.
  std::map<int64_t, int64_t> up_to;
  bool young = false;
  for (const store::Row& row : *rows) {
    const bool old = row.At(2) < before || row.Int(0) <= *newest - kMostKept;
    young = young || !old;
    if (old && !young && row.Int(0) < row.Int(3)) up_to[row.Int(1)] = row.Int(0);
  }
  for (const auto& [datasource, last] : up_to) {
    absl::Status status = Forget(tx, datasource, last);
    if (!status.ok()) return status;
  }
  const bool more = !young && static_cast<int64_t>(rows->size()) == kTrimmedAtOnce;
  return more ? rows->back().Int(0) : 0;
}

}  // namespace interlock::lease
