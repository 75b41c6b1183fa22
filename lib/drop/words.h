// What is said of a drop in more than one place, for people.
//
// Threads: functions without state.
#pragma once

#include <string>

#include "lib/drop/manifest.h"
#include "lib/drop/record.h"

namespace interlock::drop {

// Of one whose window runs.
std::string MarkedText(const Drop& drop);
// "kill task T of 3 segments over INTERVAL"
std::string KillName(const Kill& kill);
// Of one whose rows are gone: what is known of the files.
std::string KilledText(const Manifest& rows);

}  // namespace interlock::drop
