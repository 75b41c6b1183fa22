#include "client/cli/exit_code.h"
#include "client/cli/verb_tables.h"
#include "client/cli/views.h"
#include "interlock/v1/streams.pb.h"

namespace interlock::cli {
namespace {

int Allowed(const google::protobuf::Message& reply) {
  const auto& checked = static_cast<const v1::CheckAppendResponse&>(reply);
  return checked.decision() == v1::CheckAppendResponse::ALLOW ? kDone : kNo;
}

std::vector<Column> StreamColumns() {
  return {{"DATASOURCE", "datasource"},
          {"STREAM", "stream"},
          {"KIND", "kind"},
          {"TAIL FROM", "tail.start_time"},
          {"KNOWN BY", "tail.source"},
          {"UNBOUNDED", "tail.unbounded"},
          {"STALE", "tail.stale"},
          {"SUPERVISOR", "supervisor_id"},
          {"ITS STATE", "health.state"}};
}

}  // namespace

std::vector<Verb> StreamVerbs() {
  Flag spec{"supervisor-spec", "FILE", "its spec as it will be posted, JSON", "supervisor_spec"};
  spec.reading = Reading::kFile;
  return {
      {.words = "streams register",
       .summary = "declare a stream and what it may still write",
       .positionals = {{"DATASOURCE", "datasource"}},
       .flags = {{"stream", "NAME", "its name in the datasource", "stream"},
                 {"tail", "TIME", "it writes what is younger than this: P2D", "tail"},
                 {"tail-start", "TIME", "it writes from this instant on", "tail_start_time"},
                 {"supervisor", "ID", "watch this supervisor", "supervisor_id"},
                 spec,
                 {"accept-unbounded-tail", nullptr, "let backfills run beside it",
                  "accept_unbounded_tail"},
                 DryRunFlag(),
                 ReasonFlag(),
                 RequestIdFlag()},
       .method = "Streams.RegisterStream",
       .view = {{"stream", StreamColumns()}}},
      {.words = "streams list",
       .summary = "streams, declared and found, with their tails",
       .positionals = {{"[DATASOURCE]", "datasource"}},
       .flags = {LimitFlag(), PageFlag()},
       .method = "Streams.ListStreams",
       .view = {{"streams", StreamColumns()}}},
      {.words = "streams remove",
       .summary = "forget what was declared",
       .positionals = {{"DATASOURCE", "datasource"}},
       .flags = {{"stream", "NAME", "its name in the datasource", "stream"},
                 ReasonFlag(),
                 RequestIdFlag()},
       .method = "Streams.RemoveStream",
       .view = {{"stream", StreamColumns()}}},
      {.words = "check-append",
       .summary = "may a stream write these instants",
       .positionals = {{"DATASOURCE", "datasource"}, {"TIMESTAMP...", "timestamps_ms"}},
       .flags = Joined({{"stream", "NAME", "the stream that asks", "stream"}}, LeaseFlags()),
       .method = "Streams.CheckAppend",
       .view = {{"",
                 {{"DECISION", "decision"},
                  {"EACH", "decisions"},
                  {"VALID UNTIL", "valid_until_time"},
                  {"ASK AGAIN IN", "retry_after"},
                  {"TOKEN", "fencing_token"}}},
                BlockerRows("blockers")},
       .answer = Allowed,
       .details = "Exits with 0 for ALLOW, 1 for HOLD and REJECT."},
  };
}

}  // namespace interlock::cli
