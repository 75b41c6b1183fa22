#include "lib/drop/kill_duty.h"

#include <algorithm>

#include "lib/time/duration.h"

namespace interlock::drop {
namespace {

// Druid's defaults (DruidCoordinatorConfig, KillUnusedSegmentsConfig).
constexpr absl::Duration kDefaultBuffer = absl::Hours(24 * 30);
constexpr absl::Duration kDefaultRetain = absl::Hours(24 * 90);

using Properties = std::map<std::string, std::string>;

bool IsTrue(const Properties& properties, const char* name) {
  const auto found = properties.find(name);
  return found != properties.end() && found->second == "true";
}

std::optional<absl::Duration> Length(const Properties& properties, const char* name,
                                     absl::Duration otherwise) {
  const auto found = properties.find(name);
  if (found == properties.end()) return otherwise;
  const absl::StatusOr<absl::Duration> length = interlock::ParseDuration(found->second);
  return length.ok() ? std::optional<absl::Duration>(*length) : std::nullopt;
}

}  // namespace

std::optional<KillDuty> ReadKillDuty(const druid::CoordinatorSettings& settings, bool has_buffer) {
  const Properties& properties = settings.properties;
  KillDuty duty;
  const bool coordinator = IsTrue(properties, "druid.coordinator.kill.on");
  const bool overlord = IsTrue(properties, "druid.manager.segments.killUnused.enabled");
  duty.on = coordinator || overlord;
  if (!duty.on) return duty;

  duty.buffer = absl::InfiniteDuration();
  if (coordinator) {
    const auto buffer = Length(properties, "druid.coordinator.kill.bufferPeriod", kDefaultBuffer);
    const auto retain =
        Length(properties, "druid.coordinator.kill.durationToRetain", kDefaultRetain);
    if (!buffer || !retain) return std::nullopt;
    duty.buffer = has_buffer ? *buffer : absl::ZeroDuration();
    const bool ignored = IsTrue(properties, "druid.coordinator.kill.ignoreDurationToRetain");
    duty.retain = ignored ? absl::ZeroDuration() : *retain;
    duty.whitelist = settings.kill_whitelist;
  }
  if (overlord) {
    const auto buffer =
        Length(properties, "druid.manager.segments.killUnused.bufferPeriod", kDefaultBuffer);
    if (!buffer) return std::nullopt;
    duty.buffer = std::min(duty.buffer, *buffer);
    // The overlord's has neither of these bounds.
    duty.retain = absl::ZeroDuration();
    duty.whitelist.clear();
  }
  return duty;
}

bool KillsInside(const KillDuty& duty, const std::string& datasource, Instant end, Instant now,
                 absl::Duration window) {
  if (!duty.on || duty.buffer >= window) return false;
  const auto& listed = duty.whitelist;
  if (!listed.empty() && std::count(listed.begin(), listed.end(), datasource) == 0) return false;
  return end + duty.retain < now + window;
}

}  // namespace interlock::drop
