// What waits: backfills that are followed, drops that are awaited.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "interlock/v1/backfills.pb.h"
#include "interlock/v1/drops.pb.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "tests/client/cli/console.h"

namespace interlock::cli {
namespace {

using testing::HasSubstr;
using Watched = std::vector<v1::WatchBackfillResponse>;

const std::vector<std::string> kSubmit = {"submit", "--job", "daily", "--wait"};

// A server with one backfill that has reached `state`.
struct OneBackfill : Console {
  v1::Backfill::State state = v1::Backfill::DONE;
  v1::Partition::State partition = v1::Partition::DONE;

  OneBackfill() {
    calls.On<v1::SubmitBackfillRequest, v1::SubmitBackfillResponse>(
        "IngestionCoordinator.SubmitBackfill", [](const auto&, auto& reply) {
          reply.mutable_backfill()->set_backfill_id("b-1");
          return absl::OkStatus();
        });
    calls.On<v1::GetBackfillRequest, v1::GetBackfillResponse>(
        "Backfills.GetBackfill", [this](const auto& request, auto& reply) {
          EXPECT_EQ(request.backfill_id(), "b-1");
          const bool second = request.page_token() == "2";
          reply.mutable_backfill()->set_backfill_id("b-1");
          reply.mutable_backfill()->set_state(state);
          auto* count = reply.mutable_backfill()->add_counts();
          count->set_state(partition);
          count->set_count(2);
          auto* one = reply.add_partitions();
          one->set_partition(second ? "2026-07-16T14:00:00.000Z/2026-07-16T15:00:00.000Z"
                                    : "2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z");
          one->set_state(partition);
          one->set_reason("ZERO_ROWS");
          if (!second) reply.set_next_page_token("2");
          return absl::OkStatus();
        });
    WatchEnds(absl::OkStatus());
  }

  void WatchEnds(const absl::Status& status) {
    calls.OnWatch<v1::WatchBackfillRequest, v1::WatchBackfillResponse>(
        "Backfills.WatchBackfill", [status](const auto&, Watched&) { return status; });
  }
};

TEST(SubmitWait, PrintsTheBackfillAsItEndedWithAllOfItsPartitions) {
  OneBackfill server;
  EXPECT_EQ(server.Run(kSubmit), 0) << server.err;
  EXPECT_EQ(server.out.rfind("{\"backfill_id\":\"b-1\"", 0), 0u) << server.out;
  EXPECT_THAT(server.out, HasSubstr("\"state\":\"DONE\""));
  EXPECT_THAT(server.out, HasSubstr("\"partitions\":[{\"partition\":\"2026-07-16T13"));
  EXPECT_THAT(server.out, HasSubstr("{\"partition\":\"2026-07-16T14"));
  EXPECT_EQ(server.err, "");
}

TEST(SubmitWait, TheLastStateDecides) {
  OneBackfill server;
  server.state = v1::Backfill::FAILED;
  server.partition = v1::Partition::FAILED;
  EXPECT_EQ(server.Run(kSubmit), 1);
  EXPECT_THAT(server.err, HasSubstr("b-1 ended FAILED: 2026-07-16T13 is FAILED ZERO_ROWS"));
  server.state = v1::Backfill::NEEDS_ATTENTION;
  server.partition = v1::Partition::SUSPECT;
  EXPECT_EQ(server.Run(kSubmit), 1);
  server.partition = v1::Partition::UNDETERMINED;
  EXPECT_EQ(server.Run(kSubmit), 6);
}

TEST(SubmitWait, GoesOnFromWhereItWasWhenTheServerRestarts) {
  OneBackfill server;
  int watches = 0;
  std::vector<int64_t> revisions;
  server.calls.OnWatch<v1::WatchBackfillRequest, v1::WatchBackfillResponse>(
      "Backfills.WatchBackfill", [&](const auto& request, Watched& replies) {
        revisions.push_back(request.from_revision());
        if (++watches == 3) return absl::OkStatus();
        replies.resize(1);
        replies[0].set_revision(int64_t{watches} * 10);
        return Away();
      });
  EXPECT_EQ(server.Run(kSubmit), 0) << server.err;
  EXPECT_EQ(revisions, (std::vector<int64_t>{0, 10, 20}));
}

TEST(SubmitWait, BeginsAnewWhereTheServerHasForgottenTheRevision) {
  OneBackfill server;
  std::vector<int64_t> revisions;
  server.calls.OnWatch<v1::WatchBackfillRequest, v1::WatchBackfillResponse>(
      "Backfills.WatchBackfill", [&](const auto& request, Watched& replies) {
        revisions.push_back(request.from_revision());
        if (revisions.size() == 3) return absl::OkStatus();
        if (revisions.size() == 2) {
          return Refusal(absl::StatusCode::kOutOfRange, "old", "REVISION_TOO_OLD");
        }
        replies.resize(1);
        replies[0].set_revision(10);
        return Away();
      });
  EXPECT_EQ(server.Run(kSubmit), 0) << server.err;
  EXPECT_EQ(revisions, (std::vector<int64_t>{0, 10, 0}));
}

TEST(SubmitWait, GivesUpOnAServerThatStaysAway) {
  OneBackfill server;
  server.WatchEnds(Away());
  const auto begun = server.clock.Monotonic();
  EXPECT_EQ(server.Run(kSubmit), 3);
  EXPECT_GE(server.clock.Monotonic() - begun, std::chrono::minutes(5));
  EXPECT_LT(server.clock.Monotonic() - begun, std::chrono::minutes(6));
}

TEST(SubmitWait, ACallThatIsSafeToRepeatBearsARestart) {
  OneBackfill server;
  int calls = 0;
  server.calls.On<v1::SubmitBackfillRequest, v1::SubmitBackfillResponse>(
      "IngestionCoordinator.SubmitBackfill", [&](const auto& request, auto& reply) {
        EXPECT_EQ(request.request_id(), calls < 3 ? "r" : "");
        reply.mutable_backfill()->set_backfill_id("b-1");
        return ++calls == 3 ? absl::OkStatus() : Away();
      });
  auto words = kSubmit;
  words.insert(words.end(), {"--request-id", "r"});
  EXPECT_EQ(server.Run(words), 0) << server.err;
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(server.Run(kSubmit), 3);
  EXPECT_EQ(calls, 4);
}

TEST(SubmitWait, ATimeoutThatWasGivenEndsTheWaiting) {
  OneBackfill server;
  server.state = v1::Backfill::RUNNING;
  auto words = kSubmit;
  words.insert(words.end(), {"--timeout", "90s"});
  const auto begun = server.clock.Monotonic();
  EXPECT_EQ(server.Run(words), 6);
  EXPECT_THAT(server.err, HasSubstr("WAIT_OVER"));
  EXPECT_GE(server.clock.Monotonic() - begun, std::chrono::seconds(90));
  EXPECT_LT(server.clock.Monotonic() - begun, std::chrono::seconds(96));
}

TEST(SubmitWait, AnythingElseThatGoesWrongIsSaidAtOnce) {
  OneBackfill server;
  server.WatchEnds(Refusal(absl::StatusCode::kPermissionDenied, "not yours", "DENIED"));
  EXPECT_EQ(server.Run(kSubmit), 4);
  EXPECT_EQ(server.err, "interlockctl: DENIED: not yours\n");
}

TEST(WatchBackfill, PrintsChangesOrTheEndAlone) {
  OneBackfill server;
  server.calls.OnWatch<v1::WatchBackfillRequest, v1::WatchBackfillResponse>(
      "Backfills.WatchBackfill", [](const auto&, Watched& replies) {
        replies.resize(2);
        replies[0].mutable_backfill()->set_state(v1::Backfill::RUNNING);
        replies[1].mutable_partition()->set_state(v1::Partition::RUNNING);
        replies[1].mutable_partition()->set_partition(
            "2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z");
        return absl::OkStatus();
      });
  EXPECT_EQ(server.Run({"backfills", "watch", "b-1"}), 0);
  EXPECT_EQ(std::count(server.out.begin(), server.out.end(), '\n'), 2) << server.out;
  EXPECT_EQ(server.Run({"backfills", "watch", "b-1", "-o", "table"}), 0);
  EXPECT_THAT(server.out, HasSubstr("2026-07-16T13  RUNNING\n"));
  EXPECT_EQ(server.Run({"backfills", "watch", "b-1", "--until-over"}), 0);
  EXPECT_EQ(std::count(server.out.begin(), server.out.end(), '\n'), 1) << server.out;
  EXPECT_THAT(server.out, HasSubstr("\"partitions\":["));
}

// A server whose drop goes through `states`, one with each look.
struct OneDrop : Console {
  std::vector<v1::Drop::State> states;
  size_t looks = 0;

  explicit OneDrop(std::vector<v1::Drop::State> through) : states(std::move(through)) {
    calls.On<v1::DropAndKillRequest, v1::DropAndKillResponse>(
        "IngestionCoordinator.DropAndKill", [](const auto& request, auto& reply) {
          EXPECT_EQ(request.reason(), "retention");
          EXPECT_EQ(request.window().seconds(), 2);
          reply.mutable_drop()->set_drop_id("d-1");
          reply.mutable_drop()->set_state(v1::Drop::PLANNED);
          return absl::OkStatus();
        });
    calls.On<v1::RestoreDropRequest, v1::RestoreDropResponse>(
        "Drops.RestoreDrop", [](const auto& request, auto& reply) {
          reply.mutable_drop()->set_drop_id(request.drop_id());
          reply.mutable_drop()->set_state(v1::Drop::RESTORING);
          return absl::OkStatus();
        });
    calls.On<v1::GetDropRequest, v1::GetDropResponse>(
        "Drops.GetDrop", [this](const auto& request, auto& reply) {
          EXPECT_EQ(request.drop_id(), "d-1");
          reply.mutable_drop()->set_drop_id("d-1");
          reply.mutable_drop()->set_state(states[std::min(looks++, states.size() - 1)]);
          return absl::OkStatus();
        });
  }

  int Drop(bool wait) {
    std::vector<std::string> words = {"drop",      "ds",       "2026-07-16", "--reason",
                                      "retention", "--window", "2s"};
    if (wait) words.push_back("--wait");
    return Run(words);
  }
};

TEST(DropWait, WaitsUntilItIsKilled) {
  OneDrop server({v1::Drop::MARKING, v1::Drop::MARKED, v1::Drop::KILLING, v1::Drop::KILLED});
  EXPECT_EQ(server.Drop(true), 0) << server.err;
  EXPECT_EQ(server.out.rfind("{\"drop\":{\"drop_id\":\"d-1\"", 0), 0u) << server.out;
  EXPECT_THAT(server.out, HasSubstr("\"state\":\"KILLED\""));
}

TEST(DropWait, WithoutItAnswersAtOnce) {
  OneDrop server({v1::Drop::MARKING});
  EXPECT_EQ(server.Drop(false), 0);
  EXPECT_THAT(server.out, HasSubstr("\"drop\":{\"drop_id\":\"d-1\""));
  EXPECT_EQ(server.calls.count("Drops.GetDrop"), 0);
}

TEST(DropWait, EndsWithNoOrNotKnownWhereItIsNotKilled) {
  OneDrop failed({v1::Drop::MARKING, v1::Drop::FAILED});
  EXPECT_EQ(failed.Drop(true), 1);
  EXPECT_THAT(failed.err, HasSubstr("drop d-1 is FAILED"));
  OneDrop asks({v1::Drop::MARKING, v1::Drop::AWAITING_APPROVAL});
  EXPECT_EQ(asks.Drop(true), 6);
  EXPECT_THAT(asks.err, HasSubstr("interlockctl drops approve d-1"));
}

TEST(DropWait, KilledWithFilesLeftIsNotAllThatWasAskedFor) {
  OneDrop server({v1::Drop::KILLED});
  server.calls.On<v1::GetDropRequest, v1::GetDropResponse>(
      "Drops.GetDrop", [](const auto&, auto& reply) {
        reply.mutable_drop()->set_drop_id("d-1");
        reply.mutable_drop()->set_state(v1::Drop::KILLED);
        reply.mutable_drop()->set_reason("FILES_LEFT");
        reply.mutable_drop()->set_orphan_count(1);
        return absl::OkStatus();
      });
  EXPECT_EQ(server.Drop(true), 1);
  EXPECT_THAT(server.err, HasSubstr("FILES_LEFT"));
}

TEST(DropWait, ThatWaitsForClocksNamesWhatAcceptsThem) {
  OneDrop server({v1::Drop::AWAITING_APPROVAL});
  server.calls.On<v1::GetDropRequest, v1::GetDropResponse>(
      "Drops.GetDrop", [](const auto&, auto& reply) {
        reply.mutable_drop()->set_drop_id("d-1");
        reply.mutable_drop()->set_state(v1::Drop::AWAITING_APPROVAL);
        reply.mutable_drop()->set_reason("CLOCKS_DISAGREE");
        return absl::OkStatus();
      });
  EXPECT_EQ(server.Drop(true), 6);
  EXPECT_THAT(server.err, HasSubstr("drops approve d-1 --accept-clock"));
}

TEST(DropWait, ThatIsOverNamesTheDrop) {
  OneDrop server({v1::Drop::MARKED});
  EXPECT_EQ(server.Run({"drop", "ds", "2026-07-16", "--reason", "retention", "--window", "2s",
                        "--wait", "--timeout", "30s"}),
            6);
  EXPECT_THAT(server.err, HasSubstr("WAIT_OVER"));
  EXPECT_THAT(server.err, HasSubstr("interlockctl drops get d-1"));
}

// --timeout bounds the call where nothing is waited for: that it was not answered is no end of
// a waiting.
TEST(DropWait, WithoutItATimeoutIsACallThatWasNotAnswered) {
  OneDrop server({v1::Drop::MARKED});
  server.calls.On<v1::DropAndKillRequest, v1::DropAndKillResponse>(
      "IngestionCoordinator.DropAndKill", [&](const auto&, auto&) {
        server.clock.Advance(absl::Seconds(5));
        return Refusal(absl::StatusCode::kDeadlineExceeded, "late", "NO_ANSWER");
      });
  EXPECT_EQ(server.Run({"drop", "ds", "2026-07-16", "--reason", "retention", "--window", "2s",
                        "--timeout", "5s"}),
            3);
  EXPECT_THAT(server.err, HasSubstr("NO_ANSWER"));
  EXPECT_THAT(server.err, HasSubstr("look what is there"));
}

TEST(RestoreWait, WaitsUntilAllOfItIsBack) {
  OneDrop server({v1::Drop::RESTORING, v1::Drop::RESTORING, v1::Drop::RESTORED});
  EXPECT_EQ(server.Run({"drops", "restore", "d-1"}), 0) << server.err;
  EXPECT_THAT(server.out, HasSubstr("\"state\":\"RESTORED\""));
  OneDrop partly({v1::Drop::RESTORING, v1::Drop::PARTLY_RESTORED});
  EXPECT_EQ(partly.Run({"drops", "restore", "d-1"}), 1);
}

TEST(RestoreWait, CanBeLeftOut) {
  OneDrop server({v1::Drop::RESTORING});
  EXPECT_EQ(server.Run({"drops", "restore", "d-1", "--no-wait"}), 0);
  EXPECT_THAT(server.out, HasSubstr("\"state\":\"RESTORING\""));
  EXPECT_EQ(server.calls.count("Drops.GetDrop"), 0);
}

TEST(DropWait, BearsAServerThatRestarts) {
  OneDrop server({v1::Drop::KILLED});
  int looks = 0;
  server.calls.On<v1::GetDropRequest, v1::GetDropResponse>(
      "Drops.GetDrop", [&](const auto&, auto& reply) {
        reply.mutable_drop()->set_state(v1::Drop::KILLED);
        return ++looks < 4 ? Away() : absl::OkStatus();
      });
  EXPECT_EQ(server.Drop(true), 0) << server.err;
}

}  // namespace
}  // namespace interlock::cli
