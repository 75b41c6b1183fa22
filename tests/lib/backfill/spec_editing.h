// Specs for tests: a good one, and edits of it by JSON pointer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/backfill/spec.h"

namespace interlock::backfill {

// Pointer → JSON text to put there; "" takes the member out.
using Edits = std::vector<std::pair<std::string, std::string>>;

// One hour of page_views from files, hashed; nothing is wrong with it.
std::string GoodSpec();
std::string Edited(const std::string& json, const Edits& edits);
inline std::string GoodSpecWith(const Edits& edits) { return Edited(GoodSpec(), edits); }

// The text of a file in tests/specs.
std::string SpecFile(const std::string& name);

// "pointer: found — would do" of each fault, one a line.
std::string Faults(const SpecCheck& check);
std::vector<std::string> FaultPointers(const SpecCheck& check);

}  // namespace interlock::backfill
