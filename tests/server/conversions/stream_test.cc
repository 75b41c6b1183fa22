#include "server/conversions/stream.h"

#include <string>

#include "gtest/gtest.h"

namespace interlock::server {
namespace {

Instant At(const std::string& text) { return *Instant::Parse(text); }

guard::Streams::Told Supervised() {
  guard::Streams::Told told;
  told.stream.datasource = "views";
  told.stream.name = told.stream.supervisor_id = "views";
  told.stream.kind = guard::Kind::kSupervisor;
  told.stream.tail.source = guard::TailSource::kRunningTasks;
  told.stream.tail.bound.fixed = At("2026-07-16T18:59:39.950Z");
  told.stream.tail.bound.length = absl::Hours(1);
  told.stream.tail.enforced = true;
  return told;
}

TEST(StreamConversion, ATailIsToldAsOfNowToTheMillisecond) {
  v1::Stream stream;
  ToProto(Supervised(), At("2026-07-16T20:30Z"), &stream);
  EXPECT_EQ(stream.kind(), v1::Stream::SUPERVISOR);
  EXPECT_TRUE(stream.discovered());
  EXPECT_EQ(stream.tail().source(), v1::Tail::RUNNING_TASKS);
  EXPECT_EQ(stream.tail().start_time().nanos(), 950'000'000);
  EXPECT_EQ(stream.tail().start_time().seconds() * 1'000 + 950,
            At("2026-07-16T18:59:39.950Z").millis());
  EXPECT_FALSE(stream.tail().unbounded());
  EXPECT_TRUE(stream.tail().enforced());
  EXPECT_FALSE(stream.has_health());
}

TEST(StreamConversion, AnUnboundedTailHasNoStart) {
  guard::Streams::Told told = Supervised();
  told.stream.tail = guard::Tail();
  v1::Stream stream;
  ToProto(told, At("2026-07-16T20:30Z"), &stream);
  EXPECT_EQ(stream.tail().source(), v1::Tail::UNBOUNDED);
  EXPECT_TRUE(stream.tail().unbounded());
  EXPECT_FALSE(stream.tail().has_start_time());
}

TEST(StreamConversion, ALagThatIsNotKnownIsNotZero) {
  guard::Streams::Told told = Supervised();
  told.stream.health.emplace();
  v1::Stream stream;
  ToProto(told, At("2026-07-16T20:30Z"), &stream);
  EXPECT_TRUE(stream.has_health());
  EXPECT_FALSE(stream.health().has_lag());
}

TEST(StreamConversion, WhatIsDeclaredIsOneOfFour) {
  v1::RegisterStreamRequest request;
  request.set_datasource("views");
  EXPECT_FALSE(FromProto(request).tail.has_value());
  request.mutable_tail()->set_seconds(172'800);
  EXPECT_EQ(FromProto(request).tail, absl::Hours(48));
  request.mutable_tail_start_time()->set_seconds(60);
  EXPECT_FALSE(FromProto(request).tail.has_value());
  EXPECT_EQ(FromProto(request).reported_start, Instant::FromMillis(60'000));
}

TEST(StreamConversion, EachInstantHasItsDecision) {
  guard::AppendAnswer answer;
  answer.decision = guard::Decision::kReject;
  answer.each = {guard::Decision::kAllow, guard::Decision::kHold, guard::Decision::kReject};
  v1::CheckAppendResponse response;
  ToProto(answer, &response);
  EXPECT_EQ(response.decision(), v1::CheckAppendResponse::REJECT);
  ASSERT_EQ(response.decisions_size(), 3);
  EXPECT_EQ(response.decisions(1), v1::CheckAppendResponse::HOLD);
  EXPECT_FALSE(response.has_retry_after());
}

}  // namespace
}  // namespace interlock::server
