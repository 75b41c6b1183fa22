// Tails: what a stream may still write, as rows that refuse like reservations.
//
// A tail is evaluated inside of every grant's transaction, at its time: it stands outside
// of the constraint that keeps reservations apart, since it moves with the clock. It
// refuses REPLACE only; appends share. Who watches the streams sets the rows; a tail that
// moves back over a live reservation revokes nothing.
//
// Threads: functions on a transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/lease/reservation.h"
#include "lib/lease/tables.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"

namespace interlock::lease {

struct Tail {
  std::string datasource;
  std::string stream;  // one of the datasource; "wiki-kafka"
  // Where it starts: at this instant …
  std::optional<Instant> bound;
  // … or so long before now, the earlier of the two where both are given. Neither: the
  // stream may write any time.
  std::optional<absl::Duration> offset;
  std::string source;  // how that is known, UPPER_SNAKE: "DECLARED", "SUPERVISOR_BOUND" …
  std::string note;    // one sentence for people
  Instant observed;    // set by SetTail

  bool unbounded() const { return !bound && !offset; }
  Instant StartAt(Instant now) const;
};

// Puts the tail in place of the stream's earlier one. A write transaction.
absl::Status SetTail(store::Transaction& tx, const Tail& tail);
// The stream is gone. True where there was one. A write transaction.
absl::StatusOr<bool> RemoveTail(store::Transaction& tx, const std::string& datasource,
                                const std::string& stream);
// Of a datasource, or of all ("" ), by datasource and stream. Any transaction.
absl::StatusOr<std::vector<Tail>> ListTails(store::Transaction& tx, const std::string& datasource);

// What of `intervals` (condensed) the datasource's tails refuse a REPLACE, as pieces with
// kTail, reason TAIL or UNBOUNDED_TAIL; `remedy` names the boundary. Any transaction.
absl::StatusOr<std::vector<Held>> FindTails(store::Transaction& tx, const DatasourceRow& datasource,
                                            const std::vector<Interval>& intervals, Tails tails);

}  // namespace interlock::lease
