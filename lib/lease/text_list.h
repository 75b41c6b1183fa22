// A list of texts in one column: "5:first6:second".
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace interlock::lease {

std::string JoinTexts(const std::vector<std::string>& texts);
// What JoinTexts made; stops at the first byte that it did not.
std::vector<std::string> SplitTexts(absl::string_view joined);

}  // namespace interlock::lease
