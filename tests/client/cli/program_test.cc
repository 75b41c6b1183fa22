// Whole runs of interlockctl against a played server.
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "interlock/v1/jobs.pb.h"
#include "interlock/v1/reservations.pb.h"
#include "interlock/v1/server.pb.h"
#include "interlock/v1/streams.pb.h"
#include "tests/client/cli/console.h"

namespace interlock::cli {
namespace {

using testing::HasSubstr;

constexpr char kReserve[] = "IngestionCoordinator.ReserveInterval";
constexpr char kSubmit[] = "IngestionCoordinator.SubmitBackfill";

TEST(Interlockctl, FillsTheRequestAndPrintsTheReply) {
  Console console;
  console.calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
      kReserve, [](const auto& request, auto& reply) {
        EXPECT_EQ(request.datasource(), "page_views");
        EXPECT_EQ(request.intervals(0), "2026-07-16T13");
        EXPECT_EQ(request.ttl().seconds(), 120);
        EXPECT_EQ(request.purpose(), "quarterly audit");
        reply.mutable_reservation()->set_reservation_id("r-1");
        reply.mutable_reservation()->set_fencing_token(7);
        return absl::OkStatus();
      });
  const std::vector<std::string> words = {"reserve", "page_views", "2026-07-16T13",  "--ttl",
                                          "2m",      "--purpose",  "quarterly audit"};
  EXPECT_EQ(console.Run(words), 0) << console.err;
  EXPECT_THAT(console.out, HasSubstr("\"reservation_id\":\"r-1\""));
  EXPECT_THAT(console.out, HasSubstr("\"fencing_token\":\"7\""));
  EXPECT_EQ(console.err, "");
  console.terminal = true;
  EXPECT_EQ(console.Run(words), 0);
  EXPECT_THAT(console.out, HasSubstr("reservation_id  r-1\n"));
}

TEST(Interlockctl, ARefusalIsOneLineOnStderrAndExits1) {
  Console console;
  console.calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
      kReserve, [](const auto&, auto&) {
        return Refusal(absl::StatusCode::kFailedPrecondition, "held by auditor (quarter)", "HELD");
      });
  EXPECT_EQ(console.Run({"reserve", "ds", "2026"}), 1);
  EXPECT_EQ(console.out, "");
  EXPECT_EQ(console.err, "interlockctl: HELD: held by auditor (quarter)\n");
}

TEST(Interlockctl, WhatWasDoneAndLeavesNothingToShowIsDoneAndNotNone) {
  Console console;
  console.terminal = true;
  console.calls.On<v1::RemoveStreamRequest, v1::RemoveStreamResponse>(
      "Streams.RemoveStream", [](const auto&, auto&) { return absl::OkStatus(); });
  EXPECT_EQ(console.Run({"streams", "remove", "ds"}), 0);
  EXPECT_EQ(console.err, "done\n");
  console.calls.On<v1::ListStreamsRequest, v1::ListStreamsResponse>(
      "Streams.ListStreams", [](const auto&, auto&) { return absl::OkStatus(); });
  EXPECT_EQ(console.Run({"streams", "list"}), 0);
  EXPECT_EQ(console.err, "none\n");
}

TEST(Interlockctl, NothingLeftAfterSkippingIsANo) {
  Console console;
  console.calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
      kReserve, [](const auto&, auto& reply) {
        auto* held = reply.add_skipped();
        held->set_interval("2026-07-16T00:00:00.000Z/2026-07-17T00:00:00.000Z");
        held->set_holder("auditor");
        held->set_purpose("quarter");
        return absl::OkStatus();
      });
  EXPECT_EQ(console.Run({"reserve", "ds", "2026-07-16", "--skip-held"}), 1);
  EXPECT_EQ(console.err, "interlockctl: HELD: 2026-07-16 is held by auditor (quarter)\n");
}

TEST(Interlockctl, WhatIsInTheWayIsSaidByItsOwnName) {
  Console console;
  console.calls.On<v1::ReserveIntervalRequest, v1::ReserveIntervalResponse>(
      kReserve, [](const auto&, auto& reply) {
        auto* delay = reply.add_skipped();
        delay->set_kind(v1::Blocker::LOCK_DELAY);
        delay->set_reason("LOCK_DELAY");
        delay->set_interval("2026-07-16T00:00:00.000Z/2026-07-17T00:00:00.000Z");
        delay->set_message("the reservation of auditor expired");
        delay->set_remedy("ask again at noon");
        return absl::OkStatus();
      });
  EXPECT_EQ(console.Run({"reserve", "ds", "2026-07-16", "--dry-run"}), 1);
  EXPECT_EQ(console.err,
            "interlockctl: LOCK_DELAY: 2026-07-16: the reservation of auditor expired; ask again "
            "at noon\n");
}

TEST(Interlockctl, NobodyThereExits3AndSaysWhereItLooked) {
  Console console;
  EXPECT_EQ(console.Run({"status", "--address", "10.0.0.1:7430"}), 3);
  EXPECT_THAT(console.err, HasSubstr("10.0.0.1:7430 does not answer"));
}

TEST(Interlockctl, NotReadyExits3) {
  Console console;
  bool ready = false;
  console.calls.On<v1::GetStatusRequest, v1::GetStatusResponse>("Server.GetStatus",
                                                                [&](const auto&, auto& reply) {
                                                                  reply.set_ready(ready);
                                                                  return absl::OkStatus();
                                                                });
  EXPECT_EQ(console.Run({"status"}), 3);
  ready = true;
  EXPECT_EQ(console.Run({"status"}), 0);
}

TEST(Interlockctl, WhatIsNotYetBuiltExits5AndSaysSo) {
  Console console;
  console.calls.On<v1::ListJobsRequest, v1::ListJobsResponse>("Jobs.ListJobs", [](const auto&,
                                                                                  auto&) {
    return Refusal(absl::StatusCode::kUnimplemented, "Jobs/ListJobs is not built", "NOT_YET_BUILT");
  });
  EXPECT_EQ(console.Run({"jobs", "list"}), 5);
  EXPECT_EQ(console.err, "interlockctl: NOT_YET_BUILT: Jobs/ListJobs is not built\n");
}

TEST(Interlockctl, BadUsageExits2AndAsksNobody) {
  Console console;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"reserve", "ds"},
                                             {"submit"},
                                             {"submit", "--spec", "-", "--job", "j"},
                                             {"submit", "--job", "j", "--context", "f"},
                                             {"submit", "--job", "j", "--handover", "--wait-tail"},
                                             {"submit", "--job", "j", "--max-pause", "1m"},
                                             {"submit", "--job", "j", "-o", "spec"},
                                             {"submit", "--job", "j", "--reservation", "r-1"},
                                             {"submit", "--spec", "/there/is/no/such/file"},
                                             {"verify", "ds", "2026", "--level", "loaded"},
                                             {"reserve", "ds", "2026", "--ttl", "soon"},
                                             {"reserve", "ds", "2026", "--kill-after", "1s"},
                                             {"reserve", "ds", "2026", "--request-id", ""},
                                             {"reserve", "ds", "2026", "--request-id="},
                                             {"submit", "--job", "j", "--reservation", ""},
                                             {"status", "-o", "xml"},
                                             {"status", "-o", "spec"},
                                             {"status", "--timeout", "0"},
                                             {"completion", "tcsh"}}) {
    EXPECT_EQ(console.Run(words), 2) << testing::PrintToString(words) << console.err;
    EXPECT_EQ(std::count(console.err.begin(), console.err.end(), '\n'), 1) << console.err;
  }
  EXPECT_EQ(console.Run({"reserve", "ds", "--", "true"}), 122);
  EXPECT_EQ(console.calls.count(kReserve) + console.calls.count(kSubmit), 0);
}

TEST(Interlockctl, SaysWhoCallsByFlagVariableOrUser) {
  Console console;
  console.variables["USER"] = "root";
  console.Run({"status"});
  EXPECT_EQ(console.connection.caller, "root");
  EXPECT_EQ(console.connection.address, "127.0.0.1:7430");
  console.variables["INTERLOCK_CALLER"] = "nightly";
  console.variables["INTERLOCK_ADDRESS"] = "h:1";
  console.variables["INTERLOCK_TOKEN"] = "t";
  console.variables["INTERLOCK_CA"] = "ca.pem";
  console.Run({"status"});
  EXPECT_EQ(console.connection.caller, "nightly");
  EXPECT_EQ(console.connection.address, "h:1");
  EXPECT_EQ(console.connection.token, "t");
  EXPECT_EQ(console.connection.authority_file, "ca.pem");
  console.Run({"--caller", "auditor", "status"});
  EXPECT_EQ(console.connection.caller, "auditor");
}

// Each partition is good by itself: what is wrong is the total, which the notices name.
TEST(Interlockctl, ADryRunPrintsThePlanOrTheCorrectedSpecAlone) {
  Console console;
  console.calls.On<v1::SubmitBackfillRequest, v1::SubmitBackfillResponse>(
      kSubmit, [](const auto& request, auto& reply) {
        EXPECT_TRUE(request.validate_only());
        EXPECT_EQ(request.spec(), "{\"a\":1}");
        auto* plan = reply.mutable_plan();
        plan->set_datasource("events");
        plan->set_corrected_spec("{\"a\":2}");
        auto* unit = plan->add_units();
        unit->set_unit("2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z");
        unit->set_reads("/data/13.json");
        auto* partition = plan->add_partitions();
        partition->set_partition(unit->unit());
        partition->set_action(v1::PlannedPartition::RUN);
        return absl::OkStatus();
      });
  const std::vector<std::string> words = {"submit", "--spec", "-", "--dry-run", "-o"};
  const auto with = [&](const char* form) {
    auto all = words;
    all.push_back(form);
    return all;
  };
  EXPECT_EQ(console.Run(with("spec"), "{\"a\":1}"), 0);
  EXPECT_EQ(console.out, "{\"a\":2}\n");
  EXPECT_EQ(console.Run(with("table"), "{\"a\":1}"), 0);
  EXPECT_THAT(console.out, HasSubstr("TASK FOR       PARTITIONS  READS\n"
                                     "2026-07-16T13  0           /data/13.json\n"));
  EXPECT_THAT(console.out, HasSubstr("2026-07-16T13  RUN\n"));
  EXPECT_EQ(console.Run(with("json"), "{\"a\":1}"), 0);
  EXPECT_THAT(console.out, HasSubstr("\"corrected_spec\":\"{\\\"a\\\":2}\""));
}

TEST(Interlockctl, AJobsSpecMayStandInItsFileAsTheObjectThatItIs) {
  Console console;
  v1::Job stored;
  console.calls.On<v1::PutJobRequest, v1::PutJobResponse>("Jobs.PutJob",
                                                          [&](const auto& request, auto&) {
                                                            stored = request.job();
                                                            return absl::OkStatus();
                                                          });
  EXPECT_EQ(console.Run({"jobs", "put", "-"},
                        R"({"name": "daily", "gather": "2m", "spec": {"type": "index_parallel"}})"),
            0)
      << console.err;
  EXPECT_EQ(stored.name(), "daily");
  EXPECT_EQ(stored.spec(), R"({"type":"index_parallel"})");
  EXPECT_EQ(stored.gather().seconds(), 120);
  EXPECT_EQ(console.Run({"jobs", "put", "-", "--name", "n"}, R"({"type": "index_parallel"})"), 0);
  EXPECT_EQ(stored.name(), "n");
  EXPECT_EQ(stored.spec(), R"({"type": "index_parallel"})");
  EXPECT_EQ(console.Run({"jobs", "put", "-"}, R"({"type": "index_parallel"})"), 2);
  EXPECT_EQ(console.Run({"jobs", "put", "-"}, R"({"nmae": "x"})"), 2);
  EXPECT_THAT(console.err, HasSubstr("nmae"));
  EXPECT_EQ(console.Run({"jobs", "put", "-"}, "{"), 2);
}

TEST(Interlockctl, AListsNextPageIsSaid) {
  Console console;
  console.terminal = true;
  console.calls.On<v1::ListReservationsRequest, v1::ListReservationsResponse>(
      "Reservations.ListReservations", [](const auto& request, auto& reply) {
        EXPECT_EQ(request.page_size(), 1);
        reply.add_reservations()->set_reservation_id("r-1");
        reply.set_next_page_token("t");
        return absl::OkStatus();
      });
  EXPECT_EQ(console.Run({"reservations", "list", "--limit", "1"}), 0);
  EXPECT_THAT(console.err, HasSubstr("--page-token t"));
}

TEST(Case103, LeasesAreListedWithHolderAndAge) {
  Console console;
  console.terminal = true;
  console.calls.On<v1::ListReservationsRequest, v1::ListReservationsResponse>(
      "Reservations.ListReservations", [](const auto&, auto& reply) {
        auto* lease = reply.add_reservations();
        lease->set_reservation_id("r-1");
        lease->set_holder("nightly");
        lease->set_state(v1::Reservation::ACTIVE);
        lease->set_fencing_token(7);
        lease->mutable_create_time()->set_seconds(0);
        auto* waiter = reply.add_reservations();
        waiter->set_reservation_id("r-2");
        waiter->set_holder("auditor");
        waiter->set_state(v1::Reservation::WAITING);
        waiter->set_queue_position(1);
        waiter->mutable_create_time()->set_seconds(60);
        return absl::OkStatus();
      });
  EXPECT_EQ(console.Run({"reservations", "list"}), 0);
  EXPECT_EQ(console.out,
            "ID   STATE    PLACE  HOLDER   SINCE                 TOKEN\n"
            "r-1  ACTIVE          nightly  1970-01-01T00:00:00Z  7\n"
            "r-2  WAITING  1      auditor  1970-01-01T00:01:00Z\n");
}

TEST(Interlockctl, AStreamPrintsAMessageToALine) {
  Console console;
  console.calls.OnWatch<v1::WatchReservationsRequest, v1::WatchReservationsResponse>(
      "Reservations.WatchReservations", [](const auto&, auto& replies) {
        replies.resize(2);
        for (int at : {0, 1}) {
          replies[at].set_event(v1::WatchReservationsResponse::RENEWED);
          replies[at].mutable_reservation()->set_reservation_id("r-" + std::to_string(at));
          replies[at].set_revision(at + 1);
        }
        return Refusal(absl::StatusCode::kPermissionDenied, "no more", "PERMISSION_DENIED");
      });
  EXPECT_EQ(console.Run({"reservations", "watch"}), 4);
  EXPECT_EQ(std::count(console.out.begin(), console.out.end(), '\n'), 2);
  EXPECT_THAT(console.out, HasSubstr("\"revision\":\"2\""));
}

TEST(Interlockctl, HelpNamesEveryVerbAndAVerbsHelpEachFlag) {
  Console console;
  EXPECT_EQ(console.Run({"--help"}), 0);
  for (const Verb& verb : AllVerbs()) EXPECT_THAT(console.out, HasSubstr(verb.words));
  EXPECT_EQ(console.Run({"submit", "--help"}), 0);
  EXPECT_THAT(console.out, HasSubstr("--newest-first"));
  EXPECT_THAT(console.out, HasSubstr("[INTERLOCK_FENCING_TOKEN]"));
}

TEST(Completion, OffersVerbsFlagsAndValues) {
  Console console;
  const auto offers = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "__complete");
    EXPECT_EQ(console.Run(words), 0);
    return console.out;
  };
  EXPECT_EQ(offers({"rese"}), "reserve\nreservations\n");
  EXPECT_EQ(offers({"drops", "re"}), "restore\n");
  EXPECT_EQ(offers({"-o", "json", "drops", "a"}), "approve\n");
  EXPECT_EQ(offers({"verify", "ds", "--lev"}), "--level\n");
  EXPECT_EQ(offers({"verify", "ds", "--level", ""}), "visible\nserved\nretired\n");
  EXPECT_EQ(offers({"status", "-o", ""}), "table\njson\n");
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_EQ(console.Run({"completion", shell}), 0);
    EXPECT_THAT(console.out, HasSubstr("interlockctl __complete"));
  }
}

}  // namespace
}  // namespace interlock::cli
