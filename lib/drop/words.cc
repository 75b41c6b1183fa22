#include "lib/drop/words.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace interlock::drop {
namespace {

constexpr size_t kMostNamed = 3;

}  // namespace

std::string MarkedText(const Drop& drop) {
  return absl::StrCat("marked unused; unless newer data is written over it, can be restored until ",
                      drop.window_end ? drop.window_end->ToString() : "its window ends");
}

std::string KillName(const Kill& kill) {
  return absl::StrCat("kill task ", kill.task_id, " of ", kill.segments,
                      kill.segments == 1 ? " segment" : " segments", " over ",
                      kill.interval.ToString());
}

std::string KilledText(const Manifest& rows) {
  std::vector<std::string> there;
  int64_t doubtful = 0;
  for (const ManifestRow& row : rows) {
    if (!Orphaned(row)) continue;
    if (row.file == File::kPresent) there.push_back(row.load_spec);
    if (row.file == File::kDoubtful) ++doubtful;
  }
  std::string text = "the rows of all segments are gone from the metadata";
  if (!there.empty()) {
    const auto most = static_cast<std::ptrdiff_t>(std::min(there.size(), kMostNamed));
    const std::vector<std::string> named(there.begin(), there.begin() + most);
    absl::StrAppend(&text, "; the files of ", there.size(),
                    " are still there: ", absl::StrJoin(named, ", "),
                    there.size() > named.size() ? ", …" : "");
  }
  if (doubtful > 0) {
    absl::StrAppend(&text, "; whether those of ", doubtful,
                    " are gone is not known: the kill failed, and no storage probe sees them");
  }
  if (!there.empty() || doubtful > 0) {
    absl::StrAppend(&text, "; 'interlockctl drops manifest' lists them as ORPHANED");
  }
  return text;
}

}  // namespace interlock::drop
