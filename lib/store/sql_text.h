// The text of a statement, made ready for one engine.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace interlock::store {

enum class Engine { kSqlite, kPostgres };

// A statement in the words of one engine: {{serial}}, {{clustered}} (schema.h) and
// {{for_update}} (store.h) replaced.
std::string Render(absl::string_view statement, Engine engine);

// A statement of a schema: Render, and on PostgreSQL texts that compare byte by byte as on
// SQLite, whatever the database's locale. Nothing where it is only for the other engine.
std::optional<std::string> RenderSchema(absl::string_view statement, Engine engine);

// Every `:name` replaced by `:p1`, `:p2` … in the order in which they stand, so that a
// name that appears twice is two parameters on both engines (SQLite would make one of
// it). Texts in quotes, comments and PostgreSQL's `::` casts stay as they are.
struct NumberedSql {
  std::string text;
  int parameters = 0;
};
NumberedSql NumberParameters(absl::string_view sql);

}  // namespace interlock::store
