#include "lib/lease/text_list.h"

#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace interlock::lease {

std::string JoinTexts(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) absl::StrAppend(&joined, text.size(), ":", text);
  return joined;
}

std::vector<std::string> SplitTexts(absl::string_view joined) {
  std::vector<std::string> texts;
  while (!joined.empty()) {
    const size_t colon = joined.find(':');
    uint64_t length = 0;
    if (colon == absl::string_view::npos || !absl::SimpleAtoi(joined.substr(0, colon), &length) ||
        length > joined.size() - colon - 1) {
      break;
    }
    texts.emplace_back(joined.substr(colon + 1, length));
    joined.remove_prefix(colon + 1 + length);
  }
  return texts;
}

}  // namespace interlock::lease
