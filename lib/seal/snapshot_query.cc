#include "lib/seal/snapshot_query.h"

#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lib/seal/seal_errors.h"

namespace interlock::seal {
namespace {

std::string Quoted(const std::string& name) {
  return absl::StrCat("\"", absl::StrReplaceAll(name, {{"\"", "\"\""}}), "\"");
}

bool IsWordByte(char c) { return absl::ascii_isalnum(c) || c == '_'; }

// The position behind the quoted text that begins at `at`; npos where it never ends.
size_t BehindQuoted(const std::string& text, size_t at) {
  const size_t end = text.find(text[at], at + 1);
  return end == std::string::npos ? end : end + 1;
}

// Why `text` is no single expression, or "".
std::string WhyUnsafe(const std::string& text) {
  static const std::set<std::string> kStatements = {"SELECT", "WITH",  "VALUES", "TABLE",
                                                    "INSERT", "UNION", "EXPLAIN"};
  int depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\'' || c == '"') {
      at = BehindQuoted(text, at);
      if (at == std::string::npos) return "has a quote without its end";
      continue;
    }
    if (IsWordByte(c)) {
      const size_t begin = at;
      while (at < text.size() && IsWordByte(text[at])) ++at;
      const std::string word = absl::AsciiStrToUpper(text.substr(begin, at - begin));
      if (kStatements.count(word) > 0) return "holds a statement: " + word;
      if (depth == 0 && word == "FROM") return "goes on behind the expression: FROM";
      continue;
    }
    const std::string two = text.substr(at, 2);
    if (c == ';' || two == "--" || two == "/*") return "holds '" + two + "'";
    if (depth == 0 && c == ',') return "is more than one expression";
    if (c == '(') ++depth;
    if (c == ')' && --depth < 0) return "has a ')' too many";
    ++at;
  }
  return depth > 0 ? "has a '(' too many" : "";
}

absl::Status CheckExpression(const std::string& field, const std::string& text) {
  if (text.size() > kMostExpressionBytes) {
    return InvalidSnapshot(field, "is too long", "write at most 2,000 bytes");
  }
  const std::string why = WhyUnsafe(text);
  return why.empty() ? absl::OkStatus()
                     : InvalidSnapshot(field, absl::StrCat("'", text, "' ", why),
                                       "write one Druid SQL expression");
}

}  // namespace

absl::Status CheckSnapshot(const SnapshotSpec& spec) {
  const bool none = spec.dimensions.empty() && spec.aggregates.empty() && spec.filter.empty();
  if (none) return absl::OkStatus();
  if (spec.aggregates.empty()) {
    return InvalidSnapshot("aggregates", "is empty",
                           "name at least one, like {\"name\":\"amount\",\"expression\":"
                           "\"SUM(\\\"amount\\\")\"}");
  }
  if (spec.dimensions.size() > kMostDimensions || spec.aggregates.size() > kMostAggregates) {
    return InvalidSnapshot(spec.aggregates.size() > kMostAggregates ? "aggregates" : "dimensions",
                           "has too many", "take at most 20 dimensions and 50 aggregates");
  }
  std::set<std::string> names;
  for (size_t i = 0; i < spec.dimensions.size(); ++i) {
    if (spec.dimensions[i].empty() || !names.insert(spec.dimensions[i]).second) {
      return InvalidSnapshot(absl::StrCat("dimensions/", i), "is empty, or stands there twice",
                             "name a column once");
    }
  }
  for (size_t i = 0; i < spec.aggregates.size(); ++i) {
    const std::string field = absl::StrCat("aggregates/", i);
    if (spec.aggregates[i].name.empty() || !names.insert(spec.aggregates[i].name).second) {
      return InvalidSnapshot(field + "/name", "is empty, or stands there twice",
                             "give each a name of its own");
    }
    if (spec.aggregates[i].expression.empty()) {
      return InvalidSnapshot(field + "/expression", "is empty", "write SUM(\"amount\")");
    }
    absl::Status status = CheckExpression(field + "/expression", spec.aggregates[i].expression);
    if (!status.ok()) return status;
  }
  return CheckExpression("filter", spec.filter);
}

std::string SnapshotQuery(const std::string& datasource, const Interval& interval,
                          const SnapshotSpec& spec, int64_t most) {
  std::string columns, groups;
  for (size_t i = 0; i < spec.dimensions.size(); ++i) {
    absl::StrAppend(&columns, i == 0 ? "" : ", ", "CAST(", Quoted(spec.dimensions[i]),
                    " AS VARCHAR) AS \"g", i, "\"");
    absl::StrAppend(&groups, i == 0 ? " GROUP BY " : ", ", i + 1);
  }
  for (size_t i = 0; i < spec.aggregates.size(); ++i) {
    absl::StrAppend(&columns, columns.empty() ? "" : ", ", spec.aggregates[i].expression, " AS \"a",
                    i, "\"");
  }
  return absl::StrCat("SELECT ", columns, " FROM ", Quoted(datasource),
                      " WHERE __time >= MILLIS_TO_TIMESTAMP(", interval.start().millis(),
                      ") AND __time < MILLIS_TO_TIMESTAMP(", interval.end().millis(), ")",
                      spec.filter.empty() ? "" : absl::StrCat(" AND (", spec.filter, ")"), groups,
                      // Without dimensions there is one row.
                      groups.empty() ? "" : absl::StrCat(" LIMIT ", most));
}

}  // namespace interlock::seal
