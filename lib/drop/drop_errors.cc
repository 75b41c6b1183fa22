#include "lib/drop/drop_errors.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/time/duration.h"
#include "lib/time/status_reason.h"

namespace interlock::drop {
namespace {

using absl::StrCat;

std::string Length(absl::Duration duration) { return interlock::FormatDuration(duration); }

absl::Status Precondition(absl::string_view reason, absl::string_view text,
                          absl::string_view drop_id, State state) {
  return WithReason(absl::FailedPreconditionError(text), reason,
                    {{"drop_id", std::string(drop_id)}, {"state", Name(state)}});
}

}  // namespace

absl::Status ReasonMissing() {
  return WithReason(
      absl::InvalidArgumentError("a drop needs a reason: who reads its record later will ask"),
      "REASON_REQUIRED");
}

absl::Status RequestIdInvalid(absl::string_view found) {
  return WithReason(
      absl::InvalidArgumentError(StrCat("request id of ", found.size(),
                                        " bytes: 1 to 128 printable ASCII characters will do")),
      "REQUEST_ID_INVALID");
}

absl::Status NoIntervals() {
  return WithReason(absl::InvalidArgumentError("no interval with any time in it"),
                    "INTERVAL_EMPTY");
}

absl::Status LimitExceeded(absl::string_view what, int64_t found, int64_t limit,
                           absl::string_view would_do) {
  return WithReason(absl::InvalidArgumentError(
                        StrCat(found, " ", what, " in one drop, at most ", limit, ": ", would_do)),
                    "LIMIT_EXCEEDED", {{"what", std::string(what)}, {"limit", StrCat(limit)}});
}

absl::Status SpanTooLong(const Interval& asked, int64_t days, int64_t limit) {
  return WithReason(
      absl::OutOfRangeError(StrCat(asked.ToString(), " and what else is asked spans ", days,
                                   " days, at most ", limit, ": name the part that has data")),
      "TOO_MANY_PARTITIONS", {{"days", StrCat(days)}, {"limit", StrCat(limit)}});
}

absl::Status WindowTooShort(absl::Duration asked, absl::Duration least) {
  return WithReason(absl::InvalidArgumentError(
                        StrCat("a window of ", Length(asked), " is below the least, ",
                               Length(least), ", which is drops.min_window of this server")),
                    "WINDOW_TOO_SHORT", {{"least", Length(least)}});
}

absl::Status WindowTooLong(absl::Duration asked, absl::Duration most) {
  return WithReason(absl::InvalidArgumentError(
                        StrCat("a window of ", Length(asked), " is above the most, ", Length(most),
                               ", which is drops.max_window of this server")),
                    "WINDOW_TOO_LONG", {{"most", Length(most)}});
}

absl::Status FloorTooLow(absl::Duration asked, absl::Duration least) {
  return WithReason(absl::InvalidArgumentError(
                        StrCat("a floor of ", Length(asked), " is below this server's, ",
                               Length(least), " (drops.floor): a request can only raise it")),
                    "FLOOR_TOO_LOW", {{"least", Length(least)}});
}

absl::Status YoungerThanFloor(const Interval& asked, absl::Duration floor, Instant boundary) {
  std::string would_do = "nothing of it is old enough";
  if (asked.start() < boundary) {
    would_do = StrCat("the part that is old enough is ", asked.start().ToString(), "/",
                      boundary.ToString());
  }
  return WithReason(
      absl::FailedPreconditionError(StrCat(asked.ToString(), " ends less than the floor of ",
                                           Length(floor), " before now; ", would_do)),
      "YOUNGER_THAN_FLOOR", {{"floor", Length(floor)}, {"boundary", boundary.ToString()}});
}

absl::Status CutsSegments(const std::vector<ManifestRow>& cut, bool nothing_inside) {
  constexpr size_t kShown = 10;
  std::vector<std::string> bounds;
  for (size_t i = 0; i < cut.size() && i < kShown; ++i) {
    bounds.push_back(cut[i].interval.ToString());
  }
  const char* would_do = nothing_inside
                             ? "no segment lies wholly inside; ask for whole segments"
                             : "ask for whole segments, or consent to leave these where they are";
  absl::Status status = absl::InvalidArgumentError(
      StrCat("the interval cuts ", cut.size(), " segments: ", absl::StrJoin(bounds, ", "), "; ",
             would_do));
  status = WithReason(std::move(status), "MISALIGNED", {{"segments", StrCat(cut.size())}});
  for (size_t i = 0; i < cut.size() && i < kShown; ++i) {
    AddBlocker(status, "MISALIGNED", cut[i].id,
               StrCat("covers ", cut[i].interval.ToString(), ", which the interval cuts"));
  }
  return status;
}

absl::Status NothingToDrop(absl::string_view datasource, const std::vector<Interval>& intervals) {
  return WithReason(absl::FailedPreconditionError(
                        StrCat("datasource ", datasource, " has no used segment in ",
                               intervals.empty() ? "" : intervals.front().ToString(),
                               intervals.size() > 1 ? " or the others" : "",
                               "; if it should, check the name and what this identity may read")),
                    "NOTHING_TO_DROP", {{"datasource", std::string(datasource)}});
}

absl::Status Blocked(const std::vector<Objection>& blockers) {
  const Objection& first = blockers.front();
  absl::Status status = absl::FailedPreconditionError(
      StrCat(first.subject, ": ", first.text,
             blockers.size() > 1 ? StrCat(" (and ", blockers.size() - 1, " more)") : ""));
  status = WithReason(std::move(status), first.reason, {{"subject", first.subject}});
  for (const Objection& blocker : blockers) {
    AddBlocker(status, blocker.reason, blocker.subject, blocker.text);
  }
  return status;
}

absl::Status PlanStale(absl::string_view asked, absl::string_view found) {
  return WithReason(
      absl::AbortedError("the segments are not those of that plan any more: plan again"),
      "PLAN_STALE", {{"asked", std::string(asked)}, {"found", std::string(found)}});
}

absl::Status RequestIdReused(absl::string_view request_id, absl::string_view drop_id) {
  return WithReason(absl::InvalidArgumentError(StrCat(
                        "request id ", request_id, " belongs to another request: drop ", drop_id)),
                    "REQUEST_ID_REUSED", {{"drop_id", std::string(drop_id)}});
}

absl::Status ObserveOnly() {
  return WithReason(
      absl::FailedPreconditionError("druid.access is OBSERVE: nothing is sent that changes Druid; "
                                    "set it to MANAGE"),
      "OBSERVE_ONLY");
}

absl::Status DruidUnavailable(absl::string_view what) {
  return WithReason(absl::UnavailableError(StrCat("Druid could not be asked: ", what)),
                    "DRUID_UNAVAILABLE");
}

absl::Status NotKillable(const Interval& asked) {
  return WithReason(absl::FailedPreconditionError(
                        StrCat(asked.ToString(),
                               " reaches beyond the years 0000 to 9999: Druid compares such "
                               "bounds as text, and no kill of its finds a segment there; "
                               "name the part inside, and have the rest removed by hand")),
                    "NOT_KILLABLE", {{"interval", asked.ToString()}});
}

namespace {

absl::Status PolicyFault(absl::string_view reason, absl::string_view field, absl::string_view found,
                         absl::string_view would_do) {
  const std::string what = found.empty() ? "is empty" : StrCat("is '", found, "'");
  absl::Status status =
      absl::InvalidArgumentError(StrCat("/policy/", field, " ", what, "; ", would_do, " would do"));
  status = WithReason(std::move(status), reason, {{"field", std::string(field)}});
  AddFault(status, StrCat("/policy/", field), what, would_do);
  return status;
}

}  // namespace

absl::Status InvalidPolicyName(absl::string_view found) {
  return PolicyFault("INVALID_NAME", "name", found, "1 to 128 characters of [A-Za-z0-9._-]");
}

absl::Status InvalidPattern(absl::string_view found) {
  return PolicyFault("INVALID_PATTERN", "datasource_pattern", found,
                     "1 to 256 bytes, with * for any characters");
}

absl::Status InvalidPeriod(absl::string_view field, absl::string_view found,
                           absl::string_view would_do) {
  return PolicyFault("INVALID_PERIOD", field, found, would_do);
}

absl::Status InvalidCap(absl::string_view field, absl::string_view found,
                        absl::string_view would_do) {
  return PolicyFault("INVALID_CAP", field, found, would_do);
}

absl::Status UnknownPolicy(absl::string_view name) {
  return WithReason(
      absl::NotFoundError(StrCat("there is no retention policy ", name,
                                 "; interlockctl retention list shows those there are")),
      "UNKNOWN_RETENTION_POLICY", {{"name", std::string(name)}});
}

absl::Status UnknownDrop(absl::string_view id) {
  return WithReason(absl::NotFoundError(StrCat("there is no drop ", id,
                                               "; interlockctl drops list shows those there are")),
                    "UNKNOWN_DROP", {{"drop_id", std::string(id)}});
}

absl::Status InvalidPageToken(absl::string_view found) {
  return WithReason(
      absl::InvalidArgumentError(StrCat("page token ", found, " is none that a page gave")),
      "BAD_PAGE_TOKEN");
}

absl::Status NotAwaitingApproval(absl::string_view id, State state) {
  return Precondition("NOT_AWAITING_APPROVAL",
                      StrCat("drop ", id, " is ", Name(state), " and waits for nobody's approval"),
                      id, state);
}

absl::Status WaitsForClocks(absl::string_view id, absl::string_view how) {
  return WithReason(absl::FailedPreconditionError(
                        StrCat("drop ", id, " waits for no approval, but for clocks: ", how,
                               "; an admin who knows why accepts them with accept_clock (drops "
                               "approve --accept-clock)")),
                    kClocksDisagree, {{"drop_id", std::string(id)}});
}

absl::Status ManifestChanged(absl::string_view id, absl::string_view asked,
                             absl::string_view found) {
  return WithReason(absl::FailedPreconditionError(
                        StrCat("the manifest of drop ", id, " is not the one you approve")),
                    "MANIFEST_CHANGED",
                    {{"asked", std::string(asked)}, {"found", std::string(found)}});
}

absl::Status OwnDrop(absl::string_view id, absl::string_view who) {
  return WithReason(absl::PermissionDeniedError(StrCat(who, " asked for drop ", id,
                                                       ", so another person has to approve it")),
                    "OWN_DROP", {{"drop_id", std::string(id)}});
}

absl::Status NotMarked(absl::string_view id, State state) {
  return Precondition(
      "NOT_MARKED",
      StrCat("drop ", id, " is ", Name(state), ": no window runs that could end later",
             state < State::kMarked ? "; ask again when it is MARKED" : ""),
      id, state);
}

absl::Status KillStarted(absl::string_view id) {
  return WithReason(absl::FailedPreconditionError(StrCat("the kill of drop ", id, " has started")),
                    "KILL_STARTED", {{"drop_id", std::string(id)}});
}

absl::Status AlreadyMarked(absl::string_view id, State state) {
  return Precondition("ALREADY_MARKED",
                      StrCat("drop ", id, " is ", Name(state),
                             " and has marked segments: it is RestoreDrop that undoes it, where no "
                             "newer data lies over them"),
                      id, state);
}

absl::Status AlreadyOver(absl::string_view id, State state) {
  return Precondition("ALREADY_OVER", StrCat("drop ", id, " is ", Name(state)), id, state);
}

absl::Status NothingToRestore(absl::string_view id, State state) {
  return Precondition(
      "NOTHING_TO_RESTORE",
      StrCat("drop ", id, " is ", Name(state), " and none of its segments is marked by it",
             Ended(state) ? "" : "; interlockctl drops cancel gives up what is not marked yet"),
      id, state);
}

absl::Status NewerDataOver(absl::string_view id, const std::vector<druid::Segment>& newer) {
  absl::Status status = absl::FailedPreconditionError(
      StrCat("newer data lies over drop ", id, ": ", newer.front().id,
             newer.size() > 1 ? StrCat(" (and ", newer.size() - 1, " more)") : "",
             "; what is restored would be hidden, or add to it. To have this drop's data all the "
             "same: extend its window, drop what lies over it, restore"));
  status = WithReason(std::move(status), kNewerDataOver, {{"segment", newer.front().id}});
  for (const druid::Segment& segment : newer) {
    AddBlocker(status, kNewerDataOver, segment.id, segment.interval.ToString());
  }
  return status;
}

absl::Status DropChanged(absl::string_view id) {
  return WithReason(absl::AbortedError(StrCat("drop ", id, " changed meanwhile")), "DROP_CHANGED");
}

absl::Status DropCorrupt(absl::string_view id, absl::string_view what) {
  return WithReason(absl::InternalError(StrCat("drop ", id, " cannot be read: ", what)),
                    "DROP_CORRUPT", {{"drop_id", std::string(id)}});
}

}  // namespace interlock::drop
