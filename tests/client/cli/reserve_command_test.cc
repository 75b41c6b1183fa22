// `reserve … -- COMMAND` with real commands, which /bin/sh runs.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "interlock/v1/backfills.pb.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "interlock/v1/reservations.pb.h"
#include "tests/client/cli/console.h"

namespace interlock::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kRelease[] = "Reservations.ReleaseReservation";

// A server that grants leases of `ttl`, renews them while `renewing`, and takes them back.
struct Lending : Console {
  const SystemClock real;
  std::chrono::milliseconds ttl{60'000};
  absl::Status renewal = absl::OkStatus();
  absl::Status release = absl::OkStatus();
  v1::Reservation::State state = v1::Reservation::ACTIVE;
  std::string backfill_under;  // reservation of the one backfill that is unfinished

  Lending() {
    calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
        "IngestionCoordinator.ReserveInterval", [this](const auto&, auto& reply) {
          Fill(*reply.mutable_reservation());
          return absl::OkStatus();
        });
    calls.On<v1::RenewReservationRequest, v1::RenewReservationResponse>(
        "Reservations.RenewReservation", [this](const auto&, auto& reply) {
          Fill(*reply.mutable_reservation());
          return renewal;
        });
    calls.On<v1::ReleaseReservationRequest, v1::ReleaseReservationResponse>(
        kRelease, [this](const auto&, auto&) { return release; });
    calls.On<v1::GetReservationRequest, v1::GetReservationResponse>(
        "Reservations.GetReservation", [this](const auto&, auto& reply) {
          Fill(*reply.mutable_reservation());
          reply.mutable_reservation()->set_state(state);
          if (state == v1::Reservation::FORCED) reply.mutable_reservation()->set_forced_by("root");
          return absl::OkStatus();
        });
    calls.On<v1::ListBackfillsRequest, v1::ListBackfillsResponse>(
        "Backfills.ListBackfills", [this](const auto& request, auto& reply) {
          EXPECT_EQ(request.datasource(), "ds");
          EXPECT_GT(request.states_size(), 0);
          auto* backfill = reply.add_backfills();
          backfill->set_backfill_id("b-1");
          backfill->set_reservation_id(backfill_under);
          return absl::OkStatus();
        });
  }

  void Fill(v1::Reservation& reservation) const {
    reservation.set_reservation_id("r-1");
    reservation.set_fencing_token(7);
    reservation.set_datasource("ds");
    for (auto* duration : {reservation.mutable_remaining(), reservation.mutable_ttl()}) {
      duration->set_seconds(ttl.count() / 1000);
      duration->set_nanos(static_cast<int32_t>(ttl.count() % 1000) * 1'000'000);
    }
  }

  int Under(const std::string& script, const std::string& kill_after = "10s") {
    return RunOn(real, {"reserve", "ds", "2026-07-16", "--kill-after", kill_after, "--caller",
                        "nightly", "--", "/bin/sh", "-c", script});
  }
};

// A file that a command writes, and that is gone afterwards.
class Note {
 public:
  Note() { close(mkstemp(path_)); }
  ~Note() { std::filesystem::remove(path_); }
  const char* path() const { return path_; }
  std::string text() const {
    std::ifstream file(path_);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

 private:
  char path_[32] = "/tmp/interlockctl-test-XXXXXX";
};

// Not dead, and no zombie that nobody has buried: something that can write.
bool IsAlive(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(status), {}};
  return !stat.empty() && stat.find(") Z ") == std::string::npos;
}

TEST(ReserveCommand, ExitsWithTheCommandsOwnStatusAndGivesTheLeaseBack) {
  Lending server;
  EXPECT_EQ(server.Under("exit 7"), 7);
  EXPECT_EQ(server.Under("true"), 0);
  EXPECT_EQ(server.calls.count(kRelease), 2);
  EXPECT_EQ(server.err, "");
  EXPECT_EQ(server.out, "");
}

TEST(ReserveCommand, ACommandThatASignalEndedIs128AndItsNumber) {
  Lending server;
  EXPECT_EQ(server.Under("kill -KILL $$"), 137);
}

TEST(ReserveCommand, HandsTheLeaseOn) {
  Lending server;
  const Note note;
  EXPECT_EQ(server.Under(std::string("echo $INTERLOCK_RESERVATION $INTERLOCK_FENCING_TOKEN "
                                     "$INTERLOCK_CALLER >") +
                         note.path()),
            0);
  EXPECT_EQ(note.text(), "r-1 7 nightly\n");
}

TEST(ReserveCommand, ForwardsSignals) {
  Lending server;
  EXPECT_EQ(server.Under("trap 'exit 9' TERM; kill -TERM $PPID; while :; do sleep 0.05; done"), 9);
  EXPECT_EQ(server.calls.count(kRelease), 1);
}

TEST(ReserveCommand, RenewsWhileTheCommandRuns) {
  Lending server;
  server.ttl = std::chrono::milliseconds(600);
  EXPECT_EQ(server.Under("sleep 1.5", "50ms"), 0) << server.err;
  EXPECT_GE(server.calls.count("Reservations.RenewReservation"), 3);
}

TEST(ReserveCommand, ALostLeaseEndsTheCommandWith124) {
  Lending server;
  server.ttl = std::chrono::milliseconds(300);
  server.renewal = Refusal(absl::StatusCode::kFailedPrecondition, "taken by an admin", "FORCED");
  EXPECT_EQ(server.Under("sleep 60"), 124);
  EXPECT_THAT(server.err, HasSubstr("FORCED: taken by an admin; the command is stopped"));
  EXPECT_EQ(server.calls.count(kRelease), 0);
}

TEST(ReserveCommand, ALeaseThatWasTakenIsKnownLongBeforeItsNextRenewal) {
  Lending server;
  server.ttl = std::chrono::hours(1);
  server.state = v1::Reservation::FORCED;
  EXPECT_EQ(server.Under("sleep 60"), 124);
  EXPECT_THAT(server.err, HasSubstr("FORCED: reservation r-1 is FORCED: root ended it"));
  EXPECT_EQ(server.calls.count("Reservations.RenewReservation"), 0);
}

TEST(ReserveCommand, ALossThatShowsWhenTheLeaseIsGivenBackIs124) {
  Lending server;
  server.release = Refusal(absl::StatusCode::kFailedPrecondition, "taken by an admin", "FORCED");
  EXPECT_EQ(server.Under("true"), 124);
  EXPECT_THAT(server.err, HasSubstr("FORCED: taken by an admin; the command had ended with "
                                    "status 0"));
  server.release = Away();
  EXPECT_EQ(server.Under("exit 3"), 3) << "not given back is not lost";
}

TEST(ReserveCommand, ALossIsSeenAlsoWhereABackfillKeepsTheLease) {
  Lending server;
  server.backfill_under = "r-1";
  EXPECT_EQ(server.Under("true"), 0);
  server.state = v1::Reservation::FORCED;
  EXPECT_EQ(server.Under("true"), 124);
}

TEST(Case115, ACommandIsStoppedWithoutAServersWord) {
  Lending server;
  server.ttl = std::chrono::milliseconds(400);
  server.renewal = Away();
  EXPECT_EQ(server.Under("sleep 60", "50ms"), 124);
  EXPECT_THAT(server.err, HasSubstr("RENEWAL_FAILED: the lease could not be renewed (UNREACHABLE"));
  EXPECT_THAT(server.err, HasSubstr("LEASE_DEADLINE"));
}

TEST(Case117, ACommandThatIgnoresTermIsKilledWithAllThatItStarted) {
  Lending server;
  const Note note;
  server.ttl = std::chrono::milliseconds(300);
  server.renewal = Refusal(absl::StatusCode::kFailedPrecondition, "taken", "FORCED");
  const auto begun = server.real.Monotonic();
  EXPECT_EQ(server.Under(std::string("trap '' TERM; (sleep 60; echo alive) & echo $! >") +
                             note.path() + "; while :; do sleep 0.05; done",
                         "200ms"),
            124);
  EXPECT_LT(server.real.Monotonic() - begun, std::chrono::seconds(30));
  EXPECT_FALSE(IsAlive(static_cast<pid_t>(std::stol(note.text()))));
}

TEST(ReserveCommand, ThatDoesNotRunSaysWhy) {
  Lending server;
  const std::vector<std::string> words = {"reserve", "ds", "2026", "--", "/no/such/command"};
  EXPECT_EQ(server.RunOn(server.real, words), 127);
  EXPECT_THAT(server.err, HasSubstr("cannot run '/no/such/command'"));
  EXPECT_EQ(server.calls.count(kRelease), 1);
  using Answer = std::pair<absl::Status, int>;
  for (const auto& [status, code] :
       {Answer{Refusal(absl::StatusCode::kFailedPrecondition, "held", "HELD"), 121},
        Answer{Refusal(absl::StatusCode::kInvalidArgument, "bad", "INTERVAL_MALFORMED"), 122},
        Answer{Away(), 123},
        Answer{Refusal(absl::StatusCode::kPermissionDenied, "no", "DENIED"), 126}}) {
    server.calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
        "IngestionCoordinator.ReserveInterval",
        [answer = status](const auto&, auto&) { return answer; });
    EXPECT_EQ(server.Under("exit 0"), code);
  }
}

TEST(ReserveCommand, ABackfillThatGoesOnKeepsTheLease) {
  Lending server;
  server.backfill_under = "r-1";
  EXPECT_EQ(server.Under("exit 0"), 0);
  EXPECT_EQ(server.calls.count(kRelease), 0);
  EXPECT_THAT(server.err, HasSubstr("backfill b-1 goes on and keeps reservation r-1"));
  server.backfill_under = "r-2";
  EXPECT_EQ(server.Under("exit 0"), 0);
  EXPECT_EQ(server.calls.count(kRelease), 1);
}

// This process was stopped, or the machine slept: others may be in by now.
TEST(ReserveCommand, WakesPastTheLeaseAndKillsAtOnce) {
  Lending server;
  const Note note;
  server.ttl = std::chrono::milliseconds(600);
  // The command stops interlockctl beyond the lease's end, and would trap TERM.
  const std::string script = std::string("trap 'echo asked >") + note.path() +
                             "; exit 3' TERM; kill -STOP $PPID; sleep 1.2; kill -CONT $PPID;"
                             " while :; do echo writes >" +
                             note.path() + "; sleep 0.02; done";
  const auto stopper = [&] {
    // In a process of its own, or the test itself would stop with it.
    const pid_t child = fork();
    if (child == 0) _exit(server.Under(script, "30s") == 124 ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  };
  const auto begun = server.real.Monotonic();
  EXPECT_EQ(stopper(), 0);
  EXPECT_LT(server.real.Monotonic() - begun, std::chrono::seconds(15)) << "not --kill-after";
  EXPECT_THAT(note.text(), Not(HasSubstr("asked")));
}

TEST(ReserveCommand, ALeaseThatAnotherHasByNowLeavesNoGrace) {
  Lending server;
  const Note note;
  server.ttl = std::chrono::seconds(2);
  server.renewal =
      Refusal(absl::StatusCode::kFailedPrecondition, "eve has it since 13:00", "SUPERSEDED");
  EXPECT_EQ(server.Under(std::string("trap 'echo asked >") + note.path() +
                             "; exit 3' TERM; while :; do sleep 0.05; done",
                         "30s"),
            124);
  EXPECT_THAT(server.err, HasSubstr("its time may be another's: the command is killed"));
  EXPECT_EQ(note.text(), "");
}

TEST(ReserveCommand, WhatTheCommandLeavesRunningEndsBeforeTheLease) {
  Lending server;
  const Note note;
  bool lived = true;
  server.calls.On<v1::ReleaseReservationRequest, v1::ReleaseReservationResponse>(
      kRelease, [&](const auto&, auto&) {
        lived = IsAlive(static_cast<pid_t>(std::stol(note.text())));
        return absl::OkStatus();
      });
  EXPECT_EQ(server.Under(std::string("sleep 60 & echo $! >") + note.path() + "; exit 5"), 5);
  EXPECT_FALSE(lived);
  EXPECT_THAT(server.err, HasSubstr("what it left running is stopped with it"));
  // Also where it does not listen.
  EXPECT_EQ(server.Under(std::string("(trap '' TERM; while :; do sleep 0.05; done) & echo $! >") +
                             note.path() + "; sleep 0.2",
                         "200ms"),
            0);
  EXPECT_FALSE(lived);
}

}  // namespace
}  // namespace interlock::cli
