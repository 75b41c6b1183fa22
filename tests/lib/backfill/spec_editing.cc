#include "tests/lib/backfill/spec_editing.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "lib/backfill/json_document.h"
#include "rapidjson/pointer.h"

namespace interlock::backfill {

std::string GoodSpec() {
  return R"({"type":"index_parallel","spec":{
    "dataSchema":{"dataSource":"page_views",
      "timestampSpec":{"column":"ts","format":"iso"},
      "dimensionsSpec":{"dimensions":["site","browser"]},
      "metricsSpec":[{"type":"count","name":"events"},
                     {"type":"longSum","name":"sent_bytes","fieldName":"bytes"}],
      "granularitySpec":{"type":"uniform","segmentGranularity":"HOUR","queryGranularity":"MINUTE",
        "rollup":true,"intervals":["2026-07-16T13:00:00Z/2026-07-16T14:00:00Z"]}},
    "ioConfig":{"type":"index_parallel",
      "inputSource":{"type":"local","baseDir":"/data","filter":"*.json"},
      "inputFormat":{"type":"json"},"appendToExisting":false,"dropExisting":true},
    "tuningConfig":{"type":"index_parallel","forceGuaranteedRollup":true,
      "partitionsSpec":{"type":"hashed","targetRowsPerSegment":3000000}}}})";
}

std::string Edited(const std::string& json, const Edits& edits) {
  rapidjson::Document document;
  document.Parse(json);
  EXPECT_FALSE(document.HasParseError()) << json;
  for (const auto& [pointer, text] : edits) {
    const rapidjson::Pointer place(pointer);
    EXPECT_TRUE(place.IsValid()) << pointer;
    if (text.empty()) {
      EXPECT_TRUE(place.Erase(document)) << pointer << " was not there";
      continue;
    }
    rapidjson::Document value(&document.GetAllocator());
    value.Parse(text);
    EXPECT_FALSE(value.HasParseError()) << text;
    place.Set(document, value);
  }
  return WriteJson(document);
}

std::string SpecFile(const std::string& name) {
  std::ifstream file(absl::StrCat(INTERLOCK_SPECS_DIR, "/", name));
  EXPECT_TRUE(file.good()) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Faults(const SpecCheck& check) {
  std::string all;
  for (const SpecFault& fault : check.faults) {
    absl::StrAppend(&all, fault.pointer, ": ", fault.found, " — ", fault.would_do, "\n");
  }
  return all;
}

std::vector<std::string> FaultPointers(const SpecCheck& check) {
  std::vector<std::string> pointers;
  for (const SpecFault& fault : check.faults) pointers.push_back(fault.pointer);
  return pointers;
}

}  // namespace interlock::backfill
