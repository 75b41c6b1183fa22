// Records out of the text of an input: JSON lines, CSV, TSV.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/simulator/ingest_spec.h"
#include "lib/simulator/rows.h"

namespace interlock::simulator {

// One entry a line, blank ones too; nullopt for a line that can't be parsed.
std::vector<std::optional<std::map<std::string, Cell>>> ReadRecords(const InputSpec& input,
                                                                    const std::string& text);

}  // namespace interlock::simulator
