// `reservations watch`: what happens to leases, as it happens, past a server's restart.
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"
#include "client/cli/field_text.h"
#include "client/cli/patience.h"
#include "client/cli/print.h"
#include "client/cli/session.h"
#include "client/cli/verb_tables.h"
#include "interlock/v1/reservations.pb.h"
#include "lib/time/status_reason.h"

namespace interlock::cli {
namespace {

using Change = v1::WatchReservationsResponse;

std::string ChangeLine(const Change& change, bool with_datasource) {
  const v1::Reservation& lease = change.reservation();
  std::string line = absl::StrCat(FieldText(change, "event_time"), "  ",
                                  Change::Event_Name(change.event()), "  ", lease.reservation_id());
  if (with_datasource) absl::StrAppend(&line, "  ", lease.datasource());
  absl::StrAppend(&line, "  ", FieldText(lease, "intervals"), "  ", FieldText(lease, "mode"), "  ",
                  lease.holder());
  if (!lease.purpose().empty()) absl::StrAppend(&line, " (", lease.purpose(), ")");
  if (change.event() == Change::GRANTED || change.event() == Change::RENEWED) {
    absl::StrAppend(&line, "  until ", FieldText(lease, "expire_time"));
  }
  return line;
}

bool IsFinal(Change::Event event) {
  return event == Change::RELEASED || event == Change::EXPIRED || event == Change::FORCED ||
         event == Change::SETTLED || event == Change::GAVE_UP;
}

// A watch that begins anew tells again what is live: said before is not said twice.
class Told {
 public:
  bool Before(const Change& change) {
    const v1::Reservation& lease = change.reservation();
    const auto [at, is_new] = revisions_.try_emplace(lease.reservation_id(), lease.revision());
    if (!is_new && lease.revision() != 0 && lease.revision() <= at->second) return true;
    at->second = lease.revision();
    // What is over is not told again; a part that was given back leaves the rest alive.
    if (IsFinal(change.event()) && lease.state() != v1::Reservation::ACTIVE) revisions_.erase(at);
    return false;
  }

 private:
  std::map<std::string, int64_t> revisions_;
};

}  // namespace

absl::StatusOr<int> RunWatchReservations(Session& session) {
  v1::WatchReservationsRequest request;
  if (absl::Status status = session.Fill(request); !status.ok()) return status;
  const bool resumes = !request.datasource().empty();
  Patience patience(session);
  Told told;
  while (true) {
    Change change;
    const absl::Status ended = session.calls.Watch(
        "Reservations.WatchReservations", request, change, patience.left(), [&] {
          patience.Reached();
          if (resumes && change.revision() > 0) request.set_from_revision(change.revision());
          // Without an event it is a sign of life.
          if (change.event() == Change::EVENT_UNSPECIFIED || told.Before(change)) return true;
          session.PrintLine(session.output == Output::kTable ? ChangeLine(change, !resumes)
                                                             : JsonText(change));
          return true;
        });
    if (patience.left() <= absl::ZeroDuration()) return kDone;  // as long as --timeout asked for
    if (ReasonOf(ended) == "REVISION_TOO_OLD" && request.from_revision() != 0) {
      session.Tell("note: what happened meanwhile is no longer kept; going on from what is live");
      request.set_from_revision(0);
      continue;
    }
    const absl::Status again = ended.ok() ? patience.Pause() : patience.Again(ended);
    if (!again.ok()) return again;
  }
}

}  // namespace interlock::cli
