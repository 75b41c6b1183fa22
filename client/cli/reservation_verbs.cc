#include "client/cli/verb_tables.h"
#include "client/cli/views.h"

namespace interlock::cli {
namespace {

const Flag kToken = {.name = "fencing-token",
                     .value = "N",
                     .help = "its token (wanted)",
                     .field = "fencing_token",
                     .wanted = true};

}  // namespace

std::vector<Verb> ReservationVerbs() {
  Flag states{"state", "STATE", "active, orphaned, waiting, expired …; may be repeated", "states"};
  states.many = true;
  Flag parts{"interval", "INTERVAL", "only this part; may be repeated", "intervals"};
  parts.many = true;
  return {
      {.words = "reservations list",
       .summary = "leases, waiters and what else refuses",
       .positionals = {{"[DATASOURCE]", "datasource"}},
       .flags = {IntervalFlag(),
                 {"holder", "NAME", "of this holder", "holder"},
                 states,
                 LimitFlag(),
                 PageFlag()},
       .method = "Reservations.ListReservations",
       .view = {ReservationRows("reservations"), BlockerRows("others")}},
      {.words = "reservations get",
       .summary = "one lease, living or over",
       .positionals = {{"ID", "reservation_id"}},
       .method = "Reservations.GetReservation",
       .view = {{"reservation"}}},
      {.words = "reservations renew",
       .summary = "move a lease's deadline",
       .positionals = {{"ID", "reservation_id"}},
       .flags = {kToken, {"ttl", "TIME", "from now; the length it was granted with", "ttl"}},
       .method = "Reservations.RenewReservation",
       .view = {{"reservation"}}},
      {.words = "reservations release",
       .summary = "give a lease back, or a part of it",
       .positionals = {{"ID", "reservation_id"}},
       .flags = {kToken, parts},
       .method = "Reservations.ReleaseReservation",
       .view = {{"reservation"}}},
      {.words = "reservations force-release",
       .summary = "take a lease from its holder (for admins)",
       .positionals = {{"ID", "reservation_id"}},
       .flags = {ReasonFlag("why; kept in the audit log (wanted)"), RequestIdFlag()},
       .method = "Reservations.ForceReleaseReservation",
       .view = {{"reservation"}}},
      {.words = "reservations watch",
       .summary = "grants, renewals, releases and expiries as they happen",
       .positionals = {{"[DATASOURCE]", "datasource"}},
       .flags = {IntervalFlag(), {"from-revision", "N", "after this revision", "from_revision"}},
       .method = "Reservations.WatchReservations",
       .run = RunWatchReservations,
       .details =
           "A line for each, until it is interrupted or --timeout has passed. Goes on by itself\n"
           "where the server restarts; of one datasource without a gap."},
  };
}

}  // namespace interlock::cli
