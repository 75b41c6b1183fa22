#include <limits>
#include <utility>

#include "absl/strings/string_view.h"
#include "lib/audit/audit.h"
#include "lib/audit/block.h"
#include "lib/audit/event_json.h"
#include "lib/audit/rows.h"

namespace interlock::audit {
namespace {

// Rows of one look at the table.
constexpr int64_t kChunk = 500;
// Servers that share a database number events in an order that is that of their times
// only to within their clocks' spread.
constexpr absl::Duration kSpread = absl::Minutes(1);

constexpr char kNewest[] = "SELECT " INTERLOCK_AUDIT_COLUMNS
                           " FROM audit_event WHERE seq < :before ORDER BY seq DESC LIMIT :chunk";
constexpr char kNewestOfDatasource[] =
    "SELECT " INTERLOCK_AUDIT_COLUMNS
    " FROM audit_event WHERE datasource = :datasource AND seq < :before ORDER BY seq DESC"
    " LIMIT :chunk";
constexpr char kOldest[] = "SELECT " INTERLOCK_AUDIT_COLUMNS
                           " FROM audit_event WHERE seq > :after ORDER BY seq LIMIT :chunk";
constexpr char kOldestOfDatasource[] =
    "SELECT " INTERLOCK_AUDIT_COLUMNS
    " FROM audit_event WHERE datasource = :datasource AND seq > :after ORDER BY seq LIMIT :chunk";

bool Fits(const std::string& wanted, const std::string& found) {
  return wanted.empty() || wanted == found;
}

// `pattern` with `*` for any characters. Goes back to the last star alone, which is enough.
bool FitsPattern(absl::string_view pattern, absl::string_view text) {
  if (pattern.empty()) return true;
  size_t p = 0, t = 0, star = absl::string_view::npos, after = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != absl::string_view::npos) {
      p = star + 1;
      t = ++after;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool FitsTime(const Filter& filter, Instant at) {
  return (!filter.since || at >= *filter.since) && (!filter.until || at < *filter.until);
}

bool Overlaps(const std::optional<Interval>& wanted, const RecordedEvent& recorded) {
  if (!wanted) return true;
  for (const std::string& text : recorded.intervals) {
    const auto interval = Interval::Parse(text);
    if (interval.ok() && interval->Overlaps(*wanted)) return true;
  }
  return false;
}

bool Matches(const Filter& filter, RecordedEvent& recorded) {
  const Event& event = recorded.event;
  const bool fits = Fits(filter.datasource, event.datasource) &&
                    Fits(filter.subject, event.subject) &&
                    Fits(filter.identity, event.caller.identity) &&
                    Fits(filter.request_id, event.caller.request_id) &&
                    Fits(filter.resource_type, event.resource_type) &&
                    FitsPattern(filter.method, event.method) && FitsTime(filter, recorded.at);
  if (!fits) return false;
  ReadDetails(recorded);
  return Overlaps(filter.overlapping, recorded);
}

// Nothing after `recorded` in the order of the page can match any more.
bool IsPast(const Filter& filter, const Page& page, const RecordedEvent& recorded) {
  return page.oldest_first ? filter.until && recorded.at >= *filter.until + kSpread
                           : filter.since && recorded.at < *filter.since - kSpread;
}

absl::StatusOr<store::Rows> Chunk(store::Transaction& tx, const Filter& filter, const Page& page,
                                  int64_t place) {
  if (filter.datasource.empty()) {
    return page.oldest_first ? tx.Query(kOldest, {place, kChunk})
                             : tx.Query(kNewest, {place, kChunk});
  }
  return page.oldest_first ? tx.Query(kOldestOfDatasource, {filter.datasource, place, kChunk})
                           : tx.Query(kNewestOfDatasource, {filter.datasource, place, kChunk});
}

absl::Status Collect(store::Transaction& tx, const Filter& filter, const Page& page,
                     Events& found) {
  int64_t place = page.before_sequence;
  if (place <= 0) place = page.oldest_first ? 0 : std::numeric_limits<int64_t>::max();
  for (int64_t looked = 0; looked < kMostLooked; looked += kChunk) {
    absl::StatusOr<store::Rows> rows = Chunk(tx, filter, page, place);
    if (!rows.ok()) return rows.status();
    for (const store::Row& row : *rows) {
      RecordedEvent recorded = EventFrom(row);
      if (IsPast(filter, page, recorded)) return absl::OkStatus();
      place = recorded.sequence;
      if (Matches(filter, recorded)) found.events.push_back(std::move(recorded));
      if (static_cast<int64_t>(found.events.size()) >= page.size) {
        found.next = place;
        return absl::OkStatus();
      }
    }
    if (static_cast<int64_t>(rows->size()) < kChunk) return absl::OkStatus();
  }
  found.next = place;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Events> List(store::Transaction& tx, const Filter& filter, const Page& page) {
  Events found;
  absl::Status status = Collect(tx, filter, page, found);
  if (status.ok()) status = FillPlaces(tx, found.events);
  if (!status.ok()) return status;
  return found;
}

}  // namespace interlock::audit
