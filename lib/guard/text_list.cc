#include "lib/guard/text_list.h"

#include "absl/strings/str_split.h"

namespace interlock::guard {

std::string PackTexts(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) {
    for (const char c : text) {
      if (c == '\\')
        packed += "\\\\";
      else if (c == '\n')
        packed += "\\n";
      else
        packed.push_back(c);
    }
    packed.push_back('\n');
  }
  return packed;
}

std::vector<std::string> UnpackTexts(const std::string& packed) {
  std::vector<std::string> texts;
  std::string text;
  for (size_t i = 0; i < packed.size(); ++i) {
    if (packed[i] == '\n') {
      texts.push_back(std::move(text));
      text.clear();
    } else if (packed[i] == '\\' && i + 1 < packed.size()) {
      text.push_back(packed[++i] == 'n' ? '\n' : packed[i]);
    } else {
      text.push_back(packed[i]);
    }
  }
  return texts;
}

}  // namespace interlock::guard
