// tuningConfig and context: what Druid itself would refuse, and what it takes although
// it makes a replacing job unsafe.
#pragma once

#include "lib/backfill/spec_node.h"

namespace interlock::backfill {

// What the rest of a spec says that partitioning depends on.
struct TuningContext {
  bool appends = false;
  // The input is one piece (inline): Druid fails range partitioning over it after the
  // task has started (druid 33: "is not supported"), and never splits the work.
  bool input_splits = true;
};

void CheckTuningConfig(const Node& tuning, const TuningContext& context);

// The member of a task's context that is ours: who submitted it, and the nonce.
inline constexpr char kContextMember[] = "interlock";
// The default priority of streams' tasks. A batch above it takes their locks away: the
// stream then fails to publish for ever, re-reads, and rows double.
inline constexpr int64_t kStreamPriority = 75;

void CheckContext(const Node& context, bool accept_concurrent_locks = false);

}  // namespace interlock::backfill
