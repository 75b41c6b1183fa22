// What a step tells people: one sentence for wherever the drop stands, never that of the
// step before.
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/drop/decider.h"
#include "lib/drop/words.h"

namespace interlock::drop {
namespace {

std::string Segments(int64_t count) {
  return absl::StrCat(count, count == 1 ? " segment" : " segments");
}

}  // namespace

std::string Decider::Left() const {
  const int64_t left = CountRevivable(rows_);
  std::string text =
      absl::StrCat(Segments(left), left == 1 ? " is" : " are", " left, marked unused");
  return left == 0 ? text
                   : absl::StrCat(text, ": 'interlockctl drops restore' brings back what is");
}

std::string Decider::MessageOf(const Move& move) const {
  if (!drop_.objections.empty()) {
    const Objection& first = drop_.objections.front();
    return absl::StrCat(first.subject, ": ", first.text);
  }
  if (std::string text = HoldText(move); !text.empty()) return text;
  if (std::string text = FailureText(move); !text.empty()) return text;
  if (view_.sight && !view_.sight->known) return view_.sight->why_not;
  if (view_.kill && !view_.kill->why_not.empty()) {
    return absl::StrCat("how kill task ", kills_.back().task_id,
                        " stands is not known: ", view_.kill->why_not);
  }
  if (view_.rows) {
    const int hidden = view_.counts.hidden_undone;
    return absl::StrCat(view_.rows->text,
                        hidden == 0 ? ""
                                    : absl::StrCat("; ", hidden,
                                                   " that no query reads were marked unused "
                                                   "again, as Druid's own duty does"));
  }
  return StateText(move);
}

// Why it does not go on by itself.
std::string Decider::HoldText(const Move& move) const {
  if (move.reason == kClocksDisagree && !why_.empty()) {
    return absl::StrCat(why_,
                        ": nothing is killed until they agree, or an admin consents "
                        "('interlockctl drops approve --accept-clock')");
  }
  if (move.reason == kApprovalRequired) {
    return "the window is over; waits for another person's approval";
  }
  if (move.reason == kCapReached) return drop_.cap;
  if (move.reason == kForced) {
    return absl::StrCat(forced_, "; what is marked unused stays so until it is restored");
  }
  return "";
}

// Why it failed, and what is left.
std::string Decider::FailureText(const Move& move) const {
  const std::string& reason = move.reason;
  if (reason == kChangedSincePlan || reason == kNewerData) {
    const Sighting sighting = See(rows_, view_.sight->look);
    if (reason == kChangedSincePlan) {
      return absl::StrCat("segments are used that the plan did not have: ",
                          sighting.strangers.front().id, "; nothing was marked, plan anew");
    }
    return absl::StrCat("newer data lies over it, so nothing more is brought back: ",
                        Newer(rows_, sighting).front().id);
  }
  if (reason == kForeignDrop) {
    return "others had marked all of it unused before: nothing of it is this drop's to kill or "
           "to restore";
  }
  if (reason == kMarkRefused || reason == kRestoreRefused) {
    return absl::StrCat("Druid refuses to mark segments: ", drop_.message);
  }
  if (reason == kRestoreUndone) {
    return absl::StrCat(Segments(view_.counts.undone),
                        " marked used again and unused anew each time: by a drop rule of Druid's, "
                        "or by somebody; ",
                        Left());
  }
  if (kills_.empty()) return "";
  const Kill& last = kills_.back();
  if (reason == kTaskIdTaken) {
    return absl::StrCat("a task that is not ours has the id ", last.task_id, "; ", Left());
  }
  if (reason == kCancelledHalfWay) {
    return absl::StrCat("cancelled: ", Segments(view_.counts.gone), " killed; ", Left());
  }
  if (reason != kKillFailed && reason != kKillRefused) return "";
  std::string text = absl::StrCat("kill task ", last.task_id, " failed (", last.failure, ")",
                                  last.error.empty() ? "" : ": ", last.error, "; ");
  if (move.state == State::kFailed) return absl::StrCat(text, Left());
  const std::optional<Instant> next = NextKill();
  return absl::StrCat(text, "what it left is checked",
                      next ? absl::StrCat(", and killed again from ", next->ToString()) : "");
}

// Of the one in work; a new one is told of when it is made (PrepareKill).
std::string Decider::KillText(const Move& move) const {
  if (kills_.empty()) return "a kill task is sent";
  const Kill& kill = kills_.back();
  std::string text = KillName(kill);
  if (move.action == Action::kOccupyKill) {
    return absl::StrCat(text,
                        " was not answered; cancelled: a task that does nothing takes its "
                        "id, so that it never begins");
  }
  if (kill.post != Kill::Post::kPosted || !view_.kill) return absl::StrCat(text, " is sent");
  const Instant since = kill.running.value_or(kill.stored);
  absl::StrAppend(&text, ": ", view_.kill->stands, " since ", since.ToString());
  if (kill.shutdown_asked || move.action == Action::kShutdownKill) {
    absl::StrAppend(&text, drop_.cancel ? "; cancelled" : "; that is too long",
                    ": it was asked to stop, and is asked again until it ends");
  }
  return text;
}

std::string Decider::StateText(const Move& move) const {
  switch (move.state) {
    case State::kPlanned:
      return "asks for its time; nothing is marked yet";
    case State::kReserved:
      return "holds its time; nothing is marked yet";
    case State::kMarking:
      return drop_.refusals > 0 ? drop_.message
                                : absl::StrCat("marks ", Segments(drop_.segment_count), " unused");
    case State::kMarked:
      return MarkedText(drop_);
    case State::kAwaitingApproval:
      return "waits for a person's approval";
    case State::kChecking:
      return drop_.cancel ? "cancelled: what the kill left is read"
                          : "the window is over; looks whether anything speaks against the kill";
    case State::kKilling:
      return drop_.refusals > 0 ? drop_.message : KillText(move);
    case State::kVerifying:
      return "the rows are gone; looks once more, and for the files";
    case State::kKilled:
      return drop::KilledText(rows_);
    case State::kRestoring:
      return drop_.refusals > 0 ? drop_.message : "is being brought back";
    case State::kCancelled:
      return absl::StrCat("cancelled before anything was killed; ", Left());
    case State::kKillNotBounded:
      return absl::StrCat(
          "this Druid has no means to bound a kill to the manifest: nothing was "
          "killed; ",
          Left());
    default:
      return drop_.message;
  }
}

}  // namespace interlock::drop
