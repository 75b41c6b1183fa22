// Whether bytes are UTF-8, at the speed of memory where they are ASCII.
#pragma once

#include "absl/strings/string_view.h"

namespace interlock::druid {

// Well-formed by the Unicode standard: no overlong forms, no surrogates, no more than
// U+10FFFF.
bool IsUtf8(absl::string_view text);

}  // namespace interlock::druid
