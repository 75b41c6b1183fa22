#include "lib/drop/worker.h"

#include <set>
#include <utility>

#include "lib/drop/drop_errors.h"
#include "lib/drop/kill.h"
#include "lib/drop/words.h"
#include "lib/time/status_reason.h"

namespace interlock::drop {
namespace {

// Beside the call's own deadline, for what stands around it.
constexpr absl::Duration kRoom = absl::Seconds(5);
// Until an unanswered post of a kill is sent again, under the same id.
constexpr absl::Duration kPostAgain = absl::Seconds(2);

// No mark of ours stands for these any more (Undone). `again`: for all of them an earlier call
// had done that.
absl::Status NoteRevived(store::Transaction& tx, const std::string& drop_id,
                         const std::vector<std::string>& ids, bool* again) {
  *again = true;
  absl::StatusOr<Manifest> rows = ReadManifest(tx, drop_id);
  if (!rows.ok()) return rows.status();
  const std::set<std::string> revived(ids.begin(), ids.end());
  for (size_t i = 0; i < rows->size(); ++i) {
    ManifestRow& row = (*rows)[i];
    if (revived.count(row.id) == 0 || !row.sent_at) continue;
    *again = false;
    row.sent_at.reset();
    absl::Status status = UpdateManifestRow(tx, drop_id, i, row);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

Worker::Worker(store::Store& store, druid::Cluster& cluster, const Clock& clock, Options options,
               WorkerOptions own)
    : store_(store),
      cluster_(cluster),
      clock_(clock),
      options_(std::move(options)),
      own_(std::move(own)) {}

Surroundings Worker::around() const {
  return {cluster_, store_, clock_, options_, own_.probe.get(), own_.call_deadline, own_.nonce};
}

absl::StatusOr<work::Outcome> Worker::Step(work::Claim& claim) {
  absl::StatusOr<Drops::Detail> detail = ReadDetail(store_, claim.key);
  if (absl::IsNotFound(detail.status())) return work::Outcome::Finished();
  if (!detail.ok()) return detail.status();
  if (Ended(detail->drop.state)) return LookForOrphans(*detail, claim);
  return StepOf(*detail, claim);
}

absl::StatusOr<work::Outcome> Worker::StepOf(const Drops::Detail& detail, work::Claim& claim) {
  const View view = LookAt(detail, around());
  absl::Status status = MakeRoom(claim);
  if (!status.ok()) return status;
  Decision decision;
  status = store_.Write([&](store::Transaction& tx) {
    absl::Status decided = Decide(tx, detail, view, around(), &decision);
    // With a call to come the claim stays ours until its outcome is noted.
    if (!decided.ok() || IsCall(decision.action)) return decided;
    if (decision.due) return work::Reschedule(tx, claim, *decision.due);
    return decision.files_left ? work::Reschedule(tx, claim, tx.now() + options_.orphan_look_every)
                               : work::Finish(tx, claim);
  });
  if (ReasonOf(status) == "DROP_CHANGED") return work::Outcome::NextDue(store_.Now());
  if (!status.ok()) return status;
  Tell(detail, view);
  if (!IsCall(decision.action)) return work::Outcome::Settled();
  const Called called = Call(detail, decision, claim);
  status = store_.Write([&](store::Transaction& tx) { return Note(tx, claim, decision, called); });
  if (!status.ok()) return status;
  return work::Outcome::Settled();
}

// Files that a kill left behind are for people to remove; once they are, they count no
// more.
absl::StatusOr<work::Outcome> Worker::LookForOrphans(Drops::Detail detail, work::Claim& claim) {
  if (detail.drop.orphans == 0 || own_.probe == nullptr) return work::Outcome::Finished();
  std::vector<size_t> places;
  std::vector<std::string> load_specs;
  for (size_t i = 0; i < detail.manifest.size(); ++i) {
    const ManifestRow& row = detail.manifest[i];
    if (!Orphaned(row) || row.file != File::kPresent) continue;
    places.push_back(i);
    load_specs.push_back(row.load_spec);
  }
  const std::vector<std::optional<bool>> there = own_.probe->Look(load_specs);
  std::vector<size_t> changed;
  for (size_t i = 0; i < places.size(); ++i) {
    if (there[i] != false) continue;
    detail.manifest[places[i]].file = File::kGone;
    changed.push_back(places[i]);
  }
  absl::Status status = store_.Write([&](store::Transaction& tx) {
    absl::StatusOr<Drop> drop = ReadDrop(tx, claim.key);
    if (!drop.ok()) return drop.status();
    // A restore of the rest has begun meanwhile: the files will be looked at after it.
    if (drop->change != detail.drop.change) return work::Reschedule(tx, claim, tx.now());
    absl::Status stored;
    for (const size_t place : changed) {
      stored = UpdateManifestRow(tx, drop->id, place, detail.manifest[place]);
      if (!stored.ok()) return stored;
    }
    drop->orphans = CountOrphans(detail.manifest);
    if (drop->state == State::kKilled) {
      drop->hold = AnyOrphaned(detail.manifest) ? kFilesLeft : "";
      drop->message = KilledText(detail.manifest);
    }
    if (!changed.empty()) stored = UpdateDrop(tx, *drop);
    if (!stored.ok()) return stored;
    return drop->orphans == 0 ? work::Finish(tx, claim)
                              : work::Reschedule(tx, claim, tx.now() + options_.orphan_look_every);
  });
  if (!status.ok()) return status;
  return work::Outcome::Settled();
}

absl::Status Worker::MakeRoom(work::Claim& claim) {
  if (claim.Remaining(clock_) > own_.call_deadline + kRoom) return absl::OkStatus();
  return work::Extend(store_, clock_, claim, 2 * own_.call_deadline + kRoom);
}

Worker::Called Worker::Call(const Drops::Detail& detail, const Decision& decision,
                            const work::Claim& claim) {
  Called called;
  called.kill = decision.kill;
  if (claim.Remaining(clock_) <= own_.call_deadline) {
    called.sent = false;
    return called;
  }
  const auto note = [&called](const auto& answer) {
    called.refused = answer.refused();
    // Of what never connected nothing can be under way.
    called.known = !answer.unknown() || answer.cause() == druid::Cause::kUnreachable;
    if (!answer.done()) called.text = answer.text();
  };
  const Drop& drop = detail.drop;
  switch (decision.action) {
    case Action::kMark:
      note(cluster_.MarkUnused(drop.datasource, decision.ids));
      break;
    case Action::kRevive:
      if (decision.one_by_one) {
        note(cluster_.ReviveSegment(drop.datasource, decision.ids.front()));
      } else {
        note(cluster_.MarkUsed(drop.datasource, decision.ids));
      }
      break;
    case Action::kPostKill:
      return PostKill(drop, decision.kill, decision.kill.json);
    case Action::kOccupyKill:
      return PostKill(drop, decision.kill,
                      OccupantJson({decision.kill.task_id, drop.datasource, drop.id,
                                    decision.kill.nonce, decision.kill.number}));
    case Action::kShutdownKill:
      note(cluster_.ShutdownTask(decision.kill.task_id));
      // Whether it is gone is read from its status; nothing waits for this call.
      called.known = true;
      called.refused = false;
      break;
    default:
      break;
  }
  return called;
}

// `json` is the kill, or what is to take its id.
Worker::Called Worker::PostKill(const Drop& drop, Kill kill, const std::string& json) {
  Called called;
  const auto answer = cluster_.SubmitTask(json);
  if (!answer.done()) called.text = answer.text();
  const bool exists = answer.refused() && answer.cause() == druid::Cause::kAlreadyExists;
  const bool full = answer.refused() && answer.cause() == druid::Cause::kQueueFull;
  std::optional<Owner> owner;
  if (answer.done()) owner = json == kill.json ? Owner::kKill : Owner::kOccupant;
  if (exists) owner = OwnerOf(kill, cluster_);
  if (owner == Owner::kKill) kill.post = Kill::Post::kPosted;
  if (owner == Owner::kOccupant) {
    kill.post = Kill::Post::kEnded;
    kill.shutdown_asked = true;
    kill.failure = kKillCancelled;
  }
  if (owner == Owner::kOther) {
    kill.post = Kill::Post::kEnded;
    kill.outcome = "TAKEN";
    kill.failure = kKillIdTaken;
  }
  if (exists && owner) called.text.clear();
  // One that is taken and cannot be read now is settled by the next post.
  called.known = owner.has_value() || (answer.refused() && !exists);
  called.refused = answer.refused() && !exists && !full;
  if (called.refused && drop.refusals + 1 >= kMaxRefusals) {
    kill.post = Kill::Post::kEnded;
    kill.outcome = "REFUSED";
    kill.failure = kKillTaskRefused;
    kill.error = called.text.substr(0, kMaxErrorBytes);
  }
  called.kill = std::move(kill);
  return called;
}

absl::Status Worker::Note(store::Transaction& tx, const work::Claim& claim,
                          const Decision& decision, const Called& called) {
  absl::StatusOr<Drop> drop = ReadDrop(tx, claim.key);
  if (!drop.ok()) return drop.status();
  const Instant now = tx.now();
  if (called.sent) drop->called = now;
  if (called.known || !called.sent) drop->intent_until.reset();
  if (called.known) drop->refusals = called.refused ? drop->refusals + 1 : 0;
  if (!called.text.empty()) drop->message = called.text;
  Instant due = drop->intent_until.value_or(now);
  if (decision.action == Action::kPostKill || decision.action == Action::kOccupyKill) {
    Kill kill = called.kill;
    if (kill.post == Kill::Post::kEnded) kill.ended = now;
    absl::Status status = UpdateKill(tx, drop->id, kill);
    if (!status.ok()) return status;
    // The same post again does no harm, so there is nothing to wait out.
    due = kill.post == Kill::Post::kIntent ? now + kPostAgain : now;
  }
  if (called.refused) due = now + kPostAgain;
  absl::Status status = UpdateDrop(tx, *drop);
  const bool done = called.sent && called.text.empty();
  if (status.ok() && decision.action == Action::kRevive && done) {
    bool again = false;
    status = NoteRevived(tx, drop->id, decision.ids, &again);
    // Who undoes it is not raced.
    if (again) due = now + options_.settle_time;
  }
  return status.ok() ? work::Reschedule(tx, claim, due) : status;
}

void Worker::Tell(const Drops::Detail& detail, const View& view) const {
  if (own_.on_foreign_change) {
    if (!view.changes.foreign.empty()) own_.on_foreign_change(detail.drop, kForeignDrop);
    if (!view.changes.lost.empty()) own_.on_foreign_change(detail.drop, "FOREIGN_KILL");
  }
  const bool failed = view.kill && !view.kill->failure.empty();
  if (failed && own_.on_kill_failure && view.kill->failure != kKillCancelled) {
    own_.on_kill_failure(detail.drop, view.kill->failure);
  }
}

}  // namespace interlock::drop
