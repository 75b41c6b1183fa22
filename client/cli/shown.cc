#include "client/cli/shown.h"

#include <utility>

#include "absl/strings/str_replace.h"

namespace interlock::cli {
namespace {

bool IsC1(unsigned char first, unsigned char second) {
  return first == 0xC2 && second >= 0x80 && second < 0xA0;
}

}  // namespace

std::string Shown(std::string text) {
  text = absl::StrReplaceAll(text, {{"\r\n", " "}, {"\n", " "}, {"\r", " "}});
  std::string shown;
  shown.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c1 = i + 1 < text.size() && IsC1(byte, static_cast<unsigned char>(text[i + 1]));
    if (c1) ++i;
    shown.push_back(c1 || byte < ' ' || byte == 0x7f ? '?' : text[i]);
  }
  return shown;
}

}  // namespace interlock::cli
