// One step of a drop, in three parts: LookAt asks Druid and the disk (no transaction),
// Decide stores what follows from it (one transaction, with the intent of the call to
// come), and the worker makes that call and notes how it ended.
//
// Threads: functions; each of a worker that has the drop's step claimed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "lib/drop/drops.h"
#include "lib/drop/manifest.h"
#include "lib/drop/observe.h"
#include "lib/drop/options.h"
#include "lib/drop/probe.h"
#include "lib/drop/record.h"
#include "lib/drop/state.h"
#include "lib/store/store.h"
#include "lib/time/clock.h"

namespace interlock::drop {

// What a step needs beside the store.
struct Surroundings {
  druid::Cluster& cluster;
  store::Store& store;
  const Clock& clock;
  const Options& options;
  const StorageProbe* probe = nullptr;  // nullptr: files are not looked for
  absl::Duration call_deadline;         // of one call to Druid (ClusterOptions)
  std::function<std::string()> nonce;
};

// What was seen, and what follows from it for the manifest.
struct View {
  std::optional<Sight> sight;
  std::optional<KillSight> kill;
  std::optional<RowSight> rows;
  Manifest manifest;  // brought up to the sight
  Changes changes;
  std::vector<Objection> objections;  // to a kill
  Counts counts;
  bool strangers = false;
};

// Looks for the files of the manifest's rows that want it, and brings `manifest` up to what
// was found; gives the places that changed.
std::vector<size_t> LookForFiles(const std::vector<Kill>& kills, const Look& look,
                                 const StorageProbe* probe, Manifest& manifest);

View LookAt(const Drops::Detail& detail, const Surroundings& around);

// What to do after the transaction.
struct Decision {
  Action action = Action::kNone;
  std::vector<std::string> ids;  // of kMark and kRevive
  bool one_by_one = false;       // kRevive: a hidden one
  Kill kill;                     // of kPostKill, kOccupyKill and kShutdownKill
  // When to look again; nothing: when somebody asks.
  std::optional<Instant> due;
  // It has ended, and a kill left files behind: they are looked for now and then.
  bool files_left = false;
};

// Decides on `view` and stores it: `detail` is what the view was made from, and
// DROP_CHANGED says that the drop is another by now.
absl::Status Decide(store::Transaction& tx, const Drops::Detail& detail, const View& view,
                    const Surroundings& around, Decision* decision);

// Whether the action sends something to Druid that changes it.
bool IsCall(Action action);

}  // namespace interlock::drop
