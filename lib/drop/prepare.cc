// What a chosen move means for the record: its state, the intent of its call, and when to
// look again.
#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/drop/decider.h"
#include "lib/drop/lease_hold.h"
#include "lib/drop/words.h"
#include "lib/druid/task_id.h"

namespace interlock::drop {
namespace {

// Between two looks at what moves by itself.
constexpr absl::Duration kShortest = absl::Milliseconds(200);
constexpr absl::Duration kLongest = absl::Seconds(5);
constexpr absl::Duration kAfterNoAnswer = absl::Seconds(5);
constexpr absl::Duration kAfterHeld = absl::Seconds(30);

// Looks at a thing as often as fits how long it has been under way.
absl::Duration Pace(absl::Duration age) { return std::clamp(age / 4, kShortest, kLongest); }

}  // namespace

absl::Status Decider::Enter(const Move& move) {
  const Instant now = tx_.now();
  if (move.state == State::kMarked && drop_.state == State::kMarking) BeginWindow();
  if (move.state == State::kKilling && !drop_.kill_started) drop_.kill_started = now;
  if (Ended(move.state) && !drop_.ended) drop_.ended = now;
  drop_.objections.clear();
  if (move.reason == kCheckFailed) drop_.objections = view_.objections;
  if (move.reason == kHeld) drop_.objections = held_;
  drop_.hold = move.reason;
  if (!drop_.objections.empty()) drop_.hold = drop_.objections.front().reason;
  if (move.state == State::kKilled && AnyOrphaned(rows_)) drop_.hold = kFilesLeft;
  drop_.message = MessageOf(move);
  drop_.state = move.state;
  if (view_.rows && view_.rows->sums) drop_.sums_after = view_.rows->sums;
  return absl::OkStatus();
}

absl::Status Decider::Leave() {
  if (Holds(drop_.state) || drop_.reservation_id.empty()) return absl::OkStatus();
  // What is lent was given back when the window began.
  if (drop_.lent && !Holds(before_.state)) return absl::OkStatus();
  absl::Status status = UnpinTime(tx_, drop_);
  if (status.ok()) status = LeaveTime(tx_, drop_, own_);
  return status;
}

absl::Status Decider::Prepare(const Move& move, Decision* decision) {
  switch (move.action) {
    case Action::kMark:
      return PrepareMark(decision);
    case Action::kRevive:
      return PrepareRevive(decision);
    case Action::kPostKill:
      return PrepareKill(decision);
    case Action::kOccupyKill:
      // It kills nothing, so there is no time to hold for it.
      decision->kill = kills_.back();
      return absl::OkStatus();
    case Action::kShutdownKill:
      return PrepareShutdown(decision);
    default:
      return absl::OkStatus();
  }
}

// Rows that were never sent, or that read as used after a mark that had no effect; one
// that reads as unused is never sent again (that would re-date it).
absl::Status Decider::PrepareMark(Decision* decision) {
  const Sighting sighting = See(rows_, view_.sight->look);
  for (size_t i = 0; i < rows_.size() && decision->ids.size() < kMarkBatch; ++i) {
    ManifestRow& row = rows_[i];
    if (!row.ours() || sighting.rows[i] != Reads::kUsed) continue;
    row.phase = Phase::kSent;
    row.sent_at = view_.sight->clocks.druid;
    changed_.insert(i);
    decision->ids.push_back(row.id);
  }
  return StoreIntent();
}

// The other way round than marking, so that again nothing older shows through. Hidden
// ones go one by one, since marking used by ids leaves them out (druid-measured 7).
absl::Status Decider::PrepareRevive(Decision* decision) {
  const Sighting sighting = See(rows_, view_.sight->look);
  for (size_t i = rows_.size(); i-- > 0 && decision->ids.size() < kMarkBatch;) {
    const ManifestRow& row = rows_[i];
    if (row.phase != Phase::kMarked || sighting.rows[i] != Reads::kUnused) continue;
    if (row.hidden && Undone(row)) continue;
    if (row.hidden && !decision->ids.empty()) break;
    decision->ids.push_back(row.id);
    decision->one_by_one = row.hidden;
    if (row.hidden) break;
  }
  return StoreIntent();
}

absl::Status Decider::PrepareKill(Decision* decision) {
  if (!kills_.empty() && kills_.back().post == Kill::Post::kIntent) {
    decision->kill = kills_.back();
    return StoreIntent();
  }
  const std::vector<KillPiece> pieces =
      Joined(KillPieces(rows_), See(rows_, view_.sight->look).unlisted,
             around_.options.max_segments_per_kill);
  const KillPiece& piece = pieces.front();
  decision->kill = NewKill(piece);
  const std::set<std::string> ids(piece.ids.begin(), piece.ids.end());
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (ids.count(rows_[i].id) == 0) continue;
    rows_[i].kill_task = decision->kill.task_id;
    changed_.insert(i);
  }
  drop_.message = absl::StrCat(KillName(decision->kill), " is sent");
  absl::Status status = InsertKill(tx_, drop_.id, decision->kill);
  return status.ok() ? StoreIntent() : status;
}

Kill Decider::NewKill(const KillPiece& piece) const {
  Kill kill;
  kill.number = static_cast<int64_t>(kills_.size()) + 1;
  kill.task_id = druid::PinnedTaskId("kill", around_.store.incarnation(), drop_.datasource,
                                     absl::StrCat(drop_.id, "/", kill.number));
  kill.nonce = around_.nonce();
  kill.json =
      KillTaskJson({kill.task_id, drop_.datasource, drop_.id, kill.nonce, kill.number}, piece);
  kill.interval = piece.interval;
  kill.versions = piece.versions;
  kill.not_after = piece.not_after;
  kill.segments = static_cast<int64_t>(piece.ids.size());
  kill.stored = tx_.now();
  return kill;
}

absl::Status Decider::PrepareShutdown(Decision* decision) {
  Kill& kill = kills_.back();
  kill.shutdown_asked = true;
  touched_ = true;
  decision->kill = kill;
  return UpdateKill(tx_, drop_.id, kill);
}

absl::Status Decider::StoreIntent() {
  drop_.intent_until = tx_.now() + around_.call_deadline + around_.options.settle_time;
  return PinTime(tx_, drop_);
}

std::optional<Instant> Decider::Due(const Move& move) const {
  if (Ended(drop_.state)) return std::nullopt;
  return move.action == Action::kLook ? std::optional<Instant>(DueLook()) : DueWait(move);
}

Instant Decider::DueLook() const {
  const Instant now = tx_.now();
  const bool no_answer =
      (view_.sight && !view_.sight->known) || (view_.kill && !view_.kill->why_not.empty());
  if (no_answer) return now + kAfterNoAnswer;
  // The kill waits for its turn, and for nothing else.
  const bool waits =
      drop_.state == State::kChecking && before_.state == State::kChecking && !drop_.cancel;
  const std::optional<Instant> turn = waits ? NextKill() : std::nullopt;
  if (turn && now < *turn) return *turn;
  if (drop_.state == State::kKilling) return now + Pace(now - kills_.back().stored);
  // What the task left is checked at once.
  if (drop_.state == State::kChecking && view_.kill) return now;
  if (drop_.intent_until && now < *drop_.intent_until) return *drop_.intent_until;
  const bool settling = drop_.called && now < *drop_.called + around_.options.settle_time;
  if (settling) return *drop_.called + around_.options.settle_time;
  if (drop_.state == State::kRestoring && view_.rows) {
    return now + Pace(now - drop_.restore_started.value_or(now));
  }
  return now;
}

std::optional<Instant> Decider::DueWait(const Move& move) const {
  const Instant now = tx_.now();
  if (move.reason == kHeld) return now + kAfterHeld;
  // For a person; but clocks may agree again by themselves.
  if (drop_.state == State::kAwaitingApproval) {
    if (move.reason != kClocksDisagree) return std::nullopt;
    return now + around_.options.recheck_every;
  }
  if (drop_.state != State::kMarked) return now + kLongest;
  if (!drop_.hold.empty()) {
    return std::max(now + around_.options.recheck_every, drop_.window_end.value_or(now));
  }
  // Over by the store's clock and not by the others yet: Druid's shows whole seconds.
  return std::max(now + absl::Seconds(1), drop_.window_end.value_or(now));
}

bool SameStanding(const Drop& a, const Drop& b) {
  const auto standing = [](const Drop& drop) {
    return std::tie(drop.state, drop.hold, drop.message, drop.objections, drop.window_end,
                    drop.approved, drop.reservation_id, drop.called, drop.intent_until,
                    drop.refusals, drop.ended);
  };
  return standing(a) == standing(b);
}

}  // namespace interlock::drop
