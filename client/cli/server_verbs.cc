#include "client/cli/exit_code.h"
#include "client/cli/verb_tables.h"
#include "client/cli/views.h"
#include "interlock/v1/server.pb.h"

namespace interlock::cli {
namespace {

int Ready(const google::protobuf::Message& reply) {
  return static_cast<const v1::GetStatusResponse&>(reply).ready() ? kDone : kNotReachable;
}

int NoFault(const google::protobuf::Message& reply) {
  const auto& diagnosis = static_cast<const v1::DiagnoseResponse&>(reply);
  return diagnosis.result() == v1::Check::FAULT ? kNo : kDone;
}

int MayCall(const google::protobuf::Message& reply) {
  return static_cast<const v1::TestPolicyResponse&>(reply).allowed() ? kDone : kNo;
}

Verb Status() {
  return {.words = "status",
          .summary = "how the server does, and what it knows of Druid",
          .method = "Server.GetStatus",
          .view = {{"",
                    {{"READY", "ready"},
                     {"WHY NOT", "not_ready_reason"},
                     {"VERSION", "version"},
                     {"COMMIT", "commit"},
                     {"REPLICA", "replica"},
                     {"SINCE", "start_time"},
                     {"DRAINING", "draining"},
                     {"DRUID ACCESS", "druid_access"},
                     {"STORE", "store.engine"},
                     {"WRITABLE", "store.writable"},
                     {"LAST COMMIT TOOK", "store.commit_latency"},
                     {"CLOCK JUMPS", "clock_jump_count"},
                     {"YOU ARE", "caller_identity"}}},
                   {"druid",
                    {{"SERVICE", "service"},
                     {"STATE", "state"},
                     {"VERSION", "version"},
                     {"LEADER", "leader"},
                     {"URL", "url"},
                     {"MESSAGE", "message"}}},
                   {"replicas",
                    {{"OTHER REPLICA", "replica"}, {"SEEN", "seen_time"}, {"VERSION", "version"}}},
                   {"counts", {{"THERE ARE", "key"}, {"COUNT", "value"}}},
                   {"limits", {{"LIMIT", "key"}, {"VALUE", "value"}}}},
          .answer = Ready,
          .details = "Exits with 0 where it can grant, 3 where it can't or does not answer."};
}

Verb Doctor() {
  return {.words = "doctor",
          .summary = "ask the Druid cluster once, and say what was found and what to do",
          .positionals = {{"[DATASOURCE...]", "datasources"}},
          .method = "Server.Diagnose",
          .view = {{"checks",
                    {{"RESULT", "result"},
                     {"CHECK", "name"},
                     {"OF", "subject"},
                     {"FOUND", "found"},
                     {"WHAT TO DO", "remedy"}}}},
          .answer = NoFault,
          .details = "Changes nothing. Exits with 1 where something will not work."};
}

Verb Findings() {
  Flag states{"state", "STATE", "open (unless told) or closed", "states"};
  states.many = true;
  Flag kinds{"kind", "KIND", "only of this kind; may be repeated", "kinds"};
  kinds.many = true;
  return {.words = "findings",
          .summary = "what the sweeper has found wrong",
          .positionals = {{"[DATASOURCE]", "datasource"}},
          .flags = {IntervalFlag(),
                    states,
                    kinds,
                    {"since", "TIME", "seen since", "since_time"},
                    LimitFlag(),
                    PageFlag()},
          .method = "Findings.ListFindings",
          .view = {{"findings",
                    {{"ID", "finding_id"},
                     {"KIND", "kind"},
                     {"REASON", "reason"},
                     {"STATE", "state"},
                     {"DATASOURCE", "datasource"},
                     {"INTERVAL", "interval"},
                     {"SEEN", "seen_time"},
                     {"MESSAGE", "message"},
                     {"WHAT TO DO", "remedy"}}},
                   {"sweeps", {{"DATASOURCE", "datasource"}, {"LAST SWEEP", "sweep_time"}}}}};
}

Verb Explain() {
  return {.words = "explain",
          .summary = "all that is known of an interval",
          .positionals = {{"DATASOURCE", "datasource"}, {"INTERVAL", "interval"}},
          .flags = {{"segment-ids", nullptr, "list segments", "include_segment_ids"},
                    {"unused", nullptr, "list unused versions too", "include_unused"}},
          .method = "Findings.ExplainInterval",
          .view = {VerdictRows("partitions"), ReservationRows("reservations"),
                   BlockerRows("blockers"), BackfillRows("backfills"), DropRows("drops")}};
}

Verb Audit() {
  return {.words = "audit",
          .summary = "who asked for what, when, why, with which result",
          .flags = {{"datasource", "DATASOURCE", "of this datasource", "datasource"},
                    IntervalFlag(),
                    {"since", "TIME", "since then", "since_time"},
                    {"until", "TIME", "before then", "until_time"},
                    {"identity", "WHO", "by this identity", "identity"},
                    {"action", "WHAT", "SubmitBackfill, unit.*", "action"},
                    {"resource", "ID", "on this resource", "resource_id"},
                    {"type", "TYPE", "on this kind: reservation, backfill, drop, seal, …",
                     "resource_type"},
                    {"of-request", "ID", "of this request", "request_id"},
                    {"oldest-first", nullptr, "the oldest first", "oldest_first"},
                    {"verify", nullptr, "walk the chain: is anything missing or changed"},
                    {"export", nullptr, "all of it, one JSON object a line, the oldest first"},
                    LimitFlag(),
                    PageFlag()},
          .method = "Audit.ListAuditEvents",
          .view = {{"events",
                    {{"NUMBER", "sequence"},
                     {"TIME", "event_time"},
                     {"WHO", "identity"},
                     {"WHAT", "action"},
                     {"DATASOURCE", "datasource"},
                     {"INTERVALS", "intervals"},
                     {"ON", "resource_id"},
                     {"RESULT", "result"},
                     {"REASON", "result_reason"},
                     {"WHY", "reason"}}}},
          .run = RunAudit,
          .details = "--verify exits with 1 where the chain is broken."};
}

Verb Report() {
  return {.words = "report",
          .summary = "what was rerun in a period, by whom, why, with which results",
          .positionals = {{"[DATASOURCE]", "datasource"}},
          .flags = {IntervalFlag(),
                    {"since", "TIME", "asked for since then", "created_since_time"},
                    {"until", "TIME", "asked for before then", "created_until_time"},
                    {"markdown", nullptr, "as Markdown, also where the output is no terminal"}},
          .method = "Backfills.ListBackfills",
          .run = RunReport,
          .details =
              "Backfills, drops and corrections. Markdown for people, with -o json one "
              "document with backfills, drops, corrections and totals."};
}

Verb PolicyTest() {
  return {
      .words = "policy test",
      .summary = "may an identity call a method on a datasource, and by which line",
      .positionals = {{"IDENTITY", "identity"}, {"METHOD", "method"}, {"DATASOURCE", "datasource"}},
      .method = "Server.TestPolicy",
      .view = {{""}},
      .answer = MayCall,
      .details = "Exits with 0 where it may, 1 where it may not."};
}

}  // namespace

std::vector<Verb> ServerVerbs() {
  return {Status(),
          Doctor(),
          Findings(),
          Explain(),
          Audit(),
          Report(),
          PolicyTest(),
          {.words = "completion",
           .summary = "a script that completes interlockctl's words in your shell",
           .positionals = {{"SHELL"}},
           .run = RunCompletion,
           .details = "SHELL is bash, zsh or fish: source <(interlockctl completion bash)"}};
}

}  // namespace interlock::cli
