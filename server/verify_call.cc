#include "server/verify_call.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/lease/reservations.h"
#include "lib/sweep/look.h"
#include "lib/sweep/sweeper.h"
#include "lib/time/interval_set.h"
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
  sweep::Look of;
  // Segments of a partition that are not loaded yet, where that was read.
  std::map<Interval, int64_t> unloaded;
};

// What is visible is loaded but for what Druid counts as not available; of two versions it
// does not say which.
void SetLoaded(int64_t unloaded, v1::PartitionVerdict* proto) {
  int visible = 0;
  for (const auto& version : proto->versions()) {
    if (version.standing() == v1::SegmentVersion::VISIBLE) ++visible;
  }
  if (visible > 1 && unloaded > 0) return;
  for (auto& version : *proto->mutable_versions()) {
    if (version.standing() != v1::SegmentVersion::VISIBLE) continue;
    version.set_loaded_count(
        static_cast<int32_t>(std::max<int64_t>(0, version.segment_count() - unloaded)));
  }
}

absl::Status CheckBuilt(const v1::VerifySingleVersionRequest& request) {
  if (!request.backfill_id().empty()) return FieldNotBuilt("backfill_id");
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
  if (request.level() == v1::Proof::RETIRED) question.level = verify::Level::kRetired;
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

// Partitions that are asked about one by one where something is not loaded.
constexpr size_t kMaxLoadLooks = 100;

void CountUnloaded(druid::Cluster& cluster, const Question& question, Look* look) {
  for (const auto& verdict : look->of.verdicts) {
    const Interval& partition = verdict.partition;
    if (look->of.unavailable == 0) {
      look->unloaded[partition] = 0;
    } else if (look->of.verdicts.size() <= kMaxLoadLooks) {
      const auto answer = cluster.GetLoadStatus(question.datasource, partition, false);
      if (answer.done()) look->unloaded[partition] = answer.value().unavailable_segments;
    }
  }
}

// One look. An answer of Druid's that says nothing becomes UNDETERMINED, never a verdict.
absl::StatusOr<Look> LookAt(druid::Cluster& cluster, const Question& question,
                            const Interval& interval, Instant now) {
  sweep::LookQuestion ask;
  ask.datasource = question.datasource;
  ask.interval = interval;
  ask.level = question.level;
  ask.count_metric = question.count_metric;
  ask.expected_rows = [&](const Interval& partition, size_t of) {
    return ExpectedRows(question, partition, of);
  };
  ask.now = now;
  ask.not_before = question.not_before;
  ask.grace = question.grace;
  ask.max_partitions = question.max_partitions;
  auto of = sweep::LookAt(cluster, ask);
  if (!of.ok()) return of.status();
  Look look{*std::move(of), {}};
  if (look.of.no_answer.empty()) CountUnloaded(cluster, question, &look);
  return look;
}

// What it saw opens findings, and closes them.
absl::Status Keep(store::Store& store, const Question& question, const Interval& interval,
                  const Look& look) {
  sweep::Scope scope = sweep::ScopeOf(question.datasource, interval, look.of);
  for (const auto& verdict : look.of.verdicts) {
    const bool told = ExpectedRows(question, verdict.partition, look.of.verdicts.size()) &&
                      verdict.rows &&
                      !verify::Has(verdict.findings, verify::Verdict::kUndetermined);
    if (told) scope.compared.insert(verdict.partition);
  }
  const auto observed = sweep::ToKeep(look.of);
  return store.Write(
      [&](store::Transaction& tx) { return sweep::Record(tx, scope, observed).status(); });
}

// Of all partitions that are told, the unused versions too.
void TellUnused(druid::Cluster& cluster, const v1::VerifySingleVersionRequest& request,
                const Question& question, v1::VerifySingleVersionResponse& response) {
  std::vector<druid::UnusedSegment> unused;
  for (const auto& interval : question.intervals) {
    auto listed = cluster.ListUnusedSegments(question.datasource, interval);
    if (!listed.done()) {
      auto* notice = response.add_notices();
      notice->set_reason("UNUSED_NOT_TOLD");
      notice->set_message(listed.text());
      return;
    }
    for (auto& one : listed.value()) unused.push_back(std::move(one));
  }
  for (auto& partition : *response.mutable_partitions()) {
    const auto within = Interval::Parse(partition.partition());
    if (!within.ok()) continue;
    AddUnused(unused, *within, request.include_segment_ids(), partition.mutable_versions());
  }
}

// The rows of all partitions together against what the caller expects of all.
void CompareTotal(const Question& question, const std::vector<Look>& looks,
                  v1::VerifySingleVersionResponse& response) {
  if (!question.rows) return;
  int64_t total = 0;
  bool known = true;
  for (const auto& look : looks) {
    for (const auto& verdict : look.of.verdicts) {
      known = known && verdict.rows.has_value();
      total += verdict.rows.value_or(0);
    }
  }
  auto* check = response.add_rows();
  check->set_source(v1::RowCheck::CALLER);
  check->set_measure(question.count_metric.empty() ? "rows" : question.count_metric);
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
    for (const auto& verdict : look.of.verdicts) {
      response.set_partition_count(response.partition_count() + 1);
      if (verdict.good()) response.set_good_count(response.good_count() + 1);
      for (const auto& finding : verdict.findings) {
        if (finding.score < verify::kTellingScore) continue;  // a weak sign is no verdict
        response.set_verdict(Worse(response.verdict(), ToProto(finding.verdict)));
      }
      if (request.only_faults() && verdict.good()) continue;
      auto* partition = response.add_partitions();
      ToProto(verdict, look.of.timeline, request.include_segment_ids(), partition);
      const auto unloaded = look.unloaded.find(verdict.partition);
      if (unloaded != look.unloaded.end()) SetLoaded(unloaded->second, partition);
    }
    if (look.of.calendar) ToProto(*look.of.calendar, response.mutable_granularity());
    response.set_neighbours(look.of.neighbours);
  }
  response.set_good(response.good_count() == response.partition_count());
  CompareTotal(question, looks, response);
  if (response.good()) {
    response.set_level(question.level == verify::Level::kVisible  ? v1::Proof::VISIBLE
                       : question.level == verify::Level::kServed ? v1::Proof::SERVED
                                                                  : v1::Proof::RETIRED);
  }
  ToProto(taken, response.mutable_snapshot_time());
}

}  // namespace

VerifyCall::VerifyCall(store::Store& store, druid::Cluster& cluster, Executor& executor,
                       VerifySettings settings)
    : store_(store), cluster_(cluster), executor_(executor), settings_(settings) {}

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
      // A store that can't be written shows as store_up; what was seen is told all the same.
      Keep(store_, *question, interval, *look).IgnoreError();
      looks.push_back(*std::move(look));
    }
    Tell(request, *question, looks, now, response);
    if (response.good() || std::chrono::steady_clock::now() >= until) break;
    if (context.IsCancelled()) return absl::CancelledError("the caller has gone");
    std::this_thread::sleep_for(kLookAgain);
  }
  if (request.include_unused()) TellUnused(cluster_, request, *question, response);
  return absl::OkStatus();
}

}  // namespace interlock::server
