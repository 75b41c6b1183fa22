// FNV-1a: a mark of a text that is the same in every process, on every server and after every
// restart, which absl's hash is not. Whoever chooses the text can choose the mark.
//
// Threads: functions of their arguments.
#pragma once

#include <cstdint>
#include <string_view>

namespace interlock {

constexpr uint32_t Fnv1a32(std::string_view text) {
  uint32_t hash = 2'166'136'261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  return hash;
}

constexpr uint64_t Fnv1a64(std::string_view text) {
  uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
  return hash;
}

}  // namespace interlock
