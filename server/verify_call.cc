#include "server/verify_call.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/backfill/next_door.h"
#include "lib/lease/reservations.h"
#include "lib/sweep/look.h"
#include "lib/sweep/sweeper.h"
#include "lib/verify/neighbours.h"
#include "lib/verify/partition.h"
#include "server/conversions/time.h"
#include "server/conversions/verdict.h"
#include "server/unary.h"

namespace interlock::server {
namespace {

// Between two looks of a caller that waits: an eighth of the time it has waited, from the one
// to the other.
constexpr std::chrono::milliseconds kSoonest{500};
constexpr std::chrono::milliseconds kRarest{10'000};
constexpr absl::Duration kMaxWait = absl::Hours(1);
// The coordinator is asked to poll its metadata for the first look, when segments have changed,
// and this often (apache/druid#9965).
constexpr std::chrono::seconds kPollEvery{30};

using Looks = std::vector<sweep::Look>;

absl::Status ServerBusy() {
  return WithRetryAfter(
      WithReason(absl::ResourceExhaustedError("too many calls wait already"), "SERVER_BUSY"),
      std::chrono::seconds(1));
}

// What it saw opens findings, and closes them.
absl::Status Keep(store::Store& store, const VerifyQuestion& question, const Interval& interval,
                  const sweep::Look& look) {
  sweep::Scope scope = sweep::ScopeOf(question.datasource, interval, look);
  for (const auto& verdict : look.verdicts) {
    const bool told = question.IsCompared(verdict.partition, look.verdicts.size()) &&
                      verdict.rows &&
                      !verify::Has(verdict.findings, verify::Verdict::kUndetermined);
    if (told) scope.compared.insert(verdict.partition);
  }
  const auto observed = sweep::ToKeep(look);
  return store.Write(
      [&](store::Transaction& tx) { return sweep::Record(tx, scope, observed).status(); });
}

// Of all partitions that are told, the unused versions too.
void TellUnused(druid::Cluster& cluster, const v1::VerifySingleVersionRequest& request,
                const VerifyQuestion& question, v1::VerifySingleVersionResponse& response) {
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

void TellFinding(const verify::Finding& finding, const char* where,
                 v1::VerifySingleVersionResponse& response) {
  response.set_good(false);
  response.set_verdict(Worse(response.verdict(), ToProto(finding.verdict)));
  auto* notice = response.add_notices();
  notice->set_reason(finding.reason);
  notice->set_message(absl::StrCat(finding.evidence, ", ", where));
  notice->set_remedy(finding.next);
}

// All partitions together against what is expected of all of them.
void TellTotal(const VerifyQuestion& question, const Looks& looks,
               v1::VerifySingleVersionResponse& response) {
  std::vector<verify::Counted> counted;
  for (const auto& look : looks) {
    for (const auto& verdict : look.verdicts) {
      verify::Counted one;
      // Before all is loaded a count is not one.
      if (verdict.rows && look.unavailable == 0) {
        one.rows = static_cast<double>(*verdict.rows);
        one.sums = verdict.sums;
        one.unpublished = verdict.unpublished_rows.has_value();
        one.rolled_up = verdict.rolled_up;
      }
      counted.push_back(std::move(one));
    }
  }
  const verify::Total total = verify::JudgeTotal(counted, question.total);
  for (const auto& check : total.checks) ToProto(check, response.add_rows());
  // Of a single partition, it stands there.
  if (counted.size() == 1) return;
  for (const auto& finding : total.findings) {
    TellFinding(finding, "over all partitions together", response);
  }
}

// What has become of the neighbours since the backfill's proof.
absl::Status TellNextDoor(store::Store& store, druid::Cluster& cluster,
                          const std::string& backfill_id, const std::vector<Interval>& intervals,
                          v1::VerifySingleVersionResponse& response) {
  response.clear_neighbour_changes();
  for (const auto& interval : intervals) {
    auto door = backfill::LookNextDoor(store, cluster, backfill_id, interval);
    if (!door.ok()) return door.status();
    if (!door->why_not.empty()) {
      auto* notice = response.add_notices();
      notice->set_reason("NEIGHBOURS_NOT_TOLD");
      notice->set_message(door->why_not);
    }
    for (const auto& change : door->changes.changes) {
      ToProto(change, response.add_neighbour_changes());
    }
    for (const auto& finding : door->changes.findings) TellFinding(finding, "next door", response);
  }
  return absl::OkStatus();
}

// What is expected of partitions that are none.
void TellMissed(const VerifyQuestion& question, const Looks& looks,
                v1::VerifySingleVersionResponse& response) {
  std::vector<Interval> there;
  for (const auto& look : looks) {
    if (look.not_told) return;
    for (const auto& verdict : look.verdicts) there.push_back(verdict.partition);
  }
  const auto tell = [&](const Interval& expected, const char* whose) {
    if (std::find(there.begin(), there.end(), expected) != there.end()) return;
    response.set_good(false);
    response.set_verdict(Worse(response.verdict(), v1::Verdict::UNDETERMINED));
    auto* notice = response.add_notices();
    notice->set_reason("PARTITION_NOT_THERE");
    notice->set_message(absl::StrCat(whose, " speaks of ", expected.ToString(),
                                     ", which is no partition of what is there"));
    notice->set_remedy("give the partitions that the reply lists");
  };
  for (const auto& [interval, expected] : question.of_partition) tell(interval, "the request");
  for (const auto& [interval, proven] : question.proven) tell(interval, "the backfill's proof");
}

v1::Proof::Level LevelOf(const std::optional<verify::Level>& level) {
  if (!level) return v1::Proof::LEVEL_UNSPECIFIED;
  switch (*level) {
    case verify::Level::kVisible:
      return v1::Proof::VISIBLE;
    case verify::Level::kServed:
      return v1::Proof::SERVED;
    case verify::Level::kRetired:
      break;
  }
  return v1::Proof::RETIRED;
}

void TellPartition(const v1::VerifySingleVersionRequest& request, const sweep::Look& look,
                   const verify::PartitionVerdict& verdict,
                   v1::VerifySingleVersionResponse& response) {
  response.set_partition_count(response.partition_count() + 1);
  if (verdict.good()) response.set_good_count(response.good_count() + 1);
  for (const auto& finding : verdict.findings) {
    if (finding.score < verify::kTellingScore) continue;  // a weak sign is no verdict
    response.set_verdict(Worse(response.verdict(), ToProto(finding.verdict)));
  }
  if (request.only_faults() && verdict.good()) return;
  ToProto(verdict, look.timeline, request.include_segment_ids(), response.add_partitions());
}

void Tell(const v1::VerifySingleVersionRequest& request, const VerifyQuestion& question,
          const Looks& looks, Instant taken, v1::VerifySingleVersionResponse& response) {
  response.clear_partitions();
  response.clear_rows();
  response.clear_notices();
  response.set_verdict(v1::Verdict::KIND_UNSPECIFIED);
  response.set_partition_count(0);
  response.set_good_count(0);
  std::optional<verify::Level> level = question.level;
  for (const auto& look : looks) {
    for (const auto& verdict : look.verdicts) {
      TellPartition(request, look, verdict, response);
      const auto reached = verify::ReachedLevel(verdict.findings, question.level);
      level = level && reached ? std::optional(std::min(*level, *reached)) : std::nullopt;
    }
    if (look.calendar) ToProto(*look.calendar, response.mutable_granularity());
    response.set_neighbours(look.neighbours);
  }
  response.set_good(response.good_count() == response.partition_count());
  response.set_level(LevelOf(level));
  TellTotal(question, looks, response);
  TellMissed(question, looks, response);
  ToProto(taken, response.mutable_snapshot_time());
}

}  // namespace

struct VerifyCall::Waiting {
  using Time = std::chrono::steady_clock::time_point;

  Waiting(grpc::CallbackServerContext& of, grpc::ServerUnaryReactor& to,
          const v1::VerifySingleVersionRequest& asked, v1::VerifySingleVersionResponse& told)
      : context(of), reactor(to), request(asked), response(told) {}

  grpc::CallbackServerContext& context;
  grpc::ServerUnaryReactor& reactor;
  const v1::VerifySingleVersionRequest& request;
  v1::VerifySingleVersionResponse& response;
  Time begun = std::chrono::steady_clock::now();
  std::optional<VerifyQuestion> question;
  Time until;
  // What was seen by the last look, and when the coordinator was asked to poll.
  std::string seen;
  bool changed = true;
  Time polled;

  Time NextLook() const {
    const Time now = std::chrono::steady_clock::now();
    return std::min<Time>(until,
                          now + std::clamp<Time::duration>((now - begun) / 8, kSoonest, kRarest));
  }
};

VerifyCall::VerifyCall(World world, VerifySettings settings)
    : world_(world), settings_(settings), later_(world.executor) {}

grpc::ServerUnaryReactor* VerifyCall::Call(grpc::CallbackServerContext* context,
                                           const v1::VerifySingleVersionRequest* request,
                                           v1::VerifySingleVersionResponse* response) {
  auto* reactor = context->DefaultReactor();
  if (!Bounded(*request, reactor)) return reactor;
  auto call = std::make_shared<Waiting>(*context, *reactor, *request, *response);
  if (!world_.executor.Run([this, call] { Step(call); })) reactor->Finish(ToGrpc(ServerBusy()));
  return reactor;
}

void VerifyCall::Step(const std::shared_ptr<Waiting>& call) {
  if (call->context.IsCancelled()) {
    return call->reactor.Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the caller has gone"));
  }
  const absl::Status status = LookOnce(*call);
  const bool over = call->response.good() || std::chrono::steady_clock::now() >= call->until;
  if (status.ok() && !over) {
    return later_.Run(
        call->NextLook(), [this, call] { Step(call); },
        [call] { call->reactor.Finish(ToGrpc(Draining("verify again"))); });
  }
  if (status.ok() && call->request.include_unused()) {
    TellUnused(world_.cluster, call->request, *call->question, call->response);
  }
  call->reactor.Finish(ToGrpc(status));
}

absl::Status VerifyCall::LookOnce(Waiting& call) {
  if (!call.question) {
    auto question = ReadQuestion(call.request, world_.backfills, settings_, call.response);
    if (!question.ok()) return question.status();
    call.question = *std::move(question);
    const absl::Duration wait = std::min(FromProto(call.request.wait()), kMaxWait);
    call.until = call.begun + absl::ToChronoMilliseconds(wait);
  }
  const VerifyQuestion& question = *call.question;
  const Instant now = world_.store.Now();
  const auto at = std::chrono::steady_clock::now();
  const bool poll = call.changed || at - call.polled >= kPollEvery;
  if (poll) call.polled = at;
  std::string seen;
  Looks looks;
  for (const auto& interval : question.intervals) {
    if (auto status = CheckLease(call.request, interval); !status.ok()) return status;
    sweep::LookQuestion ask = question.About(interval, now);
    ask.refresh = poll;
    auto look = sweep::LookAt(world_.cluster, ask);
    if (!look.ok()) return look.status();
    absl::StrAppend(&seen, verify::VisibleSetOf(look->timeline, {interval}).digest);
    // A store that can't be written shows as store_up; what was seen is told all the same.
    Keep(world_.store, question, interval, *look).IgnoreError();
    looks.push_back(*std::move(look));
  }
  call.changed = !call.seen.empty() && seen != call.seen;
  call.seen = std::move(seen);
  Tell(call.request, question, looks, now, call.response);
  if (call.request.backfill_id().empty()) return absl::OkStatus();
  return TellNextDoor(world_.store, world_.cluster, call.request.backfill_id(), question.intervals,
                      call.response);
}

absl::Status VerifyCall::CheckLease(const v1::VerifySingleVersionRequest& request,
                                    const Interval& interval) {
  if (request.reservation_id().empty()) return absl::OkStatus();
  return world_.store.Read([&](store::Transaction& tx) {
    return lease::CheckToken(tx, request.reservation_id(), request.fencing_token(),
                             request.datasource(), interval);
  });
}

}  // namespace interlock::server
