#include "lib/backfill/derived_worker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/backfill/job_errors.h"
#include "lib/backfill/rows.h"
#include "lib/guard/findings.h"
#include "lib/time/interval_set.h"
#include "lib/time/status_reason.h"

namespace interlock::backfill {
namespace {

constexpr char kIdentity[] = "interlock";
constexpr char kHolder[] = "derived";
// A source that changes while a unit runs costs it an attempt.
constexpr int64_t kAttempts = 10;
// The last year that Druid compares by an index.
const Instant kFarthest = *Instant::Parse("9999-01-01T00:00:00Z");
constexpr size_t kMostTold = 3;  // changes that a reason names

std::string RequestId(const DerivedRun& run) { return absl::StrCat("derived-", run.number); }

bool HasTotals(const Job& job) {
  return std::any_of(job.sources.begin(), job.sources.end(), [](const Source& source) {
    return source.mapping == Source::Mapping::kFromStart;
  });
}

std::string Why(const std::vector<SourceChange>& changes) {
  std::string why;
  for (size_t i = 0; i < changes.size() && i < kMostTold; ++i) {
    absl::StrAppend(&why, why.empty() ? "" : ", ", changes[i].source, " ",
                    changes[i].interval.ToString());
  }
  if (changes.size() > kMostTold) {
    absl::StrAppend(&why, " and ", changes.size() - kMostTold, " more");
  }
  return absl::StrCat("changed: ", why);
}

BackfillRequest RequestOf(const DerivedRun& run) {
  BackfillRequest request;
  request.job = absl::StrCat(run.job, "@", run.version);
  request.intervals = run.intervals;
  request.holder = kHolder;
  request.purpose = absl::StrCat("derived job ", run.job);
  request.labels["interlock.derived_run"] = absl::StrCat(run.number);
  // What is there was computed from what the sources were.
  request.reprocess = Reprocess::kAll;
  request.max_attempts = kAttempts;
  return request;
}

// Of the job's newest run: whoever reads the table should know that it is behind its sources.
std::string SubjectOf(const std::string& job) {
  return absl::StrCat(kDerivedStale, "|", job, "|run");
}

absl::Status ReportBehind(store::Transaction& tx, const DerivedRun& run, const char* reason,
                          const std::string& message, const std::string& remedy) {
  auto job = ReadJob(tx, {run.job, run.version});
  if (!job.ok()) return job.status();
  guard::Finding finding;
  finding.subject = SubjectOf(run.job);
  finding.kind = kDerivedStale;
  finding.reason = reason;
  finding.datasource = job->datasource;
  finding.intervals = run.intervals;
  finding.backfill_id = run.backfill_id;
  finding.message =
      absl::StrCat("job ", run.job, " is behind its sources (", run.why, "): ", message);
  finding.remedy = remedy;
  return guard::Report(tx, finding).status();
}

absl::Status ReportRefused(store::Transaction& tx, const DerivedRun& run, const absl::Status& why) {
  return ReportBehind(
      tx, run, "RUN_REFUSED",
      absl::StrCat("its run is refused, and tried again: ", ReasonOf(why), ": ", why.message()),
      absl::StrCat("what is in its way: interlockctl submit --job ", run.job, " --dry-run"));
}

// Well, or else with what a person has to look at.
absl::Status EndAndTell(store::Transaction& tx, const DerivedRun& run, Phase phase) {
  const bool well = phase == Phase::kDone;
  absl::Status status = EndRun(tx, run, well);
  if (!status.ok()) return status;
  if (well) return guard::Close(tx, SubjectOf(run.job));
  return ReportBehind(tx, run, "RUN_FAILED",
                      absl::StrCat("backfill ", run.backfill_id, " is ", NameOf(phase),
                                   ", and what it was to compute waits for the next change"),
                      absl::StrCat("interlockctl backfills get ", run.backfill_id,
                                   "; then submit --job ", run.job, " --reprocess all"));
}

}  // namespace

absl::StatusOr<DerivedWorker::Look> DerivedWorker::LookAt(const std::string& name) const {
  Look look;
  absl::Status status = world_.store.Read([&](store::Transaction& tx) -> absl::Status {
    auto job = ReadJob(tx, {name, 0});
    auto changes = ChangesFor(tx, name, /*with_failed=*/false);
    auto open = OpenRuns(tx, name);
    auto derivations = ReadDerivations(tx, "");
    if (!job.ok() || !changes.ok()) return job.ok() ? changes.status() : job.status();
    if (!open.ok() || !derivations.ok()) return open.ok() ? derivations.status() : open.status();
    auto at_work = AtWork(tx, AncestorsOf(*derivations, job->datasource));
    if (!at_work.ok()) return at_work.status();
    look.job = *std::move(job);
    look.open = *std::move(open);
    look.gathered.now = tx.now();
    look.gathered.gather = look.job.gather.value_or(gather_);
    look.gathered.changes = *std::move(changes);
    look.gathered.sources_at_work = *at_work;
    look.gathered.run_open = !look.open.empty();
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return look;
}

absl::Status DerivedWorker::Submit(DerivedRun run) {
  // What a step that was cut short had submitted already is not run again.
  absl::Status status = world_.store.Read([&](store::Transaction& tx) {
    auto there = FindByRequest(tx, kIdentity, kHolder, RequestId(run));
    if (there.ok() && *there) run.backfill_id = (*there)->id;
    return there.status();
  });
  if (!status.ok()) return status;
  if (run.backfill_id.empty()) {
    const audit::Caller own{kIdentity, RequestId(run), run.why};
    auto submitted = run.correction ? world_.correct(RequestOf(run), own)
                                    : world_.backfills.Submit(RequestOf(run), own);
    if (!submitted.ok()) {
      // Held, sealed or unsealed since it was made: it is made anew.
      status = world_.store.Write([&](store::Transaction& tx) {
        absl::Status told = ReportRefused(tx, run, submitted.status());
        return told.ok() ? DissolveRun(tx, run) : told;
      });
      return status.ok() ? submitted.status() : status;
    }
    run.backfill_id = submitted->backfill.id;
  }
  return world_.store.Write([&](store::Transaction& tx) {
    absl::Status named = NameBackfill(tx, run);
    return named.ok() ? guard::Close(tx, SubjectOf(run.job)) : named;
  });
}

absl::Status DerivedWorker::Follow(const DerivedRun& run) {
  if (run.backfill_id.empty()) return Submit(run);
  return world_.store.Write([&](store::Transaction& tx) -> absl::Status {
    auto backfill = ReadBackfill(tx, run.backfill_id);
    if (!backfill.ok()) return backfill.status();
    const bool stuck = backfill->phase == Phase::kNeedsAttention;
    if (!stuck && !IsOver(backfill->phase)) return absl::OkStatus();
    return EndAndTell(tx, run, backfill->phase);
  });
}

absl::Status DerivedWorker::TakeMended(const std::string& job) {
  return world_.store.Write([&](store::Transaction& tx) -> absl::Status {
    auto mended = tx.Query(
        "SELECT r.number FROM derived_run r JOIN backfill b ON b.id = r.backfill_id WHERE"
        " r.job = :job AND r.state = 'FAILED' AND b.phase = 'DONE' ORDER BY r.number",
        {job});
    if (!mended.ok()) return mended.status();
    for (const store::Row& row : *mended) {
      DerivedRun run;
      run.number = row.Int(0);
      run.job = job;
      absl::Status status = EndAndTell(tx, run, Phase::kDone);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

// Where running totals end: the last partition that is there, or that a source has.
absl::StatusOr<Instant> DerivedWorker::EndOfTotals(const Job& job,
                                                   const std::vector<SourceChange>& changes) const {
  if (!HasTotals(job) || changes.empty()) return Instant::kMin;
  std::set<std::string> known = {job.datasource};
  for (const Source& source : job.sources) known.insert(source.datasource);
  Instant end = Instant::kMin;
  absl::Status status = world_.store.Read([&](store::Transaction& tx) {
    auto last = LastProven(tx, known);
    if (last.ok()) end = *last;
    return last.status();
  });
  if (!status.ok()) return status;
  Instant from = changes.front().interval.start();
  for (const SourceChange& change : changes) from = std::min(from, change.interval.start());
  // What came there by other ways goes wrong with the rest.
  const auto read = world_.cluster.ReadUsedSegments(
      job.datasource, {*Interval::Of(from, std::max(from, kFarthest))}, [] {},
      [&end](druid::Segment& segment) { end = std::max(end, segment.interval.end()); });
  if (read.unknown()) return DerivedDruidUnavailable(read.text());
  return end;
}

absl::Status DerivedWorker::MakeRuns(const Job& job) {
  std::vector<SourceChange> changes;
  absl::Status status = world_.store.Read([&](store::Transaction& tx) {
    auto all = ChangesFor(tx, job.name, /*with_failed=*/true);
    if (all.ok()) changes = std::move(*all);
    return all.status();
  });
  if (!status.ok()) return status;
  auto end = EndOfTotals(job, changes);
  if (!end.ok()) return end.status();
  const auto calendar = ParseGranularity(job.granularity_json);
  if (!calendar) return absl::OkStatus();  // a job whose work was checked has one
  auto drift = LookForGone(job);
  if (!drift.ok()) return drift.status();
  std::vector<DerivedRun> made;
  status = world_.store.Write([&](store::Transaction& tx) -> absl::Status {
    made.clear();
    // What came in between is taken too.
    auto all = ChangesFor(tx, job.name, /*with_failed=*/true);
    if (!all.ok()) return all.status();
    const auto affected = Computable(job, Affected(job.sources, *all, *calendar, *end), *drift);
    std::vector<Interval> seals;
    for (const Interval& interval : affected) {
      auto found = world_.seals(tx, job.datasource, interval);
      if (!found.ok()) return found.status();
      seals.insert(seals.end(), found->begin(), found->end());
    }
    const SplitBySeals split = SplitAtSeals(affected, seals, *calendar);
    DerivedRun run{0, job.name, job.version, split.plain, false, "", Why(*all)};
    absl::Status done = absl::OkStatus();
    // Without anything to run the changes are over too.
    if (!split.plain.empty() || split.sealed.empty()) {
      done = MakeRun(tx, run, /*shared=*/false);
      if (done.ok() && split.plain.empty()) return EndRun(tx, run, /*well=*/true);
      made.push_back(run);
    }
    if (!done.ok() || split.sealed.empty()) return done;
    run.intervals = split.sealed;
    run.correction = true;
    done = MakeRun(tx, run, /*shared=*/!made.empty());
    made.push_back(run);
    return done;
  });
  if (!status.ok()) return status;
  for (const DerivedRun& run : made) {
    absl::Status submitted = Submit(run);
    if (status.ok()) status = submitted;
  }
  return status;
}

absl::StatusOr<SourceDrift> DerivedWorker::LookForGone(const Job& job) {
  auto drift = LookForDrift(world_.store, world_.cluster, job);
  if (!drift.ok()) return drift;
  absl::Status status =
      world_.store.Write([&](store::Transaction& tx) { return ReportGone(tx, job, *drift); });
  if (!status.ok()) return status;
  return drift;
}

absl::StatusOr<bool> DerivedWorker::LookForOthers(const Job& job) {
  auto drift = LookForGone(job);
  if (!drift.ok()) return drift.status();
  bool noted = false;
  absl::Status status = world_.store.Write([&](store::Transaction& tx) -> absl::Status {
    noted = false;
    // What a run that failed has taken waits for a person, or for the next change.
    auto waiting = ChangesFor(tx, job.name, /*with_failed=*/true);
    auto open = OpenRuns(tx, job.name);
    if (!waiting.ok()) return waiting.status();
    if (!open.ok()) return open.status();
    if (!waiting->empty() || !open->empty()) return absl::OkStatus();
    for (const SourceDrift::Part& part : drift->changed) {
      absl::Status status = NoteChangeFor(tx, job.name, part.source, part.interval);
      if (!status.ok()) return status;
      noted = true;
    }
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return noted;
}

absl::StatusOr<work::Outcome> DerivedWorker::Step(work::Claim& claim) {
  auto look = LookAt(claim.key);
  if (!look.ok()) return look.status();
  for (const DerivedRun& run : look->open) {
    if (absl::Status status = Follow(run); !status.ok()) return status;
  }
  if (absl::Status status = TakeMended(claim.key); !status.ok()) return status;
  const GatherStep step = NextGather(look->gathered);
  if (step.kind == GatherStep::Kind::kRun) {
    if (absl::Status status = MakeRuns(look->job); !status.ok()) return status;
  }
  if (step.kind == GatherStep::Kind::kWait) return work::Outcome::NextDue(step.until);
  const bool idle = step.kind == GatherStep::Kind::kNothing && look->open.empty();
  if (idle && look->job.sources.empty()) return work::Outcome::Finished();
  if (idle && !look->gathered.sources_at_work) {
    auto noted = LookForOthers(look->job);
    if (!noted.ok()) return noted.status();
    if (!*noted) return work::Outcome::NextDue(look->gathered.now + kDriftLook);
  }
  return work::Outcome::NextDue(look->gathered.now + kDerivedLook);
}

}  // namespace interlock::backfill
