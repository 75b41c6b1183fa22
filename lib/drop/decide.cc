// The second part of a step: what follows from what was seen, stored in one transaction.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/drop/decider.h"
#include "lib/drop/drop_errors.h"
#include "lib/drop/lease_hold.h"
#include "lib/druid/task_id.h"
#include "lib/time/duration.h"
#include "lib/time/status_reason.h"

namespace interlock::drop {
namespace {

constexpr size_t kMostNamed = 20;  // ids in one note
constexpr absl::Duration kLongestBackoff = absl::Minutes(1);
// A task that was asked to stop and lives on is asked again.
constexpr absl::Duration kShutdownAgain = absl::Seconds(30);

std::vector<Objection> ObjectionsOf(const absl::Status& status) {
  std::vector<Objection> objections;
  for (const Blocker& blocker : BlockersOf(status)) {
    objections.push_back({blocker.type, blocker.subject, blocker.description});
  }
  return objections;
}

std::string Named(const std::vector<std::string>& ids) {
  std::string text;
  for (size_t i = 0; i < ids.size() && i < kMostNamed; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", ids[i]);
  }
  if (ids.size() > kMostNamed) absl::StrAppend(&text, " and ", ids.size() - kMostNamed, " more");
  return text;
}

}  // namespace

Decider::Decider(store::Transaction& tx, const Drops::Detail& detail, const View& view,
                 const Surroundings& around)
    : tx_(tx),
      before_(detail.drop),
      kills_(detail.kills),
      view_(view),
      around_(around),
      drop_(detail.drop),
      rows_(view.manifest),
      changed_(view.changes.changed.begin(), view.changes.changed.end()),
      own_{"interlock", "", detail.drop.reason} {}

absl::Status Decider::Run(Decision* decision) {
  absl::StatusOr<Drop> now = ReadDrop(tx_, before_.id);
  if (!now.ok()) return now.status();
  if (now->change != before_.change) return DropChanged(before_.id);
  absl::Status status = ReadPast();
  if (status.ok()) status = NoteChanges();
  if (status.ok()) status = FollowKill();
  if (!status.ok()) return status;
  absl::StatusOr<Move> move = Choose();
  if (!move.ok()) return move.status();
  status = Enter(*move);
  if (status.ok()) status = Prepare(*move, decision);
  if (status.ok()) status = Leave();
  if (!status.ok()) return status;
  decision->action = move->action;
  decision->due = Due(*move);
  status = Persist();
  decision->files_left = Ended(drop_.state) && drop_.orphans > 0;
  return status;
}

// What happened elsewhere in the store and bears on a kill.
absl::Status Decider::ReadPast() {
  if (!drop_.window_end || tx_.now() < *drop_.window_end) return absl::OkStatus();
  absl::StatusOr<std::optional<ClockJump>> jump =
      LastClockJump(tx_, around_.options.max_clock_skew);
  if (!jump.ok()) return jump.status();
  jump_ = *jump;
  absl::StatusOr<std::optional<Instant>> last = LastKillStored(tx_);
  if (last.ok()) last_kill_ = *last;
  return last.status();
}

// What others did to our segments is told, whatever comes of it.
absl::Status Decider::NoteChanges() {
  const Changes& changes = view_.changes;
  absl::Status status;
  if (!changes.foreign.empty()) {
    status = NoteOthers(kForeignDrop, "marked unused by somebody else", changes.foreign);
  }
  if (status.ok() && !changes.lost.empty()) {
    status = NoteOthers("FOREIGN_KILL", "killed by somebody else", changes.lost);
  }
  const bool window_runs = drop_.state == State::kMarked || drop_.state == State::kChecking ||
                           drop_.state == State::kAwaitingApproval;
  if (status.ok() && !changes.remarked.empty() && window_runs) {
    status =
        NoteOthers("MARKED_AGAIN", "marked again, so the window starts anew", changes.remarked);
    BeginWindow();
    drop_.approved.reset();
    drop_.approved_by.clear();
  }
  return status;
}

absl::Status Decider::NoteOthers(const char* reason, const char* what,
                                 const std::vector<std::string>& ids) {
  drop_.notes.push_back({reason, absl::StrCat(what, ": ", Named(ids))});
  touched_ = true;
  audit::Event event;
  event.caller = own_;
  event.method = "worker.drop";
  event.datasource = drop_.datasource;
  event.subject = drop_.id;
  event.result = reason;
  event.after =
      audit::JsonObject().Text("state", Name(drop_.state)).Text("segments", Named(ids)).ToString();
  return audit::Record(tx_, event);
}

void Decider::BeginWindow() {
  drop_.marked = view_.sight->clocks;
  drop_.window_end = tx_.now() + drop_.window;
}

// Writes down that the kill task in work runs, and how it ended.
absl::Status Decider::FollowKill() {
  if (!view_.kill || kills_.empty()) return absl::OkStatus();
  Kill& kill = kills_.back();
  if (view_.kill->runs && !kill.running) {
    kill.running = tx_.now();
    touched_ = true;
    absl::Status status = UpdateKill(tx_, drop_.id, kill);
    if (!status.ok()) return status;
  }
  if (view_.kill->piece == Piece::kUnposted && kill.post == Kill::Post::kPosted) {
    kill.post = Kill::Post::kIntent;
    return UpdateKill(tx_, drop_.id, kill);
  }
  if (view_.kill->outcome.empty() || kill.post == Kill::Post::kEnded) return absl::OkStatus();
  kill.post = Kill::Post::kEnded;
  kill.outcome = view_.kill->outcome;
  kill.error = view_.kill->error;
  kill.reported = view_.kill->reported;
  kill.ended = tx_.now();
  kill.failure = view_.kill->failure;
  drop_.intent_until.reset();
  drop_.called = tx_.now();
  touched_ = true;
  return UpdateKill(tx_, drop_.id, kill);
}

// A jump after the mark, until an admin has said that it is known: the clocks may agree
// again and all be wrong, as after a reboot of the one machine that they all run on.
bool Decider::JumpStands(std::string* why) const {
  if (!jump_ || jump_->at < drop_.marked->store) return false;
  if (drop_.clock_accepted && *drop_.clock_accepted >= jump_->at) return false;
  *why = absl::StrCat("the wall clock jumped by ", interlock::FormatDuration(jump_->by), " at ",
                      jump_->at.ToString(), ", after the mark");
  return true;
}

Window Decider::WindowNow(std::string* why) const {
  if (!drop_.marked || !drop_.window_end) return Window::kRuns;
  if (tx_.now() < *drop_.window_end || !view_.sight) return Window::kRuns;
  if (JumpStands(why)) return Window::kUnclear;
  if (!view_.sight->known) return Window::kRuns;
  const absl::Duration length = drop_.window_length();
  const Readings& clocks = view_.sight->clocks;
  const bool consented =
      drop_.clock_accepted && tx_.now() < *drop_.clock_accepted + around_.options.clock_consent;
  if (consented) return JudgeWindowByAll(*drop_.marked, length, clocks);
  return JudgeWindow(*drop_.marked, length, clocks, around_.options.max_clock_skew, why);
}

// Kills of the next piece that ended without its rows being gone, those apart that we
// shut down ourselves because they waited: that says nothing of the next one.
int64_t Decider::FailedKills() const {
  const std::vector<KillPiece> pieces = KillPieces(rows_);
  if (pieces.empty()) return 0;
  int64_t failed = 0;
  for (const Kill& kill : kills_) {
    const bool ours = kill.interval.Contains(pieces.front().interval);
    if (!ours || kill.post != Kill::Post::kEnded) continue;
    if (kill.shutdown_asked && kill.failure != kKillRanTooLong) continue;
    ++failed;
    if (!kill.failure.empty() && !WorthAnotherKill(kill.failure)) return kMaxKillFailures;
  }
  return failed;
}

// When the next kill task may go out: tasks of all drops keep a distance, and one that
// failed is tried again later each time.
std::optional<Instant> Decider::NextKill() const {
  std::optional<Instant> next;
  if (last_kill_) next = *last_kill_ + around_.options.kill_spacing;
  if (!kills_.empty() && kills_.back().ended && !kills_.back().failure.empty()) {
    const absl::Duration wait = absl::Seconds(1 << std::min<int64_t>(FailedKills(), 6));
    const Instant again = *kills_.back().ended + std::min(wait, kLongestBackoff);
    next = std::max(next.value_or(again), again);
  }
  return next;
}

// An admin who takes the reservation wants the work under it to end, and the time not to be
// taken anew.
absl::Status Decider::HeedForce() {
  if (!Holds(drop_.state)) return absl::OkStatus();
  absl::StatusOr<std::optional<Force>> force = TakenByForce(tx_, drop_);
  if (!force.ok()) return force.status();
  // Where a kill has to be posted again to be found, a reservation for that follows the one
  // that was taken: it was taken all the same. What is restored after it is not.
  const auto told = std::find_if(drop_.notes.begin(), drop_.notes.end(),
                                 [](const Note& note) { return note.reason == kForced; });
  if (told != drop_.notes.end() && drop_.state != State::kRestoring) forced_ = told->text;
  if (!force->has_value()) return absl::OkStatus();
  forced_ = absl::StrCat((*force)->by, " ended reservation ", drop_.reservation_id, ": ",
                         (*force)->reason);
  if (told != drop_.notes.end() && told->text == forced_) return absl::OkStatus();
  drop_.notes.push_back({kForced, forced_});
  drop_.cancel = true;
  touched_ = true;
  return absl::OkStatus();
}

Observation Decider::Seen() {
  Observation seen;
  seen.cancel = drop_.cancel;
  seen.forced = !forced_.empty();
  seen.asks_first = !drop_.cap.empty();
  seen.never_marked = !drop_.marked;
  const std::optional<Instant> next_kill = NextKill();
  seen.too_soon = next_kill && tx_.now() < *next_kill;
  seen.kill_failed = !kills_.empty() && !kills_.back().failure.empty();
  seen.needs_approval = drop_.needs_approval;
  seen.approved = drop_.approved.has_value();
  seen.open_intent = drop_.intent_until && tx_.now() < *drop_.intent_until;
  seen.window = WindowNow(&why_);
  if (view_.sight) {
    const Sight& sight = *view_.sight;
    seen.known = sight.known;
    seen.settled = !drop_.called || sight.began >= *drop_.called + around_.options.settle_time;
    seen.kill_bounded = sight.offered.kill_bounded && sight.offered.unused_segments_list;
  }
  seen.used = view_.counts.used;
  seen.marked = view_.counts.marked;
  seen.gone = view_.counts.gone;
  seen.undone = view_.counts.undone > 0 && drop_.restore_started &&
                tx_.now() - *drop_.restore_started >= around_.options.restore_proof_deadline;
  seen.strangers = view_.strangers;
  seen.speaks_against = !view_.objections.empty();
  if (view_.kill) seen.piece = view_.kill->piece;
  seen.shutdown_asked = !kills_.empty() && kills_.back().shutdown_asked && drop_.called &&
                        tx_.now() < *drop_.called + kShutdownAgain;
  if (view_.rows) seen.proof = view_.rows->proof;
  seen.exhausted = drop_.state == State::kChecking ? FailedKills() >= kMaxKillFailures
                                                   : drop_.refusals >= kMaxRefusals;
  return seen;
}

absl::StatusOr<Move> Decider::Choose() {
  if (absl::Status status = HeedForce(); !status.ok()) return status;
  Observation seen = Seen();
  absl::StatusOr<bool> holds = HoldsTime(tx_, drop_, around_.options.lease_ttl);
  if (!holds.ok()) return holds.status();
  seen.leased = *holds;
  // Nothing is known of the clocks either: it waits as it did, for no person's consent to that.
  const bool waits = drop_.state == State::kMarked || drop_.state == State::kAwaitingApproval;
  if (waits && view_.sight && !seen.known) return Move{drop_.state, Action::kLook, drop_.hold};
  Move move = Next(drop_.state, seen);
  const bool again = seen.leased && Holds(move.state) && !Holds(drop_.state);
  if (again) {
    if (absl::Status status = BorrowAgain(tx_, drop_); !status.ok()) return status;
  }
  if (move.action != Action::kReserve) return move;
  absl::Status taken = TakeTime(tx_, drop_, around_.options, own_);
  if (taken.ok()) {
    seen.leased = true;
    // What was seen was seen before the time was ours: somebody may have written since.
    seen.known = false;
    return Next(move.state, seen);
  }
  if (!absl::IsFailedPrecondition(taken)) return taken;
  held_ = ObjectionsOf(taken);
  seen.lease_refused = true;
  return Next(drop_.state, seen);
}

absl::Status Decider::Persist() {
  absl::Status status;
  for (const size_t place : changed_) {
    status = UpdateManifestRow(tx_, drop_.id, place, rows_[place]);
    if (!status.ok()) return status;
  }
  drop_.orphans = CountOrphans(rows_);
  drop_.revivable = CountRevivable(rows_);
  const bool same = changed_.empty() && !touched_ && SameStanding(drop_, before_);
  if (same) return absl::OkStatus();
  status = UpdateDrop(tx_, drop_);
  if (!status.ok() || drop_.state == before_.state) return status;
  audit::Event event;
  event.caller = own_;
  event.method = "worker.drop";
  event.datasource = drop_.datasource;
  event.subject = drop_.id;
  event.result = drop_.hold.empty() ? "OK" : drop_.hold;
  event.before = audit::JsonObject().Text("state", Name(before_.state)).ToString();
  event.after = audit::JsonObject()
                    .Text("state", Name(drop_.state))
                    .Text("message", drop_.message)
                    .ToString();
  return audit::Record(tx_, event);
}

absl::Status Decide(store::Transaction& tx, const Drops::Detail& detail, const View& view,
                    const Surroundings& around, Decision* decision) {
  *decision = Decision();
  return Decider(tx, detail, view, around).Run(decision);
}

bool IsCall(Action action) {
  switch (action) {
    case Action::kMark:
    case Action::kPostKill:
    case Action::kOccupyKill:
    case Action::kShutdownKill:
    case Action::kRevive:
      return true;
    default:
      return false;
  }
}

}  // namespace interlock::drop
