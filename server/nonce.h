#pragma once

#include <string>

namespace interlock::server {

// 128 unguessable bits in hex, never the same twice: what proves that a task in Druid is
// the one whose intent is stored.
std::string MakeNonce();

}  // namespace interlock::server
