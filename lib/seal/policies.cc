#include "lib/seal/policies.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/seal/figures_json.h"
#include "lib/seal/rows.h"
#include "lib/seal/seal_errors.h"
#include "lib/seal/snapshot_query.h"
#include "lib/time/granularity.h"
#include "lib/time/interval_set.h"
#include "lib/time/period.h"

namespace interlock::seal {
namespace {

constexpr size_t kLongestName = 128;
// Units looked at in one pass: a century of days.
constexpr int64_t kMostLooked = 40'000;

std::string ZoneOf(const SealPolicy& policy) {
  return policy.time_zone.empty() ? "UTC" : policy.time_zone;
}

absl::StatusOr<Granularity> UnitsOf(const SealPolicy& policy) {
  auto period = Period::Parse(policy.unit);
  if (!period.ok()) return period.status();
  return Granularity::OfPeriod(*period, ZoneOf(policy), std::nullopt);
}

// Shorter units would be seals by the thousand a day; longer ones and older ages are slips of
// the pen that would seal nothing in anybody's time.
constexpr absl::Duration kShortestUnit = absl::Hours(1);
constexpr int kLongestUnitYears = 10;
constexpr int kOldestAgeYears = 100;

// Measured by a calendar, from a day that is as good as any.
constexpr Instant kAnyDay = Instant::FromMillis(946'684'800'000);  // 2000-01-01

Instant YearsOn(int years) { return Period::Years(years).AddTo(kAnyDay, absl::UTCTimeZone(), 1); }

bool IsUnit(const Granularity& units) {
  if (units.is_all() || units.is_none()) return false;
  const Interval unit = units.Bucket(kAnyDay);
  return unit.end() - unit.start() >= kShortestUnit &&
         unit.end() - unit.start() <= YearsOn(kLongestUnitYears) - kAnyDay;
}

bool IsAge(const Period& age) {
  const Instant old_enough = age.AddTo(kAnyDay, absl::UTCTimeZone(), 1);
  return old_enough >= kAnyDay && old_enough <= YearsOn(kOldestAgeYears);
}

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

// `pattern` with `*` for any characters.
bool Fits(const std::string& pattern, const std::string& text) {
  size_t p = 0, t = 0, star = std::string::npos, after = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++after;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string::npos;
}

SealPolicy PolicyFrom(const store::Row& row) {
  SealPolicy policy;
  policy.name = row.Text(0);
  policy.datasource_pattern = row.Text(1);
  policy.unit = row.Text(2);
  policy.age = row.Text(3);
  policy.time_zone = row.Text(4);
  policy.label = row.Text(5);
  policy.snapshot = SnapshotSpecFrom(row.Text(6));
  policy.corrections_datasource = row.Text(7);
  policy.accept_compaction = row.Flag(8);
  policy.updated_by = row.Text(9);
  policy.updated = row.At(10);
  return policy;
}

std::string Describe(const SealPolicy& policy) {
  return audit::JsonObject()
      .Text("datasource_pattern", policy.datasource_pattern)
      .Text("unit", policy.unit)
      .Text("age", policy.age)
      .Text("time_zone", policy.time_zone)
      .Text("label", policy.label)
      .Text("snapshot", ToJson(policy.snapshot))
      .Text("corrections_datasource", policy.corrections_datasource)
      .Number("accept_compaction", policy.accept_compaction ? 1 : 0)
      .ToString();
}

absl::StatusOr<std::optional<SealPolicy>> Find(store::Transaction& tx, const std::string& name) {
  auto rows = tx.Query(
      "SELECT name, datasource_pattern, unit, age, time_zone, label, snapshot,"
      " corrections_datasource, accept_compaction, updated_by, updated_ms FROM seal_policy"
      " WHERE name = :name",
      {name});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return std::nullopt;
  return PolicyFrom(rows->front());
}

audit::Event EventOf(const audit::Caller& caller, const char* method, const std::string& name) {
  audit::Event event;
  event.caller = caller;
  event.method = method;
  event.subject = name;
  event.resource_type = "seal_policy";
  return event;
}

}  // namespace

bool Applies(const SealPolicy& policy, const std::string& datasource) {
  return Fits(policy.datasource_pattern, datasource);
}

absl::Status CheckPolicy(const SealPolicy& policy) {
  if (!IsName(policy.name)) {
    return InvalidPolicy("INVALID_NAME", "name", absl::StrCat("is '", policy.name, "'"),
                         "take 1 to 128 characters of [A-Za-z0-9._-]");
  }
  if (policy.datasource_pattern.empty()) {
    return InvalidPolicy("INVALID_PATTERN", "datasource_pattern", "is missing",
                         "name datasources, with * for any characters");
  }
  if (auto units = UnitsOf(policy); !units.ok() || !IsUnit(*units)) {
    return InvalidPolicy(
        "INVALID_PERIOD", "unit",
        absl::StrCat("is '", policy.unit, "' in ", ZoneOf(policy),
                     units.ok() ? "" : absl::StrCat(": ", units.status().message())),
        "write a period from PT1H to P10Y, like P1M, and a zone like Europe/Berlin");
  }
  auto age = Period::Parse(policy.age);
  if (!age.ok() || !IsAge(*age)) {
    return InvalidPolicy("INVALID_PERIOD", "age", absl::StrCat("is '", policy.age, "'"),
                         "write a period from PT0S to P100Y, like P45D");
  }
  if (const std::string& side = policy.corrections_datasource; !side.empty()) {
    if (!IsDatasource(side)) return InvalidDatasource("policy/corrections_datasource", side);
    if (Applies(policy, side)) return CorrectionsInto("policy/corrections_datasource", side);
  }
  return CheckSnapshot(policy.snapshot);
}

absl::StatusOr<SealPolicy> PutPolicy(store::Store& store, SealPolicy policy,
                                     const audit::Caller& caller) {
  if (absl::Status status = CheckPolicy(policy); !status.ok()) return status;
  absl::Status status = store.Write([&](store::Transaction& tx) {
    auto before = Find(tx, policy.name);
    if (!before.ok()) return before.status();
    policy.updated_by = caller.identity;
    policy.updated = tx.now();
    absl::Status done =
        tx.Execute(
              "INSERT INTO seal_policy (name, datasource_pattern, unit, age, time_zone, label,"
              " snapshot, corrections_datasource, accept_compaction, updated_by, updated_ms) VALUES"
              " (:name, :pattern, :unit, :age, :zone, :label, :snapshot, :corrections, :accept,"
              " :by, :at) ON CONFLICT (name) DO UPDATE SET datasource_pattern ="
              " excluded.datasource_pattern, unit = excluded.unit, age = excluded.age, time_zone ="
              " excluded.time_zone, label = excluded.label, snapshot = excluded.snapshot,"
              " corrections_datasource = excluded.corrections_datasource, accept_compaction ="
              " excluded.accept_compaction, updated_by = excluded.updated_by, updated_ms ="
              " excluded.updated_ms",
              {policy.name, policy.datasource_pattern, policy.unit, policy.age, policy.time_zone,
               policy.label, ToJson(policy.snapshot), policy.corrections_datasource,
               policy.accept_compaction, policy.updated_by, policy.updated})
            .status();
    if (!done.ok()) return done;
    audit::Event event = EventOf(caller, "PutSealPolicy", policy.name);
    if (before->has_value()) event.before = Describe(**before);
    event.after = Describe(policy);
    return audit::Record(tx, event);
  });
  if (!status.ok()) return status;
  return policy;
}

absl::StatusOr<std::vector<SealPolicy>> ListPolicies(store::Store& store, const std::string& after,
                                                     int64_t most) {
  std::vector<SealPolicy> policies;
  absl::Status status = store.Read([&](store::Transaction& tx) {
    auto rows = tx.Query(
        "SELECT name, datasource_pattern, unit, age, time_zone, label, snapshot,"
        " corrections_datasource, accept_compaction, updated_by, updated_ms FROM seal_policy"
        " WHERE name > :after ORDER BY name LIMIT :most",
        {after, most});
    if (!rows.ok()) return rows.status();
    for (const store::Row& row : *rows) policies.push_back(PolicyFrom(row));
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return policies;
}

absl::Status DeletePolicy(store::Store& store, const std::string& name,
                          const audit::Caller& caller) {
  return store.Write([&](store::Transaction& tx) {
    auto before = Find(tx, name);
    if (!before.ok()) return before.status();
    if (!before->has_value()) return UnknownSealPolicy(name);
    absl::Status done = tx.Execute("DELETE FROM seal_policy WHERE name = :name", {name}).status();
    if (!done.ok()) return done;
    audit::Event event = EventOf(caller, "DeleteSealPolicy", name);
    event.before = Describe(**before);
    return audit::Record(tx, event);
  });
}

absl::StatusOr<std::vector<SealRequest>> DueUnits(
    store::Store& store, const SealPolicy& policy, const std::string& datasource,
    const std::vector<Interval>& used, Instant now,
    const std::function<std::string(const std::string& label, const Interval& unit)>& render) {
  auto units = UnitsOf(policy);
  auto age = Period::Parse(policy.age);
  if (!units.ok() || !age.ok()) return units.ok() ? age.status() : units.status();
  absl::TimeZone zone = absl::UTCTimeZone();
  if (!policy.time_zone.empty() && !absl::LoadTimeZone(policy.time_zone, &zone)) {
    return InvalidPolicy("INVALID_PERIOD", "time_zone", "is unknown", "take an IANA name");
  }
  std::set<Interval> candidates;
  for (const Interval& interval : Condense(used)) {
    Instant at = interval.start();
    while (at < interval.end() && static_cast<int64_t>(candidates.size()) < kMostLooked) {
      const Interval unit = units->Bucket(at);
      if (age->AddTo(unit.end(), zone, 1) > now) break;
      candidates.insert(unit);
      at = unit.end();
    }
  }
  std::vector<SealRequest> due;
  absl::Status status = store.Read([&](store::Transaction& tx) {
    for (const Interval& unit : candidates) {
      if (static_cast<int64_t>(due.size()) == kMostUnits) break;
      auto sealed = SealsOver(tx, datasource, unit);
      if (!sealed.ok()) return sealed.status();
      if (!sealed->empty()) continue;
      SealRequest request;
      request.datasource = datasource;
      request.interval = unit;
      request.label = render(policy.label, unit);
      request.snapshot = policy.snapshot;
      request.accept_compaction = policy.accept_compaction;
      request.corrections_datasource = policy.corrections_datasource;
      request.policy = policy.name;
      due.push_back(std::move(request));
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return due;
}

}  // namespace interlock::seal
