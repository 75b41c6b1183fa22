#include "lib/lease/packed.h"

#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace interlock::lease {
namespace {

constexpr size_t kHeldTexts = 14;
constexpr size_t kCalendarTexts = 3;

int64_t Number(const std::string& text) {
  int64_t number = 0;
  return absl::SimpleAtoi(text, &number) ? number : 0;
}

Interval IntervalOf(absl::string_view start, absl::string_view end) {
  return Interval::Of(Instant::FromMillis(Number(std::string(start))),
                      Instant::FromMillis(Number(std::string(end))))
      .value_or(Interval());
}

std::string PeriodOf(const Granularity& calendar) {
  if (calendar.is_all()) return "ALL";
  return calendar.is_none() ? "NONE" : calendar.period().ToString();
}

}  // namespace

std::string JoinTexts(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) absl::StrAppend(&joined, text.size(), ":", text);
  return joined;
}

std::vector<std::string> SplitTexts(absl::string_view joined) {
  std::vector<std::string> texts;
  while (!joined.empty()) {
    const size_t colon = joined.find(':');
    uint64_t length = 0;
    if (colon == absl::string_view::npos || !absl::SimpleAtoi(joined.substr(0, colon), &length) ||
        length > joined.size() - colon - 1) {
      break;
    }
    texts.emplace_back(joined.substr(colon + 1, length));
    joined.remove_prefix(colon + 1 + length);
  }
  return texts;
}

std::string JoinLabels(const Labels& labels) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : labels) {
    texts.push_back(name);
    texts.push_back(value);
  }
  return JoinTexts(texts);
}

Labels SplitLabels(absl::string_view joined) {
  const std::vector<std::string> texts = SplitTexts(joined);
  Labels labels;
  for (size_t i = 0; i + 1 < texts.size(); i += 2) labels[texts[i]] = texts[i + 1];
  return labels;
}

std::string PackCalendar(const std::optional<Granularity>& calendar) {
  if (!calendar) return "";
  return JoinTexts({PeriodOf(*calendar), calendar->zone(),
                    calendar->origin() ? absl::StrCat(calendar->origin()->millis()) : ""});
}

std::optional<Granularity> CalendarOf(absl::string_view packed) {
  const std::vector<std::string> texts = SplitTexts(packed);
  if (texts.size() != kCalendarTexts) return std::nullopt;
  const absl::StatusOr<Period> period = Period::Parse(texts[0]);
  std::optional<Instant> origin;
  if (!texts[2].empty()) origin = Instant::FromMillis(Number(texts[2]));
  const absl::StatusOr<Granularity> calendar =
      period.ok() ? Granularity::OfPeriod(*period, texts[1], origin)
                  : Granularity::FromName(texts[0]);
  return calendar.ok() ? std::optional<Granularity>(*calendar) : std::nullopt;
}

std::string PackIntervals(const std::vector<Interval>& intervals) {
  std::string text;
  for (const Interval& interval : intervals) {
    absl::StrAppend(&text, text.empty() ? "" : ",", interval.start().millis(), "/",
                    interval.end().millis());
  }
  return text;
}

std::vector<Interval> UnpackIntervals(absl::string_view packed) {
  std::vector<Interval> intervals;
  for (const absl::string_view text : absl::StrSplit(packed, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(text, '/');
    intervals.push_back(IntervalOf(ends.first, ends.second));
  }
  return intervals;
}

std::string PackHeld(const std::vector<Held>& held) {
  std::vector<std::string> texts;
  for (const Held& piece : held) {
    const std::string packed[kHeldTexts] = {absl::StrCat(static_cast<int>(piece.by)),
                                            absl::StrCat(piece.interval.start().millis()),
                                            absl::StrCat(piece.interval.end().millis()),
                                            piece.reservation_id,
                                            piece.holder,
                                            piece.purpose,
                                            std::string(NameOf(piece.mode)),
                                            absl::StrCat(piece.since.millis()),
                                            absl::StrCat(piece.until.millis()),
                                            piece.work_id,
                                            piece.link,
                                            piece.reason,
                                            piece.message,
                                            piece.remedy};
    texts.insert(texts.end(), std::begin(packed), std::end(packed));
  }
  return JoinTexts(texts);
}

std::vector<Held> UnpackHeld(absl::string_view packed) {
  const std::vector<std::string> texts = SplitTexts(packed);
  std::vector<Held> held;
  for (size_t i = 0; i + kHeldTexts <= texts.size(); i += kHeldTexts) {
    const std::string* text = &texts[i];
    Held piece;
    piece.by = static_cast<HeldBy>(Number(text[0]));
    piece.interval = IntervalOf(text[1], text[2]);
    piece.reservation_id = text[3];
    piece.holder = text[4];
    piece.purpose = text[5];
    piece.mode = ModeOf(text[6]);
    piece.since = Instant::FromMillis(Number(text[7]));
    piece.until = Instant::FromMillis(Number(text[8]));
    piece.orphaned = piece.by == HeldBy::kOrphan;
    piece.work_id = text[9];
    piece.link = text[10];
    piece.reason = text[11];
    piece.message = text[12];
    piece.remedy = text[13];
    held.push_back(std::move(piece));
  }
  return held;
}

}  // namespace interlock::lease
