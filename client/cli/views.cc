#include "client/cli/views.h"

#include <utility>

namespace interlock::cli {

Section ReservationRows(const char* list) {
  return {list,
          {{"ID", "reservation_id"},
           {"DATASOURCE", "datasource"},
           {"INTERVALS", "intervals"},
           {"MODE", "mode"},
           {"STATE", "state"},
           {"PLACE", "queue_position"},
           {"HOLDER", "holder"},
           {"PURPOSE", "purpose"},
           {"SINCE", "create_time"},
           {"EXPIRES", "expire_time"},
           {"LEFT", "remaining"},
           {"TOKEN", "fencing_token"},
           {"TASKS", "live_task_ids"}}};
}

Section BlockerRows(const char* list) {
  return {list,
          {{"IN THE WAY", "kind"},
           {"INTERVAL", "interval"},
           {"HOLDER", "holder"},
           {"PURPOSE", "purpose"},
           {"SINCE", "since_time"},
           {"UNTIL", "until_time"},
           {"STOPS IT", "blocking"},
           {"MESSAGE", "message"},
           {"WHAT WOULD DO", "remedy"}}};
}

Section BackfillRows(const char* list) {
  return {list,
          {{"ID", "backfill_id"},
           {"DATASOURCE", "datasource"},
           {"INTERVALS", "intervals"},
           {"STATE", "state"},
           {"REASON", "reason"},
           {"JOB", "job"},
           {"BY", "requested_by"},
           {"CREATED", "create_time"},
           {"ENDED", "end_time"},
           {"MESSAGE", "message"}}};
}

Section PartitionRows(const char* list) {
  return {list,
          {{"PARTITION", "partition"},
           {"STATE", "state"},
           {"REASON", "reason"},
           {"TRIES", "attempt_count"},
           {"TASK", "task_id"},
           {"LEVEL", "proof.level"},
           {"ROWS", "proof.rows"},
           {"IN THE WAY", "blockers"},
           {"FOUND", "verdicts"},
           {"MESSAGE", "message"},
           {"WHAT WOULD DO", "verdicts.remedy"}}};
}

Section DropRows(const char* list) {
  return {list,
          {{"ID", "drop_id"},
           {"DATASOURCE", "datasource"},
           {"INTERVALS", "intervals"},
           {"STATE", "state"},
           {"REASON", "reason"},
           {"SEGMENTS", "manifest.segment_count"},
           {"BYTES", "manifest.size_bytes"},
           {"WINDOW ENDS", "window_end_time"},
           {"BY", "requested_by"},
           {"WHY", "request_reason"},
           {"MESSAGE", "message"}}};
}

Section VerdictRows(const char* list) {
  return {list,
          {{"PARTITION", "partition"},
           {"GOOD", "good"},
           {"VERDICTS", "verdicts"},
           {"VERSIONS", "versions"},
           {"LOADED", "versions.loaded_count"},
           {"OF", "versions.segment_count"},
           {"ROWS", "rows"},
           {"WHAT WOULD DO", "verdicts.remedy"}}};
}

Flag RequestIdFlag() {
  return {"request-id", "ID", "makes the call safe to repeat: the same id, the same answer",
          "request_id"};
}

Flag ReasonFlag(const char* help) { return {"reason", "TEXT", help, "reason"}; }

Flag DryRunFlag() {
  return {"dry-run", nullptr, "say what would happen, and change nothing", "validate_only"};
}

Flag LabelFlag() {
  Flag flag{"label", "KEY=VALUE", "a label of your own; may be repeated", "labels"};
  flag.many = true;
  return flag;
}

Flag IntervalFlag() { return {"interval", "INTERVAL", "only what overlaps it", "interval"}; }
Flag LimitFlag() { return {"limit", "N", "at most so many", "page_size"}; }
Flag PageFlag() { return {"page-token", "TOKEN", "the page after it", "page_token"}; }

std::vector<Flag> LeaseFlags() {
  Flag reservation{"reservation", "ID", "act under this reservation", "reservation_id"};
  reservation.variable = "INTERLOCK_RESERVATION";
  Flag token{"fencing-token", "N", "that reservation's token", "fencing_token"};
  token.variable = "INTERLOCK_FENCING_TOKEN";
  return {reservation, token};
}

std::vector<Flag> Joined(std::vector<Flag> a, const std::vector<Flag>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace interlock::cli
