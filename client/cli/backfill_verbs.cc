#include "client/cli/verb_tables.h"
#include "client/cli/views.h"

namespace interlock::cli {
namespace {

const Positional kId = {"ID", "backfill_id"};
const std::vector<Section> kBackfill = {{"backfill"}};

Verb Change(const char* words, const char* summary, const char* method,
            std::vector<Flag> flags = {}) {
  return {.words = words,
          .summary = summary,
          .positionals = {kId},
          .flags = Joined(std::move(flags), {ReasonFlag(), RequestIdFlag()}),
          .method = method,
          .view = kBackfill};
}

Flag PartFlag() {
  Flag part{"partition", "INTERVAL", "only these; may be repeated", "partitions"};
  part.many = true;
  return part;
}

std::vector<Verb> ReadingVerbs() {
  Flag states{"state", "STATE", "only in this state; may be repeated", "states"};
  states.many = true;
  Flag labels{"label", "KEY[=VALUE]", "only with this label; may be repeated", "labels"};
  labels.many = true;
  return {
      {.words = "backfills list",
       .summary = "backfills, newest first; with --interval the history of a partition",
       .positionals = {{"[DATASOURCE]", "datasource"}},
       .flags = {IntervalFlag(),
                 states,
                 {"job", "NAME", "of this job", "job"},
                 {"by", "IDENTITY", "asked for by", "requested_by"},
                 {"since", "TIME", "stored since", "created_since_time"},
                 {"until", "TIME", "stored before", "created_until_time"},
                 labels,
                 LimitFlag(),
                 PageFlag()},
       .method = "Backfills.ListBackfills",
       .view = {BackfillRows("backfills")}},
      {.words = "backfills get",
       .summary = "one backfill with its partitions",
       .positionals = {kId},
       .flags = {IntervalFlag(),
                 states,
                 {"attempts", nullptr, "with each partition's attempts", "include_attempts"},
                 {"spec", nullptr, "with the spec", "include_spec"},
                 LimitFlag(),
                 PageFlag()},
       .method = "Backfills.GetBackfill",
       .view = {{"backfill"},
                PartitionRows("partitions"),
                {"partitions.attempts",
                 {{"ATTEMPT", "task_id"},
                  {"NUMBER", "number"},
                  {"UNIT", "unit"},
                  {"STATE", "state"},
                  {"DRUID SAYS", "druid_status"},
                  {"ERROR", "druid_error"},
                  {"SENT", "submit_time"},
                  {"ENDED", "end_time"}}}}},
      {.words = "backfills watch",
       .summary = "its changes as they happen, until it is over or needs a person",
       .positionals = {kId},
       .flags = {{"until-over", nullptr, "go on when a person is needed", "until_over"},
                 {"from-revision", "N", "after this revision", "from_revision"}},
       .method = "Backfills.WatchBackfill",
       .run = RunWatchBackfill,
       .details = "-o json prints each change on a line; with --until-over the backfill as it\n"
                  "ended, and nothing else. The last state decides the exit status, as with\n"
                  "'submit --wait'."},
  };
}

std::vector<Verb> Judging() {
  return {
      {.words = "backfills rollback",
       .summary = "bring the generation before it back",
       .positionals = {kId},
       .flags = {ReasonFlag("why; kept in the audit log (wanted)"),
                 DryRunFlag(),
                 PartFlag(),
                 {"accept-foreign-rows", nullptr, "lose rows that others added since",
                  "accept_foreign_rows"},
                 RequestIdFlag()},
       .method = "Backfills.RollbackBackfill",
       .view = {{"backfill"}, PartitionRows("partitions")}},
      {.words = "backfills accept",
       .summary = "take SUSPECT or UNDETERMINED partitions as done, with a reason",
       .positionals = {kId, {"PARTITION...", "partitions"}},
       .flags = {ReasonFlag("why; kept in the proof (wanted)"), RequestIdFlag()},
       .method = "Backfills.AcceptPartitions",
       .view = {{"backfill"}, PartitionRows("partitions")},
       .details = "PARTITION is a partition, or an interval: then what is in doubt within it."},
      {.words = "backfills abandon",
       .summary = "declare an attempt over that can't be proven to be (for admins)",
       .positionals = {kId, {"ATTEMPT", "task_id"}},
       .flags = {ReasonFlag("why; kept in the audit log (wanted)"), RequestIdFlag()},
       .method = "Backfills.AbandonAttempt",
       .view = {{"backfill"}, {"attempt"}},
       .details = "ATTEMPT is its task's id, as 'backfills get ID --attempts' shows it."},
  };
}

std::vector<Verb> Jobs() {
  return {
      {.words = "jobs put",
       .summary = "store a job as a new version",
       .positionals = {{"FILE"}},
       .flags = {{"name", "NAME", "the job's name, where FILE is a bare spec"},
                 DryRunFlag(),
                 {"expect-version", "N", "only if this is the newest; 0: if there is none",
                  "expect_version"},
                 ReasonFlag(),
                 RequestIdFlag()},
       .method = "Jobs.PutJob",
       .view = {{"job"},
                {"spec_changes",
                 {{"PLACE", "pointer"}, {"WAS", "before"}, {"IS", "after"}, {"WHY", "reason"}}}},
       .run = RunPutJob,
       .details = "FILE is a Job as JSON (name, spec or sql, expect, sources, …), in which spec\n"
                  "may be the object itself; or an index_parallel spec, with --name."},
      {.words = "jobs get",
       .summary = "one job",
       .positionals = {{"NAME", "name"}},
       .flags = {{"job-version", "N", "this version; the newest unless told", "version"}},
       .method = "Jobs.GetJob",
       .view = {{"job"}}},
      {.words = "jobs list",
       .summary = "jobs, by name",
       .positionals = {{"[DATASOURCE]", "datasource"}},
       .flags = {{"all-versions", nullptr, "every version", "all_versions"},
                 LimitFlag(),
                 PageFlag()},
       .method = "Jobs.ListJobs",
       .view = {{"jobs",
                 {{"NAME", "name"},
                  {"VERSION", "version"},
                  {"DATASOURCE", "datasource"},
                  {"CALENDAR", "granularity"},
                  {"STORED", "create_time"},
                  {"BY", "created_by"}}}}},
  };
}

}  // namespace

std::vector<Verb> BackfillVerbs() {
  Flag states{"state", "STATE", "put these back: failed, cancelled, suspect, skipped", "states"};
  states.many = true;
  std::vector<Verb> verbs = ReadingVerbs();
  verbs.push_back(Change("backfills pause", "begin nothing new", "Backfills.PauseBackfill"));
  verbs.push_back(Change("backfills resume", "go on after a pause", "Backfills.ResumeBackfill"));
  verbs.push_back(Change("backfills retry", "try partitions again that did not end well",
                         "Backfills.RetryBackfill", {states, PartFlag()}));
  verbs.push_back(
      Change("backfills cancel", "give up what is not done", "Backfills.CancelBackfill"));
  for (const Verb& verb : Judging()) verbs.push_back(verb);
  for (const Verb& verb : Jobs()) verbs.push_back(verb);
  return verbs;
}

}  // namespace interlock::cli
