#include "lib/audit/audit.h"

#include <string>
#include <utility>

#include "lib/audit/rows.h"

namespace interlock::audit {
namespace {

// What a method acts on, where its event does not say: by a part of its name.
std::string ResourceTypeOf(const Event& event) {
  static const std::pair<const char*, const char*> kParts[] = {
      {"Reservation", "reservation"},
      {"ReserveInterval", "reservation"},
      {"ReleaseIntervals", "reservation"},
      {"AbandonWork", "reservation"},
      {"RetentionPolicy", "retention_policy"},
      {"worker.retention", "retention_policy"},
      {"Backfill", "backfill"},
      {"AcceptPartitions", "backfill"},
      {"AbandonAttempt", "backfill"},
      {"Drop", "drop"},
      {"drop", "drop"},
      {"ApproveKill", "drop"},
      {"ExtendWindow", "drop"},
      {"Job", "job"},
      {"Stream", "stream"}};
  if (!event.resource_type.empty()) return event.resource_type;
  for (const auto& [part, type] : kParts) {
    if (event.method.find(part) != std::string::npos) return type;
  }
  return "";
}

}  // namespace

absl::Status Record(store::Transaction& tx, const Event& event) {
  return tx
      .Execute(
          "INSERT INTO audit_event (at_ms, identity, request_id, reason, method, datasource,"
          " subject, result, before_json, after_json, resource_type, peer) VALUES (:at, :identity,"
          " :request_id, :reason, :method, :datasource, :subject, :result, :before, :after,"
          " :resource_type, :peer)",
          {tx.now(), event.caller.identity, event.caller.request_id, event.caller.reason,
           event.method, event.datasource, event.subject, event.result, event.before, event.after,
           ResourceTypeOf(event), event.caller.peer})
      .status();
}

RecordedEvent EventFrom(const store::Row& row) {
  RecordedEvent recorded;
  recorded.sequence = row.Int(0);
  recorded.at = row.At(1);
  recorded.event.caller = {row.Text(2), row.Text(3), row.Text(4), row.Text(12)};
  recorded.event.method = row.Text(5);
  recorded.event.datasource = row.Text(6);
  recorded.event.subject = row.Text(7);
  recorded.event.result = row.Text(8);
  recorded.event.before = row.Text(9);
  recorded.event.after = row.Text(10);
  recorded.event.resource_type = row.Text(11);
  return recorded;
}

}  // namespace interlock::audit
