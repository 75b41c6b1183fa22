#include "client/cli/verb_tables.h"
#include "client/cli/views.h"

namespace interlock::cli {
namespace {

Flag Many(Flag flag) {
  flag.many = true;
  return flag;
}

Flag FromFile(Flag flag) {
  flag.reading = Reading::kFile;
  return flag;
}

Flag LevelFlag() { return {"level", "LEVEL", "visible, served (unless told) or retired", "level"}; }

Verb Reserve() {
  return {
      .words = "reserve",
      .summary = "lease intervals of a datasource, or run a command under the lease",
      .positionals = {{"DATASOURCE", "datasource"}, {"INTERVAL...", "intervals"}},
      .flags = {{"mode", "MODE", "replace (unless told) or append", "mode"},
                {"ttl", "TIME", "length of the lease; 10m unless told", "ttl"},
                {"purpose", "TEXT", "what for; shown to those who are refused", "purpose"},
                {"holder", "NAME", "a name below yours: orders_daily", "holder"},
                {"skip-held", nullptr, "leave out what others hold, and say so", "skip_held"},
                {"wait", "TIME", "wait so long for time that others hold", "wait"},
                {"segment-granularity", "PERIOD", "calendar that you will write in: HOUR, P1D",
                 "segment_granularity.period"},
                {"time-zone", "ZONE", "that calendar's zone; UTC unless told",
                 "segment_granularity.time_zone"},
                {"accept-widening", nullptr, "take the aligned intervals around what was asked",
                 "accept_widening"},
                DryRunFlag(),
                ReasonFlag(),
                LabelFlag(),
                RequestIdFlag(),
                {"kill-after", "TIME",
                 "with a command: between TERM and KILL when the lease is lost; 10s unless told"}},
      .method = "IngestionCoordinator.ReserveInterval",
      .view = {{"reservation"}, BlockerRows("skipped")},
      .run = RunReserve,
      .details =
          "With -- COMMAND it runs the command under the lease, renews that while it runs, gives\n"
          "it back afterwards, forwards signals, and exits with the command's own status. The\n"
          "command finds INTERLOCK_RESERVATION and INTERLOCK_FENCING_TOKEN in its environment;\n"
          "submit, drop and verify take them for --reservation and --fencing-token. Where the\n"
          "command did not run or had to be stopped: 121 held by another, 122 usage, 123 not\n"
          "reachable, 124 the lease was lost (TERM to its process group, KILL after\n"
          "--kill-after), 125 anything else, 126 not allowed, 127 there is no such command.\n"
          "A server that does not answer is asked again for ten seconds, or for --timeout.\n"
          "A lease that can't be renewed is counted on this machine's own clock: the command\n"
          "gets TERM --kill-after before the lease's end (a third of --ttl, if that is less) and\n"
          "is dead at it. Where the lease is over already (the machine slept), it gets KILL at\n"
          "once. If interlockctl itself is killed, so is the command's process group; what the\n"
          "command leaves running there when it ends is stopped before the lease is given back.",
      .takes_command = true};
}

std::vector<Flag> SubmitFlags() {
  return {
      FromFile({"spec", "FILE", "an index_parallel spec; - for stdin", "spec"}),
      FromFile({"sql", "FILE", "a REPLACE query; - for stdin", "sql.query"}),
      FromFile({"context", "FILE", "with --sql: the query's context, JSON", "sql.context"}),
      {"job", "NAME", "a stored job, NAME or NAME@VERSION", "job"},
      Many({"interval", "INTERVAL", "what to recompute: supplies or narrows the spec's own",
            "intervals"}),
      DryRunFlag(),
      {"reprocess", "WHAT", "of what was run before: none (unless told), failed, all", "reprocess"},
      {"max-parallel", "N", "tasks that run at once", "max_parallel"},
      {"newest-first", nullptr, "begin with the newest partitions", "newest_first"},
      // Read first: the flags after it add to what it says.
      {"expect", "FILE", "what is expected, as JSON: sums, single partitions; - for stdin",
       "expect", Reading::kJson},
      {"expect-rows", "N", "raw rows, exactly, over all of the interval", "expect.rows"},
      {"min-rows", "N", "raw rows, at least, in each partition", "expect.min_rows"},
      {"max-unparseable", "N", "input rows that may be unparseable", "expect.max_unparseable"},
      {"count-metric", "NAME", "metric whose sum counts raw rows", "expect.count_metric"},
      {"same-as", "DATASOURCE", "that must have the same rows and sums",
       "expect.same_as_datasource"},
      {"expect-generation", "G", "only over this generation", "expect_generation"},
      {"plan-revision", "R", "only if the world is as in this plan", "plan_revision"},
      {"skip-held", nullptr, "leave alone what others hold, and say so", "skip_held"},
      {"accept-widening", nullptr, "recompute the aligned intervals around what was asked",
       "accept_widening"},
      {"wait-tail", nullptr, "wait until streams' tails have passed"},
      {"handover", nullptr, "suspend the stream while its hours are recomputed"},
      {"max-pause", "TIME", "with --handover: longest pause of the stream", "max_pause"},
      {"ends-at-committed-offsets", nullptr,
       "with --handover: the input ends where the stream's offsets do",
       "input_ends_at_committed_offsets"},
      {"accept-unbounded-tail", nullptr, "run beside a stream whose tail has no bound"},
      {"accept-concurrent-append", nullptr,
       "run beside a stream, both with concurrent locks: rows may count twice",
       "accept_concurrent_append"},
      {"correction", nullptr, "write sealed partitions to a side datasource", "correction"},
      LevelFlag(),
      {"max-attempts", "N", "attempts that a partition gets", "max_attempts"},
      {"waiting-deadline", "TIME", "longest time that a task may wait for a slot or a lock",
       "waiting_deadline"},
      {"run-deadline", "TIME", "longest time that a task may run", "run_deadline"},
      {"deadline", "TIME", "give it up if it is not over after this", "deadline"},
      {"rollback-window", "TIME", "keep the former generation so long for a rollback",
       "rollback_window"},
      {"purpose", "TEXT", "what for; shown to those who are refused", "purpose"},
      {"holder", "NAME", "a name below yours", "holder"},
      {"wait", nullptr, "follow it until it is over, or needs a person"},
  };
}

Verb Submit() {
  return {
      .words = "submit",
      .summary = "recompute an interval with a spec, a query or a job, and prove it",
      .flags =
          Joined(Joined(SubmitFlags(), LeaseFlags()), {ReasonFlag(), LabelFlag(), RequestIdFlag()}),
      .method = "IngestionCoordinator.SubmitBackfill",
      .view = {{"backfill"}},
      .run = RunSubmit,
      .details =
          "--dry-run prints the plan, with -o spec the spec alone as it would be sent; it exits\n"
          "with 1 where something is in the way. Of a spec with faults -o spec prints what is\n"
          "left when each is mended that has one answer; the faults go to stderr, and it exits\n"
          "with 2. --expect FILE is a RowExpectation as JSON, like\n"
          "{\"sums\":[{\"metric\":\"sent\",\"long_value\":\"60\"}],\n"
          "\"partitions\":[{\"interval\":\"2026-07-16T13\",\"rows\":\"10\"}]}. With --wait the "
          "backfill's last state decides: 0\n"
          "DONE, 1 failed or suspect, 6 it can't be known yet; a server that restarts\n"
          "meanwhile is waited for. Ctrl-C ends the waiting, not the backfill. The same\n"
          "--request-id again joins what it made; once that is over, --reprocess failed runs\n"
          "again what failed, and --reprocess all, the first time, all of it."};
}

Verb Verify() {
  return {.words = "verify",
          .summary = "read from Druid what is true of an interval: versions, rows, loading",
          .positionals = {{"DATASOURCE", "datasource"}, {"INTERVAL...", "intervals"}},
          .flags = Joined(
              {LevelFlag(),
               {"expect-rows", "N", "raw rows, exactly, over all of it", "expect.rows"},
               {"min-rows", "N", "raw rows, at least, in each partition", "expect.min_rows"},
               {"count-metric", "NAME", "metric whose sum counts raw rows", "expect.count_metric"},
               {"same-as", "DATASOURCE", "that must have the same rows and sums",
                "expect.same_as_datasource"},
               {"wait", "TIME", "look again until it is good, or this is over", "wait"},
               {"backfill", "ID", "compare with what this backfill proved", "backfill_id"},
               {"only-faults", nullptr, "list only what is not good", "only_faults"},
               {"unused", nullptr, "list unused versions too", "include_unused"},
               {"segment-ids", nullptr, "list segments", "include_segment_ids"}},
              LeaseFlags()),
          .method = "IngestionCoordinator.VerifySingleVersion",
          .view = {VerdictRows("partitions"),
                   {"neighbour_changes",
                    {{"NEXT DOOR", "interval"},
                     {"CHANGED BY", "cause"},
                     {"WHO", "attributed_to"},
                     {"VERSION BEFORE", "version_before"},
                     {"VERSION NOW", "version_after"}}}},
          .run = RunVerify,
          .details =
              "Exits with 0 where all is good, 1 where it is not, 6 where it can't be known\n"
              "yet. Changes nothing."};
}

Verb DropData() {
  return {
      .words = "drop",
      .summary = "take data away: mark, keep for a window, kill by manifest, prove",
      .positionals = {{"DATASOURCE", "datasource"}, {"INTERVAL...", "intervals"}},
      .flags = Joined(
          {ReasonFlag("why; kept in the drop (wanted)"),
           DryRunFlag(),
           {"window", "TIME", "between the mark and the kill; 72h unless told", "window"},
           {"floor", "TIME", "kill nothing younger; the server's, 14d, unless more", "floor"},
           {"approval", nullptr, "another person has to approve the kill", "approval"},
           {"plan-revision", "R", "only if the world is as in this plan", "plan_revision"},
           {"accept-kill-duty", nullptr, "although the Coordinator itself kills inside the window",
            "accept_kill_duty"},
           {"accept-partial-cover", nullptr, "leave what reaches beyond the interval",
            "accept_partial_cover"},
           {"segments", nullptr, "with --dry-run: list the segments", "include_segments"},
           {"holder", "NAME", "a name below yours", "holder"},
           {"wait", nullptr, "wait until it is over, or needs a person"},
           LabelFlag(),
           RequestIdFlag()},
          LeaseFlags()),
      .method = "IngestionCoordinator.DropAndKill",
      .view = {{"drop"}},
      .run = RunDrop,
      .details =
          "Until the kill, and unless newer data is written over it, 'drops restore ID' brings\n"
          "it back. With --wait: 0 KILLED and no file seen left, 1 any other end, 6 a person\n"
          "has to approve."};
}

}  // namespace

std::vector<Verb> CoordinatorVerbs() { return {Reserve(), Submit(), Verify(), DropData()}; }

}  // namespace interlock::cli
