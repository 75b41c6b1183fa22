#include "server/conversions/expectation.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/backfill/backfill_errors.h"
#include "server/conversions/time.h"

namespace interlock::server {
namespace {

using Sums = google::protobuf::RepeatedPtrField<v1::MetricSum>;

std::vector<backfill::ExpectedSum> SumsOf(const Sums& protos, const std::string& pointer,
                                          std::vector<Fault>& faults) {
  std::vector<backfill::ExpectedSum> sums;
  for (int i = 0; i < protos.size(); ++i) {
    const v1::MetricSum& proto = protos[i];
    backfill::ExpectedSum sum;
    sum.metric = proto.metric();
    sum.whole = proto.value_case() == v1::MetricSum::kLongValue;
    sum.value = sum.whole ? static_cast<double>(proto.long_value()) : proto.double_value();
    if (proto.value_case() == v1::MetricSum::VALUE_NOT_SET) {
      faults.push_back(
          {absl::StrCat(pointer, "/", i), "has no value", "give long_value or double_value"});
    }
    sums.push_back(std::move(sum));
  }
  return sums;
}

void SetSums(const std::vector<backfill::ExpectedSum>& sums, Sums* protos) {
  for (const backfill::ExpectedSum& sum : sums) {
    v1::MetricSum* proto = protos->Add();
    proto->set_metric(sum.metric);
    if (sum.whole) {
      proto->set_long_value(static_cast<int64_t>(sum.value));
    } else {
      proto->set_double_value(sum.value);
    }
  }
}

}  // namespace

absl::Status FromProto(const v1::RowExpectation& proto, backfill::BackfillRequest* request) {
  if (proto.has_rows()) request->expected_rows = proto.rows();
  if (proto.has_min_rows()) request->min_rows = proto.min_rows();
  if (proto.has_max_unparseable()) request->max_unparseable = proto.max_unparseable();
  request->count_metric = proto.count_metric();
  request->same_as = proto.same_as_datasource();
  std::vector<Fault> faults;
  request->expected_sums = SumsOf(proto.sums(), "/expect/sums", faults);
  for (int i = 0; i < proto.partitions_size(); ++i) {
    const v1::PartitionExpectation& one = proto.partitions(i);
    const std::string place = absl::StrCat("expect/partitions/", i);
    backfill::ExpectedPartition expected;
    auto interval = FromProto(one.interval(), place + "/interval");
    if (!interval.ok()) {
      for (Fault& fault : FaultsOf(interval.status())) faults.push_back(std::move(fault));
      continue;
    }
    if (!*interval) {
      faults.push_back({"/" + place + "/interval", "is missing", "name the partition"});
      continue;
    }
    expected.interval = **interval;
    if (one.has_rows()) expected.rows = one.rows();
    expected.sums = SumsOf(one.sums(), "/" + place + "/sums", faults);
    request->expected_partitions.push_back(std::move(expected));
  }
  return faults.empty() ? absl::OkStatus() : backfill::InvalidExpectation(faults);
}

void ToProto(const backfill::Backfill& backfill, v1::RowExpectation* proto) {
  const backfill::RowTerms& terms = backfill.terms;
  if (backfill.expected_rows) proto->set_rows(*backfill.expected_rows);
  if (terms.min_rows) proto->set_min_rows(*terms.min_rows);
  proto->set_max_unparseable(terms.max_unparseable);
  if (terms.rule == backfill::RowRule::kCountMetric) proto->set_count_metric(terms.count_metric);
  SetSums(terms.expected_sums, proto->mutable_sums());
  proto->set_same_as_datasource(terms.same_as);
  for (const backfill::ExpectedPartition& expected : terms.expected_partitions) {
    v1::PartitionExpectation* one = proto->add_partitions();
    one->set_interval(expected.interval.ToString());
    if (expected.rows) one->set_rows(*expected.rows);
    SetSums(expected.sums, one->mutable_sums());
  }
}

absl::Status CheckDurations(const v1::SubmitBackfillRequest& request) {
  const auto check = [](bool given, const google::protobuf::Duration& duration,
                        const char* field) -> absl::Status {
    if (!given || FromProto(duration) > absl::ZeroDuration()) return absl::OkStatus();
    return InvalidField(absl::StrCat("/", field),
                        absl::StrCat("is ", absl::FormatDuration(FromProto(duration))),
                        "give a duration above zero, or leave it out for the server's");
  };
  for (const absl::Status& status :
       {check(request.has_waiting_deadline(), request.waiting_deadline(), "waiting_deadline"),
        check(request.has_run_deadline(), request.run_deadline(), "run_deadline"),
        check(request.has_deadline(), request.deadline(), "deadline"),
        check(request.has_rollback_window(), request.rollback_window(), "rollback_window")}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace interlock::server
