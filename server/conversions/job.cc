#include "server/conversions/job.h"

#include "lib/backfill/sql_work.h"
#include "server/conversions/time.h"
#include "server/field_not_built.h"

namespace interlock::server {
namespace {

absl::Status CheckBuilt(const v1::Job& job) {
  if (job.sources_size() > 0) return FieldNotBuilt("job/sources");
  if (!job.corrections_datasource().empty()) return FieldNotBuilt("job/corrections_datasource");
  if (job.has_gather()) return FieldNotBuilt("job/gather");
  const auto& expect = job.expect();
  if (expect.has_rows() || expect.sums_size() > 0 || expect.partitions_size() > 0 ||
      !expect.same_as_datasource().empty()) {
    return InvalidField("/job/expect", "says more than min_rows, max_unparseable, count_metric",
                        "what is expected of one run goes into the request that runs it");
  }
  return absl::OkStatus();
}

}  // namespace

void ToProto(const backfill::Job& job, bool with_work, v1::Job* proto) {
  proto->set_name(job.name);
  proto->set_version(job.version);
  if (with_work && job.sql) {
    const auto work = backfill::SqlWorkFrom(job.work);
    proto->mutable_sql()->set_query(work.query);
    proto->mutable_sql()->set_context(work.context);
  } else if (with_work) {
    proto->set_spec(job.work);
  }
  proto->set_datasource(job.datasource);
  if (const auto calendar = backfill::ParseGranularity(job.granularity_json)) {
    ToProto(*calendar, proto->mutable_granularity());
  }
  if (job.expect.min_rows) proto->mutable_expect()->set_min_rows(*job.expect.min_rows);
  if (job.expect.max_unparseable) {
    proto->mutable_expect()->set_max_unparseable(*job.expect.max_unparseable);
  }
  if (!job.expect.count_metric.empty()) {
    proto->mutable_expect()->set_count_metric(job.expect.count_metric);
  }
  proto->mutable_labels()->insert(job.labels.begin(), job.labels.end());
  proto->set_created_by(job.created_by);
  ToProto(job.created, proto->mutable_create_time());
  proto->set_spec_digest(job.digest);
}

absl::StatusOr<backfill::Job> FromProto(const v1::Job& proto) {
  if (auto status = CheckBuilt(proto); !status.ok()) return status;
  backfill::Job job;
  job.name = proto.name();
  switch (proto.work_case()) {
    case v1::Job::kSpec:
      job.work = proto.spec();
      break;
    case v1::Job::kSql:
      job.sql = true;
      job.work = backfill::ToJson(backfill::SqlWork{proto.sql().query(), proto.sql().context()});
      break;
    case v1::Job::WORK_NOT_SET:
      return InvalidField("/job", "has no work", "give spec or sql");
  }
  if (proto.expect().has_min_rows()) job.expect.min_rows = proto.expect().min_rows();
  if (proto.expect().has_max_unparseable()) {
    job.expect.max_unparseable = proto.expect().max_unparseable();
  }
  job.expect.count_metric = proto.expect().count_metric();
  job.labels.insert(proto.labels().begin(), proto.labels().end());
  return job;
}

}  // namespace interlock::server
