#include "lib/backfill/state_events.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"

namespace interlock::backfill {
namespace {

audit::Event OwnEvent(const std::string& method, const std::string& datasource,
                      const std::string& backfill_id) {
  audit::Event event;
  event.caller.identity = "interlock";
  event.method = method;
  event.datasource = datasource;
  event.subject = backfill_id;
  event.resource_type = "backfill";
  return event;
}

}  // namespace

absl::Status RecordUnitMoved(store::Transaction& tx, const std::string& datasource, State before,
                             const StoredUnit& after) {
  if (before == after.state) return absl::OkStatus();
  audit::Event event =
      OwnEvent(absl::StrCat("unit.", NameOf(after.state)), datasource, after.backfill_id);
  std::vector<std::string> intervals;
  for (const Interval& interval : after.unit.intervals) intervals.push_back(interval.ToString());
  event.before =
      audit::JsonObject().Number("unit", after.number).Text("state", NameOf(before)).ToString();
  audit::JsonObject json;
  json.Number("unit", after.number)
      .Text("state", NameOf(after.state))
      .Texts("intervals", intervals)
      .Number("attempts", after.attempts)
      .Text("task", after.task_id);
  if (!after.reason.empty()) json.Text("reason", after.reason);
  if (!after.message.empty()) json.Text("message", after.message);
  if (after.rows) json.Number("rows", *after.rows);
  event.after = json.ToString();
  return audit::Record(tx, event);
}

absl::Status RecordPhaseMoved(store::Transaction& tx, Phase before, const Backfill& after) {
  if (before == after.phase) return absl::OkStatus();
  audit::Event event =
      OwnEvent(absl::StrCat("backfill.", NameOf(after.phase)), after.datasource, after.id);
  event.before = audit::JsonObject().Text("state", NameOf(before)).ToString();
  event.after = audit::JsonObject()
                    .Text("state", NameOf(after.phase))
                    .Text("reason", after.reason)
                    .Text("message", after.message)
                    .ToString();
  return audit::Record(tx, event);
}

}  // namespace interlock::backfill
