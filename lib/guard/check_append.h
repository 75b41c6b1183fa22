// May a stream write these instants? Asked for each micro-batch: one snapshot of the store,
// one index step for each stretch of instants that lie close together.
//
// What a stream's own tail covers is its own: no REPLACE is granted there. Instants before
// it are judged by what is held now; an APPEND lease makes them the stream's own as well.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "lib/guard/options.h"
#include "lib/lease/reservation.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"

namespace interlock::guard {

inline constexpr int64_t kMostInstants = 10'000;

enum class Decision { kAllow, kHold, kReject };

struct AppendQuestion {
  std::string datasource;
  std::string stream;  // that asks; "" for none
  std::vector<Instant> instants;
  std::string reservation_id;  // an APPEND lease it writes under; "" for none
  int64_t token = 0;
};

struct AppendAnswer {
  Decision decision = Decision::kAllow;  // the strictest
  std::vector<Decision> each;            // empty where all are the same
  Instant valid_until;
  absl::Duration valid_for;
  absl::Duration retry_after;         // for kHold
  std::vector<lease::Held> blockers;  // what refuses
  int64_t token = 0;                  // the datasource's newest
};

// INVALID_DATASOURCE, LIMIT_EXCEEDED; of a lease that is shown, the errors of CheckToken.
// `limits.obstacles`: what else bars time (seals, drops).
absl::StatusOr<AppendAnswer> CheckAppend(store::Store& store, const AppendQuestion& question,
                                         const Options& options, const lease::Limits& limits = {});

}  // namespace interlock::guard
