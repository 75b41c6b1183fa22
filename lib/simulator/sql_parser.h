// A small part of Druid SQL: SELECT COUNT(*), SUM(x) … FROM "ds" [WHERE __time … AND …].
// Strict: what is not in this grammar is refused, never guessed at.
//
//   query  := SELECT item {, item} FROM name [WHERE bound {AND bound}] [;]
//   item   := (COUNT(*) | (SUM|MIN|MAX)(name)) [[AS] name]
//   bound  := __time (>= | > | < | <= | =) time
//   time   := TIMESTAMP '2026-07-16 13:00:00[.000]' | MILLIS_TO_TIMESTAMP(n)
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/simulator/aggregate.h"
#include "lib/time/interval.h"

namespace interlock::simulator {

// Where a token stands, for Druid's error texts; columns count from 1, the end included.
struct SqlPlace {
  int line = 1;
  int column = 1;
  int end_column = 1;
};

struct SqlItem {
  Aggregation aggregation;
  SqlPlace field_place;
};

struct SqlSelect {
  std::vector<SqlItem> items;
  std::string table;
  SqlPlace table_place;
  Interval interval = Interval::Eternity();
};

// INVALID_ARGUMENT with a text for people.
absl::StatusOr<SqlSelect> ParseSql(const std::string& text);

}  // namespace interlock::simulator
