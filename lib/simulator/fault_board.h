// Faults that are switched on by request: which calls they meet, when, and what they do.
//
// A fault counts every call that it matches, lets the first `after` of them pass, spoils
// the next `times`, and then matches on without effect: so that a test walks the point of
// failure ("walk": n is after n-1, once) and can tell from `matched` when it has walked
// past the last call.
//
// Threads: none of its own; the simulator's one lock guards it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lib/simulator/message.h"
#include "lib/simulator/segment_table.h"

namespace interlock::simulator {

enum class FaultKind {
  kLostBefore,          // the connection closes without a reply, and without effect
  kLostAfter,           // the effect happens, the connection closes without a reply
  kLate,                // closes at once; the effect happens delay_ms later
  kReset,               // like lost_before (or after, with effect), by RST
  kDelay,               // answers right, delay_ms later; effect after the delay
  kStatus,              // answers `status` and `body`; with "effect": true it happens
  kTruncate,            // the effect happens; the body ends after `bytes` (default: half)
  kGarbage,             // the effect happens; the body is `body`, or no JSON
  kStaleSnapshot,       // segment lists as they were when the fault was set
  kStuckTask,           // of a submit: the task never ends by itself
  kFailedTask,          // … ends FAILED and publishes nothing
  kFailedButPublished,  // … ends FAILED and has published
  kSuccessButNothing,   // … ends SUCCESS and has published nothing
};

struct Fault {
  int id = 0;
  FaultKind kind = FaultKind::kLostBefore;
  std::string kind_name;
  std::string method;         // "": any
  std::string path;           // a glob over the path; "": any
  std::string body_contains;  // "": any
  int64_t after = 0;
  int64_t times = 1;  // 0: always
  Moment delay{0};
  int status = 500;
  std::string body;
  std::string content_type = "application/json";
  std::optional<int64_t> bytes;
  bool effect = false;
  std::shared_ptr<const Snapshot> snapshot;

  int64_t matched = 0;
  int64_t hits = 0;
};

class FaultBoard {
 public:
  // {"match":{"method","path","body_contains"},"kind","times","after","walk","delay_ms",
  // "status","body","content_type","bytes","effect"}; the id of the new fault.
  // INVALID_ARGUMENT names an unknown member or kind. `now` is kept for stale_snapshot.
  absl::StatusOr<int> Add(absl::string_view json, const SegmentTable& now);
  void Clear() { faults_.clear(); }
  bool Remove(int id);

  // Counts the call; the first fault that spoils it, or null.
  const Fault* Meet(const Request& request);

  // As GET answers: every fault with its counts.
  std::string ToJson() const;
  const std::vector<std::unique_ptr<Fault>>& faults() const { return faults_; }

 private:
  std::vector<std::unique_ptr<Fault>> faults_;
  int next_id_ = 1;
};

}  // namespace interlock::simulator
