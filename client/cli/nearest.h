// What someone probably meant to type.
#pragma once

#include <string>
#include <vector>

namespace interlock::cli {

// Of `known`, the one that takes the fewest edits (insert, delete, replace, swap of
// neighbours) to reach from `typed`, or that it begins; "" where none is near enough: more
// than a third of the letters differ.
std::string Nearest(const std::string& typed, const std::vector<std::string>& known);

}  // namespace interlock::cli
