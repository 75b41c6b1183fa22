#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lib/druid/url.h"
#include "server/timeline.h"

namespace interlock::server {
namespace {

constexpr char kHead[] =
    "<!doctype html><html lang=en><meta charset=utf-8><meta http-equiv=refresh content=30>"
    "<title>Interlock</title><style>"
    "body{font:14px sans-serif;margin:2em}a{margin-right:1em}table{border-collapse:collapse;"
    "width:100%}td,th{text-align:left;padding:2px 8px;white-space:nowrap}"
    "td.bar{width:50%;background:#f4f4f4}td.bar i{display:block;height:12px;min-width:2px}"
    ".reservation{background:#3973ac}.tail{background:#d98c26}.seal{background:#7a7a7a}"
    ".backfill{background:#4a9960}.drop{background:#b33c3c}.version{background:#9a86c4}"
    "</style><h1>Interlock</h1>";

std::string Escaped(const std::string& text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '&':
        html += "&amp;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

// What of time the bars span: from the first start to the last end; what has none ends with
// the others.
Interval SpanOf(const Timeline& timeline) {
  Instant first = Instant::kMax, last = Instant::kMin;
  for (const TimelineItem& item : timeline.items) {
    if (item.interval.start() > Instant::kMin) first = std::min(first, item.interval.start());
    if (item.interval.end() < Instant::kMax) last = std::max(last, item.interval.end());
    if (item.interval.end() == Instant::kMax) last = std::max(last, timeline.now);
  }
  return first < last ? Interval::Between(first, last) : Interval::Eternity();
}

// Where in the span an instant lies, in hundredths of it.
double PlaceOf(Instant instant, const Interval& span) {
  const auto at =
      static_cast<double>(instant.millis()) - static_cast<double>(span.start().millis());
  const auto length =
      static_cast<double>(span.end().millis()) - static_cast<double>(span.start().millis());
  return std::clamp(100 * at / length, 0.0, 100.0);
}

void AppendRow(const TimelineItem& item, const Interval& span, std::string* html) {
  const double from = PlaceOf(item.interval.start(), span);
  const double to = PlaceOf(item.interval.end(), span);
  absl::StrAppend(
      html, "<tr><td>", Escaped(item.kind), "<td>", Escaped(item.id), "<td>", Escaped(item.state),
      "<td>", Escaped(item.interval.ToString()), "<td class=bar><i class=", Escaped(item.kind),
      absl::StrFormat(" style=\"margin-left:%.2f%%;width:%.2f%%\"></i><td>", from, to - from),
      Escaped(item.text), "\n");
}

}  // namespace

std::string RenderTimeline(const Timeline& timeline) {
  std::string html = kHead;
  absl::StrAppend(&html, "<p>Read at ", timeline.now.ToString(), ", from Interlock's store.<p>");
  for (const std::string& name : timeline.datasources) {
    absl::StrAppend(&html, "<a href=\"/?datasource=", druid::EscapeUrl(name), "\">", Escaped(name),
                    "</a>\n");
  }
  if (timeline.datasources.empty()) html += "Nothing is known of any datasource yet.";
  if (timeline.datasource.empty()) return html;
  const Interval span = SpanOf(timeline);
  absl::StrAppend(&html, "<h2>", Escaped(timeline.datasource), "</h2>");
  if (timeline.items.empty()) return html + "<p>Nothing holds, changed or sealed any of its time.";
  absl::StrAppend(&html, "<p>", span.ToString(), timeline.cut ? ", the newest of each kind" : "",
                  "<table><tr><th>what<th>id<th>state<th>interval<th>where in that time<th>\n");
  for (const TimelineItem& item : timeline.items) AppendRow(item, span, &html);
  return html + "</table>\n";
}

}  // namespace interlock::server
