// Words that can come next on a command line.
#pragma once

#include <string>
#include <vector>

namespace interlock::cli {

// `words` are those after `interlockctl`, the last being the one that is typed. Gives what
// it may become: words of verbs, flags, and an enum flag's values.
std::vector<std::string> Candidates(const std::vector<std::string>& words);

}  // namespace interlock::cli
