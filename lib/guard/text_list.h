// Short texts in one column: one a line, with line feeds and backslashes escaped.
#pragma once

#include <string>
#include <vector>

namespace interlock::guard {

std::string PackTexts(const std::vector<std::string>& texts);
std::vector<std::string> UnpackTexts(const std::string& packed);

}  // namespace interlock::guard
