// The tables that several verbs print.
#pragma once

#include <vector>

#include "client/cli/verb.h"

namespace interlock::cli {

// Each is the section for a field of that name; `list` says where the messages are.
Section ReservationRows(const char* list);
Section BlockerRows(const char* list);
Section BackfillRows(const char* list);
Section PartitionRows(const char* list);
Section DropRows(const char* list);
Section VerdictRows(const char* list);

// Flags that several verbs take.
Flag RequestIdFlag();
Flag ReasonFlag(const char* help = "why; kept in the audit log");
Flag DryRunFlag();
Flag LabelFlag();
// What a list is narrowed by.
Flag IntervalFlag();
Flag LimitFlag();
Flag PageFlag();
// --reservation and --fencing-token, with the variables that `reserve -- COMMAND` sets.
std::vector<Flag> LeaseFlags();

// All of `a`, then all of `b`.
std::vector<Flag> Joined(std::vector<Flag> a, const std::vector<Flag>& b);

}  // namespace interlock::cli
