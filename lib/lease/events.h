// What happened to the reservations of a datasource, in order: the log behind
// WatchReservations.
//
// Every change appends one event in its own transaction; the event's number is the
// revision. Within a datasource revisions rise in the order of commits, since all its
// changes hold its lock. The log is bounded: events are kept for a while (TrimEvents); who
// comes back later is told so, lists anew and watches from the list's revision.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lib/lease/reservation.h"
#include "lib/lease/tables.h"
#include "lib/store/store.h"

namespace interlock::lease {

enum class EventKind {
  kGranted,
  kRenewed,
  kReleased,  // or a part of it
  kExpired,
  kOrphaned,  // over, but for work that is not settled
  kForced,
  kSettled,  // the last work of an orphan is settled
  kWaiting,  // a request began to wait
  kGaveUp,   // and stopped without a grant
};
absl::string_view NameOf(EventKind kind);

// What store::Store::Listen is to be given, to hear of every event's commit.
inline constexpr char kChannel[] = "lease";

struct Event {
  int64_t revision = 0;
  EventKind kind = EventKind::kGranted;
  Instant at;
  Reservation reservation;  // as it was right after
};

// Of the newest event of a datasource; 0 where nothing ever happened.
absl::StatusOr<int64_t> RevisionOf(store::Transaction& tx, const std::string& datasource);

// Of the newest event of all.
absl::StatusOr<int64_t> NewestRevision(store::Transaction& tx);

struct Told {
  std::vector<Event> events;  // by revision
  int64_t revision = 0;       // the next call's `after`
  bool more = false;          // ask again at once
};
// What happened after a revision: kMostTold events at most are looked at. REVISION_TOO_OLD
// (OUT_OF_RANGE) where some of it is no longer known. Any transaction.
absl::StatusOr<Told> EventsAfter(store::Transaction& tx, const std::string& datasource,
                                 int64_t after, const std::optional<Interval>& overlapping);
inline constexpr int64_t kMostTold = 500;

// The same for all datasources. Commits of different datasources may come out of order on
// PostgreSQL: what is younger than kSettling is looked at again, and `told` says what each
// datasource's reader knows already.
absl::StatusOr<Told> EventsOfAllAfter(store::Transaction& tx, int64_t after,
                                      std::map<std::string, int64_t>& told);
inline constexpr absl::Duration kSettling = absl::Seconds(2);

// Removes events from before `before`, and the oldest beyond kMostKept: looks at a bounded
// piece of the log from revision `from` on, and gives where to go on, or 0 at the end.
absl::StatusOr<int64_t> TrimEvents(store::Transaction& tx, Instant before, int64_t from);
inline constexpr int64_t kMostKept = 1'000'000;

// --- For lib/lease ------------------------------------------------------------------------

// Appends an event and gives its revision. `detail` is what an ACTIVE reservation still
// blocks where that is not all it was granted (PackIntervals); of a waiter, what it is
// (waiting.h).
absl::StatusOr<int64_t> Append(store::Transaction& tx, const Key& key, EventKind kind, Instant at,
                               State state, Instant deadline, const std::string& detail = "");

}  // namespace interlock::lease
