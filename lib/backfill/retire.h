// Retiring: marking the generation that a backfill replaced unused, by id, once it can no
// longer be rolled back. Druid's own duty does the same some 15 minutes after the new one is
// served; that it came first is as good.
//
// Kept per partition, so that a process that dies between a call and its effect goes on
// where it was.
//
// Threads: values, and functions on a transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lib/backfill/record.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

enum class RetireStep {
  kMark,  // what is still used of it is to be marked
  kDone,  // none of it is used
  kLeft,  // it is left as it is; the message says why
};
absl::string_view NameOf(RetireStep step);

struct Retirement {
  std::string backfill_id;
  Interval partition;
  RetireStep step = RetireStep::kMark;
  std::string message;
  std::vector<std::string> ids;  // that were visible before the backfill, by its own ledger
  std::string reservation_id;    // "" while it has none
  int64_t token = 0;
  std::optional<Instant> called;  // when a mark was last sent
  std::optional<Instant> clear;   // since when none of them was seen used
};

inline bool IsOver(RetireStep step) { return step != RetireStep::kMark; }

// What the backfill's ledger names, of the partitions that it has changed.
absl::StatusOr<std::vector<Retirement>> PlanRetirements(store::Transaction& tx,
                                                        const Backfill& backfill);
// Stores it anew.
absl::Status PutRetirement(store::Transaction& tx, const Retirement& retirement);
// Of a backfill, by time.
absl::StatusOr<std::vector<Retirement>> ReadRetirements(store::Transaction& tx,
                                                        const std::string& backfill_id);
// The partition's proof says so from now on.
absl::Status RecordRetired(store::Transaction& tx, const Retirement& retirement);

}  // namespace interlock::backfill
