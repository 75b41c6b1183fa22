#include "lib/backfill/spec_correction.h"

#include <utility>

#include "lib/backfill/json_members.h"
#include "rapidjson/pointer.h"

namespace interlock::backfill {
namespace {

// A mended place can show another fault that it had hidden: each round mends at least one.
constexpr int kMostRounds = 5;

constexpr char kIntervals[] = "/spec/dataSchema/granularitySpec/intervals";

std::string JsonAt(const rapidjson::Document& document, const std::string& pointer) {
  const rapidjson::Pointer place(pointer);
  if (!place.IsValid()) return "";
  const JsonValue* value = place.Get(document);
  return value == nullptr ? "" : WriteJson(*value);
}

}  // namespace

SpecCorrection CorrectSpec(const std::string& json, const CheckOptions& options) {
  SpecCorrection result;
  std::string text = json;
  for (int round = 0; round < kMostRounds; ++round) {
    const SpecCheck check = CheckSpec(text, options);
    result.left.clear();
    rapidjson::Document document;
    const bool readable = ReadJsonObject(text, &document);
    for (const SpecFault& fault : check.faults) {
      if (!fault.correction || !readable || check.corrected.empty()) {
        result.left.push_back(fault);
        continue;
      }
      result.changes.push_back({fault.pointer, fault.secret ? "" : JsonAt(document, fault.pointer),
                                *fault.correction, fault.found});
    }
    if (check.corrected.empty()) break;
    text = result.spec = check.corrected;
  }
  return result;
}

std::vector<SpecChange> ChangesOf(const std::string& given_json, const std::string& sent_json) {
  std::vector<SpecChange> changes;
  rapidjson::Document given, sent;
  if (!ReadJsonObject(given_json, &given) || !ReadJsonObject(sent_json, &sent)) return changes;
  if (const std::string id = JsonAt(given, "/id"); !id.empty()) {
    changes.push_back({"/id", id, "", "the task's id is pinned by Interlock; this is its label"});
  }
  const std::string before = JsonAt(given, kIntervals);
  const std::string after = JsonAt(sent, kIntervals);
  if (before != after) {
    changes.push_back({kIntervals, before, after,
                       "the intervals to replace, as asked, in whole partitions and in UTC"});
  }
  return changes;
}

}  // namespace interlock::backfill
