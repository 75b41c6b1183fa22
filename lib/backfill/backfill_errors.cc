#include "lib/backfill/backfill_errors.h"

#include "absl/strings/str_cat.h"
#include "lib/time/status_reason.h"

namespace interlock::backfill {

absl::Status UnknownBackfill(absl::string_view id) {
  return WithReason(
      absl::NotFoundError(absl::StrCat("there is no backfill ", id,
                                       "; interlockctl backfills list shows those there are")),
      "UNKNOWN_BACKFILL", {{"backfill", std::string(id)}});
}

absl::Status UnknownAttempt(absl::string_view task_id) {
  return WithReason(
      absl::NotFoundError(absl::StrCat("there is no attempt ", task_id,
                                       "; interlockctl backfills get ID shows a backfill's")),
      "UNKNOWN_ATTEMPT", {{"task", std::string(task_id)}});
}

absl::Status UnknownPartition(absl::string_view backfill_id, absl::string_view partition) {
  return WithReason(absl::NotFoundError(absl::StrCat(backfill_id, " has no partition ", partition,
                                                     "; interlockctl backfills get ", backfill_id,
                                                     " shows those it has")),
                    "UNKNOWN_PARTITION", {{"partition", std::string(partition)}});
}

absl::Status RequestIdReused(absl::string_view request_id, absl::string_view backfill_id) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat(
          "request id ", request_id, " was used for ", backfill_id,
          " with another spec, interval or option: a request id names one request for ever")),
      "REQUEST_ID_REUSED",
      {{"request_id", std::string(request_id)}, {"backfill", std::string(backfill_id)}});
}

absl::Status RequestIdInvalid() {
  return WithReason(
      absl::InvalidArgumentError("a request id is 1 to 128 printable ASCII characters"),
      "REQUEST_ID_INVALID");
}

absl::Status LimitExceeded(absl::string_view limit, int64_t allowed, int64_t asked) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat(limit, " is ", asked, ", and may be 1 to ", allowed)),
      "LIMIT_EXCEEDED", {{"limit", std::string(limit)}, {"allowed", absl::StrCat(allowed)}});
}

absl::Status ReasonRequired(absl::string_view what_for) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat("give a reason ", what_for)),
                    "REASON_REQUIRED");
}

absl::Status ObserveOnly() {
  return WithReason(
      absl::FailedPreconditionError(
          "druid.access is OBSERVE: nothing is sent that changes Druid; set it to MANAGE"),
      "OBSERVE_ONLY");
}

absl::Status ExpectationNotCheckable(absl::string_view expectation, absl::string_view why) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(expectation, " can't be checked: ", why)),
      "EXPECTATION_NOT_CHECKABLE", {{"expectation", std::string(expectation)}});
}

absl::Status InvalidExpectation(const std::vector<Fault>& faults) {
  const Fault& first = faults.front();
  absl::Status status = WithReason(absl::InvalidArgumentError(absl::StrCat(
                                       first.pointer, ": ", first.found, "; ", first.would_do)),
                                   "EXPECTATION_INVALID");
  for (const Fault& fault : faults) {
    AddFault(status, fault.pointer, fault.found, fault.would_do);
  }
  return status;
}

absl::Status ContradictingExpectations(const Fault& one, const Fault& other) {
  absl::Status status = WithReason(
      absl::InvalidArgumentError(absl::StrCat("both can't be: ", one.pointer, " ", one.found,
                                              ", and ", other.pointer, " ", other.found)),
      "EXPECTATIONS_CONTRADICT");
  for (const Fault& fault : {one, other}) {
    AddFault(status, fault.pointer, fault.found, fault.would_do);
  }
  return status;
}

absl::Status OtherExpectation(absl::string_view id, absl::string_view phase) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          id, " does the same work over the same intervals, is ", phase,
          ", and expects other rows: wait until it is over or cancel it, and submit again; "
          "reprocess `all` makes a new one of one that is over")),
      "OTHER_EXPECTATION", {{"backfill", std::string(id)}});
}

absl::Status AllHeld(const std::string& datasource, const std::vector<lease::Held>& held) {
  absl::Status status = WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          "all of it is held by others, the first being ",
          held.empty() ? std::string("unknown")
                       : absl::StrCat(held.front().holder, " (", held.front().purpose, ")"))),
      "HELD", {{"datasource", datasource}});
  for (const lease::Held& one : held) {
    AddBlocker(status, one.orphaned ? "ORPHANED" : "HELD",
               absl::StrCat(datasource, "/", one.interval.ToString()),
               absl::StrCat("held by ", one.holder, " for ", one.purpose));
  }
  return status;
}

absl::Status AlreadyOver(absl::string_view id, absl::string_view phase) {
  return WithReason(absl::FailedPreconditionError(absl::StrCat(id, " is ", phase)), "ALREADY_OVER",
                    {{"state", std::string(phase)}});
}

absl::Status NotPaused(absl::string_view id) {
  return WithReason(absl::FailedPreconditionError(absl::StrCat(id, " is not paused")),
                    "NOT_PAUSED");
}

absl::Status NothingToRetry(absl::string_view id) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat("nothing of ", id, " is in those states")),
      "NOTHING_TO_RETRY");
}

absl::Status NotAcceptable(absl::string_view partition, absl::string_view state) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          partition, " is ", state, "; only SUSPECT and UNDETERMINED ones can be accepted")),
      "NOT_ACCEPTABLE", {{"state", std::string(state)}});
}

absl::Status AttemptSettled(absl::string_view task_id) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat("the attempt ", task_id, " is over already")),
      "ATTEMPT_SETTLED");
}

absl::Status PlanMoved(absl::string_view planned, absl::string_view now) {
  return WithReason(
      absl::AbortedError("the world has moved since that plan was made: plan again, and look"),
      "PLAN_STALE",
      {{"plan_revision", std::string(planned)}, {"plan_revision_now", std::string(now)}});
}

absl::Status GenerationMoved(absl::string_view partition, absl::string_view expected,
                             absl::string_view found) {
  return WithReason(absl::AbortedError(absl::StrCat(
                        partition, " has ", found.empty() ? "nothing" : found, ", and not ",
                        expected, " as expected: somebody has written it since")),
                    "GENERATION_MOVED",
                    {{"partition", std::string(partition)}, {"generation", std::string(found)}});
}

absl::Status PlanNotCheckable() {
  return WithReason(absl::UnavailableError("Druid does not answer, so that nothing can be said of "
                                           "the plan or generation that was named"),
                    "DRUID_UNAVAILABLE");
}

absl::Status InTheWay(const std::string& datasource, const std::vector<Obstacle>& obstacles) {
  const Obstacle& first = obstacles.front();
  absl::Status status =
      WithReason(absl::FailedPreconditionError(
                     absl::StrCat(first.message, first.remedy.empty() ? "" : ": ", first.remedy)),
                 first.reason, {{"datasource", datasource}});
  for (const Obstacle& one : obstacles) {
    AddBlocker(status, one.reason, absl::StrCat(datasource, "/", one.interval.ToString()),
               one.message);
  }
  return status;
}

absl::Status StillAtWork(absl::string_view id, absl::string_view phase) {
  return WithReason(absl::FailedPreconditionError(absl::StrCat(
                        id, " is ", phase, ": wait until it is over, or cancel it first")),
                    "STILL_AT_WORK", {{"state", std::string(phase)}});
}

absl::Status NothingToRollBack(absl::string_view id) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          id, " has changed none of these partitions: there is nothing to bring back")),
      "NOTHING_TO_ROLL_BACK");
}

absl::Status AlreadyRolledBack(absl::string_view what) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          what,
          " is rolled back already: only the newest generation can be, and what is visible "
          "now is the one before it")),
      "ALREADY_ROLLED_BACK");
}

absl::Status RollbackWindowOver(absl::string_view partition, Instant until) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat("the former generation of ", partition,
                                                 " was kept until ", until.ToString(), " only")),
      "ROLLBACK_WINDOW_OVER", {{"until", until.ToString()}});
}

absl::Status NotNewestGeneration(absl::string_view partition, absl::string_view ours,
                                 absl::string_view seen) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          partition, " shows ", seen.empty() ? "nothing" : seen, " by now, not ", ours,
          " of this backfill: somebody has written there since, and that would be lost")),
      "NOT_NEWEST_GENERATION",
      {{"partition", std::string(partition)}, {"generation", std::string(seen)}});
}

absl::Status ForeignRows(absl::string_view partition, const std::vector<std::string>& ids) {
  return WithReason(absl::FailedPreconditionError(absl::StrCat(
                        ids.size(), " segments were added to the generation of ", partition,
                        " by others, the first being ", ids.front(),
                        ": their rows would go too. Consent to that, or leave this partition out")),
                    "FOREIGN_ROWS",
                    {{"partition", std::string(partition)}, {"segment", ids.front()}});
}

absl::Status OldGenerationKilled(absl::string_view partition, absl::string_view id) {
  return WithReason(absl::FailedPreconditionError(
                        absl::StrCat("segment ", id, " of the former generation of ", partition,
                                     " is gone from Druid's metadata: it can't come back")),
                    "OLD_GENERATION_KILLED",
                    {{"partition", std::string(partition)}, {"segment", std::string(id)}});
}

absl::Status OldGenerationUnknown(absl::string_view partition) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          "which segments the former generation of ", partition,
          " had was not written down: the backfill ran in an earlier version of the server")),
      "OLD_GENERATION_UNKNOWN", {{"partition", std::string(partition)}});
}

absl::Status RollbackNotCheckable(absl::string_view why) {
  return WithReason(
      absl::UnavailableError(absl::StrCat("Druid says nothing of what is there now: ", why)),
      "DRUID_UNAVAILABLE");
}

absl::Status SqlTasksMissing() {
  return WithReason(
      absl::FailedPreconditionError("this Druid runs no queries as tasks: load its extension "
                                    "druid-multi-stage-query, or write an index_parallel spec"),
      "SQL_TASKS_MISSING");
}

absl::Status IntervalsMissing() {
  absl::Status status = WithReason(
      absl::InvalidArgumentError("a query has no intervals of its own: give an interval beside it"),
      "SPEC_INVALID");
  AddFault(status, "/intervals", "is missing", "e.g. 2026-07-16");
  return status;
}

absl::Status BadPageToken(absl::string_view token) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat("`", token, "` is no page token of this list")),
      "BAD_PAGE_TOKEN");
}

}  // namespace interlock::backfill
