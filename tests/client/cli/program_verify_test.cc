// Whole runs of `interlockctl verify` against a played server.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "tests/client/cli/console.h"

namespace interlock::cli {
namespace {

using testing::HasSubstr;

constexpr char kVerify[] = "IngestionCoordinator.VerifySingleVersion";

v1::VerifySingleVersionRequest VerifiedWith(Console& console, std::vector<std::string> words) {
  v1::VerifySingleVersionRequest seen;
  console.calls.On<v1::VerifySingleVersionRequest, v1::VerifySingleVersionResponse>(
      kVerify, [&](const auto& request, auto& reply) {
        seen = request;
        reply.set_good(true);
        reply.set_verdict(v1::Verdict::SINGLE_VERSION);
        return absl::OkStatus();
      });
  std::vector<std::string> all = {"verify", "ds", "2026-07-16"};
  all.insert(all.end(), words.begin(), words.end());
  EXPECT_EQ(console.Run(all), 0) << console.err;
  return seen;
}

TEST(InterlockctlVerify, AVerdictThatIsNotGoodIsPrintedAndSaidInALine) {
  Console console;
  console.calls.On<v1::VerifySingleVersionRequest, v1::VerifySingleVersionResponse>(
      kVerify, [](const auto& request, auto& reply) {
        EXPECT_EQ(request.expect().rows(), 30);
        EXPECT_EQ(request.expect().count_metric(), "events");
        reply.set_verdict(v1::Verdict::DUPLICATE_ROWS);
        reply.set_partition_count(1);
        auto* partition = reply.add_partitions();
        partition->set_partition("2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z");
        auto* verdict = partition->add_verdicts();
        verdict->set_kind(v1::Verdict::DUPLICATE_ROWS);
        verdict->set_message("60 rows where 30 are expected");
        return absl::OkStatus();
      });
  EXPECT_EQ(console.Run({"verify", "page_views", "2026-07-16T13", "--expect-rows", "30",
                         "--count-metric", "events"}),
            1);
  EXPECT_THAT(console.out, HasSubstr("\"kind\":\"DUPLICATE_ROWS\""));
  EXPECT_EQ(console.err,
            "interlockctl: DUPLICATE_ROWS: 2026-07-16T13: 60 rows where 30 are expected; 1 of 1 "
            "partition(s) not good\n");
}

TEST(InterlockctlVerify, ATotalThatIsNotAsExpectedIsSaidAsATotal) {
  Console console;
  console.calls.On<v1::VerifySingleVersionRequest, v1::VerifySingleVersionResponse>(
      kVerify, [](const auto&, auto& reply) {
        reply.set_verdict(v1::Verdict::MISSING_ROWS);
        reply.set_level(v1::Proof::SERVED);
        reply.set_partition_count(3);
        reply.set_good_count(3);
        auto* notice = reply.add_notices();
        notice->set_reason("FEWER_THAN_EXPECTED");
        notice->set_message("57 rows, and 60 are expected by the caller");
        notice->set_remedy("look at the task's report");
        return absl::OkStatus();
      });
  EXPECT_EQ(console.Run({"-o", "table", "verify", "ds", "2026", "--expect-rows", "60"}), 1);
  EXPECT_THAT(console.out, HasSubstr("MISSING_ROWS: 3 of 3 partition(s) good by themselves, and "
                                     "not together, at level SERVED, read at"));
  EXPECT_THAT(console.err,
              HasSubstr("interlockctl: MISSING_ROWS: 57 rows, and 60 are expected by the caller; "
                        "look at the task's report\n"));
}

TEST(InterlockctlVerify, WithoutALevelThatIsReachedNoneIsNamed) {
  Console console;
  console.calls.On<v1::VerifySingleVersionRequest, v1::VerifySingleVersionResponse>(
      kVerify, [](const auto&, auto& reply) {
        reply.set_verdict(v1::Verdict::UNDETERMINED);
        reply.set_partition_count(1);
        return absl::OkStatus();
      });
  EXPECT_EQ(console.Run({"-o", "table", "verify", "ds", "2026"}), 6);
  EXPECT_THAT(console.out, HasSubstr("UNDETERMINED: 0 of 1 partition(s) good, read at"));
}

TEST(InterlockctlVerify, ActsUnderTheReservationOfItsEnvironment) {
  Console console;
  EXPECT_EQ(VerifiedWith(console, {}).reservation_id(), "");
  console.variables["INTERLOCK_RESERVATION"] = "r-1";
  console.variables["INTERLOCK_FENCING_TOKEN"] = "7";
  EXPECT_EQ(VerifiedWith(console, {}).reservation_id(), "r-1");
  EXPECT_EQ(VerifiedWith(console, {}).fencing_token(), 7);
  const auto other = VerifiedWith(console, {"--reservation", "r-2", "--fencing-token", "9"});
  EXPECT_EQ(other.reservation_id(), "r-2");
  EXPECT_EQ(other.fencing_token(), 9);
  // A token of another lease is never taken for the one that was named.
  EXPECT_EQ(console.Run({"verify", "ds", "2026", "--reservation", "r-2"}), 2);
  console.variables["INTERLOCK_FENCING_TOKEN"] = "";
  EXPECT_EQ(console.Run({"verify", "ds", "2026"}), 2);
}

TEST(InterlockctlVerify, WaitingIsAddedToACallsTimeout) {
  Console console;
  VerifiedWith(console, {"--wait", "10m"});
  EXPECT_EQ(console.calls.last_timeout(), absl::Minutes(11));
  VerifiedWith(console, {"--timeout", "5s"});
  EXPECT_EQ(console.calls.last_timeout(), absl::Seconds(5));
}

}  // namespace
}  // namespace interlock::cli
