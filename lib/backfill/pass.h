// One pass over one backfill, for the runner's own use.
//
// Threads: one pass, one thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/backfill/handover.h"
#include "lib/backfill/obstacles.h"
#include "lib/backfill/runner.h"
#include "lib/backfill/tail_terms.h"

namespace interlock::backfill {

// For who waits for a stream.
inline constexpr char kOfferHandover[] =
    "submit it again with --handover, which suspends the stream meanwhile";

class Pass {
 public:
  Pass(const Runner::World& world, const Options& options,
       const std::function<std::string()>& nonce, work::Claim& claim)
      : world_(world), options_(options), nonce_(nonce), claim_(claim) {}

  // Moves all that is due. An error of the store, or a lost claim, ends the pass.
  absl::Status Run();
  // Whether the backfill needs no step any more; else when the next is due.
  bool finished() const { return finished_; }
  Instant next() const { return next_; }
  // Some call to Druid was not answered.
  bool druid_away() const { return druid_away_; }

 private:
  using Body = std::function<absl::Status(store::Transaction& tx)>;
  // What a look or a call showed, and how to say it.
  struct Sight {
    Seen seen = Seen::kCantTell;
    std::string reason, message;
    absl::Duration again = absl::ZeroDuration();  // when to look at the unit again
    std::optional<int64_t> rows = std::nullopt;   // of what is done already, by its proofs
    std::vector<Obstacle> blockers = {};          // what is in the way
  };

  // --- pass.cc: the frame ---
  absl::Status Begin();
  // The deadline of the whole is over.
  bool IsLate() const;
  absl::Status TakeLeases();
  absl::Status TakeFree(store::Transaction& tx, Backfill& backfill,
                        const std::vector<StoredUnit>& units, const std::vector<lease::Held>& held);
  absl::Status MoveOpen();
  absl::Status MoveNotApplied();
  absl::Status GiveUp();
  absl::Status StartNew();
  absl::Status End();
  absl::Status Finish(store::Transaction& tx);
  // A write that checks the claim, and rings.
  absl::Status Write(const Body& body);
  // Stores the unit after what was seen, with `more` in the same transaction. Leaves a unit
  // alone that somebody else (a person) has moved meanwhile.
  absl::Status Move(StoredUnit& unit, const Sight& sight, const Body& more = {});
  absl::StatusOr<std::vector<StoredUnit>> Units(const std::vector<State>& states, Instant due,
                                                int64_t most);
  absl::StatusOr<Attempt> AttemptOf(const StoredUnit& unit);
  Interval Hull(const std::vector<Interval>& intervals) const;
  // The Druid answer was unknown: remember, and say so.
  template <class T>
  Sight Away(const druid::Answer<T>& answer);

  // --- look.cc: what is there, and in the way, before a task is posted ---
  absl::StatusOr<Sight> LookBefore(const StoredUnit& unit, BeforeLook* look);
  absl::StatusOr<Sight> LookForStreams(const StoredUnit& unit);
  std::optional<Obstacle> LookForEmptyInput(const StoredUnit& unit, const BeforeLook& look);
  static Sight BlockedBy(Obstacle obstacle, const std::string& message, absl::Duration again);
  absl::StatusOr<Sight> WaitForLock(const StoredUnit& unit, const druid::TaskLock& lock);
  bool MayShare(const druid::TaskLock& lock) const;
  absl::StatusOr<Sight> LookForObstacles(const StoredUnit& unit);
  absl::StatusOr<bool> IsDoneAlready(const StoredUnit& unit, const druid::Timeline& timeline,
                                     std::optional<int64_t>* rows);
  Sight ReadSurroundings(const StoredUnit& unit, BeforeLook* look,
                         std::optional<druid::Timeline>* timeline);

  // --- source_look.cc: of a derived table, what it is computed from ---
  // What the unit's task is to read of each source, as it is now.
  absl::StatusOr<Sight> LookAtSources(const StoredUnit& unit, std::vector<SourceRead>* reads);
  absl::StatusOr<std::vector<Interval>> CorrectedIn(const Source& source, const Interval& read);
  Sight LookAtSource(SourceRead* read);
  // Whether all of it is still what the attempt was submitted over.
  absl::StatusOr<Sight> CompareSources(const Attempt& attempt);
  // Sums of what a re-index is going to read.
  Sight SumSource(const StoredUnit& unit, BeforeLook* look);

  // --- post.cc: intent, POST, and the settling of a lost one ---
  absl::Status Start(StoredUnit& unit, bool* started);
  absl::Status StoreIntent(StoredUnit& unit, BeforeLook look, bool* stored);
  absl::Status Settle(StoredUnit& unit);
  absl::Status Post(StoredUnit& unit, const Attempt& attempt, bool occupy);
  druid::Answer<std::string> Send(const StoredUnit& unit, const Attempt& attempt, bool occupy);
  Sight SightOfPost(const druid::Answer<std::string>& answer, const Attempt& attempt);
  Sight WhoseTask(const Attempt& attempt);
  // What is left of the claim (lengthened if need be) and the lease exceeds a call's deadline.
  absl::StatusOr<bool> MayCall(bool needs_lease);

  // --- poll.cc: running tasks ---
  absl::Status PollRunning(std::vector<StoredUnit>& units);
  absl::Status PollOne(StoredUnit& unit, Attempt& attempt, const druid::TaskStatus* status,
                       std::optional<Instant> druid_time);
  absl::Status SeeItLive(StoredUnit& unit, Attempt& attempt, const druid::TaskStatus& status,
                         bool alone);
  absl::Status NoteState(StoredUnit& unit, Attempt& attempt, AttemptState state);
  const Attempt* ToAskAbout(const std::vector<std::pair<StoredUnit*, Attempt>>& running);
  absl::Status Shutdown(StoredUnit& unit, Attempt& attempt, const Sight& why);
  absl::Status LookForLocks(std::vector<std::pair<StoredUnit*, Attempt>>& running);
  void NoteOthersLocks(const StoredUnit& unit, const Attempt& attempt,
                       const std::vector<druid::TaskLock>& locks);
  bool WaitsLong(const Attempt& attempt) const;

  // --- prove.cc: what a task's effect was ---
  absl::Status Prove(StoredUnit& unit);
  Sight Gather(const StoredUnit& unit, Attempt& attempt, Evidence* evidence);
  absl::Status ReadKnown(const StoredUnit& unit, const Attempt& attempt, Evidence* evidence);
  absl::Status StoreJudgement(StoredUnit& unit, Attempt& attempt, const UnitJudgement& judged,
                              absl::Duration since);
  // For metrics, once it is stored.
  void TellProven(const StoredUnit& unit, const Attempt& attempt,
                  const UnitJudgement& judged) const;
  absl::Status StorePartition(store::Transaction& tx, const StoredUnit& unit,
                              const PartitionJudgement& judged);
  absl::StatusOr<Sight> LookForOthers(const StoredUnit& unit, Attempt& attempt, bool patient);

  const Runner::World& world_;
  const Options& options_;
  const std::function<std::string()>& nonce_;
  work::Claim& claim_;

  Backfill backfill_;
  TailTerms tails_;
  Handover handover_;  // empty where it has none
  // The handover's pause is over, or a person ended it: what runs is shut down, and what is
  // left goes back to the stream.
  bool must_end_ = false;
  // Attempts that wait long for a lock, by task: for whose. Of some the lock was taken away.
  std::map<std::string, std::string> waits_for_;
  std::map<std::string, Obstacle> waits_behind_;
  std::set<std::string> preempted_;
  Instant now_;  // the store's, at the start of the pass
  // When the lease of the unit that is about to be posted ends, on the monotonic clock.
  std::chrono::nanoseconds lease_ends_{0};
  bool running_ = false;     // some task is in Druid
  bool recent_ = false;      // … and was posted a moment ago
  bool slots_full_ = false;  // nothing can be started now
  bool druid_away_ = false;
  bool finished_ = false;
  Instant next_;
};

template <class T>
Pass::Sight Pass::Away(const druid::Answer<T>& answer) {
  druid_away_ = druid_away_ || answer.unknown();
  Sight sight{Seen::kCantTell, answer.unknown() ? "DRUID_UNAVAILABLE" : "DRUID_REFUSES",
              answer.text(), options_.blocked_every};
  sight.blockers.push_back(DruidObstacle(sight.reason, sight.message, Hull(backfill_.intervals)));
  return sight;
}

}  // namespace interlock::backfill
