#include "lib/druid/utf8.h"

#include <cstdint>
#include <cstring>

namespace interlock::druid {
namespace {

// Skips whole words of ASCII.
size_t AsciiPrefix(absl::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080u;
  size_t at = 0;
  uint64_t word = 0;
  while (at + sizeof(word) <= text.size()) {
    std::memcpy(&word, text.data() + at, sizeof(word));
    if ((word & kHighBits) != 0) break;
    at += sizeof(word);
  }
  return at;
}

// Bytes of the character that `lead` opens; 0 where none does.
size_t SequenceLength(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// The second byte carries what a lead byte alone can't rule out.
bool SecondByteFits(unsigned char lead, unsigned char second) {
  if (lead == 0xE0) return second >= 0xA0;  // else overlong
  if (lead == 0xED) return second <= 0x9F;  // else a surrogate
  if (lead == 0xF0) return second >= 0x90;  // else overlong
  if (lead == 0xF4) return second <= 0x8F;  // else beyond U+10FFFF
  return true;
}

bool IsContinuation(unsigned char byte) { return byte >= 0x80 && byte <= 0xBF; }

// Bytes of the well-formed character at the front; 0 where there is none.
size_t FrontCharacter(absl::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = SequenceLength(lead);
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(static_cast<unsigned char>(text[i]))) return 0;
  }
  if (length > 1 && !SecondByteFits(lead, static_cast<unsigned char>(text[1]))) return 0;
  return length;
}

}  // namespace

bool IsUtf8(absl::string_view text) {
  text.remove_prefix(AsciiPrefix(text));
  while (!text.empty()) {
    const size_t length = FrontCharacter(text);
    if (length == 0) return false;
    text.remove_prefix(length);
    if (text.size() >= sizeof(uint64_t)) text.remove_prefix(AsciiPrefix(text));
  }
  return true;
}

}  // namespace interlock::druid
