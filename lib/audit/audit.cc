#include "lib/audit/audit.h"

#include <algorithm>
#include <limits>

namespace interlock::audit {
namespace {

// Rows of one look at the table.
constexpr int64_t kChunk = 500;
// Servers that share a database number events in an order that is that of their times
// only to within their clocks' spread.
constexpr absl::Duration kSpread = absl::Minutes(1);

constexpr char kSelectAll[] =
    "SELECT seq, at_ms, identity, request_id, reason, method, datasource, subject, result,"
    " before_json, after_json FROM audit_event WHERE seq < :before ORDER BY seq DESC LIMIT :chunk";
constexpr char kSelectOfDatasource[] =
    "SELECT seq, at_ms, identity, request_id, reason, method, datasource, subject, result,"
    " before_json, after_json FROM audit_event WHERE datasource = :datasource AND seq < :before"
    " ORDER BY seq DESC LIMIT :chunk";

RecordedEvent FromRow(const store::Row& row) {
  RecordedEvent recorded;
  recorded.sequence = row.Int(0);
  recorded.at = row.At(1);
  recorded.event.caller = {row.Text(2), row.Text(3), row.Text(4)};
  recorded.event.method = row.Text(5);
  recorded.event.datasource = row.Text(6);
  recorded.event.subject = row.Text(7);
  recorded.event.result = row.Text(8);
  recorded.event.before = row.Text(9);
  recorded.event.after = row.Text(10);
  return recorded;
}

bool Fits(const std::string& wanted, const std::string& found) {
  return wanted.empty() || wanted == found;
}

bool Matches(const Filter& filter, const RecordedEvent& recorded) {
  const Event& event = recorded.event;
  return Fits(filter.datasource, event.datasource) && Fits(filter.subject, event.subject) &&
         Fits(filter.identity, event.caller.identity) && Fits(filter.method, event.method) &&
         (!filter.since || recorded.at >= *filter.since) &&
         (!filter.until || recorded.at < *filter.until);
}

absl::StatusOr<store::Rows> Chunk(store::Transaction& tx, const Filter& filter, int64_t before) {
  if (filter.datasource.empty()) return tx.Query(kSelectAll, {before, kChunk});
  return tx.Query(kSelectOfDatasource, {filter.datasource, before, kChunk});
}

}  // namespace

store::Schema AuditSchema() {
  return {"audit",
          {{
              "CREATE TABLE audit_event (seq {{serial}}, at_ms BIGINT NOT NULL,"
              " identity TEXT NOT NULL, request_id TEXT NOT NULL, reason TEXT NOT NULL,"
              " method TEXT NOT NULL, datasource TEXT NOT NULL, subject TEXT NOT NULL,"
              " result TEXT NOT NULL, before_json TEXT NOT NULL, after_json TEXT NOT NULL)",
              "CREATE INDEX audit_event_by_datasource ON audit_event (datasource, seq)",
          }},
          {}};
}

absl::Status Record(store::Transaction& tx, const Event& event) {
  return tx
      .Execute(
          "INSERT INTO audit_event (at_ms, identity, request_id, reason, method, datasource,"
          " subject, result, before_json, after_json) VALUES (:at, :identity, :request_id,"
          " :reason, :method, :datasource, :subject, :result, :before, :after)",
          {tx.now(), event.caller.identity, event.caller.request_id, event.caller.reason,
           event.method, event.datasource, event.subject, event.result, event.before, event.after})
      .status();
}

absl::StatusOr<Events> List(store::Transaction& tx, const Filter& filter, const Page& page) {
  Events found;
  int64_t before =
      page.before_sequence > 0 ? page.before_sequence : std::numeric_limits<int64_t>::max();
  for (int64_t looked = 0; looked < kMostLooked; looked += kChunk) {
    absl::StatusOr<store::Rows> rows = Chunk(tx, filter, before);
    if (!rows.ok()) return rows.status();
    for (const store::Row& row : *rows) {
      RecordedEvent recorded = FromRow(row);
      if (filter.since && recorded.at < *filter.since - kSpread) return found;
      before = recorded.sequence;
      if (Matches(filter, recorded)) found.events.push_back(std::move(recorded));
      if (static_cast<int64_t>(found.events.size()) >= page.size) {
        found.next = before;
        return found;
      }
    }
    if (static_cast<int64_t>(rows->size()) < kChunk) return found;
  }
  found.next = before;
  return found;
}

}  // namespace interlock::audit
