#pragma once

namespace interlock::server {

inline constexpr char kVersion[] = INTERLOCK_VERSION;
// What was built, as git names it; "" where that is not known.
extern const char kCommit[];

}  // namespace interlock::server
