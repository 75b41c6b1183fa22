#include "client/cli/verb_tables.h"
#include "client/cli/views.h"

namespace interlock::cli {
namespace {

const Positional kId = {"ID", "drop_id"};
const std::vector<Section> kDrop = {{"drop"}};

std::vector<Verb> Retention() {
  Positional file{"FILE", "policy", Reading::kJson};
  return {
      {.words = "retention put",
       .summary = "store a policy that makes drops by itself",
       .positionals = {file},
       .flags = {DryRunFlag(), ReasonFlag(), RequestIdFlag()},
       .method = "Drops.PutRetentionPolicy",
       .view = {{"policy"}},
       .run = RunPutRetention,
       .details = "FILE is a RetentionPolicy as JSON: name, datasource_pattern, age, window, …"},
      {.words = "retention list",
       .summary = "policies, by name",
       .flags = {LimitFlag(), PageFlag()},
       .method = "Drops.ListRetentionPolicies",
       .view = {{"policies",
                 {{"NAME", "name"},
                  {"DATASOURCES", "datasource_pattern"},
                  {"AGE", "age"},
                  {"WINDOW", "window"},
                  {"APPROVAL", "approval"},
                  {"LAST RUN", "run_time"},
                  {"RESULT", "run_message"}}}}},
      {.words = "retention delete",
       .summary = "take a policy away; its drops stay",
       .positionals = {{"NAME", "name"}},
       .flags = {ReasonFlag(), RequestIdFlag()},
       .method = "Drops.DeleteRetentionPolicy"},
  };
}

std::vector<Verb> ReadingVerbs() {
  Flag states{"state", "STATE", "only in this state; may be repeated", "states"};
  states.many = true;
  return {
      {.words = "drops list",
       .summary = "drops, newest first",
       .positionals = {{"[DATASOURCE]", "datasource"}},
       .flags = {IntervalFlag(),
                 states,
                 {"since", "TIME", "stored since", "created_since_time"},
                 {"until", "TIME", "stored before", "created_until_time"},
                 LimitFlag(),
                 PageFlag()},
       .method = "Drops.ListDrops",
       .view = {DropRows("drops")}},
      {.words = "drops get",
       .summary = "one drop",
       .positionals = {kId},
       .method = "Drops.GetDrop",
       .view = {{"drop"}, BlockerRows("drop.blockers")}},
      {.words = "drops manifest",
       .summary = "every segment of a drop, with where its file is",
       .positionals = {kId},
       .method = "Drops.GetManifest",
       .view = {{"entry",
                 {{"SEGMENT", "segment.segment_id"},
                  {"STATE", "state"},
                  {"WAS VISIBLE", "was_visible"},
                  {"BYTES", "segment.size_bytes"},
                  {"FILE", "segment.load_spec"}}}}},
  };
}

}  // namespace

std::vector<Verb> DropVerbs() {
  std::vector<Verb> verbs = ReadingVerbs();
  verbs.push_back(
      {.words = "drops approve",
       .summary = "let a drop go on that waits for a person",
       .positionals = {kId},
       .flags = {ReasonFlag("why; kept in the drop"),
                 {"manifest-digest", "D", "only if the manifest is this one", "manifest_digest"},
                 {"accept-clock", nullptr, "although clocks disagree (for admins)", "accept_clock"},
                 RequestIdFlag()},
       .method = "Drops.ApproveKill",
       .view = kDrop});
  verbs.push_back({.words = "drops restore",
                   .summary = "bring the data back, and prove it",
                   .positionals = {kId},
                   .flags = {ReasonFlag("why; kept in the drop"),
                             DryRunFlag(),
                             {"no-wait", nullptr, "do not wait until it is back"},
                             RequestIdFlag()},
                   .method = "Drops.RestoreDrop",
                   .view = kDrop,
                   .run = RunRestore,
                   .details = "Waits until all of it is back: 0 RESTORED, 1 any other end."});
  verbs.push_back({.words = "drops cancel",
                   .summary = "give a drop up before anything is marked, or stop its kill",
                   .positionals = {kId},
                   .flags = {ReasonFlag(), RequestIdFlag()},
                   .method = "Drops.CancelDrop",
                   .view = kDrop,
                   .details = "Between the mark and the kill it is 'drops restore' that undoes it."
                              " While KILLING the\n"
                              "kill task is shut down, and what it left is read: the drop ends"
                              " FAILED\n"
                              "(CANCELLED_HALF_WAY), or CANCELLED where nothing was killed, and"
                              " 'drops restore ID'\n"
                              "brings back the rest."});
  verbs.push_back({.words = "drops extend",
                   .summary = "move the end of the window back",
                   .positionals = {kId, {"DURATION", "extend_by"}},
                   .flags = {ReasonFlag(), RequestIdFlag()},
                   .method = "Drops.ExtendWindow",
                   .view = kDrop});
  for (const Verb& verb : Retention()) verbs.push_back(verb);
  return verbs;
}

}  // namespace interlock::cli
