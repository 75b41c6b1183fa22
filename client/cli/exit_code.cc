#include "client/cli/exit_code.h"

#include "lib/time/status_reason.h"

namespace interlock::cli {
namespace {

bool IsFault(v1::Verdict::Kind kind) {
  switch (kind) {
    case v1::Verdict::KIND_UNSPECIFIED:
    case v1::Verdict::SINGLE_VERSION:
    case v1::Verdict::TOMBSTONED:
    case v1::Verdict::EMPTY:
    case v1::Verdict::UNDETERMINED:
    case v1::Verdict::ROWS_NOT_PROVABLE:
      return false;
    default:
      return true;
  }
}

bool Has(const v1::PartitionVerdict& partition, bool (*what)(v1::Verdict::Kind)) {
  for (const auto& verdict : partition.verdicts()) {
    if (what(verdict.kind())) return true;
  }
  return false;
}

bool IsUndetermined(v1::Verdict::Kind kind) { return kind == v1::Verdict::UNDETERMINED; }

// Not good, and that is sure.
bool IsSurelyBad(const v1::PartitionVerdict& partition) {
  if (partition.good()) return false;
  return Has(partition, IsFault) || !Has(partition, IsUndetermined);
}

template <class Blockers>
bool AnyBlocking(const Blockers& blockers) {
  for (const auto& blocker : blockers) {
    if (blocker.blocking()) return true;
  }
  return false;
}

int64_t CountIn(const v1::Backfill& backfill, v1::Partition::State state) {
  for (const auto& count : backfill.counts()) {
    if (count.state() == state) return count.count();
  }
  return 0;
}

}  // namespace

ExitCode ExitCodeOf(const absl::Status& status) {
  // The server answered all along; what it works at has not ended.
  if (ReasonOf(status) == kWaitOver) return kNotKnown;
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kDone;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return kBadInput;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kNotFound:
      return kNo;
    case absl::StatusCode::kResourceExhausted:
      // Too busy for a moment, or a limit that waiting does not move.
      return RetryAfterOf(status).has_value() ? kNotReachable : kNo;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return kNotReachable;
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return kNotAllowed;
    default:
      return kOther;
  }
}

CommandExitCode CommandExitCodeOf(const absl::Status& status) {
  switch (ExitCodeOf(status)) {
    case kNo:
      return kCommandHeld;
    case kBadInput:
      return kCommandBadInput;
    case kNotReachable:
      return kCommandNotReachable;
    case kNotAllowed:
      return kCommandNotAllowed;
    default:
      return kCommandOther;
  }
}

ExitCode ExitCodeOf(const v1::Backfill& backfill) {
  switch (backfill.state()) {
    case v1::Backfill::DONE:
      return kDone;
    case v1::Backfill::FAILED:
    case v1::Backfill::CANCELLED:
    case v1::Backfill::ROLLED_BACK:
      return kNo;
    case v1::Backfill::NEEDS_ATTENTION:
      return CountIn(backfill, v1::Partition::SUSPECT) + CountIn(backfill, v1::Partition::FAILED) >
                     0
                 ? kNo
                 : kNotKnown;
    default:
      return kNotKnown;
  }
}

ExitCode ExitCodeOf(v1::Drop::State state) {
  switch (state) {
    case v1::Drop::KILLED:
      return kDone;
    case v1::Drop::RESTORED:
    case v1::Drop::PARTLY_RESTORED:
    case v1::Drop::CANCELLED:
    case v1::Drop::KILL_NOT_BOUNDED:
    case v1::Drop::FAILED:
      return kNo;
    default:
      return kNotKnown;
  }
}

ExitCode ExitCodeOf(const v1::VerifySingleVersionResponse& reply) {
  if (reply.good()) return kDone;
  for (const auto& partition : reply.partitions()) {
    if (IsSurelyBad(partition)) return kNo;
  }
  return reply.verdict() == v1::Verdict::UNDETERMINED ? kNotKnown : kNo;
}

ExitCode ExitCodeOf(const v1::BackfillPlan& plan) {
  if (AnyBlocking(plan.blockers())) return kNo;
  for (const auto& partition : plan.partitions()) {
    if (partition.action() == v1::PlannedPartition::BLOCKED) return kNo;
  }
  return kDone;
}

ExitCode ExitCodeOf(const v1::DropPlan& plan) { return AnyBlocking(plan.blockers()) ? kNo : kDone; }

}  // namespace interlock::cli
