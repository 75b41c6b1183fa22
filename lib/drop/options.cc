#include "lib/drop/options.h"

namespace interlock::drop {

// With one place to come back to: after a `*`, which takes one character more each time
// that the rest does not fit.
bool FitsPattern(absl::string_view pattern, absl::string_view name) {
  size_t at = 0;
  size_t in = 0;
  size_t star = absl::string_view::npos;
  size_t taken = 0;
  while (in < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      taken = in;
    } else if (at < pattern.size() && pattern[at] == name[in]) {
      ++at;
      ++in;
    } else if (star != absl::string_view::npos) {
      at = star + 1;
      in = ++taken;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

absl::Duration Options::FloorOf(const std::string& datasource) const {
  for (const DatasourceFloor& own : datasource_floors) {
    if (FitsPattern(own.pattern, datasource)) return own.floor;
  }
  return floor;
}

}  // namespace interlock::drop
