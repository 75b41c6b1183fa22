#include "lib/drop/kill_duty.h"

#include <gtest/gtest.h>

#include "tests/lib/drop/segments.h"

namespace interlock::drop {
namespace {

const Instant kNow = At("2026-08-01");
constexpr absl::Duration kWindow = absl::Hours(72);

// Whether a duty with these settings would kill data that ended a year ago.
std::optional<bool> Inside(std::map<std::string, std::string> properties, bool has_buffer = true,
                           std::vector<std::string> whitelist = {},
                           Instant end = At("2025-08-01")) {
  const auto duty = ReadKillDuty({std::move(properties), std::move(whitelist)}, has_buffer);
  if (!duty) return std::nullopt;
  return KillsInside(*duty, "clicks", end, kNow, kWindow);
}

TEST(KillDuty, IsOffByDefault) {
  EXPECT_EQ(Inside({}), false);
  EXPECT_EQ(Inside({{"druid.coordinator.kill.on", "false"}}), false);
}

TEST(KillDuty, WaitsThirtyDaysByDefaultWhereDruidKnowsABuffer) {
  EXPECT_EQ(Inside({{"druid.coordinator.kill.on", "true"}}), false);
  EXPECT_EQ(Inside({{"druid.coordinator.kill.on", "true"}}, false), true);
}

TEST(KillDuty, WithAShorterBufferThanTheWindowIsInside) {
  const std::map<std::string, std::string> short_buffer = {
      {"druid.coordinator.kill.on", "true"}, {"druid.coordinator.kill.bufferPeriod", "PT1H"}};
  EXPECT_EQ(Inside(short_buffer), true);
  EXPECT_EQ(Inside(short_buffer, true, {"others"}), false);
  EXPECT_EQ(Inside(short_buffer, true, {"others", "clicks"}), true);
  // Data that it retains for ninety days anyway.
  EXPECT_EQ(Inside(short_buffer, true, {}, At("2026-07-01")), false);
  // It becomes old enough within the window.
  EXPECT_EQ(Inside(short_buffer, true, {}, kNow - absl::Hours(24 * 89)), true);
}

TEST(KillDuty, OfTheOverlordKnowsNoRetention) {
  EXPECT_EQ(Inside({{"druid.manager.segments.killUnused.enabled", "true"},
                    {"druid.manager.segments.killUnused.bufferPeriod", "P1D"}},
                   true, {}, At("2026-07-01")),
            true);
}

TEST(KillDuty, ThatCannotBeReadIsSaidToBeUnknown) {
  EXPECT_EQ(Inside({{"druid.coordinator.kill.on", "true"},
                    {"druid.coordinator.kill.bufferPeriod", "soon"}}),
            std::nullopt);
}

}  // namespace
}  // namespace interlock::drop
