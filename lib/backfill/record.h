// A backfill, its units, partitions and attempts as the store keeps them.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "lib/backfill/judge.h"
#include "lib/backfill/obstacles.h"
#include "lib/backfill/proof.h"
#include "lib/backfill/sources.h"
#include "lib/backfill/state.h"
#include "lib/backfill/units.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

// Where the whole stands.
enum class Phase {
  kPending,         // stored, nothing begun
  kRunning,         // at work, or waiting
  kPaused,          // what runs ends and is proven, nothing new begins
  kNeedsAttention,  // SUSPECT or UNDETERMINED units, and nothing else is left to do
  kDone,
  kFailed,
  kCancelling,
  kCancelled,
  kRollingBack,  // the former generation is being brought back
  kRolledBack,   // it is visible again, of everything that this backfill had changed
};
absl::string_view NameOf(Phase phase);
Phase PhaseOf(absl::string_view name);
// Nothing is done any more unless somebody asks for it.
bool IsOver(Phase phase);

enum class Reprocess { kNone, kFailed, kAll };

struct Backfill {
  std::string id;
  int64_t number = 0;    // rises with each: the order of listing
  int64_t revision = 0;  // of its last change, among those of all backfills
  Phase phase = Phase::kPending;
  std::string reason;   // UPPER_SNAKE; "" where the phase speaks for itself
  std::string message;  // one sentence
  bool pause = false;   // asked for
  bool cancel = false;

  // What was asked.
  std::string datasource;
  std::vector<Interval> intervals;  // condensed
  std::string granularity_json;
  std::string spec_json;
  std::string job;  // "" where the spec came with the request
  int64_t job_version = 0;
  std::string digest;  // of the spec without its intervals: equal digests are equal work
  std::string label;
  std::string requested_by;  // identity
  std::string holder;        // a name below it
  std::string request_id;
  std::string fingerprint;  // of all that was asked, to tell a repeated request
  std::string purpose, request_reason;
  std::map<std::string, std::string> labels;
  Reprocess reprocess = Reprocess::kNone;
  int64_t max_parallel = 2;
  int64_t max_attempts = 3;
  bool newest_first = false;
  bool skip_held = false;
  verify::Level level = verify::Level::kServed;
  absl::Duration waiting_deadline, run_deadline;
  absl::Duration rollback_window;  // how long after its end it can be rolled back
  std::vector<Source> sources;     // what its table is derived from, as its job said then
  RowTerms terms;
  std::optional<int64_t> expected_rows;  // of the whole
  std::string druid_source;
  std::string why_cut, finer;        // how it was cut (units.h)
  std::vector<std::string> notices;  // what the caller should know

  // The newest reservation; older ones stand in their units.
  std::string reservation_id;
  int64_t token = 0;
  bool lent = false;             // the caller's own: never released here
  int64_t reservations = 0;      // taken so far: part of the next one's request id
  std::optional<Instant> renew;  // when its lease is due to be renewed

  Instant created;
  std::optional<Instant> started, ended;
  std::optional<Instant> deadline;  // given up where it is not over then
  // Its totals were held against what is expected, since something ran last.
  bool totals_judged = false;
};

struct StoredUnit {
  std::string backfill_id;
  int64_t number = 0;  // in order of time
  Unit unit;
  State state = State::kPending;
  std::string reason, message;
  int64_t attempts = 0;  // in this backfill
  std::string task_id;   // of the newest attempt
  std::string reservation_id;
  int64_t token = 0;
  Instant due;                                        // not looked at before
  std::optional<int64_t> rows;                        // that came in, once proven
  std::optional<std::map<std::string, double>> sums;  // that are expected over the whole
  int64_t unparseable = 0, thrown_away = 0;
  // What it waits for, or was skipped for. Written, and read back with its partitions only:
  // whoever moves a unit says anew what is in its way.
  std::vector<Obstacle> blockers;
};

struct StoredPartition {
  Interval partition;
  int64_t unit = 0;
  State state = State::kPending;
  std::string reason, message;
  Instant since;  // of the state
  int64_t revision = 0;
  std::optional<Proof> proof;
  std::vector<verify::Finding> findings;  // of the last look that judged it
  std::vector<Obstacle> blockers;         // of its unit's, those that overlap it
  // Of its unit: its name, its attempts in this backfill, the newest one's task.
  std::string unit_key;
  int64_t attempts = 0;
  std::string task_id;
};

enum class AttemptState {
  kIntended,      // stored, and perhaps sent
  kUnknown,       // sent, and the reply was lost
  kWaiting,       // in Druid, for a slot or a lock
  kRunning,       // in Druid
  kEnded,         // over in Druid, its effect not yet proven
  kSettled,       // over, and its effect (or that it has none) is proven
  kAbandoned,     // given up by a person without proof
  kNotSubmitted,  // never reached Druid
};
absl::string_view NameOf(AttemptState state);
AttemptState AttemptStateOf(absl::string_view name);

struct Attempt {
  std::string datasource;
  std::string unit_key;
  int64_t number = 0;  // of this datasource and unit, across backfills
  std::string backfill_id;
  int64_t unit = 0;
  std::string task_id;
  std::string nonce;
  AttemptState state = AttemptState::kIntended;
  int64_t posts = 0;  // calls that were, or may have been, sent
  std::string reservation_id;
  int64_t token = 0;
  BeforeLook before;

  Instant intended;
  std::optional<Instant> posted;   // when Druid was seen to have it
  std::optional<Instant> running;  // when it was first seen to run
  std::optional<Instant> ended;    // when it was first seen to be over
  std::optional<Instant> settled;
  std::optional<Instant> shutdown_asked;
  std::string druid_status, druid_error;
  std::optional<Instant> druid_created, druid_ended;  // its life by Druid's clock
  std::vector<std::pair<Interval, std::string>> locks;
  bool others_seen = false;
  std::optional<TaskRows> rows;
  // What was read next door when its effect was judged, in `before.neighbours`.
  std::optional<std::vector<verify::SeenSegment>> neighbours_after;
  std::string abandoned_by, abandon_reason;  // where a person has declared it over
};

std::string ToJson(const RowTerms& terms);
RowTerms RowTermsFrom(const std::string& json);
std::string LocksToJson(const std::vector<std::pair<Interval, std::string>>& locks);
std::vector<std::pair<Interval, std::string>> LocksFrom(const std::string& json);
std::string IntervalsToText(const std::vector<Interval>& intervals);
std::vector<Interval> IntervalsFrom(const std::string& text);
std::string TextsToJson(const std::vector<std::string>& texts);
std::vector<std::string> TextsFrom(const std::string& json);
std::string LabelsToJson(const std::map<std::string, std::string>& labels);
std::map<std::string, std::string> LabelsFrom(const std::string& json);
std::string SumsToJson(const std::map<std::string, double>& sums);
std::map<std::string, double> SumsFrom(const std::string& json);
std::string ToJson(const TaskRows& rows);
TaskRows TaskRowsFrom(const std::string& json);

}  // namespace interlock::backfill
