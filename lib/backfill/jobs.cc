#include "lib/backfill/jobs.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "lib/audit/audit.h"
#include "lib/audit/json_object.h"
#include "lib/backfill/backfill_errors.h"
#include "lib/backfill/derived_rows.h"
#include "lib/backfill/job_errors.h"
#include "lib/backfill/json_members.h"
#include "lib/backfill/options.h"
#include "lib/backfill/request.h"
#include "lib/backfill/spec_granularity.h"
#include "lib/backfill/sql_check.h"

namespace interlock::backfill {
namespace {

constexpr int64_t kDefaultPage = 100;

// Where no interval is known yet, a template is checked over the bucket of this instant: a
// day of no other year that a path might name.
const Instant& SampleInstant() {
  static const Instant kInstant = *Instant::Parse("2001-05-09T07:00:00Z");
  return kInstant;
}

// The interval to check a template over: its own where it has one.
std::vector<Interval> SampleIntervals(const std::string& spec_json) {
  rapidjson::Document document;
  if (!ReadJsonObject(spec_json, &document)) return {};
  const JsonValue* spec = MemberOf(document, "spec");
  const JsonValue* schema = spec == nullptr ? nullptr : MemberOf(*spec, "dataSchema");
  const JsonValue* cut = schema == nullptr ? nullptr : MemberOf(*schema, "granularitySpec");
  if (cut == nullptr || !HasOpenIntervals(*cut)) return {};
  const JsonValue* segments = MemberOf(*cut, "segmentGranularity");
  if (segments == nullptr) return {};
  const auto granularity = ParseGranularity(WriteJson(*segments));
  if (!granularity || granularity->is_all() || granularity->is_none()) return {};
  return {granularity->Bucket(SampleInstant())};
}

std::string Described(const Job& job) {
  return audit::JsonObject()
      .Text("version", absl::StrCat(job.version))
      .Text("datasource", job.datasource)
      .Text("digest", job.digest)
      .Text("sources", ToJson(job.sources))
      .ToString();
}

// What its sources are derived from must not lead back to it.
absl::Status CheckAcyclic(store::Transaction& tx, const Job& job) {
  if (job.sources.empty()) return absl::OkStatus();
  auto derivations = ReadDerivations(tx, job.name);
  if (!derivations.ok()) return derivations.status();
  for (const Source& source : job.sources) {
    (*derivations)[job.datasource].insert(source.datasource);
    if (source.reads == Source::Reads::kCorrected) {
      (*derivations)[job.datasource].insert(source.corrections_datasource);
    }
  }
  const std::string way = CycleFrom(*derivations, job.datasource);
  return way.empty() ? absl::OkStatus() : SourceCycle(job.name, way);
}

}  // namespace

absl::Status CheckJobName(const std::string& name) {
  const bool good = !name.empty() && name.size() <= kMaxJobNameBytes &&
                    std::all_of(name.begin(), name.end(), [](unsigned char c) {
                      return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
                    });
  return good ? absl::OkStatus() : InvalidJobName(name);
}

absl::StatusOr<JobName> ParseJobName(const std::string& text) {
  JobName name{text.substr(0, text.find('@')), 0};
  if (absl::Status status = CheckJobName(name.name); !status.ok()) return InvalidJobName(text);
  if (name.name.size() == text.size()) return name;
  if (!absl::SimpleAtoi(text.substr(name.name.size() + 1), &name.version) || name.version < 1) {
    return InvalidJobName(text);
  }
  return name;
}

absl::Status CheckJobWork(druid::Cluster& cluster, Job* job, std::vector<SpecFault>* warnings) {
  CheckOptions options;
  absl::StatusOr<SpecCheck> check = SpecCheck();
  if (job->sql) {
    check = CheckSql(SqlWorkFrom(job->work), options, cluster);
  } else {
    options.intervals = SampleIntervals(job->work);
    check = CheckSpec(job->work, options);
  }
  if (!check.ok()) return check.status();
  if (absl::Status status = SpecStatus(*check); !status.ok()) return status;
  job->datasource = check->spec->datasource;
  job->granularity_json = check->spec->granularity_json;
  job->digest = DigestOfWork(check->spec->json);
  *warnings = check->warnings;
  return absl::OkStatus();
}

absl::Status Jobs::PutIn(store::Transaction& tx, const PutRequest& request,
                         const audit::Caller& caller, Put* put) const {
  auto same = FindJobByRequest(tx, caller.identity, caller.request_id);
  if (!same.ok()) return same.status();
  if (*same) {
    if ((*same)->name != put->job.name || !(*same)->SameAs(put->job)) {
      return JobRequestIdReused(caller.request_id, (*same)->name);
    }
    put->job = **std::move(same);
    return absl::OkStatus();
  }
  auto newest = ReadJob(tx, {put->job.name, 0});
  if (!newest.ok() && !absl::IsNotFound(newest.status())) return newest.status();
  const int64_t version = newest.ok() ? newest->version : 0;
  if (request.expect_version && *request.expect_version != version) {
    return VersionMoved(put->job.name, *request.expect_version, version);
  }
  if (newest.ok() && newest->SameAs(put->job)) {
    put->unchanged = true;
    put->job = *std::move(newest);
    return absl::OkStatus();
  }
  if (absl::Status status = CheckAcyclic(tx, put->job); !status.ok()) return status;
  put->job.created_by = caller.identity;
  put->job.request_id = caller.request_id;
  if (request.validate_only) {
    put->job.version = version + 1;
    return absl::OkStatus();
  }
  absl::Status status = InsertJob(tx, put->job);
  if (!status.ok()) return status;
  return audit::Record(tx, {caller, "PutJob", put->job.datasource, put->job.name, "OK",
                            version == 0 ? "" : Described(*newest), Described(put->job), "job"});
}

absl::StatusOr<Jobs::Put> Jobs::PutJob(const PutRequest& request, const audit::Caller& caller) {
  if (absl::Status status = CheckCaller(caller); !status.ok()) return status;
  if (absl::Status status = CheckJobName(request.job.name); !status.ok()) return status;
  Put checked;
  checked.job = request.job;
  absl::Status status = CheckJobWork(cluster_, &checked.job, &checked.warnings);
  if (status.ok()) {
    status = CheckSources(checked.job.sources, checked.job.work, checked.job.sql);
  }
  if (!status.ok()) return status;
  // Two texts that differ in white space alone are the same work.
  rapidjson::Document document;
  if (ReadJsonObject(checked.job.work, &document)) checked.job.work = WriteJson(document);
  Put put;
  const auto body = [&](store::Transaction& tx) {
    put = checked;
    return PutIn(tx, request, caller, &put);
  };
  status = request.validate_only ? store_.Read(body) : store_.Write(body);
  if (!status.ok()) return status;
  return put;
}

absl::StatusOr<Jobs::Found> Jobs::GetJob(const JobName& name) const {
  Found found;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    auto job = ReadJob(tx, name);
    auto newest = ReadJob(tx, {name.name, 0});
    if (!job.ok() || !newest.ok()) return job.ok() ? newest.status() : job.status();
    auto dependents = DependentsOf(tx, job->datasource);
    if (!dependents.ok()) return dependents.status();
    found = {*std::move(job), newest->version, *std::move(dependents)};
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return found;
}

absl::StatusOr<Jobs::Page> Jobs::ListJobs(const std::string& datasource, bool all_versions,
                                          int64_t size, const std::string& token) const {
  JobName after;
  if (!token.empty()) {
    auto parsed = ParseJobName(token);
    if (!parsed.ok() || parsed->version == 0) return BadPageToken(token);
    after = *std::move(parsed);
  }
  const int64_t most = size <= 0 ? kDefaultPage : std::min(size, kMaxPageSize);
  Page page;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    auto jobs = ReadJobs(tx, datasource, all_versions, after, most + 1);
    if (jobs.ok()) page.jobs = std::move(*jobs);
    return jobs.status();
  });
  if (!status.ok()) return status;
  if (static_cast<int64_t>(page.jobs.size()) > most) {
    page.jobs.pop_back();
    page.next = absl::StrCat(page.jobs.back().name, "@", page.jobs.back().version);
  }
  return page;
}

}  // namespace interlock::backfill
