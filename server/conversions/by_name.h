// Enums whose names are the same words on both sides.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace interlock::server {

// The value of that name; 0 for none.
template <class Proto, class Parse>
Proto ByName(absl::string_view name, Parse parse) {
  Proto proto = static_cast<Proto>(0);
  parse(std::string(name.data(), name.size()), &proto);
  return proto;
}

}  // namespace interlock::server
