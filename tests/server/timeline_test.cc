#include "server/timeline.h"

#include "gmock/gmock.h"

namespace interlock::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Interval Of(const char* text) { return *Interval::Parse(text); }

TEST(TimelinePage, NamesWhatIsKnownAndShowsNothingUnasked) {
  Timeline timeline;
  EXPECT_THAT(RenderTimeline(timeline), HasSubstr("Nothing is known"));
  timeline.datasources = {"clicks", "a&b"};
  const std::string page = RenderTimeline(timeline);
  EXPECT_THAT(page, HasSubstr("<a href=\"/?datasource=a%26b\">a&amp;b</a>"));
  EXPECT_THAT(page, Not(HasSubstr("<table>")));
}

TEST(TimelinePage, PlacesEachInTheTimeOfAll) {
  Timeline timeline;
  timeline.datasource = "clicks";
  timeline.items = {
      {"reservation", Of("2026-07-16T10:00Z/2026-07-16T11:00Z"), "r1-1", "ACTIVE", "ada: load"},
      {"drop", Of("2026-07-16T12:00Z/2026-07-16T14:00Z"), "drop-1", "MARKED", "bob: old"}};
  const std::string page = RenderTimeline(timeline);
  EXPECT_THAT(page, HasSubstr("<td>r1-1<td>ACTIVE<td>2026-07-16T10:00:00.000Z/"));
  EXPECT_THAT(page, HasSubstr("class=reservation style=\"margin-left:0.00%;width:25.00%\""));
  EXPECT_THAT(page, HasSubstr("class=drop style=\"margin-left:50.00%;width:50.00%\""));
}

// A tail has no end, and one without a bound no beginning.
TEST(TimelinePage, WhatNeverEndsReachesToTheEdge) {
  Timeline timeline;
  timeline.datasource = "clicks";
  timeline.now = *Instant::Parse("2026-07-16T20:00Z");
  timeline.items = {
      {"backfill", Of("2026-07-16T10:00Z/2026-07-16T11:00Z"), "bf-1", "DONE", ""},
      {"tail", Interval::Between(*Instant::Parse("2026-07-16T15:00Z"), Instant::kMax), "s", "", ""},
      {"tail", Interval::Eternity(), "t", "UNBOUNDED", ""}};
  const std::string page = RenderTimeline(timeline);
  EXPECT_THAT(page, HasSubstr("class=tail style=\"margin-left:50.00%;width:50.00%\""));
  EXPECT_THAT(page, HasSubstr("class=tail style=\"margin-left:0.00%;width:100.00%\""));
}

TEST(TimelinePage, TakesNoTextForHtml) {
  Timeline timeline;
  timeline.datasources = {"<script>x</script>"};
  timeline.datasource = "\"><script>";
  timeline.items = {{"reservation", Of("2026-07-16/2026-07-17"), "<i>", "<i>", "<img src=x>"}};
  const std::string page = RenderTimeline(timeline);
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("&lt;img src=x&gt;"));
}

}  // namespace
}  // namespace interlock::server
