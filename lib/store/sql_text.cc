#include "lib/store/sql_text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace interlock::store {
namespace {

bool IsNameByte(char c) { return absl::ascii_isalnum(c) || c == '_'; }

// Length of what stands at the front of `rest` and holds no parameter: a quoted text, a
// line comment, a cast; else one byte.
size_t OpaqueLength(absl::string_view rest) {
  size_t end = absl::string_view::npos;
  if (rest[0] == '\'' || rest[0] == '"') {
    end = rest.find(rest[0], 1);
  } else if (rest.substr(0, 2) == "--") {
    end = rest.find('\n');
  } else {
    return rest.substr(0, 2) == "::" ? 2 : 1;
  }
  return end == absl::string_view::npos ? rest.size() : end + 1;
}

}  // namespace

NumberedSql NumberParameters(absl::string_view sql) {
  NumberedSql numbered;
  while (!sql.empty()) {
    if (sql.size() > 1 && sql[0] == ':' && IsNameByte(sql[1])) {
      absl::StrAppend(&numbered.text, ":p", ++numbered.parameters);
      sql.remove_prefix(1);
      while (!sql.empty() && IsNameByte(sql[0])) sql.remove_prefix(1);
      continue;
    }
    const size_t length = OpaqueLength(sql);
    numbered.text.append(sql.data(), length);
    sql.remove_prefix(length);
  }
  return numbered;
}

}  // namespace interlock::store
