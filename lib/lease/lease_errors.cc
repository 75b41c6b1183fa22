#include "lib/lease/lease_errors.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/time/status_reason.h"

namespace interlock::lease {
namespace {

// Holders named one by one in an error; beyond it their number is said.
constexpr size_t kMostBlockers = 20;

std::string ByWhom(const Held& held) {
  std::string text = held.holder;
  if (!held.purpose.empty()) absl::StrAppend(&text, " (", held.purpose, ")");
  absl::StrAppend(&text, " since ", held.since.ToString());
  return text;
}

std::string Describe(const Held& held) {
  switch (held.by) {
    case HeldBy::kReservation:
      return absl::StrCat("held by ", ByWhom(held), " until ", held.until.ToString(),
                          ", reservation ", held.reservation_id,
                          held.link.empty() ? "" : absl::StrCat(" (", held.link, ")"));
    case HeldBy::kOrphan:
      return absl::StrCat("held by ", ByWhom(held), ", reservation ", held.reservation_id,
                          ", which ended, but its work ", held.work_id,
                          held.link.empty() ? "" : absl::StrCat(" (", held.link, ")"),
                          " is not settled: it blocks until that is proven or abandoned");
    case HeldBy::kLockDelay:
      return absl::StrCat("free from ", held.until.ToString(), " on: reservation ",
                          held.reservation_id, " of ", held.holder,
                          " expired, and its holder may not have noticed");
    case HeldBy::kWaiter:
      return absl::StrCat("waited for by ", ByWhom(held), ", request ", held.reservation_id,
                          ", which came before");
    case HeldBy::kTail:
    case HeldBy::kSeal:
    case HeldBy::kDrop:
      break;
  }
  return absl::StrCat("barred: ", held.message,
                      held.remedy.empty() ? "" : absl::StrCat("; ", held.remedy));
}

std::string TypeOf(const Held& held) {
  switch (held.by) {
    case HeldBy::kReservation:
      return "HELD";
    case HeldBy::kOrphan:
      return "ORPHANED";
    case HeldBy::kLockDelay:
      return "LOCK_DELAY";
    case HeldBy::kWaiter:
      return "BEHIND_WAITER";
    case HeldBy::kTail:
    case HeldBy::kSeal:
    case HeldBy::kDrop:
      break;
  }
  return held.reason;
}

Metadata DetailsOf(const Held& held, size_t count) {
  Metadata details = {{"reservation", held.reservation_id},
                      {"holder", held.holder},
                      {"purpose", held.purpose},
                      {"mode", std::string(NameOf(held.mode))},
                      {"since", held.since.ToString()},
                      {"interval", held.interval.ToString()},
                      {"orphaned", held.orphaned ? "true" : "false"},
                      {"count", absl::StrCat(count)}};
  if (held.until != Instant::kMax) details["until"] = held.until.ToString();
  if (held.orphaned) details["work"] = held.work_id;
  if (!held.link.empty()) details["link"] = held.link;
  return details;
}

// When all that is in the way will have ended by itself, if nobody renews.
std::optional<absl::Duration> Wait(const std::vector<Held>& all, Instant now) {
  absl::Duration longest = absl::ZeroDuration();
  for (const Held& held : all) {
    if (held.orphaned || held.until == Instant::kMax) return std::nullopt;
    longest = std::max(longest, held.until - now);
  }
  return longest;
}

Metadata Naming(const Reservation& reservation) {
  return {{"reservation", reservation.id},
          {"holder", reservation.holder},
          {"token", absl::StrCat(reservation.token)}};
}

absl::Status Lost(const Reservation& reservation, absl::string_view reason, absl::string_view what,
                  const Metadata& metadata) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat("reservation ", reservation.id, " ", what)),
      reason, metadata);
}

}  // namespace

absl::Status HeldError(const std::string& datasource, const std::string& reason, const Held& lead,
                       const std::vector<Held>& held, Metadata more, Instant now) {
  const std::string first =
      absl::StrCat(datasource, " ", lead.interval.ToString(), " is ", Describe(lead));
  const std::string others =
      held.size() > 1 ? absl::StrCat("; and ", held.size() - 1, " more") : std::string();
  Metadata details = DetailsOf(lead, held.size());
  details.merge(more);
  absl::Status status = WithReason(absl::FailedPreconditionError(first + others), reason, details);
  for (size_t i = 0; i < held.size() && i < kMostBlockers; ++i) {
    AddBlocker(status, TypeOf(held[i]), absl::StrCat(datasource, "/", held[i].interval.ToString()),
               Describe(held[i]));
  }
  const std::optional<absl::Duration> wait = Wait(held, now);
  return wait.has_value() ? WithRetryAfter(std::move(status), absl::ToChronoMilliseconds(*wait))
                          : status;
}

absl::Status RequestIdReused(absl::string_view request_id, absl::string_view reservation_id,
                             const std::vector<std::string>& differences) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat(
          "request id ", request_id, " was used for reservation ", reservation_id,
          " with another request: ", absl::StrJoin(differences, "; "), ". Use an id of its own")),
      "REQUEST_ID_REUSED",
      {{"request_id", std::string(request_id)},
       {"reservation", std::string(reservation_id)},
       {"differs", absl::StrJoin(differences, "; ")}});
}

absl::Status InvalidReservation() {
  return WithReason(absl::InvalidArgumentError("the request can't be a reservation"),
                    "INVALID_RESERVATION");
}

absl::Status RequestBeyondLimit(absl::string_view field, absl::string_view limit,
                                absl::string_view allowed, absl::string_view asked) {
  const bool least = absl::StartsWith(limit, "min_");
  const std::string found = absl::StrCat("it is ", asked);
  const std::string would_do = absl::StrCat(least ? "at least " : "at most ", allowed,
                                            ", which is limits.", limit, " of this server");
  absl::Status status =
      WithReason(absl::InvalidArgumentError(absl::StrCat("/", field, ": ", found, "; ", would_do)),
                 "LIMIT_EXCEEDED",
                 {{"limit", std::string(limit)},
                  {"allowed", std::string(allowed)},
                  {"asked", std::string(asked)}});
  AddFault(status, absl::StrCat("/", field), found, would_do);
  return status;
}

absl::Status TooManyLive(absl::string_view limit, int64_t allowed, absl::string_view of) {
  return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                        of, " has ", allowed, " live reservations already, which is limits.", limit,
                        " of this server: release some")),
                    "LIMIT_EXCEEDED",
                    {{"limit", std::string(limit)}, {"allowed", absl::StrCat(allowed)}});
}

absl::Status UnknownReservation(absl::string_view id) {
  return WithReason(absl::NotFoundError(
                        absl::StrCat("there is no reservation ", id,
                                     ", or it ended so long ago that it was removed; interlockctl "
                                     "reservations list shows those that live")),
                    "UNKNOWN_RESERVATION", {{"reservation", std::string(id)}});
}

absl::Status ForeignToken(const Reservation& reservation, int64_t shown) {
  Metadata metadata = Naming(reservation);
  metadata["shown"] = absl::StrCat(shown);
  return Lost(reservation, "STALE_TOKEN",
              absl::StrCat("has token ", reservation.token, ", not ", shown), metadata);
}

absl::Status StaleToken(const Reservation& reservation, const Held& later, int64_t later_token) {
  Metadata metadata = Naming(reservation);
  metadata["later"] = later.reservation_id;
  metadata["later_holder"] = later.holder;
  metadata["later_token"] = absl::StrCat(later_token);
  return Lost(reservation, "STALE_TOKEN",
              absl::StrCat("with token ", reservation.token, " has ended (",
                           NameOf(reservation.state), "), and ", later.interval.ToString(), " is ",
                           Describe(later), ", token ", later_token),
              metadata);
}

absl::Status Superseded(const Reservation& reservation, const Held& later) {
  Metadata metadata = Naming(reservation);
  metadata["later"] = later.reservation_id;
  metadata["later_holder"] = later.holder;
  return Lost(reservation, "SUPERSEDED",
              absl::StrCat("has ended, and ", later.interval.ToString(), " is ", Describe(later)),
              metadata);
}

absl::Status Ended(const Reservation& reservation) {
  const Instant at = reservation.ended.value_or(reservation.deadline);
  Metadata metadata = Naming(reservation);
  metadata["ended"] = at.ToString();
  const bool expired = reservation.state == State::kExpired;
  const bool forced = reservation.state == State::kForced;
  return Lost(reservation, NameOf(reservation.state),
              absl::StrCat(expired  ? "expired"
                           : forced ? "was ended by an admin"
                                    : "was released",
                           " at ", at.ToString(), ": reserve anew, with another request id"),
              metadata);
}

absl::Status OutsideReservation(const Reservation& reservation, absl::string_view asked) {
  Metadata metadata = Naming(reservation);
  metadata["asked"] = std::string(asked);
  return Lost(
      reservation, "OUTSIDE_RESERVATION",
      absl::StrCat("does not hold all of ", asked, " (datasource ", reservation.datasource, ")"),
      metadata);
}

absl::Status WorkUnsettled(const Reservation& reservation, const Pin& pin) {
  Metadata metadata = Naming(reservation);
  metadata["work"] = pin.work_id;
  metadata["link"] = pin.link;
  return Lost(reservation, "WORK_UNSETTLED",
              absl::StrCat("can't give back ", pin.interval.ToString(), ": work ", pin.work_id,
                           " there is not settled"),
              metadata);
}

absl::Status WorkPinnedElsewhere(absl::string_view work_id, absl::string_view reservation_id) {
  return WithReason(absl::FailedPreconditionError(
                        absl::StrCat("work ", work_id, " is pinned already, under reservation ",
                                     reservation_id, " or to another interval")),
                    "WORK_PINNED_ELSEWHERE",
                    {{"work", std::string(work_id)}, {"reservation", std::string(reservation_id)}});
}

absl::Status UnknownWork(absl::string_view work_id) {
  return WithReason(absl::NotFoundError(absl::StrCat("no work ", work_id, " is unsettled")),
                    "UNKNOWN_WORK", {{"work", std::string(work_id)}});
}

absl::Status ReasonRequired(absl::string_view what_for) {
  return WithReason(absl::InvalidArgumentError(
                        absl::StrCat("say why: ", what_for, " needs a reason, which is kept")),
                    "REASON_REQUIRED");
}

absl::Status NotTheHolder(const Reservation& reservation, absl::string_view identity) {
  return WithReason(
      absl::PermissionDeniedError(absl::StrCat("reservation ", reservation.id, " is held by ",
                                               reservation.holder, ", not by ", identity)),
      "NOT_THE_HOLDER", {{"reservation", reservation.id}, {"holder", reservation.holder}});
}

absl::Status LentAppend(const Reservation& reservation) {
  return Lost(reservation, "LENT_APPEND",
              "is an APPEND one, under which nothing may be replaced or dropped: reserve with "
              "mode REPLACE",
              Naming(reservation));
}

absl::Status RequestIdInvalid(size_t length) {
  absl::Status status = WithReason(
      absl::InvalidArgumentError("the request id is no id: 1 to 128 printable ASCII characters"),
      "REQUEST_ID_INVALID");
  AddFault(status, "/request_id",
           absl::StrCat("it has ", length, " bytes, or some that don't print"),
           "1 to 128 printable ASCII characters");
  return status;
}

absl::Status RevisionTooOld(int64_t asked, int64_t oldest) {
  return WithReason(
      absl::OutOfRangeError(absl::StrCat("what happened after revision ", asked,
                                         " is not known any more, only what did after ", oldest,
                                         ": list, then watch from the list's revision")),
      "REVISION_TOO_OLD", {{"asked", absl::StrCat(asked)}, {"oldest", absl::StrCat(oldest)}});
}

absl::Status WaitTakenOver(absl::string_view waiter_id) {
  return WithReason(absl::AbortedError(absl::StrCat("another call with this request id waits at ",
                                                    waiter_id, " now")),
                    "WAIT_TAKEN_OVER", {{"waiter", std::string(waiter_id)}});
}

absl::Status WaitEnded(absl::string_view waiter_id, const std::string& by, const std::string& why) {
  Metadata more = {{"waiter", std::string(waiter_id)}};
  if (!by.empty()) more["ended_by"] = by;
  if (!why.empty()) more["end_reason"] = why;
  return WithReason(
      absl::AbortedError(absl::StrCat("the place in line ", waiter_id,
                                      " is gone: ", by.empty() ? "an admin or another call" : by,
                                      " ended the wait", why.empty() ? "" : ": ", why)),
      "WAIT_ENDED", more);
}

absl::Status StillWaiting(const Reservation& waiter) {
  return WithReason(absl::FailedPreconditionError(absl::StrCat(
                        waiter.id, " is a place in line of ", waiter.holder,
                        ", and no lease yet: wait for the "
                        "answer of the call that took it, or release it to leave the line")),
                    "STILL_WAITING", {{"waiter", waiter.id}, {"holder", waiter.holder}});
}

absl::Status RevisionUnknown(int64_t asked, int64_t newest) {
  return WithReason(
      absl::OutOfRangeError(absl::StrCat("there is no revision ", asked, " yet, the newest is ",
                                         newest, ": watch from one that a list or watch told")),
      "REVISION_UNKNOWN", {{"asked", absl::StrCat(asked)}, {"newest", absl::StrCat(newest)}});
}

absl::Status BadPageToken(absl::string_view token) {
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat("'", token,
                                              "' is no page token of this list: "
                                              "take next_page_token of the page before, and "
                                              "leave all else as it was")),
      "BAD_PAGE_TOKEN");
}

}  // namespace interlock::lease
