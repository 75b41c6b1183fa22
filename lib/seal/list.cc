// GetSeal and ListSeals.
#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/seal/rows.h"
#include "lib/seal/seal_errors.h"
#include "lib/seal/seals.h"

namespace interlock::seal {
namespace {

// Seals that one call looks at.
constexpr int64_t kMostLooked = 10'000;
constexpr int64_t kChunk = 500;

// "START_MILLIS DATASOURCE": a name may hold anything but a '/'.
absl::StatusOr<Place> PlaceOf(const std::string& token) {
  Place place;
  if (token.empty()) return place;
  const size_t space = token.find(' ');
  int64_t millis = 0;
  if (space == std::string::npos || !absl::SimpleAtoi(token.substr(0, space), &millis)) {
    return BadPageToken(token);
  }
  place.start = Instant::FromMillis(millis);
  place.datasource = token.substr(space + 1);
  place.at_start = false;
  return place;
}

bool Matches(const Seals::Filter& filter, const Seal& seal, Instant now) {
  const State state = StateAt(seal, now);
  if (state == State::kSealing) return false;
  const auto& states = filter.states;
  if (!states.empty() && std::find(states.begin(), states.end(), state) == states.end()) {
    return false;
  }
  if (filter.overlapping && !filter.overlapping->Overlaps(seal.interval)) return false;
  return filter.label.empty() || filter.label == seal.label;
}

}  // namespace

absl::StatusOr<Seals::Detail> Seals::Get(const std::string& id, int64_t groups,
                                         const std::string& token) const {
  int64_t from = 0;
  if (!token.empty() && (!absl::SimpleAtoi(token, &from) || from < 0)) return BadPageToken(token);
  Detail detail;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    auto seal = ReadSeal(tx, id);
    if (!seal.ok()) return seal.status();
    detail.seal = *std::move(seal);
    if (detail.seal.state == State::kSealing) return UnknownSeal(id);
    detail.seal.state = StateAt(detail.seal, tx.now());
    if (groups <= 0) return absl::OkStatus();
    const int64_t most = std::min(groups, kMostGroupsInPage);
    auto page = ReadTotals(tx, id, from, most);
    if (!page.ok()) return page.status();
    detail.groups = *std::move(page);
    if (from + most < detail.seal.group_count) detail.next = absl::StrCat(from + most);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return detail;
}

absl::StatusOr<Seals::Page> Seals::List(const Filter& filter, int64_t size,
                                        const std::string& token) const {
  auto place = PlaceOf(token);
  if (!place.ok()) return place.status();
  const auto most = static_cast<size_t>(size <= 0 ? 100 : std::min(size, kMostInPage));
  Page page;
  absl::Status status = store_.Read([&](store::Transaction& tx) {
    page = Page();
    for (int64_t looked = 0; looked < kMostLooked; looked += kChunk) {
      auto seals = SealsAfter(tx, filter.datasource, *place, kChunk);
      if (!seals.ok()) return seals.status();
      for (Seal& seal : *seals) {
        *place = {seal.datasource, seal.interval.start(), false};
        if (!Matches(filter, seal, tx.now())) continue;
        seal.state = StateAt(seal, tx.now());
        page.seals.push_back(std::move(seal));
        if (page.seals.size() == most) break;
      }
      const bool end = static_cast<int64_t>(seals->size()) < kChunk && page.seals.size() < most;
      if (end) return absl::OkStatus();
      if (page.seals.size() == most) break;
    }
    page.next = absl::StrCat(place->start.millis(), " ", place->datasource);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  return page;
}

}  // namespace interlock::seal
