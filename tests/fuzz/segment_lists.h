// One input of the fuzzers: lists of segments as a hostile server might send them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace interlock::druid {

// The first byte says how the rest is cut into pieces, and of which shape it is taken to
// be. Whatever it is: no crash, a reason exactly where it is refused, and what was read
// before makes a timeline that holds together. Aborts where that does not hold.
void ReadHostileList(absl::string_view input);

}  // namespace interlock::druid
