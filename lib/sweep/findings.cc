#include "lib/sweep/findings.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lib/time/status_reason.h"

namespace interlock::sweep {
namespace {

#define FINDING_COLUMNS                                                                    \
  "number, datasource, kind, verdict, start_ms, end_ms, subject, reason, message, remedy," \
  " segments, score_permille, digest, is_open, opened_ms, seen_ms, closed_ms"

// Rows of one look at the table, for a list that filters.
constexpr int64_t kChunk = 500;
// Rows that one call looks at.
constexpr int64_t kMostLooked = 20'000;

constexpr char kCounted[] = "MORE_THAN_EXPECTED";

Finding FromRow(const store::Row& row) {
  Finding finding;
  finding.number = row.Int(0);
  finding.datasource = row.Text(1);
  Observed& observed = finding.observed;
  observed.kind = row.Text(2);
  observed.verdict = row.Text(3);
  observed.interval = Interval::Between(row.At(4), row.At(5));
  observed.subject = row.Text(6);
  observed.reason = row.Text(7);
  observed.message = row.Text(8);
  observed.remedy = row.Text(9);
  observed.segments = absl::StrSplit(row.Text(10), '\n', absl::SkipEmpty());
  observed.score = static_cast<double>(row.Int(11)) / 1000;
  observed.digest = row.Text(12);
  finding.open = row.Flag(13);
  finding.opened = row.At(14);
  finding.seen = row.At(15);
  finding.closed = row.MaybeAt(16);
  return finding;
}

std::vector<Finding> FromRows(const store::Rows& rows) {
  std::vector<Finding> findings;
  findings.reserve(rows.size());
  for (const store::Row& row : rows) findings.push_back(FromRow(row));
  return findings;
}

std::string Kept(const std::vector<std::string>& segments) {
  const size_t count = std::min(segments.size(), kMaxSegmentsKept);
  return absl::StrJoin(segments.begin(), segments.begin() + static_cast<ptrdiff_t>(count), "\n");
}

int64_t Permille(double score) { return std::llround(score * 1000); }

absl::StatusOr<std::vector<Finding>> OpenWithin(store::Transaction& tx, const Scope& scope) {
  auto rows =
      tx.Query("SELECT " FINDING_COLUMNS
               " FROM sweep_finding WHERE datasource = :datasource AND kind = :kind"
               " AND is_open = 1 AND start_ms >= :start AND end_ms <= :end",
               {scope.datasource, scope.kind, scope.looked_at.start(), scope.looked_at.end()});
  if (!rows.ok()) return rows.status();
  return FromRows(*rows);
}

absl::StatusOr<std::vector<Finding>> OpenAround(store::Transaction& tx, const Scope& scope,
                                                const Observed& observed) {
  auto rows = tx.Query("SELECT " FINDING_COLUMNS
                       " FROM sweep_finding WHERE datasource = :datasource AND kind = :kind"
                       " AND is_open = 1 AND verdict = :verdict AND subject = :subject"
                       " AND start_ms < :end AND end_ms > :start",
                       {scope.datasource, scope.kind, observed.verdict, observed.subject,
                        observed.interval.end(), observed.interval.start()});
  if (!rows.ok()) return rows.status();
  return FromRows(*rows);
}

// One fault that was cut otherwise: of the same segments, or both of none by name.
bool IsTheSame(const Observed& one, const Observed& other) {
  if (one.reason == kCounted || other.reason == kCounted) return false;
  if (one.segments.empty() && other.segments.empty()) return one.reason == other.reason;
  return std::any_of(one.segments.begin(), one.segments.end(), [&](const std::string& id) {
    return std::find(other.segments.begin(), other.segments.end(), id) != other.segments.end();
  });
}

auto NameOf(const Observed& one) { return std::tie(one.verdict, one.interval, one.subject); }

bool MayClose(const Scope& scope, const Finding& finding) {
  const Observed& observed = finding.observed;
  for (const Interval& untold : scope.untold) {
    if (untold.Overlaps(observed.interval)) return false;
  }
  if (observed.reason != kCounted || scope.compared.count(observed.interval) != 0) return true;
  return scope.digest_of && scope.digest_of(observed.interval) != observed.digest;
}

absl::StatusOr<Finding> Find(store::Transaction& tx, const std::string& datasource,
                             const Observed& observed) {
  auto rows = tx.Query("SELECT " FINDING_COLUMNS
                       " FROM sweep_finding WHERE datasource = :datasource AND kind = :kind AND"
                       " verdict = :verdict AND start_ms = :start AND end_ms = :end AND"
                       " subject = :subject AND is_open = 1",
                       {datasource, observed.kind, observed.verdict, observed.interval.start(),
                        observed.interval.end(), observed.subject});
  if (!rows.ok()) return rows.status();
  return rows->empty() ? Finding() : FromRow(rows->front());
}

struct Place {
  int64_t open = 1;
  int64_t before = 0;  // number; 0 from the newest
};

absl::StatusOr<Place> ParsePlace(const std::string& token) {
  Place place;
  if (token.empty()) return place;
  const std::vector<absl::string_view> parts = absl::StrSplit(token, '.');
  if (parts.size() == 2 && absl::SimpleAtoi(parts[0], &place.open) &&
      absl::SimpleAtoi(parts[1], &place.before) && (place.open == 0 || place.open == 1)) {
    return place;
  }
  return WithReason(absl::InvalidArgumentError(absl::StrCat(
                        "page_token: '", token, "' is none of this list's; start without one")),
                    "BAD_PAGE_TOKEN", {});
}

bool Matches(const Filter& filter, const Finding& finding) {
  const Observed& observed = finding.observed;
  if (filter.overlapping && !observed.interval.Overlaps(*filter.overlapping)) return false;
  if (filter.seen_since && finding.seen < *filter.seen_since) return false;
  return filter.kinds.empty() ||
         std::find(filter.kinds.begin(), filter.kinds.end(), observed.kind) != filter.kinds.end();
}

absl::StatusOr<store::Rows> Chunk(store::Transaction& tx, const Filter& filter,
                                  const Place& place) {
  const int64_t before = place.before == 0 ? INT64_MAX : place.before;
  if (filter.datasource.empty()) {
    return tx.Query("SELECT " FINDING_COLUMNS
                    " FROM sweep_finding WHERE is_open = :open AND number < :before"
                    " ORDER BY number DESC LIMIT :most",
                    {place.open, before, kChunk});
  }
  return tx.Query("SELECT " FINDING_COLUMNS
                  " FROM sweep_finding WHERE is_open = :open AND number < :before"
                  " AND datasource = :datasource ORDER BY number DESC LIMIT :most",
                  {place.open, before, filter.datasource, kChunk});
}

}  // namespace

std::string Finding::id() const { return absl::StrCat("f-", number); }

absl::StatusOr<bool> Open(store::Transaction& tx, const std::string& datasource,
                          const Observed& observed) {
  auto known = Find(tx, datasource, observed);
  if (!known.ok()) return known.status();
  if (known->number != 0) {
    auto updated = tx.Execute(
        "UPDATE sweep_finding SET reason = :reason, message = :message, remedy = :remedy,"
        " segments = :segments, score_permille = :score, digest = :digest, seen_ms = :now"
        " WHERE number = :number",
        {observed.reason, observed.message, observed.remedy, Kept(observed.segments),
         Permille(observed.score), observed.digest, tx.now(), known->number});
    if (!updated.ok()) return updated.status();
    return false;
  }
  auto inserted = tx.Execute(
      "INSERT INTO sweep_finding (datasource, kind, verdict, start_ms, end_ms, subject, reason,"
      " message, remedy, segments, score_permille, digest, is_open, opened_ms, seen_ms)"
      " VALUES (:datasource, :kind, :verdict, :start, :end, :subject, :reason, :message,"
      " :remedy, :segments, :score, :digest, 1, :opened, :seen)",
      {datasource, observed.kind, observed.verdict, observed.interval.start(),
       observed.interval.end(), observed.subject, observed.reason, observed.message,
       observed.remedy, Kept(observed.segments), Permille(observed.score), observed.digest,
       tx.now(), tx.now()});
  if (!inserted.ok()) return inserted.status();
  return true;
}

absl::Status Close(store::Transaction& tx, int64_t number) {
  return tx
      .Execute(
          "UPDATE sweep_finding SET is_open = 0, closed_ms = :now, seen_ms = :now"
          " WHERE number = :number AND is_open = 1",
          {tx.now(), tx.now(), number})
      .status();
}

absl::Status CloseAbout(store::Transaction& tx, const std::string& kind,
                        const std::string& subject) {
  return tx
      .Execute(
          "UPDATE sweep_finding SET is_open = 0, closed_ms = :now, seen_ms = :seen"
          " WHERE kind = :kind AND subject = :subject AND is_open = 1",
          {tx.now(), tx.now(), kind, subject})
      .status();
}

namespace {

// Numbers of the open findings that are this one, by its name or cut otherwise; empty where it
// is a new one.
absl::StatusOr<std::set<int64_t>> KnownAs(store::Transaction& tx, const Scope& scope,
                                          const Observed& observed) {
  auto around = OpenAround(tx, scope, observed);
  if (!around.ok()) return around.status();
  std::set<int64_t> known;
  for (const Finding& finding : *around) {
    if (NameOf(finding.observed) == NameOf(observed)) return std::set<int64_t>{finding.number};
    if (IsTheSame(finding.observed, observed)) known.insert(finding.number);
  }
  return known;
}

absl::Status SeeAgain(store::Transaction& tx, const std::set<int64_t>& numbers) {
  for (const int64_t number : numbers) {
    auto seen = tx.Execute("UPDATE sweep_finding SET seen_ms = :now WHERE number = :number",
                           {tx.now(), number});
    if (!seen.ok()) return seen.status();
  }
  return absl::OkStatus();
}

// Opens it, or sees again what is open of it; `again` are those that may not be closed.
absl::Status RecordOne(store::Transaction& tx, const Scope& scope, const Observed& observed,
                       std::set<int64_t>* again, Recorded* recorded) {
  auto known = KnownAs(tx, scope, observed);
  if (!known.ok()) return known.status();
  auto by_name = Find(tx, scope.datasource, observed);
  if (!by_name.ok()) return by_name.status();
  again->insert(known->begin(), known->end());
  if (!known->empty() && by_name->number == 0) return SeeAgain(tx, *known);
  auto fresh = Open(tx, scope.datasource, observed);
  if (!fresh.ok() || !*fresh) return fresh.status();
  auto finding = Find(tx, scope.datasource, observed);
  if (!finding.ok()) return finding.status();
  recorded->opened.push_back(*std::move(finding));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Recorded> Record(store::Transaction& tx, const Scope& scope,
                                const std::vector<Observed>& observed) {
  auto open = OpenWithin(tx, scope);
  if (!open.ok()) return open.status();
  Recorded recorded;
  std::set<int64_t> again;
  for (const Observed& one : observed) {
    absl::Status status = RecordOne(tx, scope, one, &again, &recorded);
    if (!status.ok()) return status;
  }
  for (Finding& finding : *open) {
    if (again.count(finding.number) != 0 || !MayClose(scope, finding)) continue;
    if (auto status = Close(tx, finding.number); !status.ok()) return status;
    recorded.closed.push_back(std::move(finding));
  }
  return recorded;
}

absl::StatusOr<Listed> List(store::Transaction& tx, const Filter& filter, int64_t size,
                            const std::string& token) {
  auto place = ParsePlace(token);
  if (!place.ok()) return place.status();
  Listed listed;
  int64_t looked = 0;
  while (true) {
    const bool wanted = place->open == 1 ? filter.open : filter.closed;
    auto rows = wanted ? Chunk(tx, filter, *place) : absl::StatusOr<store::Rows>(store::Rows());
    if (!rows.ok()) return rows.status();
    for (Finding& finding : FromRows(*rows)) {
      place->before = finding.number;
      if (Matches(filter, finding)) listed.findings.push_back(std::move(finding));
      if (static_cast<int64_t>(listed.findings.size()) < size) continue;
      listed.next = absl::StrCat(place->open, ".", place->before);
      return listed;
    }
    looked += static_cast<int64_t>(rows->size());
    if (static_cast<int64_t>(rows->size()) < kChunk) {
      if (place->open == 0) return listed;
      *place = {0, 0};
    } else if (looked >= kMostLooked) {
      listed.next = absl::StrCat(place->open, ".", place->before);
      return listed;
    }
  }
}

absl::StatusOr<std::vector<Finding>> SeenBefore(store::Transaction& tx,
                                                const std::string& datasource, Instant before,
                                                int64_t most) {
  auto rows = tx.Query("SELECT " FINDING_COLUMNS
                       " FROM sweep_finding WHERE datasource = :datasource AND is_open = 1 AND"
                       " seen_ms < :before ORDER BY seen_ms LIMIT :most",
                       {datasource, before, most});
  if (!rows.ok()) return rows.status();
  return FromRows(*rows);
}

absl::StatusOr<std::vector<Count>> CountOpen(store::Transaction& tx) {
  auto rows = tx.Query(
      "SELECT datasource, CASE WHEN verdict = '' THEN kind ELSE verdict END, COUNT(*),"
      " MIN(opened_ms) FROM sweep_finding WHERE is_open = 1 GROUP BY 1, 2",
      {});
  if (!rows.ok()) return rows.status();
  std::vector<Count> counts;
  for (const store::Row& row : *rows) {
    counts.push_back({row.Text(0), row.Text(1), row.Int(2), row.At(3)});
  }
  return counts;
}

}  // namespace interlock::sweep
