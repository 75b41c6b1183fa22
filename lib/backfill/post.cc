// Intent, POST, and the settling of a POST whose reply was lost.
#include "absl/strings/str_cat.h"
#include "lib/backfill/json_members.h"
#include "lib/backfill/leases.h"
#include "lib/backfill/lock_waits.h"
#include "lib/backfill/look_tails.h"
#include "lib/backfill/pass.h"
#include "lib/backfill/spec_tuning.h"
#include "lib/backfill/sql_work.h"
#include "lib/druid/task_id.h"
#include "lib/lease/reservations.h"
#include "lib/time/status_reason.h"

namespace interlock::backfill {
namespace {

constexpr char kNoopPrefix[] = "noop-";
// Between two settling POSTs of one attempt.
constexpr absl::Duration kSettleAgain = absl::Seconds(1);

TaskIdentity IdentityOf(const Attempt& attempt) {
  return {attempt.task_id, attempt.backfill_id, attempt.number, attempt.nonce};
}

// A task that does nothing, under the attempt's id: a POST that is still on its way finds
// it taken.
std::string Noop(const Attempt& attempt) {
  JsonWriter task;
  task.Text("type", "noop");
  task.Text("id", attempt.task_id);
  task.Number("runTime", 1);
  JsonValue ours(rapidjson::kObjectType);
  ours.AddMember("backfill", task.Copy(attempt.backfill_id), task.allocator());
  ours.AddMember("attempt", attempt.number, task.allocator());
  ours.AddMember("nonce", task.Copy(kNoopPrefix + attempt.nonce), task.allocator());
  JsonValue context(rapidjson::kObjectType);
  context.AddMember(rapidjson::StringRef(kContextMember), ours, task.allocator());
  task.Put("context", std::move(context));
  return task.ToString();
}

}  // namespace

absl::StatusOr<bool> Pass::MayCall(bool needs_lease) {
  if (claim_.Remaining(world_.clock) <= options_.call_deadline) {
    absl::Status status =
        work::Extend(world_.store, world_.clock, claim_, options_.call_deadline * 3);
    if (!status.ok()) return status;
  }
  const absl::Duration lease_left = absl::FromChrono(lease_ends_ - world_.clock.Monotonic());
  if (needs_lease && lease_left <= options_.call_deadline) return false;
  return claim_.Remaining(world_.clock) > options_.call_deadline;
}

absl::Status Pass::Start(StoredUnit& unit, bool* started) {
  BeforeLook look;
  auto sight = LookBefore(unit, &look);
  if (!sight.ok()) return sight.status();
  if (sight->seen == Seen::kAlreadyDone) unit.rows = sight->rows;
  if (sight->seen != Seen::kClear) return Move(unit, *sight);
  absl::Status status = StoreIntent(unit, std::move(look), started);
  if (!status.ok() || !*started) return status;
  auto attempt = AttemptOf(unit);
  if (!attempt.ok()) return attempt.status();
  return Post(unit, *attempt, /*occupy=*/false);
}

absl::Status Pass::StoreIntent(StoredUnit& unit, BeforeLook look, bool* stored) {
  const std::chrono::nanoseconds before = world_.clock.Monotonic();
  const std::string nonce = nonce_();
  StoredUnit moved;
  bool lost = false;
  TailSight handover;
  std::chrono::nanoseconds lease_ends{0};
  absl::Status status = Write([&](store::Transaction& tx) -> absl::Status {
    moved = unit;
    lost = *stored = false;
    auto backfill = ReadBackfill(tx, backfill_.id);
    if (!backfill.ok()) return backfill.status();
    if (backfill->pause || backfill->cancel) return absl::OkStatus();
    auto checked = CheckHandover(tx, *backfill, unit.unit, options_);
    if (!checked.ok()) return checked.status();
    handover = *std::move(checked);
    if (!handover.reason.empty()) return absl::OkStatus();
    auto open = CountOpen(tx, backfill_.id, backfill_.datasource);
    auto number = NextAttempt(tx, backfill_.datasource, unit.unit.key());
    if (!open.ok() || !number.ok()) return open.ok() ? number.status() : open.status();
    if (open->datasource >= options_.max_per_datasource || open->all >= options_.max_in_all) {
      slots_full_ = true;
      return absl::OkStatus();
    }
    Attempt attempt;
    attempt.datasource = backfill_.datasource;
    attempt.unit_key = unit.unit.key();
    attempt.number = *number;
    attempt.backfill_id = backfill_.id;
    attempt.unit = unit.number;
    attempt.task_id = druid::PinnedTaskId({world_.store.incarnation(), backfill_.datasource,
                                           unit.unit.hull(), backfill_.id, *number});
    if (IsSql(backfill_.spec_json)) attempt.task_id = SqlTaskId(SqlQueryId(attempt.task_id));
    attempt.nonce = nonce;
    attempt.posts = 1;  // the one that follows
    attempt.reservation_id = unit.reservation_id;
    attempt.token = unit.token;
    attempt.before = look;
    attempt.intended = tx.now();
    auto deadline = PinUnit(tx, backfill_.datasource, unit, attempt.task_id, options_.lease_limits);
    if (MeansLeaseLost(deadline.status())) lost = true;
    if (!deadline.ok()) return deadline.status();
    lease_ends = before + absl::ToChronoNanoseconds(*deadline - tx.now());
    absl::Status inserted = InsertAttempt(tx, attempt, unit.unit.hull());
    if (inserted.ok()) inserted = EndLockWait(tx, backfill_.id, unit.number);
    if (!inserted.ok()) return inserted;
    moved.state = Next(unit.state, Seen::kClear).state;
    moved.reason = moved.message = "";
    moved.blockers.clear();
    moved.task_id = attempt.task_id;
    moved.due = tx.now();
    ++moved.attempts;
    if (!backfill->started) backfill->started = tx.now();
    inserted = UpdateUnit(tx, moved);
    auto idle = UpdatePhase(tx, *backfill);
    if (!inserted.ok() || !idle.ok()) return inserted.ok() ? idle.status() : inserted;
    backfill_ = *std::move(backfill);
    *stored = true;
    return absl::OkStatus();
  });
  if (!status.ok() && lost) {
    *stored = false;
    // What bars it (a seal that holds again) bars its lease as well: kept, it would be in the
    // way of this very unit, and of the seal, until it ends by itself.
    const StoredUnit held = unit;
    unit.reservation_id = "";
    unit.token = 0;
    const std::string reason = ReasonOf(status) == "SEALED" ? "SEALED" : "LEASE_LOST";
    return Move(unit, {Seen::kLeaseLost, reason, std::string(status.message()), {}},
                [&](store::Transaction& tx) { return LeaveTime(tx, backfill_, held); });
  }
  if (status.ok() && !handover.reason.empty()) {
    return Move(unit, BlockedBy(TailObstacle(handover.reason, handover.message, unit.unit.hull()),
                                handover.message, options_.blocked_every));
  }
  if (!status.ok() || !*stored) return status;
  unit = std::move(moved);
  lease_ends_ = lease_ends;
  return absl::OkStatus();
}

absl::Status Pass::Post(StoredUnit& unit, const Attempt& attempt, bool occupy) {
  auto may = MayCall(/*needs_lease=*/!occupy);
  if (!may.ok()) return may.status();
  if (!*may) {
    // Stopped for so long that the lease is over, or nearly: nothing was sent by this call.
    return Move(unit, {Seen::kPostUnknown, "LEASE_TOO_SHORT", "", options_.poll_every});
  }
  const auto answer = Send(unit, attempt, occupy);
  Sight sight = SightOfPost(answer, attempt);
  if (occupy && answer.done()) sight.seen = Seen::kOccupied;
  if (occupy && sight.seen == Seen::kOccupied) sight.reason = "NEVER_SUBMITTED";
  return Move(unit, sight, [&](store::Transaction& tx) -> absl::Status {
    auto now = ReadAttempt(tx, attempt.task_id);
    if (!now.ok()) return now.status();
    switch (sight.seen) {
      case Seen::kPosted:
        now->state = AttemptState::kWaiting;
        now->posted = tx.now();
        break;
      case Seen::kTaken:
      case Seen::kOccupied:
      case Seen::kRefused:
        now->state = AttemptState::kNotSubmitted;
        now->settled = tx.now();
        now->druid_error = sight.message;
        if (absl::Status status = UnpinUnit(tx, unit, attempt.task_id); !status.ok()) {
          return status;
        }
        break;
      default:
        now->state = AttemptState::kUnknown;
    }
    return UpdateAttempt(tx, *now);
  });
}

druid::Answer<std::string> Pass::Send(const StoredUnit& unit, const Attempt& attempt, bool occupy) {
  if (occupy) return world_.cluster.SubmitTask(Noop(attempt));
  if (!IsSql(backfill_.spec_json)) {
    return world_.cluster.SubmitTask(
        RenderTask(backfill_.spec_json, unit.unit, IdentityOf(attempt), attempt.before.reads));
  }
  rapidjson::Document body;
  const std::string text = RenderSql(backfill_.spec_json, unit.unit, IdentityOf(attempt));
  const std::string id = ReadJsonObject(text, &body) && MemberOf(body, "context") != nullptr
                             ? TextIn(*MemberOf(body, "context"), "sqlQueryId")
                             : "";
  return world_.cluster.SubmitSql(id, text);
}

Pass::Sight Pass::SightOfPost(const druid::Answer<std::string>& answer, const Attempt& attempt) {
  if (answer.done()) return {Seen::kPosted, "", "", options_.poll_every};
  switch (answer.cause()) {
    case druid::Cause::kAlreadyExists:
      return WhoseTask(attempt);
    case druid::Cause::kQueueFull:
      return {Seen::kQueueFull, "QUEUE_FULL", answer.text(), options_.blocked_every};
    case druid::Cause::kInvalid:
      return {Seen::kRefused, "REFUSED_BY_DRUID", answer.text(), {}};
    default:
      break;
  }
  if (answer.refused()) {
    return {Seen::kBlocked, "DRUID_REFUSES", answer.text(), options_.blocked_every};
  }
  Sight away = Away(answer);
  return {Seen::kPostUnknown, "POST_UNKNOWN", away.message, kSettleAgain};
}

// The id is taken: by this very attempt, by our noop, or by somebody else.
Pass::Sight Pass::WhoseTask(const Attempt& attempt) {
  const auto payload = world_.cluster.GetTaskPayload(attempt.task_id);
  if (!payload.done()) {
    Sight away = Away(payload);
    return {Seen::kPostUnknown, "POST_UNKNOWN", away.message, kSettleAgain};
  }
  const auto& context = payload.value().context;
  const auto ours = context.find(kContextMember);
  const std::string nonce = ours == context.end() ? "" : NonceIn(ours->second);
  if (nonce == attempt.nonce) return {Seen::kPosted, "", "", options_.poll_every};
  if (nonce == kNoopPrefix + attempt.nonce) return {Seen::kOccupied, "NEVER_SUBMITTED", "", {}};
  return {Seen::kTaken,
          "TASK_ID_TAKEN",
          absl::StrCat("task ", attempt.task_id, " is there already, and is not ours"),
          {}};
}

// A POST may have arrived, or be on its way. The same id again tells; without the lease, or
// when it is to be given up, a noop in its place does.
absl::Status Pass::Settle(StoredUnit& unit) {
  auto attempt = AttemptOf(unit);
  if (!attempt.ok()) return attempt.status();
  if (world_.store.Now() - attempt->intended > options_.settle_window) {
    return Move(unit, {Seen::kOverdue,
                       "SETTLE_WINDOW_OVER",
                       "the reply to the task's POST was lost too long ago to settle it by its id",
                       {}});
  }
  bool occupy = backfill_.cancel || must_end_;
  const std::chrono::nanoseconds before = world_.clock.Monotonic();
  absl::Status status = Write([&](store::Transaction& tx) -> absl::Status {
    occupy = backfill_.cancel || must_end_;
    auto deadline = PinUnit(tx, backfill_.datasource, unit, attempt->task_id, {});
    if (MeansLeaseLost(deadline.status())) {
      occupy = true;
    } else if (!deadline.ok()) {
      return deadline.status();
    } else {
      lease_ends_ = before + absl::ToChronoNanoseconds(*deadline - tx.now());
    }
    auto now = ReadAttempt(tx, attempt->task_id);
    if (!now.ok()) return now.status();
    ++now->posts;
    return UpdateAttempt(tx, *now);
  });
  if (!status.ok()) return status;
  return Post(unit, *attempt, occupy);
}

}  // namespace interlock::backfill
