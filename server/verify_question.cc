#include "server/verify_question.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/time/interval_set.h"
#include "lib/time/status_reason.h"
#include "server/conversions/time.h"
#include "server/datasource_name.h"

namespace interlock::server {
namespace {

using verify::Expected;

constexpr char kCaller[] = "the caller";

Expected RowsExpected(int64_t rows) {
  Expected expected;
  expected.value = static_cast<double>(rows);
  expected.from = kCaller;
  return expected;
}

// Reads sums, and notes which columns they need.
absl::Status ReadSums(const google::protobuf::RepeatedPtrField<v1::MetricSum>& sums,
                      const std::string& field, VerifyQuestion& question,
                      std::vector<Expected>& into) {
  for (int i = 0; i < sums.size(); ++i) {
    const v1::MetricSum& sum = sums[i];
    const std::string at = absl::StrCat(field, "/", i);
    if (sum.metric().empty()) return InvalidField("/" + at + "/metric", "is missing", "name it");
    if (sum.value_case() == v1::MetricSum::VALUE_NOT_SET) {
      return InvalidField("/" + at, "has no value", "give long_value or double_value");
    }
    Expected expected;
    expected.measure = sum.metric();
    expected.whole = sum.value_case() == v1::MetricSum::kLongValue;
    expected.value = expected.whole ? static_cast<double>(sum.long_value()) : sum.double_value();
    if (!std::isfinite(expected.value)) {
      return InvalidField("/" + at, "is no finite number", "give the sum");
    }
    expected.from = kCaller;
    into.push_back(std::move(expected));
    question.sums.push_back({sum.metric(), at + "/metric"});
  }
  return absl::OkStatus();
}

absl::Status ReadExpectation(const v1::RowExpectation& expect, VerifyQuestion& question) {
  if (expect.has_max_unparseable()) {
    return InvalidField("/expect/max_unparseable",
                        "is about a task's report, and a verification has none",
                        "leave it out; a backfill takes it");
  }
  question.count_metric = expect.count_metric();
  question.same_as = expect.same_as_datasource();
  if (!question.same_as.empty() && question.same_as == question.datasource) {
    return InvalidField("/expect/same_as_datasource", "is the datasource itself",
                        "name the one to compare with");
  }
  if (expect.has_min_rows()) question.min_rows = expect.min_rows();
  if (expect.has_rows()) question.total.push_back(RowsExpected(expect.rows()));
  if (auto status = ReadSums(expect.sums(), "expect/sums", question, question.total);
      !status.ok()) {
    return status;
  }
  for (int i = 0; i < expect.partitions_size(); ++i) {
    const auto& part = expect.partitions(i);
    const std::string at = absl::StrCat("expect/partitions/", i);
    auto interval = FromProto(part.interval(), at + "/interval");
    if (!interval.ok()) return interval.status();
    if (!*interval) return InvalidField("/" + at + "/interval", "is missing", "give it");
    auto& into = question.of_partition[**interval];
    if (part.has_rows()) into.push_back(RowsExpected(part.rows()));
    if (auto status = ReadSums(part.sums(), at + "/sums", question, into); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status NothingProven(const std::string& id, const VerifyQuestion& question) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          "backfill ", id, " has proven no partition of ", question.intervals.front().ToString(),
          "; interlockctl backfills get ", id, " says where it stands")),
      "NOTHING_PROVEN", {{"backfill_id", id}});
}

absl::Status ReadProofs(const std::string& id, const backfill::Backfills& backfills,
                        VerifyQuestion& question) {
  const auto detail = backfills.Get(id);
  if (!detail.ok()) return detail.status();
  const backfill::Backfill& backfill = detail->backfill;
  if (backfill.datasource != question.datasource) {
    return InvalidField("/backfill_id", absl::StrCat("is of the datasource ", backfill.datasource),
                        absl::StrCat("name a backfill of ", question.datasource));
  }
  const std::string& own_metric = backfill.terms.count_metric;
  if (question.count_metric.empty()) question.count_metric = own_metric;
  for (const Interval& interval : question.intervals) {
    backfill::PartitionFilter filter;
    filter.states = {backfill::State::kDone, backfill::State::kEmpty};
    filter.overlapping = interval;
    std::string token;
    do {
      auto page = backfills.ListPartitions(id, filter, 1000, token);
      if (!page.ok()) return page.status();
      for (const auto& partition : page->partitions) {
        if (!partition.proof) continue;
        VerifyQuestion::Proven proven{partition.proof->version, std::nullopt};
        if (partition.proof->rows && question.count_metric == own_metric) {
          proven.rows = RowsExpected(*partition.proof->rows);
          proven.rows->source = verify::RowSource::kLastProof;
          proven.rows->from = absl::StrCat("the proof of ", id);
        }
        question.proven[partition.partition] = std::move(proven);
      }
      token = page->next;
    } while (!token.empty());
  }
  return question.proven.empty() ? NothingProven(id, question) : absl::OkStatus();
}

}  // namespace

sweep::LookQuestion VerifyQuestion::About(const Interval& interval, Instant now) const {
  sweep::LookQuestion ask;
  ask.datasource = datasource;
  ask.interval = interval;
  ask.level = level;
  ask.count_metric = count_metric;
  ask.sums = sums;
  ask.same_as = same_as;
  ask.expected = [this](const Interval& partition, size_t of) { return Of(partition, of); };
  ask.now = now;
  ask.not_before = not_before;
  ask.grace = settings.grace;
  ask.max_partitions = settings.max_partitions;
  return ask;
}

sweep::Expectation VerifyQuestion::Of(const Interval& partition, size_t partitions) const {
  sweep::Expectation expectation;
  const bool alone = partitions == 1 && intervals.size() == 1;
  if (alone) expectation.others = total;
  expectation.part_of_total = !alone && !total.empty();
  if (const auto found = of_partition.find(partition); found != of_partition.end()) {
    expectation.others.insert(expectation.others.end(), found->second.begin(), found->second.end());
  }
  if (const auto found = proven.find(partition); found != proven.end()) {
    if (found->second.rows) expectation.others.push_back(*found->second.rows);
    if (!found->second.version.empty()) expectation.version = found->second.version;
  }
  expectation.min_rows = min_rows;
  return expectation;
}

bool VerifyQuestion::IsCompared(const Interval& partition, size_t partitions) const {
  const sweep::Expectation expectation = Of(partition, partitions);
  return std::any_of(expectation.others.begin(), expectation.others.end(),
                     [](const Expected& one) { return one.measure == verify::kRows; });
}

absl::StatusOr<VerifyQuestion> ReadQuestion(const v1::VerifySingleVersionRequest& request,
                                            const backfill::Backfills& backfills,
                                            const VerifySettings& settings,
                                            v1::VerifySingleVersionResponse& response) {
  if (absl::Status named = CheckDatasource(request.datasource()); !named.ok()) return named;
  auto read = FromProto(request.intervals(), "intervals");
  if (!read.ok()) return read.status();
  response.clear_readings();
  for (auto& reading : read->readings) *response.add_readings() = std::move(reading);
  VerifyQuestion question;
  question.settings = settings;
  question.datasource = request.datasource();
  question.intervals = Condense(read->intervals);
  if (request.level() == v1::Proof::VISIBLE) question.level = verify::Level::kVisible;
  if (request.level() == v1::Proof::RETIRED) question.level = verify::Level::kRetired;
  if (auto status = ReadExpectation(request.expect(), question); !status.ok()) return status;
  if (!request.backfill_id().empty()) {
    auto status = ReadProofs(request.backfill_id(), backfills, question);
    if (!status.ok()) return status;
  }
  if (request.has_newer_than_time()) question.not_before = FromProto(request.newer_than_time());
  return question;
}

}  // namespace interlock::server
