// A whole site for backfills in one process: a store, a simulated Druid that is asked
// without a wire, a clock that stands still until the test moves it, and a transport that
// can lose, spoil or delay any call.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/backfill/backfills.h"
#include "lib/backfill/handover_worker.h"
#include "lib/backfill/retire_worker.h"
#include "lib/backfill/rollback_worker.h"
#include "lib/backfill/runner.h"
#include "lib/druid/cluster.h"
#include "lib/druid/transport.h"
#include "lib/guard/watcher.h"
#include "lib/lease/reservation.h"
#include "lib/simulator/simulator.h"
#include "lib/store/sqlite.h"
#include "lib/time/fake_clock.h"
#include "lib/work/steps.h"

namespace interlock::backfill {

// What becomes of one exchange.
enum class Spoil {
  kNot,
  kUnreachable,  // never connected
  kLostBefore,   // no reply, no effect
  kLostAfter,    // the effect, and no reply
  kLate,         // no reply; the request arrives three exchanges later
  kServerError,  // 500 without effect
  kErrorAfter,   // the effect, and 500
  kGarbage,      // the effect, and a body that makes no sense
  kEmpty,        // the effect, and `{}`
};

// Asks the simulator in the process.
class SpoiledTransport : public druid::HttpTransport {
 public:
  SpoiledTransport(simulator::Simulator& simulator, const Clock& clock)
      : simulator_(simulator), clock_(clock) {}

  druid::HttpReply Send(const druid::HttpRequest& request) override;

  // Called with the number of each exchange, from 1; what it says happens.
  void SpoilBy(std::function<Spoil(int64_t number, const druid::HttpRequest&)> spoil) {
    spoil_ = std::move(spoil);
  }
  // Called before each exchange: time that passes, a crash of something.
  void Before(std::function<void(const druid::HttpRequest&)> before) {
    before_ = std::move(before);
  }
  // The same after it, when its effect is there.
  void After(std::function<void(const druid::HttpRequest&)> after) { after_ = std::move(after); }
  int64_t exchanges() const { return exchanges_; }
  // Bodies of the POSTs of tasks that reached Druid.
  const std::vector<std::string>& posts() const { return posts_; }

 private:
  druid::HttpReply Deliver(const druid::HttpRequest& request);

  simulator::Simulator& simulator_;
  const Clock& clock_;
  std::function<Spoil(int64_t, const druid::HttpRequest&)> spoil_;
  std::function<void(const druid::HttpRequest&)> before_, after_;
  int64_t exchanges_ = 0;
  std::vector<std::pair<int64_t, druid::HttpRequest>> late_;  // deliver at that exchange
  std::vector<std::string> posts_;
};

// The site's clock as the runner reads it: a hook can let the process stand still between
// any two of its instructions, while time goes on.
class RunnersClock : public Clock {
 public:
  explicit RunnersClock(FakeClock& clock) : clock_(clock) {}
  // Called before each reading of the monotonic clock.
  void Before(std::function<void()> before) { before_ = std::move(before); }

  Instant Now() const override { return clock_.Now(); }
  std::chrono::nanoseconds Monotonic() const override {
    // A copy: it may take itself away.
    if (const auto before = before_) before();
    return clock_.Monotonic();
  }
  std::string BootId() const override { return clock_.BootId(); }

 private:
  FakeClock& clock_;
  std::function<void()> before_;
};

class BackfillSite {
 public:
  // `supervisor_ids`: a datasource of the simulated Druid may have several supervisors.
  explicit BackfillSite(Options options = SiteOptions(), bool supervisor_ids = false);
  ~BackfillSite();
  BackfillSite(const BackfillSite&) = delete;
  BackfillSite& operator=(const BackfillSite&) = delete;

  // Short pauses, so that little time has to pass.
  static Options SiteOptions();

  FakeClock& clock() { return clock_; }
  RunnersClock& runners_clock() { return runners_clock_; }
  store::Store& store() { return *store_; }
  simulator::Simulator& simulator() { return *simulator_; }
  druid::Cluster& cluster() { return *cluster_; }
  SpoiledTransport& transport() { return *transport_; }
  Backfills& backfills() { return *backfills_; }
  Runner& runner() { return *runner_; }
  RollbackWorker& rollback_worker() { return *rollback_worker_; }
  HandoverWorker& handover_worker() { return *handover_worker_; }
  const Options& options() const { return options_; }

  // Time passes for everybody.
  void Pass(absl::Duration duration);

  // Claims what is due, does it, settles it. False when nothing was due. A claim that was
  // lost meanwhile is left alone.
  bool StepOnce();
  // Steps and lets time pass until the backfill is over, or needs a person; at most
  // `longest` of the clock's time. Gives it as it is then.
  Backfills::Detail RunUntilOver(const std::string& id, absl::Duration longest = absl::Minutes(10));
  // From now on streams are looked at, too.
  void WatchStreams();
  // The process dies and comes up again: what is not in the store is gone.
  void Restart();

  // Loads rows into an hour of `clicks` by a task of somebody else's.
  void Load(int hour, int rows);
  // COUNT of raw rows that queries see in an hour, and the version.
  int64_t Rows(int hour);
  std::string Version(int hour);
  // Top-level tasks that Druid has of a backfill, by id prefix "il-".
  std::vector<std::string> OurTasks();

  std::vector<StoredPartition> Partitions(const std::string& id);
  // Who holds a part of this hour.
  std::vector<lease::Held> Held(const Interval& interval);

  // A spec over hours [from, to) of `clicks` with inline input of so many rows an hour; one
  // unit.
  static std::string InlineSpec(int from, int to, int rows_an_hour);
  // Over one hour, with rows of another one beside a line that is no JSON: what it holds for
  // the hour can't be told before, and it wipes it.
  static std::string WipingSpec(int hour);
  // The same with a folder of files, one an hour, as placeholders; one unit an hour.
  std::string FilesSpec(int from, int to, int rows_an_hour);
  audit::Caller Caller(const std::string& request_id = "") const {
    return {"ada", request_id, "a test"};
  }
  // Submits, and expects that to succeed.
  std::string Submit(const std::string& spec, const std::string& request_id = "");

 private:
  void Open();
  absl::StatusOr<work::Outcome> StepOf(work::Claim& claim);

  const Options options_;
  FakeClock clock_;
  RunnersClock runners_clock_{clock_};
  std::string folder_;
  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<simulator::Simulator> simulator_;
  std::shared_ptr<SpoiledTransport> transport_;
  std::unique_ptr<druid::Cluster> cluster_;
  Changes changes_;
  std::unique_ptr<Backfills> backfills_;
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<RollbackWorker> rollback_worker_;
  std::unique_ptr<RetireWorker> retire_worker_;
  std::unique_ptr<HandoverWorker> handover_worker_;
  std::unique_ptr<guard::Watcher> watcher_;
  int64_t nonces_ = 0;
};

// "2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z"
Interval Hour(int hour);
std::string Line(int hour, int minute, int n);

}  // namespace interlock::backfill
