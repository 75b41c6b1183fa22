// What others wrote, for a terminal.
#pragma once

#include <string>

namespace interlock::cli {

// Shown, not obeyed: a control character (also one of the C1 set) could move the cursor,
// change a title or break a line in two; each becomes a '?', a line's end a blank.
std::string Shown(std::string text);

}  // namespace interlock::cli
