#include "client/cli/verb_tables.h"
#include "client/cli/views.h"

namespace interlock::cli {
namespace {

std::vector<Column> SealColumns() {
  return {{"ID", "seal_id"},   {"DATASOURCE", "datasource"}, {"INTERVAL", "interval"},
          {"STATE", "state"},  {"INTEGRITY", "integrity"},   {"LABEL", "label"},
          {"BY", "sealed_by"}, {"SEALED", "create_time"},    {"CORRECTIONS", "correction_count"},
          {"WHY", "reason"}};
}

std::vector<Verb> Policies() {
  Positional file{"FILE", "policy", Reading::kJson};
  return {
      {.words = "seals policy put",
       .summary = "store a policy that seals by itself",
       .positionals = {file},
       .flags = {DryRunFlag(), ReasonFlag(), RequestIdFlag()},
       .method = "Seals.PutSealPolicy",
       .view = {{"policy"}, {"would_seal", SealColumns()}},
       .details =
           "FILE is a SealPolicy as JSON: name, datasource_pattern, unit (P1M), age (P45D),\n"
           "time_zone, label, …"},
      {.words = "seals policy list",
       .summary = "policies, by name",
       .flags = {LimitFlag(), PageFlag()},
       .method = "Seals.ListSealPolicies",
       .view = {{"policies",
                 {{"NAME", "name"},
                  {"DATASOURCES", "datasource_pattern"},
                  {"UNIT", "unit"},
                  {"AGE", "age"},
                  {"LABEL", "label"}}}}},
      {.words = "seals policy delete",
       .summary = "take a policy away; its seals stay",
       .positionals = {{"NAME", "name"}},
       .flags = {ReasonFlag(), RequestIdFlag()},
       .method = "Seals.DeleteSealPolicy"},
  };
}

std::vector<Verb> ReadingVerbs() {
  Flag states{"state", "STATE", "only in this state; may be repeated", "states"};
  states.many = true;
  return {
      {.words = "seals list",
       .summary = "seals, by datasource and start",
       .positionals = {{"[DATASOURCE]", "datasource"}},
       .flags = {IntervalFlag(),
                 states,
                 {"label", "LABEL", "with this label", "label"},
                 LimitFlag(),
                 PageFlag()},
       .method = "Seals.ListSeals",
       .view = {{"seals", SealColumns()}}},
      {.words = "seals get",
       .summary = "one seal",
       .positionals = {{"ID", "seal_id"}},
       .flags = {{"snapshot", nullptr, "with its snapshot", "include_snapshot"},
                 LimitFlag(),
                 PageFlag()},
       .method = "Seals.GetSeal",
       .view = {{"seal"}, {"groups", {{"GROUP", "group"}, {"VALUES", "values"}}}}},
      {.words = "seals corrections",
       .summary = "what would have changed sealed data",
       .positionals = {{"[DATASOURCE]", "datasource"}},
       .flags = {IntervalFlag(),
                 {"seal", "ID", "of this seal", "seal_id"},
                 {"since", "TIME", "proven since", "created_since_time"},
                 {"until", "TIME", "proven before", "created_until_time"},
                 LimitFlag(),
                 PageFlag()},
       .method = "Seals.ListCorrections",
       .view = {{"corrections",
                 {{"NUMBER", "number"},
                  {"DATASOURCE", "datasource"},
                  {"INTERVAL", "interval"},
                  {"SEAL", "seal_label"},
                  {"DIFFERENCES", "delta_count"},
                  {"BY", "requested_by"},
                  {"PROVEN", "create_time"}}},
                {"totals",
                 {{"SUM OF", "was.metric"},
                  {"WAS", "was"},
                  {"IS NOW", "is_now"},
                  {"DELTA", "delta"}}}}},
  };
}

}  // namespace

std::vector<Verb> SealVerbs() {
  Flag snapshot{"snapshot", "FILE", "aggregates to keep, as JSON", "snapshot"};
  snapshot.reading = Reading::kJson;
  std::vector<Verb> verbs = {
      {.words = "seal",
       .summary = "state that an interval has been given out: it changes no more",
       .positionals = {{"DATASOURCE", "datasource"}, {"INTERVAL", "interval"}},
       .flags = {ReasonFlag("why (wanted)"),
                 {"label", "LABEL", "what it was given out as: a report, an invoice", "label"},
                 snapshot,
                 {"corrections-datasource", "NAME",
                  "where corrections go (default: DATASOURCE__corrections)",
                  "corrections_datasource"},
                 {"accept-compaction", nullptr, "although compaction is configured",
                  "accept_compaction"},
                 DryRunFlag(),
                 RequestIdFlag()},
       .method = "Seals.SealInterval",
       .view = {{"seal"}},
       .details = "--snapshot FILE is a SnapshotSpec as JSON, like\n"
                  R"json({"dimensions":["country"],)json"
                  "\n"
                  R"json( "aggregates":[{"name":"amount","expression":"SUM(\"amount\")"}]})json"}};
  for (const Verb& verb : ReadingVerbs()) verbs.push_back(verb);
  verbs.push_back({.words = "seals unseal",
                   .summary = "lift a seal for a while (for admins)",
                   .positionals = {{"ID", "seal_id"}},
                   .flags = {ReasonFlag("why (wanted)"),
                             {"for", "TIME", "for how long, at most 24h (wanted)", "unseal_for"},
                             RequestIdFlag()},
                   .method = "Seals.UnsealInterval",
                   .view = {{"seal"}}});
  for (const Verb& verb : Policies()) verbs.push_back(verb);
  return verbs;
}

}  // namespace interlock::cli
