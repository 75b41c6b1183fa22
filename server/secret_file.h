// A password, token or connection string that stands in a file of its own.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace interlock::server {

// What stands in the file, without line feeds at its end. INVALID_ARGUMENT, with the
// configuration's `field`, for one that cannot be read or has nothing in it; what is in it is
// in no error.
absl::StatusOr<std::string> ReadSecretFile(const char* field, const std::string& path);

}  // namespace interlock::server
