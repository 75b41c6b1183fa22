#include "lib/lease/overlaps.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/lease/events.h"
#include "lib/lease/loans.h"
#include "lib/time/interval_set.h"

namespace interlock::lease {
namespace {

struct LiveRow {
  Interval interval;
  int64_t token = 0;
};

// The live row of a mode that starts last before `before`, and overlaps (after, before).
absl::StatusOr<std::optional<LiveRow>> LastBefore(store::Transaction& tx, int64_t datasource,
                                                  Instant after, Instant before) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT start_ms, end_ms, token FROM lease_interval WHERE datasource = :datasource"
      " AND mode = 'REPLACE' AND live = 1 AND start_ms < :before"
      " ORDER BY start_ms DESC LIMIT 1",
      {datasource, before});
  if (!rows.ok()) return rows.status();
  if (rows->empty() || rows->front().At(1) <= after) return std::nullopt;
  const store::Row& row = rows->front();
  absl::StatusOr<Interval> interval = Interval::Of(row.At(0), row.At(1));
  if (!interval.ok()) return interval.status();
  return LiveRow{*interval, row.Int(2)};
}

// Rows of one look at the APPENDs.
constexpr int64_t kChunk = 1000;

// Live APPEND rows overlap each other, so all that start before the end, and no earlier than
// the longest of them could, are looked at, the latest first; here those below (before, token).
absl::StatusOr<std::vector<LiveRow>> Appends(store::Transaction& tx, int64_t datasource,
                                             const Interval& asked, absl::Duration longest,
                                             Instant before, int64_t token) {
  absl::StatusOr<store::Rows> rows = tx.Query(
      "SELECT start_ms, end_ms, token FROM lease_interval WHERE datasource = :datasource"
      " AND mode = 'APPEND' AND live = 1 AND start_ms <= :last AND start_ms > :earliest"
      " AND (start_ms, token) < (:before, :token) AND end_ms > :start"
      " ORDER BY start_ms DESC, token DESC LIMIT :most",
      {datasource, before, BeforeAppends(asked.start(), longest), before, token, asked.start(),
       kChunk});
  if (!rows.ok()) return rows.status();
  std::vector<LiveRow> found;
  for (const store::Row& row : *rows) {
    absl::StatusOr<Interval> interval = Interval::Of(row.At(0), row.At(1));
    if (!interval.ok()) return interval.status();
    found.push_back({*interval, row.Int(2)});
  }
  return found;
}

class Finder {
 public:
  Finder(store::Transaction& tx, int64_t datasource, int64_t most)
      : tx_(tx), datasource_(datasource), most_(most) {}

  absl::Status FindReplaces(const Interval& asked) {
    Instant before = asked.end();
    while (!Full() && asked.start() < before) {
      absl::StatusOr<std::optional<LiveRow>> row =
          LastBefore(tx_, datasource_, asked.start(), before);
      if (!row.ok()) return row.status();
      if (!row->has_value()) break;
      absl::Status status = Judge(**row, asked);
      if (!status.ok()) return status;
      before = (*row)->interval.start();
    }
    return absl::OkStatus();
  }

  absl::Status FindAppends(const Interval& asked, absl::Duration longest) {
    // Lapsed rows are among them: look on until there are no more, or a live one behind them
    // is missed.
    Instant before = asked.end();
    for (int64_t token = 0;;) {
      absl::StatusOr<std::vector<LiveRow>> rows =
          Appends(tx_, datasource_, asked, longest, before, token);
      if (!rows.ok()) return rows.status();
      for (const LiveRow& row : *rows) {
        if (Full()) return absl::OkStatus();
        absl::Status status = Judge(row, asked);
        if (!status.ok()) return status;
      }
      if (static_cast<int64_t>(rows->size()) < kChunk) return absl::OkStatus();
      before = rows->back().interval.start();
      token = rows->back().token;
    }
  }

  Overlaps Take() && {
    std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
      return std::pair(a.held.interval, a.token) < std::pair(b.held.interval, b.token);
    });
    Overlaps overlaps;
    for (Found& found : found_) {
      overlaps.held.push_back(std::move(found.held));
      overlaps.tokens.push_back(found.token);
    }
    for (const auto& [token, holder] : holders_) {
      if (!holder.active && !holder.delayed) overlaps.lapsed.push_back({datasource_, token});
    }
    return overlaps;
  }

 private:
  struct Holder {
    Reservation reservation;
    bool active = false;
    std::optional<Instant> delayed;  // of one that has expired: till when nobody has its time
    std::vector<Pin> pins;           // of one that is not active
  };
  struct Found {
    Held held;
    int64_t token;
  };

  bool Full() const { return static_cast<int64_t>(found_.size()) >= most_; }

  absl::StatusOr<const Holder*> HolderOf(int64_t token) {
    const auto known = holders_.find(token);
    if (known != holders_.end()) return &known->second;
    absl::StatusOr<std::optional<Stored>> stored = FindStored(tx_, {datasource_, token});
    if (!stored.ok()) return stored.status();
    if (!stored->has_value()) return absl::InternalError("an interval without a reservation");
    Holder holder;
    holder.active = IsActive(**stored, tx_.now());
    holder.delayed = DelayedUntil(**stored, tx_.now());
    if ((*stored)->has_loans) {
      absl::StatusOr<std::vector<Loan>> loans = LoansOf(tx_, {datasource_, token});
      if (!loans.ok()) return loans.status();
      for (const Loan& loan : *loans) (*stored)->reservation.links.push_back(loan.link);
    }
    holder.reservation = std::move((*stored)->reservation);
    if (!holder.active) {
      absl::StatusOr<std::vector<Pin>> pins = PinsOf(tx_, {datasource_, token});
      if (!pins.ok()) return pins.status();
      holder.pins = *std::move(pins);
    }
    return &holders_.emplace(token, std::move(holder)).first->second;
  }

  absl::Status Judge(const LiveRow& row, const Interval& asked) {
    absl::StatusOr<const Holder*> holder = HolderOf(row.token);
    if (!holder.ok()) return holder.status();
    const Interval there = *row.interval.Intersect(asked);
    if ((*holder)->active) {
      Add((*holder)->reservation, row.token, there, nullptr);
      return absl::OkStatus();
    }
    for (const Pin& pin : (*holder)->pins) {
      const std::optional<Interval> pinned = pin.interval.Intersect(there);
      if (pinned.has_value()) Add((*holder)->reservation, row.token, *pinned, &pin);
    }
    if ((*holder)->delayed) {
      Add((*holder)->reservation, row.token, there, nullptr);
      found_.back().held.by = HeldBy::kLockDelay;
      found_.back().held.until = *(*holder)->delayed;
    }
    return absl::OkStatus();
  }

  void Add(const Reservation& reservation, int64_t token, const Interval& there, const Pin* pin) {
    Held held;
    held.interval = there;
    held.reservation_id = reservation.id;
    held.holder = reservation.holder;
    held.purpose = reservation.purpose;
    held.mode = reservation.mode;
    held.since = reservation.created;
    held.until = reservation.deadline;
    held.calendar = reservation.calendar;
    if (!reservation.links.empty()) held.link = reservation.links.back();
    if (pin != nullptr) {
      held.by = HeldBy::kOrphan;
      held.orphaned = true;
      held.work_id = pin->work_id;
      held.link = pin->link;
    }
    found_.push_back({std::move(held), token});
  }

  store::Transaction& tx_;
  const int64_t datasource_;
  const int64_t most_;
  std::map<int64_t, Holder> holders_;
  std::vector<Found> found_;
};

// Nobody called for it, so whoever sees it first says so: once, since it is EXPIRED then.
absl::Status RecordExpiry(store::Transaction& tx, const Stored& stored, bool orphaned) {
  absl::StatusOr<std::vector<IntervalRow>> rows = IntervalsOf(tx, stored.key);
  if (!rows.ok()) return rows.status();
  std::vector<std::string> intervals;
  for (const IntervalRow& row : *rows) {
    if (row.live) intervals.push_back(row.interval.ToString());
  }
  const Reservation& ended = stored.reservation;
  audit::Event event;
  event.caller.identity = "interlock";
  event.method = "worker.expire";
  event.datasource = ended.datasource;
  event.subject = ended.id;
  event.result = std::string(NameOf(orphaned ? State::kOrphaned : State::kExpired));
  event.before = audit::JsonObject()
                     .Text("state", NameOf(State::kActive))
                     .Text("holder", ended.holder)
                     .Texts("intervals", intervals)
                     .ToString();
  event.after = audit::JsonObject()
                    .Text("state", event.result)
                    .Text("ended", ended.deadline.ToString())
                    .ToString();
  return audit::Record(tx, event);
}

}  // namespace

int64_t BeforeAppends(Instant start, absl::Duration longest) {
  return (start - longest).millis() - 1;
}

absl::StatusOr<Overlaps> FindOverlaps(store::Transaction& tx, const DatasourceRow& datasource,
                                      Mode mode, const std::vector<Interval>& intervals,
                                      int64_t most) {
  Finder finder(tx, datasource.number, most);
  for (const Interval& asked : intervals) {
    absl::Status status = finder.FindReplaces(asked);
    if (status.ok() && mode == Mode::kReplace && datasource.has_appends) {
      status = finder.FindAppends(asked, datasource.longest_append);
    }
    if (!status.ok()) return status;
  }
  return std::move(finder).Take();
}

absl::Status Clear(store::Transaction& tx, const Key& key) {
  absl::StatusOr<std::optional<Stored>> stored = FindStored(tx, key);
  if (!stored.ok()) return stored.status();
  if (!stored->has_value() || !(*stored)->live || IsActive(**stored, tx.now())) {
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<Pin>> pins = PinsOf(tx, key);
  if (!pins.ok()) return pins.status();
  const Instant deadline = (*stored)->reservation.deadline;
  if ((*stored)->reservation.state == State::kActive) {
    absl::StatusOr<int64_t> revision =
        Append(tx, key, pins->empty() ? EventKind::kExpired : EventKind::kOrphaned, deadline,
               pins->empty() ? State::kExpired : State::kOrphaned, deadline);
    if (!revision.ok()) return revision.status();
    absl::Status status = SetEnded(tx, key, State::kExpired, deadline, *revision);
    if (status.ok()) status = RecordExpiry(tx, **stored, !pins->empty());
    if (!status.ok()) return status;
  }
  if (DelayedUntil(**stored, tx.now())) return absl::OkStatus();
  std::vector<Interval> kept;
  for (const Pin& pin : *pins) kept.push_back(pin.interval);
  return KeepLive(tx, **stored, Condense(std::move(kept)));
}

}  // namespace interlock::lease
