#include "server/conversions/job.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/backfill/sql_work.h"
#include "lib/seal/seals.h"
#include "server/conversions/time.h"

namespace interlock::server {
namespace {

absl::Status CheckExpectation(const v1::Job& job) {
  const auto& expect = job.expect();
  if (expect.has_rows() || expect.sums_size() > 0 || expect.partitions_size() > 0 ||
      !expect.same_as_datasource().empty()) {
    return InvalidField("/job/expect", "says more than min_rows, max_unparseable, count_metric",
                        "what is expected of one run goes into the request that runs it");
  }
  return absl::OkStatus();
}

absl::StatusOr<backfill::Source> FromProto(const v1::JobSource& proto, int at) {
  backfill::Source source;
  source.datasource = proto.datasource();
  using Mapping = backfill::Source::Mapping;
  switch (proto.mapping()) {
    case v1::JobSource::MAPPING_UNSPECIFIED:
    case v1::JobSource::SAME:
      break;
    case v1::JobSource::COVERING:
      source.mapping = Mapping::kCovering;
      break;
    case v1::JobSource::FROM_START:
      source.mapping = Mapping::kFromStart;
      break;
    default:
      return InvalidField(absl::StrCat("/job/sources/", at, "/mapping"), "is none that is known",
                          "SAME, COVERING or FROM_START");
  }
  if (proto.reads() == v1::JobSource::CORRECTED) {
    source.reads = backfill::Source::Reads::kCorrected;
    source.corrections_datasource = proto.corrections_datasource().empty()
                                        ? seal::DefaultCorrections(source.datasource)
                                        : proto.corrections_datasource();
  } else if (!proto.corrections_datasource().empty()) {
    return InvalidField(absl::StrCat("/job/sources/", at, "/corrections_datasource"),
                        "is there without CORRECTED", "say `reads: CORRECTED`, or take it out");
  }
  if (proto.origin().empty()) return source;
  auto origin = Instant::Parse(proto.origin());
  if (!origin.ok()) {
    return InvalidField(absl::StrCat("/job/sources/", at, "/origin"),
                        absl::StrCat("is no instant: ", origin.status().message()),
                        "e.g. 2026-07-01T00:00:00Z");
  }
  source.origin = *origin;
  return source;
}

void ToProto(const backfill::Source& source, v1::JobSource* proto) {
  proto->set_datasource(source.datasource);
  switch (source.mapping) {
    case backfill::Source::Mapping::kSame:
      proto->set_mapping(v1::JobSource::SAME);
      break;
    case backfill::Source::Mapping::kCovering:
      proto->set_mapping(v1::JobSource::COVERING);
      break;
    case backfill::Source::Mapping::kFromStart:
      proto->set_mapping(v1::JobSource::FROM_START);
      break;
  }
  const bool corrected = source.reads == backfill::Source::Reads::kCorrected;
  proto->set_reads(corrected ? v1::JobSource::CORRECTED : v1::JobSource::LIVE);
  proto->set_corrections_datasource(source.corrections_datasource);
  if (source.origin) proto->set_origin(source.origin->ToString());
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
  for (const auto& source : job.sources) ToProto(source, proto->add_sources());
  if (job.gather) ToProto(*job.gather, proto->mutable_gather());
  proto->set_corrections_datasource(job.corrections_datasource);
}

absl::StatusOr<backfill::Job> FromProto(const v1::Job& proto) {
  if (auto status = CheckExpectation(proto); !status.ok()) return status;
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
  for (int i = 0; i < proto.sources_size(); ++i) {
    auto source = FromProto(proto.sources(i), i);
    if (!source.ok()) return source.status();
    job.sources.push_back(*std::move(source));
  }
  if (proto.has_gather()) {
    job.gather = FromProto(proto.gather());
    if (*job.gather < absl::ZeroDuration()) {
      return InvalidField("/job/gather", "is negative", "0s runs each change at once");
    }
  }
  job.corrections_datasource = proto.corrections_datasource();
  return job;
}

}  // namespace interlock::server
