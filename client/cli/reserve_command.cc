#include "client/cli/reserve_command.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/command_process.h"
#include "client/cli/error_line.h"
#include "client/cli/exit_code.h"
#include "client/cli/signal_pipe.h"
#include "client/cpp/lease_keeper.h"
#include "client/cpp/repeat.h"
#include "client/cpp/reservation.h"
#include "client/cpp/status_conversion.h"
#include "interlock/v1/backfills.pb.h"
#include "interlock/v1/reservations.pb.h"
#include "lib/time/duration.h"
#include "lib/time/status_reason.h"

namespace interlock::cli {
namespace {

using std::chrono::nanoseconds;

constexpr absl::Duration kDefaultKillAfter = absl::Seconds(10);
// Beside --kill-after: for the command to be seen dead before the lease's end.
constexpr absl::Duration kStopMargin = absl::Seconds(1);
// How often the lease and a dying process group are looked at.
constexpr absl::Duration kLongestNap = absl::Seconds(1);
constexpr absl::Duration kGroupNap = absl::Milliseconds(50);
// What was killed is still a process of its group until somebody buries it; where the
// machine's first process does not, there is no end to wait for.
constexpr std::chrono::seconds kLongestBurial{2};
// Giving a lease back must not keep a shell waiting: unreleased, it ends by itself.
constexpr absl::Duration kReleaseTimeout = absl::Seconds(5);

// What the command finds in its environment: its lease, and the server and identity that
// were given as flags, so that an interlockctl inside means the same ones.
std::vector<std::string> Variables(const Session& session, const client::Reservation& lease) {
  std::vector<std::string> variables = {
      absl::StrCat("INTERLOCK_RESERVATION=", lease.id()),
      absl::StrCat("INTERLOCK_FENCING_TOKEN=", lease.fencing_token())};
  for (const Flag& flag : GlobalFlags()) {
    if (flag.variable == nullptr || !session.arguments.Given(flag.name)) continue;
    variables.push_back(absl::StrCat(flag.variable, "=", session.arguments.Get(flag.name)));
  }
  return variables;
}

// Whether the server's word for a loss means that somebody else may have the time by now.
bool MayBeAnothers(const absl::Status& loss) {
  const std::string reason = ReasonOf(loss);
  return reason == "EXPIRED" || reason == "SUPERSEDED" || reason == "STALE_TOKEN" ||
         reason == "UNKNOWN_RESERVATION";
}

// Runs the command to its end, and stops it where the lease is lost.
class Supervision {
 public:
  Supervision(Session& session, client::Reservation& lease, SignalPipe& signals,
              CommandProcess& command, absl::Duration kill_after)
      : session_(session),
        lease_(lease),
        signals_(signals),
        command_(command),
        kill_after_(kill_after) {}

  int Run() {
    while (true) {
      for (const int signal : signals_.Wait(Nap())) {
        if (signal != SIGCHLD && signal != 0) command_.Signal(signal);
      }
      command_.Look();
      if (command_.stopped()) Suspend();
      if (!stopping_ && !command_.exit_status().has_value() && !lease_.held()) Stop();
      const nanoseconds now = session_.clock.Monotonic();
      if (ending() && now >= kill_at_) command_.Signal(SIGKILL);
      if (!command_.exit_status().has_value()) continue;
      if (!stopping_) {
        if (!command_.GroupLives() || (leftover_ && now >= kill_at_ + kLongestBurial)) {
          return *command_.exit_status();
        }
        if (!leftover_) StopLeftover();
        continue;
      }
      if (!command_.GroupLives() || now >= kill_at_ + kLongestBurial) return kCommandLeaseLost;
    }
  }

  bool stopping() const { return stopping_; }

 private:
  absl::Duration Nap() const {
    if (ending()) return kGroupNap;
    return std::min(lease_.left() + absl::Milliseconds(1), kLongestNap);
  }

  bool ending() const { return stopping_ || leftover_; }

  void Stop() {
    stopping_ = true;
    const absl::Status loss = lease_.loss();
    const absl::Duration grace = Grace(loss);
    kill_at_ = session_.clock.Monotonic() + absl::ToChronoNanoseconds(grace);
    const bool over = grace <= absl::ZeroDuration();
    session_.Complain(absl::StrCat(
        ErrorLine(loss, session_.address),
        over ? "; the lease is over and its time may be another's: the command is killed"
             : "; the command is stopped"));
    if (over) return command_.Signal(SIGKILL);
    command_.Signal(SIGTERM);
    command_.Signal(SIGCONT);
  }

  // Between TERM and KILL. Never past the lease's end: a short lease leaves less than
  // --kill-after, and one that is over (this process was stopped, the machine slept, the
  // server says so) leaves nothing, since others may write there already.
  absl::Duration Grace(const absl::Status& loss) const {
    const absl::Duration end = lease_.until_end();
    if (end <= absl::ZeroDuration() || MayBeAnothers(loss)) return absl::ZeroDuration();
    return std::min(kill_after_, end - std::min(kStopMargin, end / 10));
  }

  // The command has ended, and what it has started goes on: not under a lease that is about
  // to be given back.
  void StopLeftover() {
    leftover_ = true;
    kill_at_ = session_.clock.Monotonic() +
               absl::ToChronoNanoseconds(std::min(kill_after_, lease_.left()));
    session_.Complain("note: the command has ended; what it left running is stopped with it");
    command_.Signal(SIGTERM);
    command_.Signal(SIGCONT);
  }

  // Ctrl-Z stopped the command: stop as well, and go on with it only under a lease that
  // still lives. Meanwhile nothing is renewed, and nothing is written either.
  void Suspend() {
    command_.TakeTerminalBack();
    std::raise(SIGSTOP);
    if (lease_.held()) command_.Continue();
  }

  Session& session_;
  client::Reservation& lease_;
  SignalPipe& signals_;
  CommandProcess& command_;
  const absl::Duration kill_after_;
  bool stopping_ = false;  // the lease was lost
  bool leftover_ = false;
  nanoseconds kill_at_{0};
};

// The states in which a backfill still acts under its lease.
constexpr v1::Backfill::State kUnfinished[] = {
    v1::Backfill::PENDING,    v1::Backfill::RUNNING,         v1::Backfill::PAUSED,
    v1::Backfill::CANCELLING, v1::Backfill::NEEDS_ATTENTION, v1::Backfill::ROLLING_BACK};

// A backfill that was submitted under the lease may go on without us: then it keeps it, and
// the server renews. Where that can't be known now, the lease is given back: the server
// itself lets nothing go that a task may still write to.
bool StillUsed(Session& session, const client::Reservation& lease) {
  v1::ListBackfillsRequest request;
  request.set_datasource(lease.grant().reservation().datasource());
  for (const auto state : kUnfinished) request.add_states(state);
  do {
    v1::ListBackfillsResponse page;
    const absl::Status listed = client::CallRepeated(
        session.calls, session.clock,
        {.timeout = kReleaseTimeout, .longest_away = kReleaseTimeout, .pause = session.pause},
        "Backfills.ListBackfills", request, page);
    if (!listed.ok()) return false;
    for (const v1::Backfill& backfill : page.backfills()) {
      if (backfill.reservation_id() != lease.id()) continue;
      session.Complain(absl::StrCat("note: backfill ", backfill.backfill_id(),
                                    " goes on and keeps reservation ", lease.id()));
      return true;
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return false;
}

// The command has ended. OK where it was under its lease to the end; else how that was lost:
// a loss that nobody had noticed yet shows here at the latest.
absl::Status GiveBack(Session& session, client::Reservation& lease) {
  if (StillUsed(session, lease)) {
    lease.Keep();
    return client::AskForEnd(session.calls, lease.id(), kReleaseTimeout);
  }
  absl::Status status = lease.Release(kReleaseTimeout);
  if (status.ok() || client::EndsLease(status)) return status;
  session.Complain(absl::StrCat(ErrorLine(status, session.address), "; reservation ", lease.id(),
                                " could not be given back and ends by itself"));
  return lease.loss();
}

client::Reservation::Options Options(Session& session, absl::Duration kill_after,
                                     SignalPipe& signals) {
  client::Reservation::Options options;
  options.stop_early = kill_after + kStopMargin;
  options.repeating.timeout = session.timeout;
  // --timeout, where it was given, is also how long a server that is away is waited for.
  if (session.bounded_wait) options.repeating.longest_away = session.timeout;
  options.repeating.pause = session.pause;
  options.events.lost = [&signals](const absl::Status&) { signals.Wake(); };
  options.events.renewal_failed = [&session](const absl::Status& why, absl::Duration left) {
    if (left <= absl::ZeroDuration()) return;  // the loss is told next
    session.Complain(absl::StrCat(
        "RENEWAL_FAILED: the lease could not be renewed (", ReasonOf(why), ": ", why.message(),
        "), ", interlock::FormatDuration(absl::Trunc(left, absl::Milliseconds(100))),
        " left to try again"));
  };
  return options;
}

int Refused(Session& session, const absl::Status& status) {
  session.Complain(ErrorLine(status, session.address));
  return CommandExitCodeOf(status);
}

}  // namespace

int RunUnderReservation(Session& session, const v1::ReserveIntervalRequest& request) {
  absl::Duration kill_after = kDefaultKillAfter;
  if (session.arguments.Given("kill-after")) {
    const auto given = ParseDuration(session.arguments.Get("kill-after"));
    if (!given.ok() || *given < absl::ZeroDuration()) {
      return Refused(session, UsageError("--kill-after wants a time, as 10s"));
    }
    kill_after = *given;
  }
  SignalPipe signals;
  auto taken = client::Reservation::Take(session.calls, session.clock, request,
                                         Options(session, kill_after, signals));
  if (!taken.ok()) return Refused(session, taken.status());
  client::Reservation& lease = **taken;
  signals.Catch();
  auto command = CommandProcess::Start(session.arguments.command(), Variables(session, lease));
  if (!command.ok()) {
    GiveBack(session, lease).IgnoreError();
    session.Complain(std::string(command.status().message()));
    return kCommandNotFound;
  }
  Supervision supervision(session, lease, signals, **command, kill_after);
  const int exit_status = supervision.Run();
  (*command)->TakeTerminalBack();
  if (supervision.stopping()) return exit_status;
  const absl::Status lost = GiveBack(session, lease);
  if (lost.ok()) return exit_status;
  session.Complain(absl::StrCat(ErrorLine(lost, session.address),
                                "; the command had ended with status ", exit_status,
                                ", and not all of it under the lease"));
  return kCommandLeaseLost;
}

}  // namespace interlock::cli
