#pragma once

namespace interlock::server {

inline constexpr char kVersion[] = INTERLOCK_VERSION;

}  // namespace interlock::server
