#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/lease/lease_errors.h"
#include "lib/lease/overlaps.h"
#include "lib/lease/request.h"
#include "lib/lease/reservations.h"
#include "lib/lease/tables.h"
#include "lib/time/status_reason.h"

namespace interlock::lease {
namespace {

// Rows of one look at a table.
constexpr int64_t kChunk = 200;

// A page token is two numbers: where in the list's order the next page starts.
struct Place {
  int64_t first = 0;
  int64_t second = 0;
};

std::string Print(const Place& place) { return absl::StrCat(place.first, ".", place.second); }

absl::StatusOr<Place> ParsePlace(const std::string& token, Place start) {
  if (token.empty()) return start;
  const std::vector<std::string> parts = absl::StrSplit(token, '.');
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &start.first) ||
      !absl::SimpleAtoi(parts[1], &start.second)) {
    return BadPageToken(token);
  }
  return start;
}

bool Matches(const Filter& filter, const Reservation& reservation) {
  if (!IsAtOrBelow(reservation.holder, filter.holder)) return false;
  if (filter.states.empty()) {
    return reservation.state == State::kActive || reservation.state == State::kOrphaned;
  }
  return std::find(filter.states.begin(), filter.states.end(), reservation.state) !=
         filter.states.end();
}

// A row that can't match, told without reading its intervals and pins.
bool MayMatch(const Filter& filter, const Stored& stored) {
  if (!IsAtOrBelow(stored.reservation.holder, filter.holder)) return false;
  return stored.live || !filter.states.empty();
}

absl::StatusOr<Listed> ListInOrder(store::Transaction& tx, const Filter& filter, const Page& page,
                                   int64_t datasource) {
  absl::StatusOr<Place> place = ParsePlace(page.token, {datasource, 0});
  if (!place.ok()) return place.status();
  Key after{place->first, place->second};
  Listed listed;
  for (int64_t looked = 0; looked < kMostLooked; looked += kChunk) {
    absl::StatusOr<std::vector<Stored>> chunk = StoredAfter(tx, datasource, after, kChunk);
    if (!chunk.ok()) return chunk.status();
    for (const Stored& stored : *chunk) {
      after = stored.key;
      if (!MayMatch(filter, stored)) continue;
      absl::StatusOr<Reservation> reservation = Complete(tx, stored);
      if (!reservation.ok()) return reservation.status();
      if (Matches(filter, *reservation)) listed.reservations.push_back(*std::move(reservation));
      if (static_cast<int64_t>(listed.reservations.size()) >= page.size) {
        listed.next = Print({after.datasource, after.token});
        return listed;
      }
    }
    if (static_cast<int64_t>(chunk->size()) < kChunk) return listed;
  }
  listed.next = Print({after.datasource, after.token});
  return listed;
}

// Where to start for a first page: the start of the last REPLACE row that begins before
// the interval (no earlier one can reach into it), or of any APPEND row.
absl::StatusOr<Place> FirstPlace(store::Transaction& tx, const DatasourceRow& datasource,
                                 const Interval& interval) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT MAX(start_ms) FROM lease_interval WHERE datasource = :datasource"
      " AND mode = 'REPLACE' AND live = 1 AND start_ms <= :start",
      {datasource.number, interval.start()});
  if (!rows.ok()) return rows.status();
  const Instant start = rows->front().MaybeAt(0).value_or(interval.start());
  if (!datasource.has_appends) return Place{start.millis(), 0};
  rows = tx.Query(
      "SELECT MIN(start_ms) FROM lease_interval WHERE datasource = :datasource"
      " AND mode = 'APPEND' AND live = 1 AND start_ms > :earliest AND end_ms > :start",
      {datasource.number, BeforeAppends(interval.start(), datasource.longest_append),
       interval.start()});
  if (!rows.ok()) return rows.status();
  return Place{std::min(start, rows->front().MaybeAt(0).value_or(start)).millis(), 0};
}

absl::StatusOr<store::Rows> LiveRowsFrom(store::Transaction& tx, const DatasourceRow& datasource,
                                         Mode mode, const Place& from, Instant end) {
  return tx.Query(
      "SELECT start_ms, end_ms, token FROM lease_interval"
      " WHERE datasource = :datasource AND mode = :mode AND live = 1"
      " AND (start_ms, token) > (:start, :token) AND start_ms < :end"
      " ORDER BY start_ms, token LIMIT :most",
      {datasource.number, std::string(NameOf(mode)), from.first, from.second, end, kChunk});
}

struct LiveRow {
  Place place;  // start, token
  int64_t end_ms = 0;
};

// Up to kChunk live rows of both modes after `from`, in order.
absl::StatusOr<std::vector<LiveRow>> LiveRows(store::Transaction& tx,
                                              const DatasourceRow& datasource, const Place& from,
                                              Instant end) {
  std::vector<LiveRow> found;
  for (const Mode mode : {Mode::kReplace, Mode::kAppend}) {
    if (mode == Mode::kAppend && !datasource.has_appends) continue;
    absl::StatusOr<store::Rows> rows = LiveRowsFrom(tx, datasource, mode, from, end);
    if (!rows.ok()) return rows.status();
    for (const store::Row& row : *rows) {
      found.push_back({{row.Int(0), row.Int(2)}, row.Int(1)});
    }
  }
  std::sort(found.begin(), found.end(), [](const LiveRow& a, const LiveRow& b) {
    return std::pair(a.place.first, a.place.second) < std::pair(b.place.first, b.place.second);
  });
  if (static_cast<int64_t>(found.size()) > kChunk) found.resize(kChunk);
  return found;
}

// Reservations of many intervals are listed once, at the first that overlaps.
bool IsFirstOverlap(const Reservation& reservation, const Interval& asked, int64_t start_ms) {
  for (const Interval& interval : reservation.intervals) {
    if (interval.Overlaps(asked)) return interval.Contains(Instant::FromMillis(start_ms));
  }
  return false;
}

absl::StatusOr<Listed> ListOverlapping(store::Transaction& tx, const Filter& filter,
                                       const Page& page, const DatasourceRow& datasource) {
  const Interval& asked = filter.overlapping.value_or(Interval::Eternity());
  absl::StatusOr<Place> first = FirstPlace(tx, datasource, asked);
  if (!first.ok()) return first.status();
  absl::StatusOr<Place> place = ParsePlace(page.token, *first);
  if (!place.ok()) return place.status();
  Listed listed;
  for (int64_t looked = 0; looked < kMostLooked; looked += kChunk) {
    absl::StatusOr<std::vector<LiveRow>> rows = LiveRows(tx, datasource, *place, asked.end());
    if (!rows.ok()) return rows.status();
    for (const LiveRow& row : *rows) {
      *place = row.place;
      if (row.end_ms <= asked.start().millis()) continue;
      absl::StatusOr<Reservation> reservation =
          Get(tx, IdOf({datasource.number, row.place.second}));
      if (!reservation.ok()) return reservation.status();
      if (Matches(filter, *reservation) && IsFirstOverlap(*reservation, asked, row.place.first)) {
        listed.reservations.push_back(*std::move(reservation));
      }
      if (static_cast<int64_t>(listed.reservations.size()) >= page.size) {
        listed.next = Print(*place);
        return listed;
      }
    }
    if (static_cast<int64_t>(rows->size()) < kChunk) return listed;
  }
  listed.next = Print(*place);
  return listed;
}

}  // namespace

absl::StatusOr<Listed> List(store::Transaction& tx, const Filter& filter, const Page& page) {
  if (filter.datasource.empty()) {
    if (!filter.overlapping.has_value()) return ListInOrder(tx, filter, page, 0);
    absl::Status status = InvalidReservation();
    AddFault(status, "/datasource", "it is empty while an interval is given", "name a datasource");
    return status;
  }
  absl::StatusOr<std::optional<DatasourceRow>> datasource = FindDatasource(tx, filter.datasource);
  if (!datasource.ok()) return datasource.status();
  if (!datasource->has_value()) return Listed();
  // What blocks is listed by its start, which the index of live rows gives.
  if (filter.overlapping.has_value() || filter.states.empty()) {
    return ListOverlapping(tx, filter, page, **datasource);
  }
  return ListInOrder(tx, filter, page, (*datasource)->number);
}

}  // namespace interlock::lease
