#include "client/cli/nearest.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace interlock::cli {
namespace {

size_t Edits(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> edits(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      const size_t replaced = edits[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
      }
    }
  }
  return edits[a.size()][b.size()];
}

}  // namespace

std::string Nearest(const std::string& typed, const std::vector<std::string>& known) {
  std::string nearest;
  size_t fewest = std::max<size_t>(typed.size() / 3, 1) + 1;
  for (const std::string& word : known) {
    // The beginning of a word is as good as one letter wrong.
    const bool begins = typed.size() >= 3 && absl::StartsWith(word, typed);
    const size_t edits = begins ? 1 : Edits(typed, word);
    if (edits < fewest) {
      fewest = edits;
      nearest = word;
    }
  }
  return nearest;
}

}  // namespace interlock::cli
