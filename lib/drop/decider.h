// The transaction of one step, for step.h's Decide: chooses the next move and stores it
// with the intent of the call that the move asks for.
//
// Threads: one transaction's.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/audit/caller.h"
#include "lib/drop/clock_jumps.h"
#include "lib/drop/kill.h"
#include "lib/drop/step.h"

namespace interlock::drop {

class Decider {
 public:
  Decider(store::Transaction& tx, const Drops::Detail& detail, const View& view,
          const Surroundings& around);
  absl::Status Run(Decision* decision);

 private:
  // What was seen (decide.cc).
  absl::Status NoteChanges();
  absl::Status NoteOthers(const char* reason, const char* what,
                          const std::vector<std::string>& ids);
  absl::Status FollowKill();
  Window WindowNow(std::string* why) const;
  bool JumpStands(std::string* why) const;
  absl::Status ReadPast();
  absl::Status HeedForce();
  int64_t FailedKills() const;
  std::optional<Instant> NextKill() const;
  Observation Seen();
  absl::StatusOr<Move> Choose();
  void BeginWindow();
  absl::Status Persist();

  // What is told of it (tell.cc).
  std::string MessageOf(const Move& move) const;
  std::string HoldText(const Move& move) const;
  std::string FailureText(const Move& move) const;
  std::string StateText(const Move& move) const;
  std::string KillText(const Move& move) const;
  std::string Left() const;

  // What follows (prepare.cc).
  absl::Status Enter(const Move& move);
  absl::Status Leave();
  absl::Status Prepare(const Move& move, Decision* decision);
  absl::Status PrepareMark(Decision* decision);
  absl::Status PrepareRevive(Decision* decision);
  absl::Status PrepareKill(Decision* decision);
  absl::Status PrepareShutdown(Decision* decision);
  Kill NewKill(const KillPiece& piece) const;
  absl::Status StoreIntent();
  std::optional<Instant> Due(const Move& move) const;
  Instant DueLook() const;
  std::optional<Instant> DueWait(const Move& move) const;

  store::Transaction& tx_;
  const Drop before_;
  std::vector<Kill> kills_;
  const View& view_;
  const Surroundings& around_;
  Drop drop_;
  Manifest rows_;
  std::set<size_t> changed_;          // rows to store
  bool touched_ = false;              // something to store beside what SameStanding compares
  std::string why_;                   // the clocks disagree
  std::string forced_;                // who has taken the reservation by force, and why
  std::optional<ClockJump> jump_;     // the last one that was seen
  std::optional<Instant> last_kill_;  // when the last kill task of any drop was stored
  std::vector<Objection> held_;
  const audit::Caller own_;
};

// Whether nothing that a person could see differs.
bool SameStanding(const Drop& a, const Drop& b);

}  // namespace interlock::drop
