#include "lib/backfill/placeholder.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "lib/time/status_reason.h"

namespace interlock::backfill {
namespace {

// The directives that read the same in every strftime, and sort as they should.
constexpr absl::string_view kDirectives = "YmdHMSjs%";

absl::Status UnknownPlaceholder(absl::string_view inside) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat(
                        "`{", inside,
                        "}` is no placeholder; there are {start} and {end}, with a format as in "
                        "{start:%Y-%m-%d}")),
                    "PLACEHOLDER_UNKNOWN");
}

absl::Status MalformedPlaceholder(absl::string_view found, absl::string_view why) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat("`", found, "` ", why)),
                    "PLACEHOLDER_MALFORMED");
}

// A name, or a name and a format: what somebody means as a placeholder.
bool LooksLikePlaceholder(absl::string_view inside) {
  const absl::string_view name = inside.substr(0, inside.find(':'));
  if (name.empty()) return false;
  for (const char c : name) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '-' && c != '.' && c != ' ') return false;
  }
  return !absl::ascii_isdigit(name.front());
}

absl::Status CheckFormat(absl::string_view inside, absl::string_view format) {
  if (format.empty()) return MalformedPlaceholder(inside, "has an empty format");
  bool directive = false;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    if (++i == format.size() || !absl::StrContains(kDirectives, format.substr(i, 1))) {
      return MalformedPlaceholder(inside, "has a directive other than %Y %m %d %H %M %S %j %s %%");
    }
    directive = directive || format[i] != '%';
  }
  // `{start:yyyy-MM-dd}` of other tools would be these very letters for each unit.
  if (!directive) {
    return MalformedPlaceholder(
        inside, "has a format without a directive; %Y is the year, %m the month, %d the day");
  }
  return absl::OkStatus();
}

// The letters of a format; Druid's own form has all of an instant.
std::string DirectivesOf(const std::string& format) {
  if (format.empty()) return "YmdHMS";
  std::string letters;
  for (size_t i = 0; i + 1 < format.size(); ++i) {
    if (format[i] == '%' && format[++i] != '%') letters += format[i];
  }
  return letters;
}

}  // namespace

absl::StatusOr<Template> Template::Parse(absl::string_view text) {
  if (absl::StrContains(text, "{{")) {
    return MalformedPlaceholder(
        text, "has double braces: a template of another tool that was not filled in");
  }
  const absl::string_view whole = text;
  Template result;
  while (!text.empty()) {
    const size_t open = text.find('{');
    result.AddLiteral(text.substr(0, open));
    if (open == absl::string_view::npos) break;
    text.remove_prefix(open);
    const size_t close = text.find('}');
    const absl::string_view inside = text.substr(1, close == text.npos ? text.npos : close - 1);
    const bool closed = close != absl::string_view::npos;
    const bool meant = closed
                           ? LooksLikePlaceholder(inside)
                           : absl::StartsWith(inside, "start") || absl::StartsWith(inside, "end");
    if (!meant) {
      result.AddLiteral("{");
      text.remove_prefix(1);
      continue;
    }
    if (!closed) return MalformedPlaceholder(text, "lacks its `}`");
    if (absl::Status status = result.AddPlaceholder(inside); !status.ok()) return status;
    text.remove_prefix(close + 1);
  }
  if (result.minute_for_month()) {
    return MalformedPlaceholder(whole, "has %M, the minute, beside a date without %m, its month");
  }
  return result;
}

bool Template::minute_for_month() const {
  std::string all;
  for (const Piece& piece : pieces_) {
    if (piece.kind != Kind::kLiteral) all += DirectivesOf(piece.text);
  }
  return absl::StrContains(all, 'M') && !absl::StrContains(all, 'm') &&
         !absl::StrContains(all, 'H') &&
         (absl::StrContains(all, 'Y') || absl::StrContains(all, 'd'));
}

absl::Status Template::AddPlaceholder(absl::string_view inside) {
  const size_t colon = inside.find(':');
  const absl::string_view name = inside.substr(0, colon);
  if (name != "start" && name != "end") return UnknownPlaceholder(inside);
  Piece piece;
  piece.kind = name == "start" ? Kind::kStart : Kind::kEnd;
  if (colon != absl::string_view::npos) {
    const absl::string_view format = inside.substr(colon + 1);
    if (absl::Status status = CheckFormat(inside, format); !status.ok()) return status;
    piece.text = std::string(format);
  }
  (piece.kind == Kind::kStart ? uses_start_ : uses_end_) = true;
  pieces_.push_back(std::move(piece));
  return absl::OkStatus();
}

void Template::AddLiteral(absl::string_view text) {
  if (!text.empty()) pieces_.push_back({Kind::kLiteral, std::string(text)});
}

std::string Template::only_of_end() const {
  std::string of_start, of_end;
  for (const Piece& piece : pieces_) {
    if (piece.kind == Kind::kLiteral) continue;
    (piece.kind == Kind::kStart ? of_start : of_end) += DirectivesOf(piece.text);
  }
  std::string only;
  for (const char directive : of_end) {
    if (of_start.find(directive) == std::string::npos) only += directive;
  }
  return only;
}

std::string Template::Render(const Interval& unit, const std::string& otherwise) const {
  std::string out;
  for (const Piece& piece : pieces_) {
    if (piece.kind == Kind::kLiteral) {
      out += piece.text;
      continue;
    }
    const Instant instant = piece.kind == Kind::kStart ? unit.start() : unit.end();
    const std::string& format = piece.text.empty() ? otherwise : piece.text;
    out += format.empty() ? instant.ToString()
                          : absl::FormatTime(format, instant.ToTime(), absl::UTCTimeZone());
  }
  return out;
}

}  // namespace interlock::backfill
