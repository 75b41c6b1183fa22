#include "server/conversions/time.h"

#include <gtest/gtest.h>

#include "lib/time/status_reason.h"

namespace interlock::server {
namespace {

google::protobuf::RepeatedPtrField<std::string> Given(std::initializer_list<const char*> texts) {
  google::protobuf::RepeatedPtrField<std::string> given;
  for (const char* text : texts) *given.Add() = text;
  return given;
}

TEST(ReadIntervals, SaysHowALoneDayWasRead) {
  const auto read = FromProto(Given({"2026-07-16"}), "intervals");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->readings[0].interval(), "2026-07-16T00:00:00.000Z/2026-07-17T00:00:00.000Z");
  EXPECT_TRUE(read->readings[0].utc_assumed());
  EXPECT_TRUE(read->readings[0].whole_unit());
}

TEST(ReadIntervals, AnOffsetIsNoAssumption) {
  const auto read =
      FromProto(Given({"2026-07-16T02:00:00+02:00/2026-07-16T03:00:00+02:00"}), "intervals");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->readings[0].interval(), "2026-07-16T00:00:00.000Z/2026-07-16T01:00:00.000Z");
  EXPECT_FALSE(read->readings[0].utc_assumed());
}

TEST(ReadIntervals, AnOffsetIsSeenInEachOfItsForms) {
  for (const char* given :
       {"2026-07-16T02:00:00Z/PT1H", "2026-07-16T02:00+02/PT1H", "2026-07-16T02:00-0230/PT1H",
        "2026-07-16T02:00:00.000+02:00/2026-07-16T03:00:00.000Z", "PT1H/2026-07-16T02:00Z"}) {
    const auto read = FromProto(Given({given}), "intervals");
    ASSERT_TRUE(read.ok()) << given << ": " << read.status();
    EXPECT_FALSE(read->readings[0].utc_assumed()) << given;
  }
  for (const char* given : {"2026-07-16/P1D", "2026-07-16T02:00/PT1H", "2026-07-16T02",
                            "2026-07-16T02:00Z/2026-07-16T03:00"}) {
    const auto read = FromProto(Given({given}), "intervals");
    ASSERT_TRUE(read.ok()) << given << ": " << read.status();
    EXPECT_TRUE(read->readings[0].utc_assumed()) << given;
  }
}

TEST(ReadIntervals, Case134AnInstantWithoutOffsetIsUtcAndTheReplySaysSo) {
  const auto read = FromProto(Given({"2026-07-16T13:00:00/PT1H"}), "intervals");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->readings[0].interval(), "2026-07-16T13:00:00.000Z/2026-07-16T14:00:00.000Z");
  EXPECT_TRUE(read->readings[0].utc_assumed());
}

TEST(ReadIntervals, EveryFaultIsToldWithItsPlace) {
  const auto read =
      FromProto(Given({"2026-07-16", "yesterday", "2026-07-17/2026-07-17"}), "intervals");
  const auto faults = FaultsOf(read.status());
  ASSERT_EQ(faults.size(), 2);
  EXPECT_EQ(faults[0].pointer, "/intervals/1");
  EXPECT_EQ(faults[1].pointer, "/intervals/2");
}

TEST(ReadIntervals, NoneIsAFaultWhereOneIsNeeded) {
  EXPECT_FALSE(FromProto(Given({}), "intervals").ok());
  EXPECT_TRUE(FromProto(Given({}), "intervals", true).ok());
}

TEST(Timestamps, InstantsBefore1970KeepTheirMilliseconds) {
  google::protobuf::Timestamp proto;
  ToProto(Instant::FromMillis(-1), &proto);
  EXPECT_EQ(proto.seconds(), -1);
  EXPECT_EQ(proto.nanos(), 999'000'000);
  EXPECT_EQ(FromProto(proto), Instant::FromMillis(-1));
}

TEST(Calendars, APeriodHasAZoneAndANameHasNone) {
  v1::Granularity proto;
  proto.set_period("P1D");
  proto.set_time_zone("America/New_York");
  EXPECT_TRUE(FromProto(proto, "segment_granularity").ok());
  proto.set_period("DAY");
  EXPECT_FALSE(FromProto(proto, "segment_granularity").ok());
}

}  // namespace
}  // namespace interlock::server
