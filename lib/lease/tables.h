// The rows behind reservations.h, and the only place that spells their SQL for one
// reservation (overlaps.h and list.cc have the searches).
//
//   lease_datasource   its number and the last token handed out
//   lease_reservation  one row each, ended ones too
//   lease_interval     one row per interval; `live` while it blocks
//   lease_pin          work that is not settled
//
// `live` is a reservation's or an interval's claim on its place, not its state: a row whose
// deadline has passed stays live until its place is needed. An ended reservation with pins
// stays live for the pinned intervals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lib/lease/reservation.h"
#include "lib/store/store.h"

namespace interlock::lease {

// A reservation's key; its id is the same in letters: "r3-17".
struct Key {
  int64_t datasource = 0;  // the datasource's number
  int64_t token = 0;

  auto operator<=>(const Key&) const = default;
};
std::string IdOf(const Key& key);
std::optional<Key> KeyOf(absl::string_view id);

struct DatasourceRow {
  int64_t number = 0;
  int64_t token = 0;              // the last one handed out
  bool has_appends = false;       // an APPEND reservation was ever granted
  absl::Duration longest_append;  // no live APPEND row is longer
  int64_t live = 0;               // reservations with live rows; some may be over by now
  bool has_waiters = false;       // there may be some
  bool has_tails = false;
  int64_t trimmed = 0;  // events up to this revision are gone
};
absl::StatusOr<std::optional<DatasourceRow>> FindDatasource(store::Transaction& tx,
                                                            const std::string& name);
// By number, without the lock.
absl::StatusOr<DatasourceRow> ReadDatasource(store::Transaction& tx, int64_t number);
// The name of the lock under which a datasource's reservations change, for WriteLocked.
std::string LockOf(const std::string& datasource);
// By name, with the lock under which its reservations change, held until the end of
// the transaction. Made where there is none.
absl::StatusOr<DatasourceRow> LockDatasource(store::Transaction& tx, const std::string& name);
// By number; the lock is taken before anything of the datasource is read that is decided on.
absl::StatusOr<DatasourceRow> LockDatasource(store::Transaction& tx, int64_t number);
// Notes that a grant in this mode, of these intervals, has the next token; the row says which.
absl::Status TakeToken(store::Transaction& tx, DatasourceRow& row, Mode mode,
                       const std::vector<Interval>& intervals);

// A row of lease_reservation: `reservation` without intervals, pins and loans, its state as
// stored.
struct Stored {
  Key key;
  bool live = false;
  bool has_loans = false;
  std::string identity;  // who reserved it, as authenticated; "" of a row of an old version
  absl::Duration lock_delay;
  Reservation reservation;
  std::string request;  // the fingerprint of what was asked
  std::string skipped;  // what was not granted
};
absl::StatusOr<std::optional<Stored>> FindStored(store::Transaction& tx, const Key& key);
absl::StatusOr<std::optional<Stored>> FindByRequest(store::Transaction& tx,
                                                    const std::string& holder,
                                                    const std::string& request_id);
// A page of all, or of one datasource's (0 for all), after `after`.
absl::StatusOr<std::vector<Stored>> StoredAfter(store::Transaction& tx, int64_t datasource,
                                                const Key& after, int64_t most);

// Whether it holds its time at `now` by its deadline and stored state alone.
bool IsActive(const Stored& stored, Instant now);
// How it ended, if it is not active at `now`, whatever still blocks: never kOrphaned.
State EndOf(const Stored& stored, Instant now);
// Until when its time is nobody's though it has expired; nothing where it is free.
std::optional<Instant> DelayedUntil(const Stored& stored, Instant now);

struct IntervalRow {
  Interval interval;
  bool live = false;
};
absl::StatusOr<std::vector<IntervalRow>> IntervalsOf(store::Transaction& tx, const Key& key);
absl::StatusOr<std::vector<Pin>> PinsOf(store::Transaction& tx, const Key& key);

// The whole of it: intervals and pins read, state as of tx.now().
absl::StatusOr<Reservation> Complete(store::Transaction& tx, const Stored& stored);

absl::Status InsertReservation(store::Transaction& tx, const Stored& stored);
absl::Status InsertInterval(store::Transaction& tx, const Key& key, Mode mode,
                            const IntervalRow& row);
absl::Status ForgetRequestId(store::Transaction& tx, const Key& key);
absl::Status SetDeadline(store::Transaction& tx, const Key& key, Instant deadline,
                         int64_t revision);
// Notes how and when it ended; its rows stay live.
absl::Status SetEnded(store::Transaction& tx, const Key& key, State state, Instant ended,
                      int64_t revision);
absl::Status SetRevision(store::Transaction& tx, const Key& key, int64_t revision);
absl::Status SetForced(store::Transaction& tx, const Key& key, const std::string& by,
                       const std::string& reason);

// Its live rows become exactly `kept` (condensed, within what is live); none: it is no
// longer live at all.
absl::Status KeepLive(store::Transaction& tx, const Stored& stored,
                      const std::vector<Interval>& kept);

}  // namespace interlock::lease
