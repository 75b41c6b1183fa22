#include "lib/backfill/request.h"

#include <openssl/sha.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "lib/backfill/backfill_errors.h"
#include "lib/backfill/job.h"
#include "lib/backfill/json_members.h"
#include "lib/backfill/sql_check.h"
#include "lib/backfill/twin.h"
#include "rapidjson/pointer.h"

namespace interlock::backfill {
namespace {

std::string Sha256Hex(const std::string& text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), sizeof(digest)));
}

// The intervals of druid sources follow the unit, so they are no part of the work.
void ForgetDruidIntervals(JsonValue& value) {
  if (value.IsArray()) {
    for (auto& element : value.GetArray()) ForgetDruidIntervals(element);
  }
  if (!value.IsObject()) return;
  const auto type = value.FindMember("type");
  if (type != value.MemberEnd() && type->value == "druid") value.RemoveMember("interval");
  for (auto& member : value.GetObject()) ForgetDruidIntervals(member.value);
}

std::string NumberText(const std::optional<int64_t>& number) {
  return number ? absl::StrCat(*number) : "-";
}

std::string FingerprintOf(const BackfillRequest& request, const std::string& work,
                          const std::vector<Interval>& intervals) {
  std::string text = absl::StrCat(work, "\n", IntervalsToText(intervals), "\n", request.purpose,
                                  "\n", LabelsToJson(request.labels), "\n", request.max_parallel,
                                  " ", request.max_attempts, " ", request.newest_first, " ",
                                  request.skip_held, " ", static_cast<int>(request.level), " ",
                                  absl::FormatDuration(request.waiting_deadline), " ",
                                  absl::FormatDuration(request.run_deadline));
  absl::StrAppend(&text, "\n", NumberText(request.expected_rows), " ", NumberText(request.min_rows),
                  " ", NumberText(request.max_unparseable), " ", request.count_metric, "\n",
                  request.reservation_id, " ", request.token, "\n",
                  absl::FormatDuration(request.rollback_window), " ", request.plan_revision, " ",
                  request.expect_generation, " ", absl::FormatDuration(request.deadline));
  RowTerms asked;
  asked.expected_sums = request.expected_sums;
  asked.expected_partitions = request.expected_partitions;
  asked.same_as = request.same_as;
  absl::StrAppend(&text, "\n", ToJson(asked));
  const TailTerms& tails = request.tails;
  absl::StrAppend(&text, "\n", absl::string_view(NameOf(tails.policy)), " ",
                  absl::FormatDuration(tails.max_pause), " ", tails.ends_at_committed_offsets, " ",
                  tails.accept_concurrent_append);
  return Sha256Hex(text);
}

absl::Status CheckLimits(const BackfillRequest& request) {
  if (request.max_parallel < 1 || request.max_parallel > kMaxParallel) {
    return LimitExceeded("max_parallel", kMaxParallel, request.max_parallel);
  }
  constexpr int64_t kMostAttempts = 100;
  if (request.max_attempts < 1 || request.max_attempts > kMostAttempts) {
    return LimitExceeded("max_attempts", kMostAttempts, request.max_attempts);
  }
  return absl::OkStatus();
}

RowTerms TermsOf(const BackfillRequest& request, const Spec& spec) {
  RowTerms terms;
  terms.rule = spec.row_rule;
  terms.rule_reason = spec.row_rule_reason;
  terms.count_metric = spec.count_metric;
  terms.sums = spec.sums;
  if (!request.count_metric.empty()) {
    terms.rule = RowRule::kCountMetric;
    terms.count_metric = request.count_metric;
  }
  terms.min_rows = request.min_rows;
  terms.max_unparseable = request.max_unparseable.value_or(0);
  terms.expected_sums = request.expected_sums;
  terms.expected_partitions = request.expected_partitions;
  if (!request.same_as.empty()) {
    terms.same_as = request.same_as;
    terms.twin_metrics = TwinMetricsOf(spec.metrics, terms.count_metric);
  }
  return terms;
}

// The job's work, and what it expects where the request does not say.
absl::Status FillFromJob(store::Store& store, BackfillRequest* request, CheckedRequest* checked) {
  if (request->job.empty()) return absl::OkStatus();
  auto name = ParseJobName(request->job);
  if (!name.ok()) return name.status();
  Job job;
  absl::Status status = store.Read([&](store::Transaction& tx) {
    auto read = ReadJob(tx, *name);
    if (read.ok()) job = std::move(*read);
    return read.status();
  });
  if (!status.ok()) return status;
  request->spec = job.work;
  request->sql = job.sql;
  request->sources = job.sources;
  if (request->purpose.empty()) request->purpose = job.name;
  if (!request->min_rows) request->min_rows = job.expect.min_rows;
  if (!request->max_unparseable) request->max_unparseable = job.expect.max_unparseable;
  if (request->count_metric.empty()) request->count_metric = job.expect.count_metric;
  checked->job = job.name;
  checked->job_version = job.version;
  return absl::OkStatus();
}

absl::StatusOr<SpecCheck> CheckWork(const BackfillRequest& request, const CheckOptions& options,
                                    druid::Cluster& cluster) {
  if (!request.sql) return CheckSpec(request.spec, options);
  if (options.intervals.empty()) return IntervalsMissing();
  return CheckSql(SqlWorkFrom(request.spec), options, cluster);
}

void FillDefaults(const Options& options, BackfillRequest* request) {
  if (request->max_parallel == 0) request->max_parallel = options.max_parallel;
  if (request->max_attempts == 0) request->max_attempts = options.max_attempts;
  if (request->waiting_deadline <= absl::ZeroDuration()) {
    request->waiting_deadline = options.waiting_deadline;
  }
  if (request->tails.policy == TailPolicy::kHandover &&
      request->tails.max_pause <= absl::ZeroDuration()) {
    request->tails.max_pause = options.max_pause;
  }
  if (request->run_deadline <= absl::ZeroDuration()) request->run_deadline = options.run_deadline;
  if (request->rollback_window <= absl::ZeroDuration()) {
    request->rollback_window = options.rollback_window;
  }
}

}  // namespace

std::string DigestOfWork(const std::string& spec_json) {
  rapidjson::Document document;
  if (!ReadJsonObject(spec_json, &document)) return "";
  rapidjson::Pointer("/spec/dataSchema/granularitySpec/intervals").Erase(document);
  if (JsonValue* source = rapidjson::Pointer("/spec/ioConfig/inputSource").Get(document)) {
    ForgetDruidIntervals(*source);
  }
  return Sha256Hex(WriteJson(document));
}

absl::StatusOr<CheckedRequest> Checked(BackfillRequest request, const Options& options,
                                       store::Store& store, druid::Cluster& cluster) {
  CheckedRequest checked;
  const std::string work = request.job.empty() ? "" : absl::StrCat("job ", request.job);
  if (absl::Status status = FillFromJob(store, &request, &checked); !status.ok()) return status;
  FillDefaults(options, &request);
  if (absl::Status status = CheckLimits(request); !status.ok()) return status;
  if (absl::Status status = CheckExpectedNumbers(request); !status.ok()) return status;
  CheckOptions check_options;
  check_options.intervals = request.intervals;
  check_options.accept_widening = request.accept_widening;
  check_options.accept_concurrent_locks = request.tails.accept_concurrent_append;
  auto check = CheckWork(request, check_options, cluster);
  if (!check.ok()) return check.status();
  checked.check = *std::move(check);
  if (absl::Status status = SpecStatus(checked.check); !status.ok()) return status;
  const Spec& spec = *checked.check.spec;
  absl::StatusOr<Cut> cut = CutIntoUnits(spec, options.max_unit_partitions);
  if (!cut.ok()) return cut.status();
  checked.cut = *std::move(cut);
  checked.terms = TermsOf(request, spec);
  if (request.purpose.empty()) request.purpose = spec.label.empty() ? "backfill" : spec.label;
  checked.digest = DigestOfWork(spec.json);
  // A job without a version means the newest one of the moment, at the first request.
  checked.fingerprint = FingerprintOf(request, work.empty() ? spec.json : work, spec.intervals);
  checked.request = std::move(request);
  if (absl::Status status = CheckExpectations(checked); !status.ok()) return status;
  if (absl::Status status = CheckTwin(cluster, checked.terms); !status.ok()) return status;
  return checked;
}

absl::Status CheckCaller(const audit::Caller& caller) {
  const std::string& id = caller.request_id;
  const bool printable = std::all_of(id.begin(), id.end(), absl::ascii_isprint);
  if (!printable || static_cast<int64_t>(id.size()) > kMaxRequestIdBytes) return RequestIdInvalid();
  if (static_cast<int64_t>(caller.reason.size()) > kMaxReasonBytes) {
    return LimitExceeded("bytes of the reason", kMaxReasonBytes,
                         static_cast<int64_t>(caller.reason.size()));
  }
  return absl::OkStatus();
}

}  // namespace interlock::backfill
