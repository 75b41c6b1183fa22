#include "lib/backfill/placeholder.h"

#include <gtest/gtest.h>

#include "lib/time/reason.h"

namespace interlock::backfill {
namespace {

std::string Rendered(const char* text) {
  const auto parsed = Template::Parse(text);
  if (!parsed.ok()) return ReasonOf(parsed.status());
  return parsed->Render(*Interval::Parse("2026-07-06T03:00:00Z/2026-07-06T04:00:00Z"));
}

TEST(Placeholder, IsFilledWithTheUnitsBounds) {
  EXPECT_EQ(Rendered("dt={start:%Y-%m-%d}/h={start:%H}/"), "dt=2026-07-06/h=03/");
  EXPECT_EQ(Rendered("{start}/{end}"), "2026-07-06T03:00:00.000Z/2026-07-06T04:00:00.000Z");
  EXPECT_EQ(Rendered("{start:%s}-{end:%H%M%S}-{start:%j}-{start:%d%%}"),
            "1783306800-040000-187-06%");
}

TEST(Placeholder, LeavesGlobsAndOtherBracesAlone) {
  EXPECT_EQ(Rendered("*.{json,gz}"), "*.{json,gz}");
  EXPECT_EQ(Rendered("a{2}b{ x"), "a{2}b{ x");
  EXPECT_EQ(Rendered(""), "");
}

TEST(Placeholder, OfAnotherNameIsRefused) {
  EXPECT_EQ(Rendered("{day}"), "PLACEHOLDER_UNKNOWN");
  EXPECT_EQ(Rendered("{START}"), "PLACEHOLDER_UNKNOWN");
  EXPECT_EQ(Rendered("{data_interval_start:%Y}"), "PLACEHOLDER_UNKNOWN");
}

TEST(Placeholder, ThatIsMalformedIsRefused) {
  EXPECT_EQ(Rendered("{{ ds }}"), "PLACEHOLDER_MALFORMED");
  EXPECT_EQ(Rendered("{start"), "PLACEHOLDER_MALFORMED");
  EXPECT_EQ(Rendered("{start:}"), "PLACEHOLDER_MALFORMED");
  EXPECT_EQ(Rendered("{start:%Q}"), "PLACEHOLDER_MALFORMED");
  EXPECT_EQ(Rendered("{start:%}"), "PLACEHOLDER_MALFORMED");
}

TEST(Placeholder, ThatNamesNoPartOfTheTimeIsRefused) {
  EXPECT_EQ(Rendered("dt={start:yyyy-MM-dd}"), "PLACEHOLDER_MALFORMED");
  EXPECT_EQ(Rendered("{start:{end}}"), "PLACEHOLDER_MALFORMED");
  EXPECT_EQ(Rendered("{start:100%%}"), "PLACEHOLDER_MALFORMED");
}

TEST(Placeholder, WithTheMinuteInAMonthsPlaceIsRefused) {
  EXPECT_EQ(Rendered("dt={start:%Y-%M-%d}"), "PLACEHOLDER_MALFORMED");
  EXPECT_EQ(Rendered("{start:%Y}/{start:%M}"), "PLACEHOLDER_MALFORMED");
  EXPECT_EQ(Rendered("{start:%H}-{start:%M}"), "03-00");
  EXPECT_EQ(Rendered("{start:%M}"), "00");
}

}  // namespace
}  // namespace interlock::backfill
