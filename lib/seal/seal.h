// Seals and corrections, as values.
//
// A seal says that an interval has been given out: a report sent, an invoice settled.
// Through Interlock it never changes again (P6); what would have changed it is a
// correction, kept beside it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::seal {

// One aggregate's value, in the type that Druid gave it in.
struct Value {
  std::string metric;
  bool is_double = false;
  int64_t whole = 0;    // exact
  double broken = 0.0;  // compared with a relative tolerance of 1e-9

  double AsDouble() const { return is_double ? broken : static_cast<double>(whole); }
};

using GroupKey = std::map<std::string, std::string>;  // dimension → value
struct Group {
  GroupKey key;
  std::vector<Value> values;
};

struct Aggregate {
  std::string name;
  std::string expression;  // Druid SQL: SUM("amount")
};

// Which aggregates are kept with a seal. Without aggregates there is no snapshot.
struct SnapshotSpec {
  std::vector<std::string> dimensions;
  std::vector<Aggregate> aggregates;
  std::string filter;  // a Druid SQL condition; "" for all rows
};

// One partition as it was sealed.
struct Bucket {
  Interval interval;
  std::vector<Value> sums;      // content: COUNT(*) as `rows`, and each column that adds up
  std::vector<Group> snapshot;  // of this partition
};

enum class State {
  kSealing,  // bars already, while its figures are read; not listed
  kActive,
  kUnsealed,   // lifted for a while by an admin
  kResealing,  // due to hold again: bars, and waits for live attempts to be proven
};

enum class Integrity {
  kUnspecified,  // not looked at yet
  kIntact,
  kRewritten,  // other ids, equal content: compaction
  kBroken,     // other content
  kUnknown,    // it can't be told now
};

absl::string_view NameOf(State state);
absl::string_view NameOf(Integrity integrity);
State StateOf(absl::string_view name);
Integrity IntegrityOf(absl::string_view name);

struct Seal {
  std::string id;      // "s7"
  int64_t number = 0;  // rises with each
  std::string datasource;
  Interval interval;
  State state = State::kActive;
  std::string reason;
  std::string label;
  std::string sealed_by;
  std::string request_id;
  std::string fingerprint;  // of what was asked, to tell a repeated request
  std::string policy;
  Instant created;
  std::string ids_digest;
  std::string content_digest;
  std::string seen_ids_digest;  // of the newest look: what was found intact or rewritten
  Integrity integrity = Integrity::kUnspecified;
  std::optional<Instant> checked;
  SnapshotSpec snapshot;
  int64_t group_count = 0;
  std::string unsealed_by;
  std::string unseal_reason;
  std::optional<Instant> unseal_until;  // of kSealing: when it is given up
  std::string corrections_datasource;
  int64_t correction_count = 0;
};

// The state at `now`: an unseal that is over is RESEALING, whether or not anybody has
// written that down.
State StateAt(const Seal& seal, Instant now);
// Whether it refuses what would change it.
bool Bars(const Seal& seal, Instant now);

struct Delta {
  GroupKey key;
  std::optional<Value> was;  // nothing where the group was not there
  std::optional<Value> is_now;
  Value delta;
};

// What would have replaced one sealed partition.
struct Correction {
  std::string id;
  int64_t number = 0;  // in its datasource, from 1
  std::string datasource;
  Interval interval;
  std::string seal_id;
  std::string seal_label;
  std::string backfill_id;
  std::string job;
  int64_t job_version = 0;
  std::string requested_by;
  std::string reason;
  Instant created;
  std::string corrections_datasource;
  std::vector<Delta> deltas;  // only groups that differ
  int64_t delta_count = 0;
  std::vector<Value> was_totals, is_totals;  // over all groups, differing or not
};

}  // namespace interlock::seal
