// A stream as the guard keeps it: what was declared, what was seen of it, its tail.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/guard/tail.h"
#include "lib/time/instant.h"

namespace interlock::guard {

enum class Kind { kSupervisor, kOutside };
absl::string_view NameOf(Kind kind);
Kind KindOf(absl::string_view name);

// The name of a datasource's own setting: it goes for each of its streams that has none.
inline constexpr char kDefaultStream[] = "default";

// How a supervisor does.
struct Health {
  std::string state;
  bool suspended = false;
  bool healthy = true;
  std::optional<int64_t> lag;
  int64_t thrown_away = 0;  // since it was first seen
  int64_t unparseable = 0;
  std::vector<std::string> task_ids;
  std::vector<std::string> recent_errors;
  Instant observed;
};

struct Stream {
  // Its key. Two supervisors of one datasource are two streams.
  std::string datasource;
  std::string name;

  Kind kind = Kind::kOutside;
  std::string supervisor_id;  // "" where there is none
  bool is_declared = false;   // else it was found
  Declared declared;
  bool accept_unbounded = false;
  std::string registered_by, reason, request_id;
  Instant created;

  // What was last seen of it in Druid.
  bool in_druid = false;
  std::optional<Instant> missing_since;  // looked for and not found
  std::string spec_digest;
  std::string topic;
  bool concurrent_locks = false;
  std::optional<Health> health;
  // A handover's: the backfill that has it suspended, "" for none.
  std::string suspended_for;

  Tail tail;
  Instant observed;    // when what the tail is made of was last read or reported
  bool stale = false;  // it can't be read now
};

}  // namespace interlock::guard
