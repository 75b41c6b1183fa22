// What is wrong somewhere, kept: a finding opens once, is updated while it lasts, and closes
// by itself at the first look that finds it right again. The gauges count open ones, so
// that a restart, or another replica, changes nothing of what an alert sees.
//
// Guarantee: a look that could not tell (UNDETERMINED) opens nothing and closes nothing.
//
// Threads: functions on a transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/store/schema.h"
#include "lib/store/store.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::sweep {

store::Schema SweepSchema();

// What a finding is about; the names of v1::Finding::Kind.
inline constexpr char kVerdict[] = "VERDICT";
inline constexpr char kForeignWriter[] = "FOREIGN_WRITER";
inline constexpr char kForeignDrop[] = "FOREIGN_DROP";
inline constexpr char kMarkedUsedAgain[] = "MARKED_USED_AGAIN";
inline constexpr char kKillFailed[] = "KILL_FAILED";
inline constexpr char kClockSkew[] = "CLOCK_SKEW";
inline constexpr char kIdReused[] = "ID_REUSED";
inline constexpr char kSealBroken[] = "SEAL_BROKEN";
inline constexpr char kSealRewritten[] = "SEAL_REWRITTEN";

// More segment ids than this are not kept with a finding.
inline constexpr size_t kMaxSegmentsKept = 100;

// Something wrong, as a look saw it. Kind, verdict, interval and subject name it: the same
// four are the same finding.
struct Observed {
  std::string kind = kVerdict;
  std::string verdict;  // "DOUBLE_VERSION" …; "" where it is none
  Interval interval;
  std::string subject;  // the task, drop or seal it is about; "" for none
  std::string reason;
  std::string message;
  std::string remedy;
  std::vector<std::string> segments;
  double score = 1;
  // Digest of what was visible: what was counted against an expectation stays open until
  // this changes, or it is counted again.
  std::string digest;
};

struct Finding {
  int64_t number = 0;  // names it, as "f-NUMBER"
  std::string datasource;
  Observed observed;
  bool open = true;
  Instant opened;
  Instant seen;
  std::optional<Instant> closed;

  std::string id() const;
};

// What a look covered.
struct Scope {
  std::string datasource;
  std::string kind = kVerdict;
  Interval looked_at;
  // Parts of it of which nothing could be told: what is open there stays.
  std::vector<Interval> untold;
  // Partitions whose rows were compared with an expectation.
  std::set<Interval> compared;
  // What is visible in an interval now; may be empty, then nothing counted is closed.
  std::function<std::string(const Interval&)> digest_of;
};

struct Recorded {
  std::vector<Finding> opened;
  std::vector<Finding> closed;
};
// Opens, updates and closes: all open findings of the scope's kind that lie within
// `looked_at` and were not observed again are closed. What two looks cut otherwise (a day and
// its hours) is one and the same: a finding of that verdict which is open there, about one of
// these segments, is seen again, and none is opened beside it.
absl::StatusOr<Recorded> Record(store::Transaction& tx, const Scope& scope,
                                const std::vector<Observed>& observed);

// Opens one, or updates it. True where it was not open before.
absl::StatusOr<bool> Open(store::Transaction& tx, const std::string& datasource,
                          const Observed& observed);
absl::Status Close(store::Transaction& tx, int64_t number);
// All open ones of a kind about this subject, whose id no two datasources share.
absl::Status CloseAbout(store::Transaction& tx, const std::string& kind,
                        const std::string& subject);

// What is empty does not filter.
struct Filter {
  std::string datasource;
  std::optional<Interval> overlapping;
  std::vector<std::string> kinds;
  bool open = true;
  bool closed = false;
  std::optional<Instant> seen_since;
};
struct Listed {
  std::vector<Finding> findings;  // open ones first, then the newest
  std::string next;               // token of the next page; "" at the end
};
// BAD_PAGE_TOKEN.
absl::StatusOr<Listed> List(store::Transaction& tx, const Filter& filter, int64_t size,
                            const std::string& token);

// Open ones whose last look is older than `before`; at most `most`.
absl::StatusOr<std::vector<Finding>> SeenBefore(store::Transaction& tx,
                                                const std::string& datasource, Instant before,
                                                int64_t most);

// For the gauges: open findings by datasource and verdict (kind where it is none), and how
// old the oldest of them is.
struct Count {
  std::string datasource;
  std::string verdict;
  int64_t open = 0;
  Instant oldest;
};
absl::StatusOr<std::vector<Count>> CountOpen(store::Transaction& tx);

}  // namespace interlock::sweep
