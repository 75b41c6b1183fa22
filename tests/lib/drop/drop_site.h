// A place where drops run: a store, a simulated Druid behind real HTTP, and the worker,
// all on one clock that stands still until the test moves it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lib/audit/audit.h"
#include "lib/drop/drops.h"
#include "lib/drop/retention_policies.h"
#include "lib/drop/worker.h"
#include "lib/druid/cluster.h"
#include "lib/druid/transport.h"
#include "lib/lease/reservations.h"
#include "lib/simulator/simulator.h"
#include "lib/store/sqlite.h"
#include "lib/time/fake_clock.h"
#include "lib/time/status_reason.h"
#include "lib/work/steps.h"
#include "tests/druid/druid_at_hand/druid_at_hand.h"
#include "tests/lib/drop/segments.h"

namespace interlock::drop {

inline constexpr char kClicks[] = "clicks";
inline constexpr absl::Duration kCallDeadline = absl::Seconds(30);

// Thrown into a step in place of a kill -9: nothing after it happens.
struct Crash {};

class DropSite {
 public:
  // Data is of 2026-07-16; "now" is far enough from it for the floor.
  explicit DropSite(Options options = {}, const std::string& version = "33.0.0");
  ~DropSite();

  // --- What is under test ---------------------------------------------------------------
  Drops& drops() { return *drops_; }
  druid::Cluster& cluster() { return *cluster_; }
  store::Store& store() { return *store_; }
  RetentionPolicies& retention() { return *retention_; }
  simulator::Simulator& druid() { return *simulator_; }
  FakeClock& clock() { return clock_; }
  Options& options() { return options_; }
  std::vector<std::string> kill_failures;
  std::vector<std::string> foreign_changes;

  // As if the process had been killed and started again: all that is not stored is gone.
  void Restart();

  // --- Druid ----------------------------------------------------------------------------
  // One hour's (or more hours') rows by a task; what was there is replaced.
  void Load(int first, int end, int n, const std::string& datasource = kClicks,
            bool append = false);
  // One hour's task that is left running.
  void Start(const std::string& id, int hour);
  // Time passes, and what was due in Druid has happened.
  void Pass(absl::Duration by);
  std::vector<std::string> UsedIds(const std::string& datasource = kClicks);
  std::vector<std::string> UnusedIds(const std::string& datasource = kClicks);
  // Behind everybody's back.
  void Mark(const std::string& id, bool used);
  int64_t Rows(const std::string& interval);
  // Bodies of what was sent that changes something, below that path.
  std::vector<std::string> Sent(const std::string& path_part);
  std::filesystem::path segments_folder() const { return folder_ / "segments"; }
  int FilesLeft() const;

  // --- Drops ----------------------------------------------------------------------------
  static audit::Caller Ada(const std::string& request_id = "", const std::string& why = "GDPR");
  static DropRequest Request(const std::string& interval);
  Drop Submitted(const DropRequest& request, const audit::Caller& caller = Ada());
  Drop Now(const std::string& id);

  // --- The worker -----------------------------------------------------------------------
  // Does one step that is due; false where none is.
  bool DoOneDue();
  // Goes on, step by step and due time by due time, until the drop is as wanted; or until
  // nothing is due within `at_most`.
  bool RunUntil(const std::string& id, const std::function<bool(const Drop&)>& wanted,
                absl::Duration at_most = absl::Hours(24 * 30));
  // Does all that comes due within that time.
  void RunFor(absl::Duration time);
  bool RunTo(const std::string& id, State state, absl::Duration at_most = absl::Hours(24 * 30));
  std::function<void()> after_step;
  absl::Status last_error;
  // Around each exchange with Druid; may throw Crash.
  std::function<void(const druid::HttpRequest&)> before_send;
  std::function<void(const druid::HttpRequest&)> after_reply;
  // What becomes of an exchange; a call that is not answered takes all of its time.
  enum class Fate { kGood, kTimesOutBefore, kTimesOutAfter };  // its effect
  std::function<Fate(const druid::HttpRequest&)> fate;

 private:
  class Hooked;

  void StartDruid(const std::string& version);
  // False where nothing is due before `end`.
  bool PassToNextDue(Instant end);

  Options options_;
  FakeClock clock_;
  std::filesystem::path folder_;
  std::unique_ptr<simulator::Simulator> simulator_;
  std::unique_ptr<druid::Cluster> cluster_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Drops> drops_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<RetentionPolicies> retention_;
  int loads_ = 0;
  int nonces_ = 0;
};

}  // namespace interlock::drop
