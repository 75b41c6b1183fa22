// Secrets that stand in a spec or a query as they are.
//
// Guarantee: a spec that is accepted holds none that is known here, so that none is stored,
// planned, listed, watched or logged. Druid has an alternative: a password provider that
// reads the environment of its own processes. Which members are secrets is told by their
// names, whatever the input source; and by what an address can carry: a password before
// `@`, a signature or a password among its parameters.
//
// Threads: functions without state.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "lib/backfill/spec_fault.h"
#include "rapidjson/document.h"

namespace interlock::backfill {

// "secretAccessKey", "fs.s3a.secret.key", "httpAuthenticationPassword"; not "accessKeyId",
// "passwordEnvVar".
bool NamesASecret(absl::string_view member);

// An address with a password or a signature in it.
bool CarriesASecret(absl::string_view text);

// Adds a fault for each secret of a task, and takes its value out of `task`: what is said of
// the spec afterwards can't show it. Where Druid takes a password provider there, the
// provider stands in its place, and is the fault's correction.
void TakeSecretsOut(rapidjson::Document* task, Findings* findings);

// Adds a fault for each secret of a query: in the JSON of its EXTERN sources, in named
// arguments (`secretAccessKey => '…'`), in addresses; and in its context. Their values are in
// no fault.
void FindSecretsInQuery(const std::string& query, const std::string& context, Findings* findings);

}  // namespace interlock::backfill
