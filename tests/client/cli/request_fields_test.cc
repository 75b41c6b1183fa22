#include "client/cli/request_fields.h"

#include <string>

#include "gtest/gtest.h"
#include "interlock/v1/audit.pb.h"
#include "interlock/v1/ingestion_coordinator.pb.h"
#include "interlock/v1/reservations.pb.h"
#include "interlock/v1/streams.pb.h"
#include "lib/time/status_reason.h"

namespace interlock::cli {
namespace {

const Instant kNow = *Instant::Parse("2026-07-16T13:00:00Z");

template <class Message>
std::string Fault(const std::string& path, const std::string& text) {
  Message message;
  return std::string(SetField(message, path, text, kNow).message());
}

TEST(SetField, ReadsEachTypeAsPeopleWriteIt) {
  v1::ReserveIntervalRequest request;
  for (const auto& [path, text] : {std::pair{"datasource", "events"},
                                   {"intervals", "2026-07-16"},
                                   {"intervals", "2026-07-18"},
                                   {"mode", "append"},
                                   {"ttl", "1h30m"},
                                   {"skip_held", ""},
                                   {"labels", "team=growth=x"},
                                   {"segment_granularity.period", "HOUR"}}) {
    ASSERT_TRUE(SetField(request, path, text, kNow).ok()) << path;
  }
  EXPECT_EQ(request.datasource(), "events");
  EXPECT_EQ(request.intervals_size(), 2);
  EXPECT_EQ(request.mode(), v1::Reservation::APPEND);
  EXPECT_EQ(request.ttl().seconds(), 5400);
  EXPECT_TRUE(request.skip_held());
  EXPECT_EQ(request.labels().at("team"), "growth=x");
  EXPECT_EQ(request.segment_granularity().period(), "HOUR");
}

TEST(SetField, ALabelThatIsGivenTwiceIsAFaultAndNoChoice) {
  v1::ReserveIntervalRequest request;
  ASSERT_TRUE(SetField(request, "labels", "team=growth", kNow).ok());
  ASSERT_TRUE(SetField(request, "labels", "tier=1", kNow).ok());
  const absl::Status twice = SetField(request, "labels", "team=sales", kNow);
  EXPECT_EQ(ReasonOf(twice), "USAGE");
  EXPECT_EQ(request.labels().at("team"), "growth");
  EXPECT_EQ(request.labels_size(), 2);
}

TEST(SetField, AZeroThatWasGivenIsKnownToBeGiven) {
  v1::SubmitBackfillRequest request;
  ASSERT_TRUE(SetField(request, "expect.rows", "0", kNow).ok());
  EXPECT_TRUE(request.expect().has_rows());
  EXPECT_FALSE(request.expect().has_min_rows());
}

TEST(SetField, AnInstantIsItselfOrATimeAgo) {
  v1::ListAuditEventsRequest request;
  ASSERT_TRUE(SetField(request, "since_time", "2026-07-16T12:00:00.250Z", kNow).ok());
  EXPECT_EQ(request.since_time().seconds(), kNow.millis() / 1000 - 3600);
  EXPECT_EQ(request.since_time().nanos(), 250'000'000);
  ASSERT_TRUE(SetField(request, "since_time", "2h", kNow).ok());
  EXPECT_EQ(request.since_time().seconds(), kNow.millis() / 1000 - 7200);
  ASSERT_TRUE(SetField(request, "since_time", "1969-12-31T23:59:59.500Z", kNow).ok());
  EXPECT_EQ(request.since_time().seconds(), -1);
  EXPECT_EQ(request.since_time().nanos(), 500'000'000);
}

TEST(SetField, InstantsThatTravelAsMillisecondsAreRead) {
  v1::CheckAppendRequest request;
  ASSERT_TRUE(SetField(request, "timestamps_ms", "2026-07-16T13:00:00Z", kNow).ok());
  EXPECT_EQ(request.timestamps_ms(0), kNow.millis());
}

TEST(SetField, SaysWhatIsWrongAndWhatWouldDo) {
  using Reserve = v1::ReserveIntervalRequest;
  EXPECT_EQ(Fault<Reserve>("mode", "overwrite"), "'overwrite' is none of replace, append");
  EXPECT_EQ(Fault<Reserve>("labels", "x"), "'x' is not key=value");
  EXPECT_NE(Fault<Reserve>("ttl", "10"), "");
  EXPECT_EQ(Fault<v1::SubmitBackfillRequest>("expect.rows", "ten"), "'ten' is no whole number");
  EXPECT_EQ(Fault<v1::SubmitBackfillRequest>("max_parallel", "3000000000"),
            "3000000000 is too large");
  EXPECT_NE(Fault<v1::ListAuditEventsRequest>("since_time", "soon"), "");
  EXPECT_EQ(Fault<v1::ListReservationsRequest>("page_size", "-3"), "'-3' is below zero");
  EXPECT_EQ(Fault<v1::WatchReservationsRequest>("from_revision", "-1"), "'-1' is below zero");
  EXPECT_EQ(
      Fault<v1::ListReservationsRequest>("states", "gone").rfind("'gone' is none of active", 0),
      0u);
}

}  // namespace
}  // namespace interlock::cli
