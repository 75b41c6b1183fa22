#include "server/verify_call.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/druid/observation.h"
#include "lib/lease/reservations.h"
#include "lib/time/interval_set.h"
#include "lib/time/status_reason.h"
#include "lib/verify/calendar.h"
#include "lib/verify/neighbours.h"
#include "lib/verify/partition.h"
#include "server/conversions/time.h"
#include "server/conversions/verdict.h"
#include "server/field_not_built.h"
#include "server/unary.h"

namespace interlock::server {
namespace {

// Between two looks of a caller that waits.
constexpr std::chrono::milliseconds kLookAgain{500};
// A call holds a thread while it waits.
constexpr absl::Duration kMaxWait = absl::Hours(1);

// What is asked, with everything that does not change from look to look.
struct Question {
  std::string datasource;
  std::vector<Interval> intervals;
  verify::Level level = verify::Level::kServed;
  std::string count_metric;
  std::optional<int64_t> rows;  // over all intervals
  std::map<Interval, int64_t> rows_of;
  std::optional<Instant> not_before;
  absl::Duration grace;
  int64_t max_partitions = 0;
};

// What one look at one interval gave.
struct Look {
  std::optional<Granularity> calendar;
  druid::Timeline timeline = druid::Timeline::Of({});
  std::vector<verify::PartitionVerdict> verdicts;
  std::string neighbours;
};

absl::Status CheckBuilt(const v1::VerifySingleVersionRequest& request) {
  if (request.level() == v1::Proof::RETIRED) return FieldNotBuilt("level");
  if (!request.backfill_id().empty()) return FieldNotBuilt("backfill_id");
  if (request.include_unused()) return FieldNotBuilt("include_unused");
  if (request.expect().sums_size() > 0) return FieldNotBuilt("expect/sums");
  if (!request.expect().same_as_datasource().empty())
    return FieldNotBuilt("expect/same_as_datasource");
  if (request.expect().has_min_rows()) return FieldNotBuilt("expect/min_rows");
  if (request.expect().has_max_unparseable()) return FieldNotBuilt("expect/max_unparseable");
  return absl::OkStatus();
}

absl::StatusOr<Question> QuestionOf(const v1::VerifySingleVersionRequest& request,
                                    v1::VerifySingleVersionResponse& response) {
  if (auto status = CheckBuilt(request); !status.ok()) return status;
  if (request.datasource().empty()) return InvalidField("/datasource", "is missing", "name it");
  auto read = FromProto(request.intervals(), "intervals");
  if (!read.ok()) return read.status();
  response.clear_readings();
  for (auto& reading : read->readings) *response.add_readings() = std::move(reading);
  Question question;
  question.datasource = request.datasource();
  question.intervals = Condense(read->intervals);
  if (request.level() == v1::Proof::VISIBLE) question.level = verify::Level::kVisible;
  question.count_metric = request.expect().count_metric();
  if (request.expect().has_rows()) question.rows = request.expect().rows();
  for (const auto& part : request.expect().partitions()) {
    auto interval = FromProto(part.interval(), "expect/partitions/interval");
    if (!interval.ok()) return interval.status();
    if (*interval && part.has_rows()) question.rows_of[**interval] = part.rows();
  }
  if (request.has_newer_than_time()) question.not_before = FromProto(request.newer_than_time());
  return question;
}

std::optional<int64_t> ExpectedRows(const Question& question, const Interval& partition,
                                    size_t partitions) {
  if (const auto found = question.rows_of.find(partition); found != question.rows_of.end()) {
    return found->second;
  }
  if (partitions == 1 && question.intervals.size() == 1) return question.rows;
  return std::nullopt;
}

Interval Surroundings(const Interval& interval, const std::optional<Granularity>& calendar) {
  if (!calendar) return interval;
  const Interval wide = calendar->Widen(interval);
  const Interval before = calendar->Bucket(wide.start() - absl::Milliseconds(1));
  const Interval after = calendar->Bucket(wide.end());
  return *Interval::Of(before.start(), after.end());
}

// One look. An answer of Druid's that says nothing becomes UNDETERMINED, never a verdict.
absl::StatusOr<Look> LookAt(druid::Cluster& cluster, const Question& question,
                            const Interval& interval, Instant now) {
  Look look;
  const auto unknown = [&](const std::string& why) {
    look.verdicts = {verify::NothingKnown(interval, why)};
    return look;
  };
  auto used = cluster.ListUsedSegments(question.datasource, {interval});
  if (!used.done()) return unknown(used.text());
  const auto first = druid::Timeline::Of(std::move(used.value()));
  look.calendar = verify::CalendarOf(first, interval);
  auto partitions = verify::PartitionsOf(first, interval, look.calendar, question.max_partitions);
  if (!partitions.ok()) return partitions.status();
  druid::ObserveRequest observe{
      question.datasource, interval, Surroundings(interval, look.calendar), *partitions, {}, true};
  if (!question.count_metric.empty()) observe.metrics = {question.count_metric};
  auto snapshot = druid::Observe(cluster, observe, now);
  if (!snapshot.done()) return unknown(snapshot.text());
  look.timeline = druid::Timeline::Of(snapshot.value().used);
  for (const auto& partition : *partitions) {
    verify::PartitionQuestion ask;
    ask.partition = partition;
    ask.level = question.level;
    ask.count_metric = question.count_metric;
    ask.expected_rows = ExpectedRows(question, partition, partitions->size());
    ask.expected_from = "the caller";
    ask.now = now;
    ask.not_before = question.not_before;
    ask.grace = question.grace;
    look.verdicts.push_back(verify::VerifyPartition(look.timeline, snapshot.value(), ask));
  }
  if (look.calendar) {
    look.neighbours =
        verify::VisibleSetOf(
            look.timeline, verify::NeighboursOf({interval}, *look.calendar, snapshot.value().used))
            .digest;
  }
  return look;
}

// The rows of all partitions together against what the caller expects of all.
void CompareTotal(const Question& question, const std::vector<Look>& looks,
                  v1::VerifySingleVersionResponse& response) {
  if (!question.rows) return;
  int64_t total = 0;
  bool known = true;
  for (const auto& look : looks) {
    for (const auto& verdict : look.verdicts) {
      known = known && verdict.rows.has_value();
      total += verdict.rows.value_or(0);
    }
  }
  auto* check = response.add_rows();
  check->set_source(v1::RowCheck::CALLER);
  check->set_measure(question.count_metric.empty()
                         ? "COUNT(*)"
                         : absl::StrCat("SUM(", question.count_metric, ")"));
  check->mutable_expected()->set_metric(question.count_metric);
  check->mutable_expected()->set_long_value(*question.rows);
  if (!known) return check->set_result(v1::RowCheck::UNKNOWN);
  check->mutable_counted()->set_metric(question.count_metric);
  check->mutable_counted()->set_long_value(total);
  check->set_result(total == *question.rows  ? v1::RowCheck::EQUAL
                    : total > *question.rows ? v1::RowCheck::MORE
                                             : v1::RowCheck::FEWER);
  if (check->result() == v1::RowCheck::EQUAL) return;
  response.set_good(false);
  response.set_verdict(Worse(response.verdict(), check->result() == v1::RowCheck::MORE
                                                     ? v1::Verdict::DUPLICATE_ROWS
                                                     : v1::Verdict::MISSING_ROWS));
}

void Tell(const v1::VerifySingleVersionRequest& request, const Question& question,
          const std::vector<Look>& looks, Instant taken,
          v1::VerifySingleVersionResponse& response) {
  response.clear_partitions();
  response.clear_rows();
  response.set_verdict(v1::Verdict::KIND_UNSPECIFIED);
  response.set_partition_count(0);
  response.set_good_count(0);
  for (const auto& look : looks) {
    for (const auto& verdict : look.verdicts) {
      response.set_partition_count(response.partition_count() + 1);
      if (verdict.good()) response.set_good_count(response.good_count() + 1);
      for (const auto& finding : verdict.findings) {
        response.set_verdict(Worse(response.verdict(), ToProto(finding.verdict)));
      }
      if (request.only_faults() && verdict.good()) continue;
      ToProto(verdict, look.timeline, request.include_segment_ids(), response.add_partitions());
    }
    if (look.calendar) ToProto(*look.calendar, response.mutable_granularity());
    response.set_neighbours(look.neighbours);
  }
  response.set_good(response.good_count() == response.partition_count());
  CompareTotal(question, looks, response);
  if (response.good()) {
    response.set_level(question.level == verify::Level::kVisible ? v1::Proof::VISIBLE
                                                                 : v1::Proof::SERVED);
  }
  ToProto(taken, response.mutable_snapshot_time());
}

}  // namespace

VerifyCall::VerifyCall(store::Store& store, druid::Cluster& cluster, Executor& executor,
                       SeenFaults& seen, VerifySettings settings)
    : store_(store), cluster_(cluster), executor_(executor), seen_(seen), settings_(settings) {}

grpc::ServerUnaryReactor* VerifyCall::Call(grpc::CallbackServerContext* context,
                                           const v1::VerifySingleVersionRequest* request,
                                           v1::VerifySingleVersionResponse* response) {
  return Unary(context, executor_, [this, context, request, response] {
    return Verify(*context, *request, *response);
  });
}

absl::Status VerifyCall::Verify(const grpc::CallbackServerContext& context,
                                const v1::VerifySingleVersionRequest& request,
                                v1::VerifySingleVersionResponse& response) {
  auto question = QuestionOf(request, response);
  if (!question.ok()) return question.status();
  question->grace = settings_.grace;
  question->max_partitions = settings_.max_partitions;
  const absl::Duration wait = std::min(FromProto(request.wait()), kMaxWait);
  const auto until = std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(wait);
  while (true) {
    const Instant now = store_.Now();
    std::vector<Look> looks;
    for (const auto& interval : question->intervals) {
      if (!request.reservation_id().empty()) {
        auto status = store_.Read([&](store::Transaction& tx) {
          return lease::CheckToken(tx, request.reservation_id(), request.fencing_token(),
                                   question->datasource, interval);
        });
        if (!status.ok()) return status;
      }
      auto look = LookAt(cluster_, *question, interval, now);
      if (!look.ok()) return look.status();
      seen_.Saw(question->datasource, look->verdicts);
      looks.push_back(*std::move(look));
    }
    Tell(request, *question, looks, now, response);
    if (response.good() || std::chrono::steady_clock::now() >= until) break;
    if (context.IsCancelled()) return absl::CancelledError("the caller has gone");
    std::this_thread::sleep_for(kLookAgain);
  }
  return absl::OkStatus();
}

}  // namespace interlock::server
