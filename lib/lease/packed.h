// Lists and values in one text column, for what is kept with a row and never searched by.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "lib/lease/reservation.h"

namespace interlock::lease {

// A list of texts: "5:first6:second".
std::string JoinTexts(const std::vector<std::string>& texts);
// What JoinTexts made; stops at the first byte that it did not.
std::vector<std::string> SplitTexts(absl::string_view joined);

std::string JoinLabels(const Labels& labels);
Labels SplitLabels(absl::string_view joined);

// "" for none; and none for a text that is no calendar here.
std::string PackCalendar(const std::optional<Granularity>& calendar);
std::optional<Granularity> CalendarOf(absl::string_view packed);

// In milliseconds: printing instants costs more than the rest of a grant's text.
std::string PackIntervals(const std::vector<Interval>& intervals);
std::vector<Interval> UnpackIntervals(absl::string_view packed);

// What a grant left out.
std::string PackHeld(const std::vector<Held>& held);
std::vector<Held> UnpackHeld(absl::string_view packed);

}  // namespace interlock::lease
