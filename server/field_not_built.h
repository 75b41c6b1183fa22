// A part of the surface that this version does not honour is refused, never ignored.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace interlock::server {

// UNIMPLEMENTED, NOT_YET_BUILT, naming the request's field.
absl::Status FieldNotBuilt(const std::string& field);

}  // namespace interlock::server
