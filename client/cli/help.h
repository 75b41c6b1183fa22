// What --help prints, from the table of verbs.
#pragma once

#include <string>
#include <vector>

#include "client/cli/verb.h"

namespace interlock::cli {

// `interlockctl reserve DATASOURCE INTERVAL... [--mode MODE] …`, its flags, its details.
std::string VerbHelp(const Verb& verb);

// Every verb whose words begin with `group` (all for ""), a line each; for all, the global
// flags and exit statuses too.
std::string GroupHelp(const std::string& group);

}  // namespace interlock::cli
