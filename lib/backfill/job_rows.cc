// Jobs in the store's tables.
#include <limits>

#include "absl/strings/str_cat.h"
#include "lib/backfill/derived_rows.h"
#include "lib/backfill/job.h"
#include "lib/backfill/job_errors.h"
#include "lib/backfill/json_members.h"
#include "lib/backfill/record.h"

namespace interlock::backfill {
namespace {

#define INTERLOCK_JOB_COLUMNS                                                               \
  "name, version, kind, work, datasource, granularity, digest, expect, labels, created_by," \
  " request_id, created_ms, sources, gather_ms, corrections_datasource"

std::string ExpectToJson(const JobExpectation& expect) {
  JsonWriter out;
  out.Maybe("min_rows", expect.min_rows);
  out.Maybe("max_unparseable", expect.max_unparseable);
  out.Text("count_metric", expect.count_metric);
  return out.ToString();
}

JobExpectation ExpectFrom(const std::string& json) {
  rapidjson::Document document;
  if (!ReadJsonObject(json, &document)) return {};
  return {NumberIn(document, "min_rows"), NumberIn(document, "max_unparseable"),
          TextIn(document, "count_metric")};
}

Job JobOf(const store::Row& row) {
  Job job;
  job.name = row.Text(0);
  job.version = row.Int(1);
  job.sql = row.Text(2) == "sql";
  job.work = row.Text(3);
  job.datasource = row.Text(4);
  job.granularity_json = row.Text(5);
  job.digest = row.Text(6);
  job.expect = ExpectFrom(row.Text(7));
  job.labels = LabelsFrom(row.Text(8));
  job.created_by = row.Text(9);
  job.request_id = row.Text(10);
  job.created = row.At(11);
  job.sources = SourcesFrom(row.Text(12));
  if (!row.IsNull(13)) job.gather = absl::Milliseconds(row.Int(13));
  job.corrections_datasource = row.Text(14);
  return job;
}

}  // namespace

absl::StatusOr<Job> ReadJob(store::Transaction& tx, const JobName& name) {
  auto rows = tx.Query("SELECT " INTERLOCK_JOB_COLUMNS
                       " FROM job_version WHERE name = :name AND (:any = 0 OR version = :version)"
                       " ORDER BY version DESC LIMIT 1",
                       {name.name, name.version, name.version});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return UnknownJob(name.name, name.version);
  return JobOf(rows->front());
}

absl::StatusOr<std::optional<Job>> FindJobByRequest(store::Transaction& tx,
                                                    const std::string& created_by,
                                                    const std::string& request_id) {
  if (request_id.empty()) return std::nullopt;
  auto rows = tx.Query("SELECT " INTERLOCK_JOB_COLUMNS
                       " FROM job_version WHERE created_by = :by AND request_id = :request",
                       {created_by, request_id});
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return std::nullopt;
  return JobOf(rows->front());
}

absl::Status InsertJob(store::Transaction& tx, Job& job) {
  auto newest = tx.Query("SELECT MAX(version) FROM job_version WHERE name = :name", {job.name});
  if (!newest.ok()) return newest.status();
  job.version = (newest->front().IsNull(0) ? 0 : newest->front().Int(0)) + 1;
  job.created = tx.now();
  absl::Status status =
      tx.Execute(
            "INSERT INTO job_version (" INTERLOCK_JOB_COLUMNS
            ") VALUES (:name, :version, :kind, :work, :datasource, :granularity, :digest,"
            " :expect, :labels, :by, :request, :created, :sources, :gather, :corrections)",
            {job.name, job.version, std::string(job.sql ? "sql" : "spec"), job.work, job.datasource,
             job.granularity_json, job.digest, ExpectToJson(job.expect), LabelsToJson(job.labels),
             job.created_by, job.request_id, job.created, ToJson(job.sources),
             job.gather ? store::Value(absl::ToInt64Milliseconds(*job.gather)) : store::Value(),
             job.corrections_datasource})
          .status();
  if (status.ok()) status = PutDependencies(tx, job);
  return status.ok() ? BeginLooking(tx, job) : status;
}

absl::StatusOr<std::vector<Job>> ReadJobs(store::Transaction& tx, const std::string& datasource,
                                          bool all_versions, const JobName& after, int64_t most) {
  // The first page begins before every name; versions go down from the newest.
  const int64_t below = after.name.empty() ? std::numeric_limits<int64_t>::max() : after.version;
  auto rows = tx.Query(
      "SELECT " INTERLOCK_JOB_COLUMNS
      " FROM job_version j WHERE (:any = '' OR datasource = :datasource) AND"
      " (name > :after OR (name = :same AND version < :below)) AND"
      " (:all = 1 OR version = (SELECT MAX(version) FROM job_version n WHERE n.name = j.name))"
      " ORDER BY name, version DESC LIMIT :most",
      {datasource, datasource, after.name, after.name, below, all_versions, most});
  if (!rows.ok()) return rows.status();
  std::vector<Job> jobs;
  for (const store::Row& row : *rows) jobs.push_back(JobOf(row));
  return jobs;
}

}  // namespace interlock::backfill
