// What the guard has found wrong, kept while it lasts: opens once, is updated, closes when
// it is right again. The sweeper lists these beside its own.
//
// Threads: functions on a transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::guard {

// Names of Finding.Kind of the API.
inline constexpr char kForeignWriter[] = "FOREIGN_WRITER";
inline constexpr char kOrphanStreamTask[] = "ORPHAN_STREAM_TASK";
inline constexpr char kTailMovedBack[] = "TAIL_MOVED_BACK";
inline constexpr char kRowsThrownAway[] = "ROWS_THROWN_AWAY";
inline constexpr char kSupervisorChanged[] = "SUPERVISOR_CHANGED";
inline constexpr char kVerdict[] = "VERDICT";

struct Finding {
  int64_t number = 0;
  // What makes two the same: kind, datasource, stream and what it is about.
  std::string subject;
  std::string kind;    // above
  std::string reason;  // UPPER_SNAKE, narrows it
  std::string datasource, stream;
  std::vector<Interval> intervals;  // where; empty where it is about no time
  std::string message, remedy;
  std::string backfill_id;
  std::vector<std::string> task_ids;
  int64_t amount = 0;  // rows or segments, where it counts some
  Instant opened, seen;
  std::optional<Instant> closed;
};

// Opens it, or updates the open one of its subject. True where it was opened.
absl::StatusOr<bool> Report(store::Transaction& tx, const Finding& finding);
// Closes the open one of this subject, where there is one.
absl::Status Close(store::Transaction& tx, const std::string& subject);
// Closes those of a kind whose last sight was before `before`.
absl::Status CloseUnseen(store::Transaction& tx, const std::string& kind, Instant before);

// The newest first; `datasource` "" for all.
absl::StatusOr<std::vector<Finding>> ListFindings(store::Transaction& tx,
                                                  const std::string& datasource, bool only_open,
                                                  int64_t most);

// For the gauges: open ones by datasource and kind (the reason where that is a verdict), and
// how old the oldest of them is.
struct FindingCount {
  std::string datasource, kind;
  int64_t open = 0;
  Instant oldest;
};
absl::StatusOr<std::vector<FindingCount>> CountOpenFindings(store::Transaction& tx);

}  // namespace interlock::guard
