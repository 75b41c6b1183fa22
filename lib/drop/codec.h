// Lists and maps of a drop as the text of one column each (JSON). Decoding gives nothing
// where the text is not what Encode wrote.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/drop/plan.h"
#include "lib/time/interval.h"

namespace interlock::drop {

std::string EncodeTexts(const std::vector<std::string>& texts);
std::optional<std::vector<std::string>> DecodeTexts(const std::string& json);

std::string EncodeIntervals(const std::vector<Interval>& intervals);
std::optional<std::vector<Interval>> DecodeIntervals(const std::string& json);

std::string EncodeLabels(const std::map<std::string, std::string>& labels);
std::optional<std::map<std::string, std::string>> DecodeLabels(const std::string& json);

std::string EncodeObjections(const std::vector<Objection>& objections);
std::optional<std::vector<Objection>> DecodeObjections(const std::string& json);

std::string EncodeNotes(const std::vector<Note>& notes);
std::optional<std::vector<Note>> DecodeNotes(const std::string& json);

// Doubles in full precision, so that a sum compares equal to itself.
std::string EncodeSums(const Sums& sums);
std::optional<Sums> DecodeSums(const std::string& json);

}  // namespace interlock::drop
