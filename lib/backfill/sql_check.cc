#include "lib/backfill/sql_check.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/backfill/backfill_errors.h"
#include "lib/backfill/json_document.h"
#include "lib/backfill/placeholder.h"
#include "lib/backfill/spec_granularity.h"
#include "lib/backfill/spec_secrets.h"
#include "lib/backfill/spec_tuning.h"
#include "lib/druid/json.h"

namespace interlock::backfill {
namespace {

constexpr char kQuery[] = "/sql/query";
constexpr char kContext[] = "/sql/context";
constexpr char kWouldDo[] =
    "REPLACE INTO … OVERWRITE WHERE __time >= TIMESTAMP '{start}' AND __time < TIMESTAMP '{end}' "
    "… PARTITIONED BY HOUR, with the same bounds in the input's own filter";

// Aligned in every calendar but that of weeks; and one that is aligned in that.
constexpr const char* kSamples[] = {"2001-01-01T00:00:00Z/2002-01-01T00:00:00Z",
                                    "2001-01-01T00:00:00Z/2001-01-08T00:00:00Z"};

// No part of these is zero, and after the second all but the year rolls over; one is in
// summer and one in winter: a bound that cuts off a part of an instant, or has it as a
// literal, says something else there.
constexpr const char* kTellingMoments[] = {"2003-11-27T13:47:53Z", "2006-06-30T23:59:59Z"};

class SqlCheck {
 public:
  SqlCheck(const SqlWork& work, const CheckOptions& options, druid::Cluster& cluster)
      : work_(work), options_(options), cluster_(cluster) {}

  absl::StatusOr<SpecCheck> Run();

 private:
  void Fault(std::string pointer, std::string found, std::string would_do) {
    findings_.Add({std::move(pointer), std::move(found), std::move(would_do), std::nullopt});
  }
  void CheckTexts();
  void CheckQueryContext();
  // What the query would do over `unit`; nothing, with a fault, where Druid refuses it.
  absl::StatusOr<std::optional<druid::SqlExplanation>> Explain(const Interval& unit,
                                                               bool may_be_misaligned);
  absl::StatusOr<std::optional<druid::SqlExplanation>> ExplainSample();
  bool CheckExplanation(const druid::SqlExplanation& told, const Interval& unit);
  // False, with a fault, unless each of the partitions that tell is replaced as it is.
  absl::StatusOr<bool> CheckPartitions(const Granularities& cut);
  std::optional<Granularities> Cut(const druid::SqlExplanation& told);
  Spec Made(const druid::SqlExplanation& told, const Granularities& cut) const;

  const SqlWork& work_;
  const CheckOptions& options_;
  druid::Cluster& cluster_;
  Findings findings_;
  Interval sample_;
};

void SqlCheck::CheckTexts() {
  const auto query = Template::Parse(work_.query);
  if (!query.ok()) {
    Fault(kQuery, std::string(query.status().message()), "use {start} and {end}, or no braces");
  } else if (!query->uses_start() || !query->uses_end()) {
    Fault(kQuery,
          absl::StrCat("has no ", query->uses_start() ? "{end}" : "{start}",
                       ": each unit needs both of its bounds"),
          kWouldDo);
  }
  FindSecretsInQuery(work_.query, work_.context, &findings_);
  CheckQueryContext();
}

// A query's task takes its locks and its priority from the context as any other task does.
void SqlCheck::CheckQueryContext() {
  if (work_.context.empty()) return;
  rapidjson::Document context;
  Findings read;
  if (!ParseJsonObject(work_.context, &context, &read)) {
    return Fault(kContext, "is no JSON object", "e.g. {\"maxNumTasks\":2}");
  }
  if (context.HasMember("sqlQueryId")) {
    Fault(kContext, "has `sqlQueryId`, which is pinned for each attempt", "take it out");
  }
  CheckContext(Node(&context, "", &read), options_.accept_concurrent_locks);
  for (const SpecFault& fault : read.faults()) {
    Fault(absl::StrCat(kContext, fault.pointer), fault.found, fault.would_do);
  }
  for (const SpecFault& warning : read.warnings()) {
    findings_.Warn(absl::StrCat(kContext, warning.pointer), warning.found, warning.would_do);
  }
}

absl::StatusOr<std::optional<druid::SqlExplanation>> SqlCheck::Explain(const Interval& unit,
                                                                       bool may_be_misaligned) {
  const auto told = cluster_.ExplainSql(RenderQuery(work_.query, unit), work_.context);
  if (told.done()) return told.value();
  if (told.cause() == druid::Cause::kUnsupported) return SqlTasksMissing();
  // Some faults of the grammar come as 500; nothing was run that could have had an effect.
  const bool refused = told.cause() == druid::Cause::kInvalid ||
                       absl::StrContains(told.text(), "Unable to parse the SQL");
  if (!refused) return RollbackNotCheckable(told.text());
  const bool misaligned = absl::StrContains(told.text(), "not aligned with PARTITIONED BY");
  if (!(may_be_misaligned && misaligned)) {
    Fault(kQuery, absl::StrCat("is refused by Druid: ", told.text()), kWouldDo);
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<druid::SqlExplanation>> SqlCheck::ExplainSample() {
  for (const char* text : kSamples) {
    sample_ = *Interval::Parse(text);
    auto told = Explain(sample_, /*may_be_misaligned=*/true);
    if (!told.ok() || *told || !findings_.clean()) return told;
  }
  Fault(kQuery,
        "has an OVERWRITE WHERE that is aligned with its PARTITIONED BY neither for a year nor "
        "for a week",
        kWouldDo);
  return std::nullopt;
}

bool SqlCheck::CheckExplanation(const druid::SqlExplanation& told, const Interval& unit) {
  if (told.statement != "REPLACE") {
    Fault(
        kQuery,
        absl::StrCat("is ", told.statement, ", no REPLACE: a second run would add its rows again"),
        kWouldDo);
    return false;
  }
  if (told.replaces != unit.ToString()) {
    Fault(kQuery,
          absl::StrCat("replaces ", told.replaces.empty() ? "nothing" : told.replaces,
                       " where the unit is ", unit.ToString(),
                       ": Druid says so when it is asked to explain it"),
          kWouldDo);
    return false;
  }
  return true;
}

// A sample's start is the start of a year as well, where a format that cuts says the same as
// one that does not.
absl::StatusOr<bool> SqlCheck::CheckPartitions(const Granularities& cut) {
  const Granularity& calendar = *cut.segment;
  std::vector<Interval> telling = {
      calendar.Bucket(cut.intervals.front().start()),
      calendar.Bucket(cut.intervals.back().end() - absl::Milliseconds(1))};
  for (const char* moment : kTellingMoments) {
    telling.push_back(calendar.Bucket(*Instant::Parse(moment)));
  }
  for (const Interval& partition : telling) {
    const auto told = Explain(partition, /*may_be_misaligned=*/false);
    if (!told.ok()) return told.status();
    if (!*told || !CheckExplanation(**told, partition)) return false;
  }
  return true;
}

std::optional<Granularities> SqlCheck::Cut(const druid::SqlExplanation& told) {
  rapidjson::Document document;
  std::string why_not;
  if (!druid::ParseJson(absl::StrCat(R"({"type":"uniform","segmentGranularity":)",
                                     told.granularity_json, R"(,"intervals":[]})"),
                        &document, &why_not)) {
    Fault(kQuery,
          absl::StrCat("has a PARTITIONED BY that is not understood: ", told.granularity_json),
          "e.g. PARTITIONED BY DAY");
    return std::nullopt;
  }
  CheckOptions options = options_;
  if (options.intervals.empty()) {
    const auto granularity = ParseGranularity(told.granularity_json);
    if (granularity) options.intervals = {granularity->Bucket(sample_.start())};
  }
  Granularities cut = CheckGranularitySpec(Node(&document, "", &findings_), options);
  if (!findings_.clean()) return std::nullopt;
  return cut;
}

Spec SqlCheck::Made(const druid::SqlExplanation& told, const Granularities& cut) const {
  Spec spec(*cut.segment);
  spec.sql = true;
  spec.datasource = told.datasource;
  spec.granularity_json = told.granularity_json;
  spec.intervals = cut.intervals;
  spec.widened = cut.intervals != cut.asked;
  spec.narrows = true;
  spec.json = ToJson(work_);
  // The report counts the rows that were written; roll-up is part of the query.
  spec.row_rule = RowRule::kStoredRows;
  return spec;
}

absl::StatusOr<SpecCheck> SqlCheck::Run() {
  SpecCheck check;
  CheckTexts();
  if (findings_.clean()) {
    auto told = ExplainSample();
    if (!told.ok()) return told.status();
    if (*told && CheckExplanation(**told, sample_)) {
      if (const auto cut = Cut(**told)) {
        const auto whole = CheckPartitions(*cut);
        if (!whole.ok()) return whole.status();
        if (*whole) check.spec = Made(**told, *cut);
      }
    }
  }
  check.faults = findings_.faults();
  check.warnings = findings_.warnings();
  return check;
}

}  // namespace

absl::StatusOr<SpecCheck> CheckSql(const SqlWork& work, const CheckOptions& options,
                                   druid::Cluster& cluster) {
  return SqlCheck(work, options, cluster).Run();
}

}  // namespace interlock::backfill
