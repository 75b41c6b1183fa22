// What a backfill does about what streams may still write: a row of its own beside the
// backfill's.
//
// Threads: functions on a transaction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/lease/reservation.h"
#include "lib/store/store.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

enum class TailPolicy {
  kRefuse,
  kWait,             // partitions in a tail run once it has passed
  kHandover,         // the stream is suspended meanwhile
  kAcceptUnbounded,  // beside a stream without a bound, where it does not write now
};
// The names of Backfill.TailPolicy of the API; as stored.
absl::string_view NameOf(TailPolicy policy);
TailPolicy TailPolicyOf(absl::string_view name);

struct TailTerms {
  TailPolicy policy = TailPolicy::kRefuse;
  // With kHandover: how long a stream is kept suspended; zero in a request: the operator's.
  absl::Duration max_pause;
  // With kHandover: the caller says that the input ends where the stream's offsets do.
  bool ends_at_committed_offsets = false;
  // Beside a stream, both with concurrent locks: what it has not published counts twice.
  bool accept_concurrent_append = false;

  bool operator==(const TailTerms& other) const = default;
};
// Partitions in a tail are not refused, but left for later.
inline bool Waits(const TailTerms& terms) {
  return terms.policy == TailPolicy::kWait || terms.policy == TailPolicy::kHandover;
}

// What is not stored is kRefuse.
absl::StatusOr<TailTerms> ReadTailTerms(store::Transaction& tx, const std::string& backfill_id);
absl::Status PutTailTerms(store::Transaction& tx, const std::string& backfill_id,
                          const TailTerms& terms);

// Whose tails a backfill may write into.
struct TailLeave {
  lease::Tails tails = lease::Tails::kRefuse;  // of all
  std::vector<std::string> streams;            // handed over, or written beside

  bool Covers(const std::string& stream) const;
};
absl::StatusOr<TailLeave> TailLeaveNow(store::Transaction& tx, const std::string& backfill_id,
                                       const std::string& datasource);
// Of a backfill that is not stored yet: nothing is handed over.
absl::StatusOr<TailLeave> TailLeaveOf(store::Transaction& tx, const TailTerms& terms,
                                      const std::string& datasource);
// What refuses a REPLACE of these intervals, with that leave.
absl::StatusOr<std::vector<lease::Held>> FindHeldWith(store::Transaction& tx,
                                                      const TailLeave& leave,
                                                      const std::string& datasource,
                                                      const std::vector<Interval>& intervals,
                                                      int64_t most, const lease::Limits& limits);
// For the reservation itself, once nothing of that is in the way.
lease::Tails TailsFor(const TailLeave& leave);

}  // namespace interlock::backfill
