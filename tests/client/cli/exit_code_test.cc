#include "client/cli/exit_code.h"

#include <chrono>

#include "gtest/gtest.h"
#include "lib/time/status_reason.h"

namespace interlock::cli {
namespace {

TEST(ExitCode, OfErrors) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCodeOf(absl::FailedPreconditionError("held")), 1);
  EXPECT_EQ(ExitCodeOf(absl::AbortedError("plan stale")), 1);
  EXPECT_EQ(ExitCodeOf(absl::NotFoundError("unknown")), 1);
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("spec")), 2);
  EXPECT_EQ(ExitCodeOf(absl::OutOfRangeError("too many partitions")), 2);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("away")), 3);
  EXPECT_EQ(ExitCodeOf(absl::DeadlineExceededError("late")), 3);
  EXPECT_EQ(ExitCodeOf(absl::PermissionDeniedError("no")), 4);
  EXPECT_EQ(ExitCodeOf(absl::UnauthenticatedError("who")), 4);
  EXPECT_EQ(ExitCodeOf(absl::UnimplementedError("not yet built")), 5);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("oh")), 5);
}

TEST(ExitCode, AServerThatIsBusyIsNotReadyAndALimitIsANo) {
  EXPECT_EQ(ExitCodeOf(absl::ResourceExhaustedError("limit")), 1);
  EXPECT_EQ(ExitCodeOf(WithRetryAfter(absl::ResourceExhaustedError("queue full"),
                                      std::chrono::seconds(1))),
            3);
}

TEST(ExitCode, OfACommandThatDidNotRun) {
  EXPECT_EQ(CommandExitCodeOf(absl::FailedPreconditionError("held")), 121);
  EXPECT_EQ(CommandExitCodeOf(absl::InvalidArgumentError("bad")), 122);
  EXPECT_EQ(CommandExitCodeOf(absl::UnavailableError("away")), 123);
  EXPECT_EQ(CommandExitCodeOf(absl::PermissionDeniedError("no")), 126);
  EXPECT_EQ(CommandExitCodeOf(absl::InternalError("oh")), 125);
}

int OfBackfill(v1::Backfill::State state, v1::Partition::State partitions) {
  v1::Backfill backfill;
  backfill.set_state(state);
  auto* count = backfill.add_counts();
  count->set_state(partitions);
  count->set_count(1);
  return ExitCodeOf(backfill);
}

TEST(ExitCode, OfABackfillInTheEnd) {
  EXPECT_EQ(OfBackfill(v1::Backfill::DONE, v1::Partition::DONE), 0);
  EXPECT_EQ(OfBackfill(v1::Backfill::FAILED, v1::Partition::FAILED), 1);
  EXPECT_EQ(OfBackfill(v1::Backfill::CANCELLED, v1::Partition::CANCELLED), 1);
  EXPECT_EQ(OfBackfill(v1::Backfill::ROLLED_BACK, v1::Partition::ROLLED_BACK), 1);
  EXPECT_EQ(OfBackfill(v1::Backfill::NEEDS_ATTENTION, v1::Partition::SUSPECT), 1);
  EXPECT_EQ(OfBackfill(v1::Backfill::NEEDS_ATTENTION, v1::Partition::UNDETERMINED), 6);
  EXPECT_EQ(OfBackfill(v1::Backfill::RUNNING, v1::Partition::RUNNING), 6);
}

TEST(ExitCode, OfADropInTheEnd) {
  EXPECT_EQ(ExitCodeOf(v1::Drop::KILLED), 0);
  for (const auto state : {v1::Drop::RESTORED, v1::Drop::PARTLY_RESTORED, v1::Drop::CANCELLED,
                           v1::Drop::KILL_NOT_BOUNDED, v1::Drop::FAILED}) {
    EXPECT_EQ(ExitCodeOf(state), 1) << v1::Drop::State_Name(state);
  }
  EXPECT_EQ(ExitCodeOf(v1::Drop::AWAITING_APPROVAL), 6);
  EXPECT_EQ(ExitCodeOf(v1::Drop::MARKED), 6);
}

struct Seen {
  v1::Verdict::Kind kind;
  bool good;
};

int OfVerdicts(v1::Verdict::Kind worst, const std::vector<Seen>& partitions) {
  v1::VerifySingleVersionResponse reply;
  reply.set_verdict(worst);
  bool good = true;
  for (const Seen& seen : partitions) {
    auto* partition = reply.add_partitions();
    partition->set_good(seen.good);
    partition->add_verdicts()->set_kind(seen.kind);
    good = good && seen.good;
  }
  reply.set_good(good);
  return ExitCodeOf(reply);
}

TEST(ExitCode, OfAVerdict) {
  using V = v1::Verdict;
  EXPECT_EQ(OfVerdicts(V::SINGLE_VERSION, {{V::SINGLE_VERSION, true}}), 0);
  EXPECT_EQ(OfVerdicts(V::EMPTY, {{V::EMPTY, true}}), 0);
  EXPECT_EQ(OfVerdicts(V::DUPLICATE_ROWS, {{V::DUPLICATE_ROWS, false}}), 1);
  EXPECT_EQ(OfVerdicts(V::TOMBSTONED, {{V::TOMBSTONED, false}}), 1);
  EXPECT_EQ(OfVerdicts(V::UNDETERMINED, {{V::UNDETERMINED, false}, {V::SINGLE_VERSION, true}}), 6);
}

TEST(ExitCode, ASureFaultIsANoWhateverElseIsNotKnown) {
  using V = v1::Verdict;
  EXPECT_EQ(OfVerdicts(V::UNDETERMINED, {{V::UNDETERMINED, false}, {V::MISSING_ROWS, false}}), 1);
}

TEST(ExitCode, UndeterminedWithoutPartitionsIsNotKnown) {
  v1::VerifySingleVersionResponse reply;
  reply.set_verdict(v1::Verdict::UNDETERMINED);
  EXPECT_EQ(ExitCodeOf(reply), 6);
}

TEST(ExitCode, OfAPlan) {
  v1::BackfillPlan plan;
  plan.add_partitions()->set_action(v1::PlannedPartition::RUN);
  plan.add_partitions()->set_action(v1::PlannedPartition::SKIP_HELD);
  plan.add_blockers()->set_blocking(false);
  EXPECT_EQ(ExitCodeOf(plan), 0);
  plan.add_partitions()->set_action(v1::PlannedPartition::BLOCKED);
  EXPECT_EQ(ExitCodeOf(plan), 1);
  v1::DropPlan drop;
  EXPECT_EQ(ExitCodeOf(drop), 0);
  drop.add_blockers()->set_blocking(true);
  EXPECT_EQ(ExitCodeOf(drop), 1);
}

}  // namespace
}  // namespace interlock::cli
