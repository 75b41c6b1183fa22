// Texts with the unit's start and end in them: `dt={start:%Y-%m-%d}/h={start:%H}/`.
//
// Single braces, so that Airflow, Argo and Helm (which take double ones) pass them
// through. The format is strftime's, in UTC, whatever zone the calendar is in; without a
// format the instant is written as Druid writes it. Alternatives of a glob (`{a,b}`) are
// left alone.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lib/time/interval.h"

namespace interlock::backfill {

class Template {
 public:
  // INVALID_ARGUMENT (PLACEHOLDER_UNKNOWN, PLACEHOLDER_MALFORMED) with what was found and
  // what would do.
  static absl::StatusOr<Template> Parse(absl::string_view text);

  bool has_placeholders() const { return uses_start_ || uses_end_; }
  bool uses_start() const { return uses_start_; }
  bool uses_end() const { return uses_end_; }
  // Directives that are filled from the end and never from the start: "H" of
  // `{start:%Y-%m-%d}/{end:%H}`. The end is the first moment after the unit, so such a text
  // names what comes next.
  std::string only_of_end() const;

  // `otherwise` is the format of placeholders without one; "" for Druid's own.
  std::string Render(const Interval& unit, const std::string& otherwise = "") const;

 private:
  enum class Kind { kLiteral, kStart, kEnd };
  struct Piece {
    Kind kind = Kind::kLiteral;
    std::string text;  // of a literal; else the format, "" for Druid's own
  };

  absl::Status AddPlaceholder(absl::string_view inside);
  void AddLiteral(absl::string_view text);
  // `%Y-%M-%d`: a common slip, and each unit would read the minute's place.
  bool minute_for_month() const;

  std::vector<Piece> pieces_;
  bool uses_start_ = false;
  bool uses_end_ = false;
};

}  // namespace interlock::backfill
