// What a task reads of a source, in parts and by its segments' ids. Pure.
#pragma once

#include <string>
#include <vector>

#include "lib/backfill/sources.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

// One part of what is read: of one datasource.
struct ReadPart {
  std::string datasource;
  std::vector<Interval> intervals;
};
std::vector<ReadPart> PartsOf(const SourceRead& read);

// In hex, of ids in any order.
std::string DigestOfIds(std::vector<std::string> ids);

}  // namespace interlock::backfill
